"""README and docs say what the code does."""

import doctest
import json
import os
import re
import runpy
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def tables():
    """The names of the script that makes the tables."""
    return runpy.run_path(str(ROOT / "scripts" / "make_tables.py"))


def test_the_readmes_python_runs_as_shown():
    failures, tried = doctest.testfile(
        str(ROOT / "README.md"), module_relative=False, encoding="utf-8"
    )
    assert tried >= 8
    assert failures == 0


@pytest.mark.slow
def test_the_readmes_demo_output_is_real(tmp_path):
    shown = re.search(
        r"\$ fairtransport demo\n(.*?)```", (ROOT / "README.md").read_text("utf-8"), re.DOTALL
    )[1]
    run = subprocess.run(
        [sys.executable, "-m", "fairtransport", "demo"],
        capture_output=True, check=True, encoding="utf-8", cwd=tmp_path,
        env={name: value for name, value in os.environ.items() if name.startswith("NUMBA_")}
        | {"PYTHONIOENCODING": "utf-8", "COLUMNS": "100", "PATH": ""},
    )  # fmt: skip
    # blanks at the end of a line are not seen, and do not last in a page
    printed = [line.rstrip() for line in run.stdout.strip().splitlines()]
    assert printed == shown.strip().splitlines()
    assert (tmp_path / "report.html").stat().st_size < 1_200_000


def test_the_readmes_audit_is_that_of_the_tutorial():
    page = (ROOT / "docs" / "tutorials" / "file.md").read_text("utf-8")
    shown = re.search(
        r"^\$ fairtransport audit.*?(?=```)",
        (ROOT / "README.md").read_text("utf-8"),
        re.DOTALL | re.MULTILINE,
    )[0]

    assert shown in page  # whose output is run


def test_the_tables_of_the_docs_are_those_of_the_files(tables):
    pages = {path: path.read_text("utf-8") for path in (ROOT / "docs").rglob("*.md")}
    names = [name for text in pages.values() for name in re.findall(r"<!-- table (\S+) -->", text)]
    assert sorted(names) == sorted(tables["TABLES"])
    for path, text in pages.items():
        assert tables["renew_tables"](text) == text, path.name


def test_the_families_of_true_nulls_keep_their_level():
    rows = json.loads((ROOT / "docs" / "families.json").read_text("utf-8"))
    nulls = [row for row in rows if row["case"].startswith("ten true nulls")]
    assert len(nulls) == 2
    for row in nulls:
        assert row["repetitions"] == 1000
        assert row["wrong"] <= 0.05


def load_figures(name):
    """Return the figures of a simulation."""
    return json.loads((ROOT / "docs" / f"{name}.json").read_text("utf-8"))


def read_words(name):
    """Return the text of a page in one line."""
    return " ".join((ROOT / "docs" / name).read_text("utf-8").split())


def test_the_words_on_questions_are_those_of_the_simulation():
    found, words = load_figures("questions"), read_words("simulations.md")
    at_delta = []
    for row in (*found["many"], *found["stops"]):
        if row["psi"] == row["delta"]:
            at_delta.append(row)
        else:  # "All audits reach the right verdict, except at ψ = δ"
            right = "rejected" if row["psi"] > row["delta"] else "certified"
            assert row[right] == row["runs"]
    (row,) = at_delta
    assert row["runs"] == 1000
    # either verdict is an error there, each of probability .05 at most
    errors = {word: row[word] / row["runs"] for word in ("rejected", "certified")}
    assert max(errors.values()) <= most_errors(row["runs"])
    told = " and ".join(f"{100 * share:.1f} % {word}" for word, share in errors.items())
    assert f"either is an error: {told}" in words
    (easy,) = [row for row in found["many"] if row["psi"] == 4 * row["delta"]]
    recipe = read_words("questions.md")
    assert f"[{easy['questions']:.0f} of {easy['all questions']:,} queries]" in recipe
    power = {}
    for row in found["draws"]:
        runs = row["runs"]
        assert row["false alarms"] <= most_errors(runs) * runs
        if row["reference"] is not None:
            (share,) = row["reference"]
            # two simulations, the other one of 200 samples: three standard errors, or one sample
            error = (share * (1 - share) * (1 / runs + 1 / 200)) ** 0.5
            assert abs(row["found"] / runs - share) <= 3 * error + 1 / runs
            power[row["box"], row["draws"], row["about"]] = f"{100 * row['found'] / runs:.0f} %"
    assert f"it was {power['one group', 20, 'population']} if one group" in recipe
    assert f"It was {power['signs differ', 20, 'population']} if the worse group" in recipe


def test_the_words_on_designs_are_those_of_the_simulation():
    rows, words = load_figures("designs"), read_words("simulations.md")
    found = {row["world"]: row for row in rows}
    by_rows = max(row["by rows"] for row in rows)
    assert f"reject falsely in up to {100 * by_rows:.1f} % of samples" in words
    robust = max(row["robust upper misses"] for row in rows)
    assert f"U is wrong in up to {100 * robust:.1f} %" in words
    sizes = [found[f"100 × 1–30, informative{given}"] for given in ("", ", given the sizes")]
    told = " to ".join(f"{100 * row['found']:.0f} %" for row in sizes)
    assert f"Without declared sizes the power falls from {told}" in words
    assert {row["psi"] for row in rows if "budget" not in row["world"]} == {0.1}
    assert {short(row["psi"]) for row in rows if "budget" in row["world"]} == {".255"}
    assert 0.3 < found["20 × 50"]["by rows"] < 0.36
    assert "a third of the audits at level 5 %" in read_words("how-to/designs.md")


