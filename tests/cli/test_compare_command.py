"""fairtransport compare: models in files, side by side."""

import json

import pytest

LINE = ("compare", "people.csv", "--label", "good", "--sensitive", "race", "--seed", "1")


@pytest.fixture(scope="module")
def models(folder, tmp_path_factory):
    """Two model files: one that uses race as the people's predictions do, one that does not."""
    import pandas as pd
    import skops.io as skops
    from tests.cli.conftest import fitted

    people = pd.read_csv(folder / "people.csv")
    made = tmp_path_factory.mktemp("models")
    skops.dump(fitted(people, ["race", "age"]), made / "uses.skops")
    blind = people.assign(guess=(people["age"] > people["age"].min()).astype(int))
    skops.dump(fitted(blind, ["race", "age"]), made / "blind.skops")
    return {"uses": made / "uses.skops", "blind": made / "blind.skops"}


def named(models, *names):
    return [part for name in names for part in ("--model", f"{name}={models[name]}")]


def test_a_model_with_less_bias_ends_in_0_and_the_screen_says_so(run, models):
    done = run(*LINE, *named(models, "uses", "blind"))

    assert done.code == 0
    assert "Less individual bias in blind than in uses." in done.words
    assert "It is shown (certified) that blind has no more individual bias than uses." in done.words
    assert "✓\u00a0better" in done.out


def test_a_model_that_is_worse_ends_in_3(run, models):
    done = run(*LINE, *named(models, "blind", "uses"))

    assert done.code == 3
    assert "More individual bias in uses than in blind." in done.words
    assert run(*LINE, *named(models, "blind", "uses"), "--fail-on", "never").code == 0
    tolerant = run(*LINE, *named(models, "blind", "uses"), "--tolerance", "0.5")
    assert tolerant.code == 0
    assert "More individual bias in uses than in blind, within the tolerance." in tolerant.words


def test_what_is_not_certified_ends_in_4_when_asked_for(run, models):
    same = named(models, "uses"), ("--model", f"again={models['uses']}")
    line = (*LINE, *same[0], *same[1], "--fail-on", "not-certified")

    assert run(*line).code == 4
    assert run(*line, "--tolerance", "0.1").code == 0


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (("blind", "uses"), "Note: More individual bias in uses than in blind."),
        (("uses", "blind"), ""),
    ],
)
def test_quiet_says_why_a_comparison_failed(run, models, names, message):
    done = run(*LINE, *named(models, *names), "--quiet")

    assert (done.out, done.err.strip()) == ("", message)


def test_the_tolerance_is_named_as_its_flag(run, models):
    done = run(*LINE, *named(models, "blind", "uses"), "--tolerance", "5")

    assert done.code == 2
    assert "Error: `--tolerance` must be a fraction from 0 to below 1" in done.err


def test_the_seed_is_printed(run, models):
    assert "Seed 1." in run(*LINE, *named(models, "uses", "blind")).words


def test_the_tolerated_verdict_is_the_same_in_words_and_in_the_table(run, models):
    done = run(*LINE, *named(models, "blind", "uses"), "--tolerance", "0.5")

    assert "More individual bias in uses than in blind, within the tolerance." in done.words
    assert "?\u00a0more" in done.out
    assert "undecided" not in done.out


def test_files_hold_the_comparison(run, models, tmp_path):
    files = ("--report", tmp_path / "page.html", "--json", tmp_path / "found.json")
    done = run(*LINE, *named(models, "uses", "blind"), *files)

    assert f"Wrote {tmp_path / 'page.html'}" in done.out
    assert "Less individual bias in blind than in uses" in (tmp_path / "page.html").read_text(
        "utf-8"
    )
    document = json.loads((tmp_path / "found.json").read_text("utf-8"))
    assert (document["verdict"], document["provenance"]["seed"]) == ("better", 1)


def test_a_document_on_standard_output_is_all_there_is(run, models):
    done = run(*LINE, *named(models, "uses", "blind"), "--json", "-")
    assert json.loads(done.out)["schema"] == "fairtransport-comparison/1"


def test_columns_of_predictions_are_compared_without_bounds(run):
    done = run(*LINE, "--features", "race,age", "--prediction", "old=guess",
               "--prediction", "new=good")  # fmt: skip
    assert done.code == 2
    assert "`--prediction` must not be the column of the true labels, got 'good'" in done.err
    done = run("compare", "cases.csv", "--sensitive", "race", "--features", "race,age", "--loss",
               "outcome", "--score", "old=score", "--score", "new=guess")  # fmt: skip
    assert done.code == 0
    assert "Note: Differences have no bounds" in done.out


def test_a_settings_file_has_a_table_for_it(run, models, tmp_path):
    listed = ", ".join(f'"{name}={path}"' for name, path in models.items())
    (tmp_path / "both.toml").write_text(
        f'[compare]\nlabel = "good"\nsensitive = ["race"]\nmodel = [{listed}]\nseed = 1\n'
    )
    done = run("compare", "people.csv", "--config", tmp_path / "both.toml")
    assert (done.code, "Less individual bias in blind than in uses" in done.words) == (0, True)


WRONG = {
    "no model": ((), "exactly one of `--model`, `--prediction` and `--score` must be given"),
    "one model": (("--model", "a=model.skops"), "`--model` must name at least two models, got 'a'"),
    "no name": (
        ("--model", "model.skops", "--model", "b=model.skops"),
        (
            "`--model` must be a name for the model, = and its value, as in --model old=…, got "
            "'model.skops'"
        ),
    ),
    "twice": (
        ("--model", "a=model.skops", "--model", "a=other.skops"),
        "`--model` must have different names, got 'a' twice",
    ),
    "no file": (("--model", "a=none.skops", "--model", "b=model.skops"), "there is no model file"),
    "tolerance": (
        ("--model", "a=model.skops", "--model", "b=model.skops", "--tolerance", "-1"),
        "`--tolerance` must be a number of at least 0, got -1.0",
    ),
    "over an input": (
        ("--model", "a=model.skops", "--model", "b=model.skops", "--json", "model.skops"),
        "`--json` must not be another file of this command",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_lines_are_refused_in_a_sentence(run, name):
    arguments, sentence = WRONG[name]
    done = run(*LINE, *arguments)
    assert done.code in {1, 2}
    assert sentence in " ".join(done.err.split())
