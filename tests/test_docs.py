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


def test_the_words_on_questions_are_those_of_the_simulation():
    page = (ROOT / "docs" / "questions.md").read_text("utf-8")
    found = json.loads((ROOT / "docs" / "questions.json").read_text("utf-8"))
    (at_delta,) = [row for row in found["stops"] if row["psi"] == row["delta"]]
    assert at_delta["runs"] == 1000
    # either verdict is an error there, each of probability .05 at most: three standard errors
    for word in ("rejected", "certified"):
        assert at_delta[word] <= 50 + 3 * (1000 * 0.05 * 0.95) ** 0.5
    for row in found["many"]:
        assert row["rejected" if row["psi"] else "certified"] == row["runs"]
    (easy,) = [row for row in found["many"] if row["psi"] == 4 * row["delta"]]
    assert f"{easy['questions']:.0f} of {easy['all questions']:,} questions were asked" in page
    for row in found["draws"]:
        runs = row["runs"]
        assert row["false alarms"] <= 0.05 * runs + 3 * (runs * 0.05 * 0.95) ** 0.5
        if row["reference"] is not None:
            (share,) = row["reference"]
            # two simulations, the other one of 200 samples: three standard errors, or one sample
            error = (share * (1 - share) * (1 / runs + 1 / 200)) ** 0.5
            assert abs(row["found"] / runs - share) <= 3 * error + 1 / runs


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
