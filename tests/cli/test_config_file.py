"""fairtransport.toml: an audit that can be run again; flags override it."""

import json
import os
import pickle
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import fairtransport as ft
from fairtransport.cli.config_file import WITHOUT_A_NAME

WHOLE = """
[audit]
data = "people.csv"
label = "good"
prediction = "guess"
sensitive = ["race"]
features = ["race", "age"]
bins.age = [22, 25]
budget = 0
delta = 0.01
fail-on = "never"
seed = 3

[sample-size]
value = 0.2
delta = 0.1

[monitor]
label = "good"
prediction = "guess"
sensitive = "race"
delta = 0.9
"""


@pytest.fixture
def config(tmp_path):
    """Write a TOML file elsewhere and return its path."""

    def write(text):
        path = tmp_path / "settings.toml"
        path.write_text(text, encoding="utf-8")
        return path

    return write


def expected(folder, **options):
    return ft.audit(
        folder / "people.csv", "good", y_pred="guess", sensitive_features=["race"],
        features=["race", "age"], **options,
    )  # fmt: skip


def test_the_whole_audit_can_stand_in_the_file(run, config, folder):
    done = run("audit", "--config", config(WHOLE), "--verbose")
    result = expected(folder, bins={"age": [22, 25]}, rng=3, delta=0.01)

    assert done.code == 0
    assert result.verdict == "rejected"
    assert "δ-fairness rejected" in done.words
    assert f"R, estimate {result.rates.value:.4f}" in done.words
    assert f"Distinct rows {result.points}, " in done.words
    assert "Random seed 3" in done.words


@pytest.mark.parametrize(
    ("flags", "code", "words"),
    [
        (["--fail-on", "rejected"], 3, "Random seed 3"),
        (["--seed", "8"], 0, "Random seed 8"),
        (["--delta", "0.6"], 0, "δ = 0.6"),
        (["cases.csv"], 0, "cases.csv, 6 people"),
        (["--data", "cases.csv"], 0, "cases.csv, 6 people"),
    ],
)
def test_flags_override_it(flags, code, words, run, config):
    done = run("audit", *flags, "--config", config(WHOLE), "--verbose")

    assert done.code == code
    assert words in done.words


def test_bins_on_the_line_replace_those_of_the_file(run, config, folder):
    done = run("audit", "--bins.age", "24", "--config", config(WHOLE), "--verbose")
    result = expected(folder, bins={"age": [24]})

    assert f"Distinct rows {result.points}, " in done.words
    assert result.points != expected(folder, bins={"age": [22, 25]}).points


def test_each_command_has_its_table(run, config, tmp_path):
    path = config(WHOLE)

    assert run("sample-size", "--config", path).code == 0
    done = run("monitor", "people.csv", "--state", tmp_path / "state", "--config", path)
    assert done.code == 0
    assert "δ = 0.9: not settled." in done.words


DESCRIBED = """
[audit]
data = "people.csv"
label = "good"
prediction = "guess"
sensitive = ["race"]
features = ["race", "age"]
bins.age = [22, 25]

[monitor]
state = "audit.state"
"""


@pytest.fixture
def found(monkeypatch, tmp_path):
    """Write the file that is found in the working directory, which is the folder of cases."""

    def write(text):
        (tmp_path / "fairtransport.toml").write_text(text, encoding="utf-8")
        monkeypatch.setattr("fairtransport.cli.config_file.USUAL", tmp_path / "fairtransport.toml")

    return write


@pytest.mark.slow
def test_the_file_in_the_working_directory_tells_what_the_cases_are(shell, folder, tmp_path):
    (tmp_path / "fairtransport.toml").write_text(DESCRIBED.replace("people.csv", "mine.csv"))
    (tmp_path / "mine.csv").write_bytes((folder / "people.csv").read_bytes())

    done = shell("audit", "--seed", "1", "--json", "-", cwd=tmp_path)
    document = json.loads(done.out)

    assert done.code == 0
    taken = ["data", "label", "prediction", "sensitive", "features", "bins"]
    assert done.err == f"Note: 'fairtransport.toml' sets {', '.join(taken)}.\n"
    assert document["provenance"]["settings_taken"] == taken
    assert document["n"] == 400


def test_what_was_taken_is_said_of_a_named_file_too(run, config):
    done = run("audit", "--config", config(WHOLE), "--label", "good", "--json", "-")
    taken = json.loads(done.out)["provenance"]["settings_taken"]

    assert "fail-on" in taken
    assert "label" not in taken
    assert done.err.split() == f"Note: 'settings.toml' sets {', '.join(taken)}.".split()
    assert run("audit", "--config", config(WHOLE), "--quiet").err == ""


