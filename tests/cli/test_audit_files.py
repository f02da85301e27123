"""fairtransport audit with a model, with targets, and the files it writes."""

import json
import pickle

import pytest

import fairtransport as ft

TOLD = ["--label", "good", "--prediction", "guess", "--sensitive", "race", "--seed", "1"]
ASKED = ["--label", "good", "--sensitive", "race", "--seed", "1"]


@pytest.mark.parametrize(
    "flags", [["--model", "model.skops"], ["--model", "model.pkl", "--allow-pickle"]]
)
def test_a_model_from_a_file_is_asked(flags, run, folder):
    model = pickle.loads((folder / "model.pkl").read_bytes())  # noqa: S301
    expected = ft.audit(
        folder / "people.csv", "good", model=model, sensitive_features=["race"],
        delta=0.01, rng=1,
    )  # fmt: skip

    done = run("audit", "people.csv", *ASKED, *flags, "--delta", "0.01")

    assert done.code == 3
    assert f"FaiTH statistic {expected.statistic:.4f}" in done.words
    assert f"Questions asked {expected.queried}" in done.words
    assert "Compared with twins" in done.words


def test_a_type_can_be_trusted(run):
    line = ["audit", "people.csv", *ASKED, "--model", "own.skops"]

    assert run(*line).code == 1
    assert run(*line, "--trust", "random.Random").code == 0


def test_declared_levels_leave_no_note(run):
    line = ["audit", "people.csv", *ASKED, "--model", "model.skops", "--delta", "0.3"]
    note = "a certificate covers no others; declare `--levels` if there are any."

    assert note in run(*line).words
    assert note not in run(*line, "--levels.race", "a,b").words


def test_levels_must_hold_what_occurs(run):
    done = run("audit", "people.csv", *ASKED, "--model", "model.skops", "--levels.race", "a")

    assert done.code == 2
    assert done.err == "Error: `--levels.race` must hold every observed value, but lacks 'b'\n"


def test_targets_are_people_to_compare_with(run, folder):
    expected = ft.audit(
        folder / "people.csv", "good", y_pred="guess", sensitive_features=["race"],
        targets=folder / "people.csv",
    )  # fmt: skip

    done = run("audit", "people.csv", *TOLD, "--targets", "people.csv")

    assert done.code == 0
    assert "Compared with reference" in done.words
    assert f"FaiTH statistic {expected.statistic:.4f}" in done.words


@pytest.fixture
def documents(monkeypatch):
    """Let a result note which documents it was asked for, and write something."""
    asked = []

    def to_html(self, path, **options):
        asked.append(("html", options))
        path.write_text(f"<p>{self.statistic}</p>")

    def to_json(self, path=None, **options):
        asked.append(("json", options))
        text = json.dumps({"statistic": self.statistic}) + "\n"
        return text if path is None else path.write_text(text)

    def to_markdown(self, **options):
        asked.append(("markdown", options))
        return f"# {self.statistic}\n"

    for method in (to_html, to_json, to_markdown):
        monkeypatch.setattr(ft.AuditResult, method.__name__, method, raising=False)
    return asked


def test_a_report_and_json_are_written(run, documents, tmp_path):
    report, result = tmp_path / "report.html", tmp_path / "audit.json"

    done = run("audit", "people.csv", *TOLD, "--report", report, "--json", result)

    assert done.code == 0
    assert documents == [("html", {}), ("json", {})]
    assert report.exists()
    assert f"Wrote {report}\nWrote {result}\n" in done.out


def test_markdown_is_written_by_its_ending(run, documents, tmp_path):
    assert run("audit", "people.csv", *TOLD, "--report", tmp_path / "report.md").code == 0
    assert documents == [("markdown", {})]
    assert (tmp_path / "report.md").read_text().startswith("# 0.")


@pytest.mark.usefixtures("documents")
def test_json_on_standard_output_stands_alone(run):
    done = run("audit", "people.csv", *TOLD, "--json", "-", "--delta", "0.001")

    assert (done.code, done.err) == (3, "")
    assert json.loads(done.out)["statistic"] > 0


@pytest.mark.parametrize(
    ("flags", "share"),
    [
        ([], {}),
        (["--share"], {"share": 5}),
        (["--share-at-least", "8"], {"share": 8}),
        (["--share", "--share-at-least", "8"], {"share": 8}),
    ],
)
def test_what_is_shared_hides_small_cells_in_every_document(flags, share, run, documents, tmp_path):
    run("audit", "people.csv", *TOLD, *flags, "--json", "-", "--report", tmp_path / "a.html")

    assert documents == [("html", share), ("json", share)]


def test_quiet_still_writes(run, documents, tmp_path):
    done = run("audit", "people.csv", *TOLD, "--quiet", "--report", tmp_path / "a.html")

    assert done == (0, "", "")
    assert documents == [("html", {})]


def test_a_file_that_cannot_be_written_is_said(run, documents, monkeypatch, tmp_path):
    def full(_, path, **__):
        raise OSError(28, "No space left on device", str(path))

    monkeypatch.setattr(ft.AuditResult, "to_html", full)
    done = run("audit", "people.csv", *TOLD, "--report", tmp_path / "a.html")

    assert done.code == 1
    assert done.err == f"Error: '{tmp_path}/a.html' could not be written: No space left on device\n"
    assert documents == []


def test_group_metrics_learn_the_favourable_label_and_the_privileged_group():
    from fairtransport.cli.audit import group_options
    from fairtransport.cli.outputs import Outputs

    assert group_options(Outputs()) == {}
    given = Outputs(favourable="1", privileged={"race": ("Caucasian",), "age": ("1", "'2'")})
    assert group_options(given) == {
        "favourable": 1, "privileged": {"race": ["Caucasian"], "age": [1, "2"]},
    }  # fmt: skip
