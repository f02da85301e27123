"""The command line follows a file from run to run."""

import json

import pytest
from tests.monitor.people import people, told, with_guess

import fairtransport as ft
from fairtransport.cli import main


def run(*arguments):
    try:
        return main([str(argument) for argument in arguments])
    except SystemExit as stop:
        return stop.code


@pytest.fixture
def follow(tmp_path, capsys):
    """Runs the command on a file that grows; returns the exit code and what was printed."""

    def once(name="cases.csv", *more, delta=0.05):
        options = ["--label", "good", "--prediction", "guess", "--sensitive", "group"]
        where = [tmp_path / name, "--state", tmp_path / "s"]
        code = run("monitor", *where, *options, "--delta", delta, *more)
        printed = capsys.readouterr()
        return code, " ".join((printed.out + printed.err).split())

    return once


def saved_state(tmp_path):
    return ft.Monitor.resume(tmp_path / "s").state


@pytest.mark.parametrize("name", ["cases.csv", "cases.jsonl", "cases.tsv"])
def test_what_was_added_is_taken_in(tmp_path, follow, name):
    frame, path = with_guess(people(90)), tmp_path / name
    if name.endswith("jsonl"):
        text = frame.to_json(orient="records", lines=True)
    else:
        text = frame.to_csv(index=False, sep="\t" if name.endswith("tsv") else ",")
    # cut anywhere, also inside a line
    codes = []
    for end in (5, 100, 333, 334, len(text) - 3, len(text)):
        path.write_text(text[:end])
        code, out = follow(name)
        codes.append(code)
    whole = told()
    whole.update(frame)

    assert saved_state(tmp_path) == whole.state
    assert (codes[0], codes[-1]) == (0, 3)
    assert f"{name}, 90 people" in out
    assert "δ-fairness rejected at level 5 % at case" in out
    assert follow(name) == (3, out)


@pytest.fixture(scope="module")
def compas(tmp_path_factory):
    """The people of the paper's audit split as a text file, and the model it was fitted for."""
    import skops.io as skops

    from fairtransport.datasets.compas import FEATURES, logistic_regression, split_compas

    folder = tmp_path_factory.mktemp("compas")
    split = split_compas(0)
    model = logistic_regression(split.training)
    skops.dump(model, folder / "model.skops")
    # numbers of years, among which not all are whole
    years = split.audit["age_cat"].map({"Less than 25": 20, "25 - 45": 35.5}).fillna(60)
    people = split.audit.assign(guess=model.predict(split.audit[list(FEATURES)]), years=years)
    people.to_csv(folder / "cases.csv", index=False)
    return folder


@pytest.mark.parametrize("has_model", [True, False])
def test_a_text_file_has_the_statistic_of_an_audit(compas, tmp_path, has_model):
    features = ["sex", "race", "age_cat", "priors", "charge"]
    if has_model:
        model = ft.access.load(compas / "model.skops")
        options = {"model": model, "features": features}
        flags = ["--model", compas / "model.skops", "--levels.race", "African-American,Caucasian",
                 "--levels.sex", "Female,Male"]  # fmt: skip
    else:
        model, features = None, [*features, "years"]
        options = {"y_pred": "guess", "features": features}
        flags = ["--prediction", "guess", "--features", ",".join(features)]
    whole = (compas / "cases.csv").read_text()
    grown = tmp_path / "cases.csv"
    # a piece without text among the priors comes last
    lines = sorted(whole.splitlines()[1:], key=lambda line: ",0," in line)
    whole = "\n".join([whole.splitlines()[0], *lines, ""])
    for end in (len(whole) - 200, len(whole)):
        grown.write_text(whole[:end])
        run("monitor", grown, "--state", tmp_path / "s", "--label", "two_year_recid",
            "--sensitive", "race,sex", *flags, "--delta", 0.2)  # fmt: skip
    kinds = json.loads((tmp_path / "s").read_text())["position"]["kinds"]
    expected = ft.audit(grown, "two_year_recid", sensitive_features=["race", "sex"], **options)
    found = ft.Monitor.resume(tmp_path / "s", model=model).state

    assert found.n == 1584
    assert found.statistic == pytest.approx(expected.statistic)
    assert expected.statistic > 0
    assert (kinds["priors"], kinds["years"], kinds["guess"]) == ("text", "numbers", "whole numbers")


@pytest.mark.parametrize("word", ["low", "20.5", "inf"])
def test_what_a_column_holds_is_kept_and_later_values_have_to_fit(tmp_path, follow, word):
    head = "group,rank,good,guess\n"
    (tmp_path / "cases.csv").write_text(f"{head}a,1,1,1\nb,2,1,0\n")
    assert follow(delta=0.5)[0] == 0
    (tmp_path / "cases.csv").write_text(f"{head}a,1,1,1\nb,2,1,0\na,{word},1,1\n")
    code, out = follow(delta=0.5)

    assert code == 1
    assert "the column 'rank' held whole numbers when the monitor began and must go on to" in out
    assert f"got '{word}'" in out
    assert saved_state(tmp_path).n == 2