def flags_of(command):
    from fairtransport.cli.entry_point import app

    arguments = app[command].assemble_argument_collection()
    return {one.name.lstrip("-") for one in arguments if one.name.startswith("--")}


VALUES = {
    "alpha": "0.2", "budget": "0.5", "delta": "0.01", "power": "0.9", "resamples": "50",
    "seed": "3", "share-at-least": "3", "simulations": "3", "value": "0.2",
    "allow-pickle": "true", "until-sure": "true", "quiet": "true", "share": "true",
    "deterministic": "true", "proxies": "true", "verbose": "true",
    "fail-on": '"never"', "goal": '"certify"', "loss": '"brier"', "method": '"efron"',
    "similarity": '"mixed-tabular"', "similarity-settings": "{fit = 'people.csv'}",
}  # fmt: skip


@pytest.mark.parametrize(
    ("command", "key"),
    [(command, key) for command in ("audit", "monitor", "sample-size")
     for key in sorted(flags_of(command) - {"config", "debug"} - WITHOUT_A_NAME)],
)  # fmt: skip
def test_what_runs_code_writes_files_or_decides_needs_a_named_file(
    command, key, run, found, folder
):
    before = sorted(path.name for path in folder.iterdir())
    value = VALUES.get(key, "'x.html'")
    found(f"[{command}]\n{key.replace('-', '_')} = {value}\n")

    done = run(command)

    assert (done.code, done.out) == (2, "")
    assert f"'fairtransport.toml' must be named to set {key}, as it was only found" in done.err
    assert "add --config " in done.err
    assert sorted(path.name for path in folder.iterdir()) == before


def test_only_what_describes_cases_can_come_from_a_file_without_a_name():
    everything = flags_of("audit") | flags_of("monitor") | flags_of("sample-size")

    assert everything >= WITHOUT_A_NAME
    assert everything - WITHOUT_A_NAME == {
        "allow-pickle", "alpha", "at-a-time", "batch-size", "budget", "classes", "config", "debug",
        "deterministic", "clusters", "controls", "sample-weight",
        "until-sure", "query-limit", "draws", "about", "unit", "price-per-1000", "query-log",
        "repeats",
        "auditor", "data-name", "date", "title", "moves", "max-moves",
        "delta", "fail-on", "goal", "json", "prompt", "protocol", "retries", "served-model",
        "timeout", "token-variable",
        "judge", "loss", "loss-range", "method", "min-share", "model", "plot", "power", "quiet",
        "report", "resamples", "seed", "share", "share-at-least", "similarity",
        "similarity-settings", "simulations", "state", "targets", "train", "trust", "value",
        "junit", "proxies", "verbose",
    }  # fmt: skip


def test_a_flag_on_the_line_stands_in_for_what_the_file_may_not_set(run, found):
    found(DESCRIBED.replace("[monitor]", 'delta = 0.01\nfail-on = "never"\n[monitor]'))

    assert run("audit", "--delta", "0.01", "--fail-on", "rejected").code == 3
    refused = run("audit", "--delta", "0.01")
    assert (refused.code, refused.out) == (2, "")
    assert "must be named to set fail-on, as" in refused.err


def test_no_code_runs_from_a_file_that_was_found(run, tmp_path, folder):
    class Surprise:
        def __reduce__(self):
            return os.mkdir, (str(tmp_path / "ran"),)

    (tmp_path / "m.pkl").write_bytes(pickle.dumps(Surprise()))
    (tmp_path / "fairtransport.toml").write_text(
        '[audit]\nmodel = "m.pkl"\nallow-pickle = true\n', encoding="utf-8"
    )
    line = ["audit", folder / "people.csv", "--label", "good", "--sensitive", "race"]

    for more in ([], ["--allow-pickle"], ["--model", "m.pkl"]):
        done = run(*line, *more, cwd=tmp_path)
        assert (done.code, done.out) == (2, "")
        assert "must be named to set" in done.err
    assert not (tmp_path / "ran").exists()


def test_numba_reads_no_settings_from_the_working_directory(shell, tmp_path, folder):
    (tmp_path / ".numba_config.yaml").write_text("cache_dir: here\n")
    done = shell("audit", folder / "people.csv", *TOLD, cwd=tmp_path)

    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("Error: '.numba_config.yaml' must not be in the working directory")


@pytest.mark.parametrize(
    "text",
    ["[audit]\nbins = " + "[" * 9000, "[audit]\n" + "a." * 600 + "b = 1\n",
     "[audit]\nbins" + ".a" * 30 + " = 1\n", "[audit]\nseed = " + "9" * 5000],
    ids=["brackets", "dots", "some dots", "digits"],
)  # fmt: skip
def test_a_deep_file_is_one_sentence(text, run, config):
    done = run("audit", "people.csv", "--config", config(text))

    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("Error: 'settings.toml' must ")
    assert len(done.err) < 300