def test_the_words_on_controls_are_those_of_the_simulation():
    rows, words = load_figures("controls"), read_words("simulations.md")
    found = {row["world"]: row for row in rows}
    assert {row["rejected without controls"] for row in rows} == {1.0}
    errors = f"{100 * found['no effect, controls alike']['permutation']:.1f} %"
    assert f"then errs in {errors} of samples" in words
    for row in rows:
        ratio = (row["upper"] - row["lower"]) / (row["normal upper"] - row["normal lower"])
        assert f"{ratio:.1f}" in {"1.2", "1.3"}
    assert "The audit's interval is about 1.2 times as wide" in words
    (rejected,) = {row["rejected"] for row in rows if row["difference"] == 0}
    told = f"audits rejected in {100 * rejected:.1f} % of samples"
    assert told in read_words("how-to/controls.md")


def test_the_words_on_comparisons_are_those_of_the_simulation():
    found, words = load_figures("differences"), read_words("simulations.md")
    (power,) = [row for row in found["power"] if (row["n"], round(row["truth"], 6)) == (1000, 0.03)]
    shares = [f"{100 * power[name]:.0f} %" for name in ("paired", "mcnemar", "apart")]
    told = "show the difference in {} of samples, McNemar's exact test in {}, two separate"
    assert f"{told.format(*shares)} intervals in {shares[2]}" in words
    widths = {(row["case"], row["n"]): row["paired_over_apart"] for row in found["coverage"]}
    assert round(widths["no budget, models agree on 90 %", 1000], 2) == 0.2
    assert "a fifth as wide at n = 1000" in read_words("compare.md")


def test_the_words_on_families_are_those_of_the_simulation():
    rows = load_figures("families")
    wrong = max(row["wrong"] for row in rows if row["case"].startswith("ten true nulls"))
    told = f"at most {100 * wrong:.1f} % of families had a wrong verdict"
    assert told in read_words("families.md")
    assert {row["to_reject"] for row in rows if "budget" in row["case"]} == {0}


def test_no_bound_or_verdict_of_the_simulations_errs_more_often_than_is_told():
    words = "No bound or verdict of an audit erred in more than 5 % of samples"
    assert words in read_words("simulations.md")
    names = "lower misses", "upper misses"
    errors = [row[name] for row in load_figures("designs") for name in names]
    errors += [row[name] for row in load_figures("controls") for name in names]
    errors += [row["rejected"] for row in load_figures("controls") if row["difference"] == 0]
    questions = load_figures("questions")
    errors += [row["false alarms"] / row["runs"] for row in questions["draws"]]
    coverage = load_figures("differences")["coverage"]
    errors += [1 - row[side] for row in coverage for side in ("lower", "upper")]
    errors += [
        row[name] or 0 for row in load_figures("families") for name in ("wrong", "intervals_miss")
    ]
    assert max(errors) <= 0.05


def test_the_page_on_architecture_has_a_row_for_every_folder():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    layers = project["tool"]["importlinter"]["contracts"][0]["layers"]
    folders = {folder for layer in layers for folder in layer.split(" | ")}
    page = (ROOT / "docs" / "architecture.md").read_text("utf-8")

    assert set(re.findall(r"^\| `([a-z_]+)` \|", page, re.MULTILINE)) == folders


def test_links_between_pages_lead_somewhere():
    for page in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")]:
        for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text("utf-8")):
            assert (page.parent / target).exists(), f"{page.name}: {target}"


def test_the_bounds_of_differences_keep_their_level():
    found = json.loads((ROOT / "docs" / "differences.json").read_text("utf-8"))
    for row in found["coverage"]:
        least = 0.95 - 3 * (0.05 * 0.95 / row["repetitions"]) ** 0.5
        assert min(row["lower"], row["upper"]) >= least, row["case"]
        if "agree" in row["case"] or "similar" in row["case"]:
            assert row["paired_over_apart"] <= 0.6
    for row in found["power"]:
        assert row["truth"] > 0 or max(row["paired"], row["apart"]) <= 0.08


def short(number):
    """Write a number as the pages do: .255."""
    return f"{number:.3f}".removeprefix("0")


def most_errors(samples, level=0.05):
    """The share of errors that is no surprise at a level: three binomial errors above it."""
    return level + 3 * (level * (1 - level) / samples) ** 0.5


@pytest.mark.parametrize("name", ["designs", "controls"])
def test_the_bounds_of_designs_and_controls_keep_their_level(name):
    rows = json.loads((ROOT / "docs" / f"{name}.json").read_text("utf-8"))
    assert rows
    for row in rows:
        assert row["samples"] >= 500
        errors = [row["lower misses"], row["upper misses"]]
        errors += [row["rejected"]] if row.get("difference") == 0 else []
        assert max(errors) <= most_errors(row["samples"]), row["world"]


def test_counterparts_accuse_no_innocent_model():
    figures = json.loads((ROOT / "docs" / "counterparts.json").read_text("utf-8"))
    level = figures["gate_level"]
    assert level["opened"] <= most_errors(level["samples"], 0.025)
    for row in figures["worlds"]:
        assert row["samples"] >= 200
        assert row["above_truth"] <= most_errors(row["samples"]), row["world"]
        if row["innocent"]:
            assert row["rejected"]["0"] <= most_errors(row["samples"], 0.025), row["world"]


def test_counterparts_of_real_people_are_possible():
    figures = json.loads((ROOT / "docs" / "adult_counterparts.json").read_text("utf-8"))
    assert figures["coins"].count("not-applicable") >= len(figures["coins"]) - 1 == 9
    for row in figures["audits"]:
        impossible = "female_husbands", "male_wives", "unmarried_spouses"
        assert max(row[name] for name in impossible) < 0.01


def test_no_page_but_the_theory_is_long():
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    words = {page.name: len(page.read_text("utf-8").split()) for page in pages}
    assert [name for name, count in words.items() if count > 1500] == ["theory.md"]