def test_a_column_without_values_is_settled_by_its_first(tmp_path, follow):
    head = "group,note,good,guess\n"
    first = f"{head}a,,1,1\n"
    (tmp_path / "cases.csv").write_text(first)
    follow("cases.csv", "--missing", "level", delta=0.5)
    (tmp_path / "cases.csv").write_text(f"{first}a,7,1,1\nb,x,1,0\n")
    follow("cases.csv", "--missing", "level", delta=0.5)
    saved = json.loads((tmp_path / "s").read_text())

    assert saved["position"]["kinds"]["note"] == "text"
    assert [point[1] for point in saved["stream"]["points"]] == [None, "7", "x"]


def test_inconclusive_is_no_failure(tmp_path, follow):
    with_guess(people(30)).to_csv(tmp_path / "cases.csv", index=False)
    code, out = follow(delta=0.6)

    assert code == 0
    assert "δ = 0.6: not settled." in out
    assert follow("cases.csv", "--quiet", delta=0.6) == (0, "")


def test_quiet_says_why_it_fails(tmp_path, follow):
    with_guess(people(30)).to_csv(tmp_path / "cases.csv", index=False)
    done = follow("cases.csv", "--quiet", "--fail-on", "not-certified", delta=0.6)

    assert done == (4, "Note: δ = 0.6: not settled.")


def test_line_breaks_inside_quotes_belong_to_a_value(tmp_path, follow):
    path = tmp_path / "cases.csv"
    path.write_text('group,x,good,guess\na,"one\ntwo",1,1\nb,"one\n')
    assert follow()[0] == 0
    assert saved_state(tmp_path).n == 1
    with path.open("a") as file:
        file.write('two",1,0\n')
    follow()
    assert saved_state(tmp_path).statistic == 0.5


def test_a_file_that_changed_is_refused(tmp_path, follow):
    path = tmp_path / "cases.csv"
    text = with_guess(people(30)).to_csv(index=False)
    path.write_text(text)
    follow()
    before = saved_state(tmp_path)
    path.write_text(text[:-20])
    code, out = follow()
    assert code == 1
    assert f"must only grow: {len(text)} bytes were read, now it has {len(text) - 20}" in out
    path.write_text(text.replace("a,", "b,", 1) + "a,1,1,1\n")
    code, out = follow()
    assert code == 1
    assert f"its first {len(text)} bytes changed" in out
    assert saved_state(tmp_path) == before


def test_other_settings_than_the_saved_ones_are_refused(tmp_path, follow):
    with_guess(people(30)).to_csv(tmp_path / "cases.csv", index=False)
    follow()

    assert follow(delta=0.2) == (2, "Error: `--delta` must be as in the saved state, 0.05, got 0.2")


@pytest.mark.parametrize(
    ("name", "content", "code", "message"),
    [
        ("cases.csv", b"group,x,good,guess\na,1,1\n", 1, "must have 4 values, got 3"),
        ("cases.csv", b"group,x,good,guess\n\xff,1,1,1\n", 1, "must be UTF-8 text"),
        ("cases.jsonl", b"[1]\n", 1, "must be a JSON object, got '[1]'"),
        ("cases.jsonl", b"{\n", 1, "must be a JSON object, got '{'"),
        ("cases.xlsx", b"", 2, "`DATA` must be of type .csv"),
        ("absent.csv", None, 2, "there is no file"),
    ],
)
def test_files_that_cannot_be_read(tmp_path, follow, name, content, code, message):
    if content is not None:
        (tmp_path / name).write_bytes(content)
    found, out = follow(name)

    assert found == code
    assert message in out
    assert not (tmp_path / "s").exists()


def test_scores_bins_and_ranges_from_the_command_line(tmp_path, capsys):
    frame = people(40).assign(
        age=lambda f: 20 + 10 * f["x"], score=lambda f: (f["group"] == "a") / 2
    )
    frame.drop(columns="x").to_csv(tmp_path / "cases.csv", index=False)
    code = run("monitor", tmp_path / "cases.csv", "--state", tmp_path / "s", "--label", "good",
               "--score", "score", "--labels", "0,1", "--sensitive", "group", "--bins.age", "30,50",
               "--loss", "brier", "--delta", "0.5")  # fmt: skip

    assert code == 0
    assert "cases.csv, 40 people" in capsys.readouterr().out
    saved = json.loads((tmp_path / "s").read_text())
    assert saved["settings"]["bins"] == {"age": [30.0, 50.0]}
    assert len(saved["stream"]["counts"]) <= 12