def test_a_given_file_replaces_the_usual_one(run, config, monkeypatch, tmp_path):
    monkeypatch.setattr("fairtransport.cli.config_file.USUAL", tmp_path / "usual.toml")
    (tmp_path / "usual.toml").write_text("[audit]\nno-such = 1\n")

    assert run("audit").err == (
        "Error: 'no-such' in 'usual.toml' is no setting of `fairtransport audit`\n"
    )
    assert run("audit", "--config", config(WHOLE)).code == 0


def test_commands_without_a_table_do_not_read_it(run, monkeypatch, tmp_path):
    monkeypatch.setattr("fairtransport.cli.config_file.USUAL", tmp_path / "usual.toml")
    (tmp_path / "usual.toml").write_text("not TOML at all")

    assert run("completion", "bash").code == 0


def test_values_in_a_file_may_hold_commas(run, config, tmp_path):
    cases = tmp_path / "cases.csv"
    cases.write_text('"race, or so",good,guess\na,1,1\nb,1,0\n')
    text = '[audit]\nlabel = "good"\nprediction = "guess"\nsensitive = ["race, or so"]\n'

    assert run("audit", cases, "--config", config(text)).code == 0
    assert "got 'race'" in run(
        "audit", cases, "--sensitive", "race, or so", "--config", config(text)
    ).err  # fmt: skip


def test_settings_of_a_similarity_have_a_table_of_their_own(run, config, monkeypatch):
    from fairtransport.similarity import IgnoreSensitive, registry

    seen = []

    def made(name, settings=None, **_):
        if settings is not None:  # a name alone is tried before any file is read
            seen.append((name, settings))
        return IgnoreSensitive()

    monkeypatch.setattr(registry, "similarity_from_settings", made, raising=False)
    text = WHOLE + '\n[audit.similarity-settings]\nk = 5\nfor = ["a", "b"]\nscale.age = 2.5\n'

    assert run("audit", "--config", config(text)).code == 0
    assert run("audit", "--config", config(WHOLE), "--similarity-settings.k", "7").code == 0
    assert seen == [
        ("ignore-sensitive", {"k": 5, "for": ["a", "b"], "scale": {"age": 2.5}}),
        ("ignore-sensitive", {"k": 7}),
    ]


def test_a_similarity_is_made_from_its_settings(run, config, folder):
    from fairtransport.similarity import MixedTabular

    text = WHOLE.replace("bins.age = [22, 25]", 'similarity = "mixed-tabular"')
    text = text.replace("budget = 0", "budget = 0.5")
    text += "\n[audit.similarity-settings]\nscales.age = 5\n"
    done = run("audit", "--config", config(text))
    result = expected(folder, similarity=MixedTabular({"age": 5}), budget=0.5, rng=3, delta=0.01)

    assert done.code == 0
    assert result.statistic != expected(folder, budget=0.5, rng=3).statistic
    assert f"{result.statistic:.4f}" in done.words
    wrong = run("audit", "--config", config(text), "--similarity-settings.scale.age", "5")
    assert wrong.code == 2
    assert "`scale` must be a setting of the similarity 'mixed-tabular'" in wrong.err


def test_the_example_of_the_documentation_runs(run, tmp_path):
    page = Path(__file__).parents[2] / "docs" / "command-line.md"
    (example,) = re.findall(r"```toml\n(.*?)```", page.read_text("utf-8"), re.DOTALL)
    (tmp_path / "fairtransport.toml").write_text(example, encoding="utf-8")
    rows = ["a,f,20,1,1", "b,f,20,1,0", "a,m,50,0,0", "b,m,50,0,0"] * 50
    text = "\n".join(["race,sex,age,reoffended,high_risk", *rows, ""])
    (tmp_path / "cases.csv").write_text(text, encoding="utf-8")

    named = ["--config", "fairtransport.toml"]
    assert run("audit", *named, cwd=tmp_path).code == 3
    assert run("monitor", "cases.csv", *named, cwd=tmp_path).code in {0, 3}
    assert (tmp_path / "audit.state").exists()


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (["--model", "model.skops"], "Compared with the same person in another group"),
        (["--prediction", "guess"], "Model queries none"),
    ],
)
def test_a_source_of_predictions_on_the_line_displaces_the_one_in_the_file(
    flags, words, run, config
):
    text = (
        '[audit]\nlabel = "good"\nsensitive = "race"\nfeatures = ["race", "age"]\nscore = "score"\n'
    )
    done = run("audit", "people.csv", *flags, "--config", config(text), "--verbose")

    assert done.code == 0, done.err
    assert words in done.words


def test_a_switch_is_no_text(run, config):
    path = config('[audit]\nallow-pickle = "yes"\n')
    done = run("audit", "people.csv", "--model", "model.pkl", "--config", path)

    assert done.code == 2
    assert (
        "'allow-pickle' in 'settings.toml' must be true or false, without quotes, got 'yes'"
        in done.err
    )


def history(folder):
    """People whom a similarity can be fitted on, with columns that an audit does not have."""
    rng = np.random.default_rng(1)
    race = rng.choice(["a", "b"], 80)
    people = pd.DataFrame({
        "race": race, "age": rng.integers(20, 30, 80) + 2 * (race == "a"), "good": 1, "guess": 0,
        "group": np.repeat(range(40), 2),
    })  # fmt: skip
    people.to_csv(folder / "history.csv", index=False)
    pairs = people[["age"]].add_suffix("_1")
    pairs["age_2"] = np.roll(people["age"], 1)
    pairs["comparable"] = (abs(pairs["age_1"] - pairs["age_2"]) < 3).astype(int)
    pairs.to_csv(folder / "pairs.csv", index=False)


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("ignore-sensitive", {"tolerance.age": "1"}),
        ("mixed-tabular", {"default-scale": "5"}),
        ("sensitive-subspace", {"fit": "history.csv"}),
        ("sensitive-subspace", {"fit": "history.csv", "sensitive-features": "race"}),
        ("sensitive-subspace", {"hold-out": "0.3"}),
        ("comparable-groups", {"fit": "history.csv", "group": "group"}),
        ("comparable-pairs", {"fit": "pairs.csv"}),
    ],
)
@pytest.mark.parametrize("in_file", [True, False])
def test_every_similarity_can_be_named(name, settings, in_file, run, config, tmp_path):
    history(tmp_path)
    line = ["people.csv", "--label", "good", "--prediction", "guess", "--sensitive", "race"]
    if in_file:
        rows = [f'{key} = "{value}"' if key in FILE_WORDS else f"{key} = {value}"
                for key, value in settings.items()]  # fmt: skip
        text = f'[audit]\nsimilarity = "{name}"\n[audit.similarity-settings]\n' + "\n".join(rows)
        flags = ["--config", config(text)]
    else:
        flags = ["--similarity", name]
        for key, value in settings.items():
            where = tmp_path / value if key == "fit" else value
            flags += [f"--similarity-settings.{key}", where]
    # of one feature a learned distance leaves nothing
    done = run("audit", *line, "--budget", "0.05", "--fail-on", "never", "--verbose", *flags)

    assert done.code == 0, done.err
    assert "FaiTH statistic" in done.words


TOLD = ["--label", "good", "--prediction", "guess", "--sensitive", "race"]
FILE_WORDS = ("fit", "group", "sensitive-features")


def test_what_a_similarity_lacks_is_named_by_its_flag(run, tmp_path):
    history(tmp_path)
    line = [
        "audit",
        "people.csv",
        "--label",
        "good",
        "--prediction",
        "guess",
        "--sensitive",
        "race",
    ]
    none = run(*line, "--similarity", "sensitive-subspace")
    absent = run(*line, "--similarity", "sensitive-subspace", "--similarity-settings.fit", "no.csv")
    short = run(*line, "--similarity", "comparable-groups", "--similarity-settings.fit",
                tmp_path / "history.csv")  # fmt: skip

    assert (none.code, absent.code, short.code) == (2, 2, 2)
    assert "`--similarity-settings.fit` must be the file that the similarity" in none.err
    assert "there is no file 'no.csv' for `--similarity-settings.fit`" in absent.err
    assert "`--similarity-settings.group` must name the column" in short.err


@pytest.mark.slow
def test_a_monitor_goes_on_with_the_same_learned_similarity_only(run, tmp_path):
    history(tmp_path)
    line = ["monitor", "people.csv", *TOLD, "--state", tmp_path / "s", "--delta", "0.95",
            "--similarity", "sensitive-subspace",
            "--similarity-settings.fit", tmp_path / "history.csv"]  # fmt: skip
    codes = [run(*line).code, run(*line).code]
    other = run(*line, "--similarity-settings.penalty", "3")

    assert codes == [0, 0]
    assert other.code == 2
    assert "`--similarity` must be that of the saved state, with the same settings" in other.err


def test_missing_data_of_a_file_are_told_with_where_they_were_looked_for(run, config, folder):
    done = run("audit", "--config", config(WHOLE.replace("people.csv", "none.csv")))

    assert done.code == 2
    said = " ".join(done.err.split())
    assert "there is no file 'none.csv' for 'data' in 'settings.toml'" in said
    assert str(folder) in said.replace(" ", "")
