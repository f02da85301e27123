"""README and docs say what the code does."""

import doctest
import json
import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def test_the_readmes_python_runs_as_shown():
    failures, tried = doctest.testfile(
        str(ROOT / "README.md"), module_relative=False, encoding="utf-8"
    )
    assert tried >= 8
    assert failures == 0


@pytest.mark.parametrize("page", ["datasets.md", "selection.md", "similarity.md"])
def test_the_python_of_the_docs_runs_as_shown(page):
    failures, tried = doctest.testfile(
        str(ROOT / "docs" / page), module_relative=False, encoding="utf-8"
    )
    assert tried >= 3
    assert failures == 0


def test_the_readmes_demo_output_is_real(tmp_path):
    shown = re.search(
        r"\$ make demo\n(.*?)```", (ROOT / "README.md").read_text("utf-8"), re.DOTALL
    )[1]
    run = subprocess.run(
        [sys.executable, "-m", "fairtransport", "demo"],
        capture_output=True, check=True, encoding="utf-8", cwd=tmp_path,
        env={"PYTHONIOENCODING": "utf-8", "COLUMNS": "100", "PATH": ""},
    )  # fmt: skip
    assert run.stdout.strip() == shown.strip()
    assert (tmp_path / "report.html").stat().st_size < 1_200_000


def test_the_coverage_table_is_that_of_the_simulation():
    script = runpy.run_path(str(ROOT / "scripts" / "make_validity_table.py"))
    page = (ROOT / "docs" / "validity.md").read_text("utf-8")
    rows = json.loads((ROOT / "docs" / "validity.json").read_text("utf-8"))
    assert script["page"](page, rows) == page


def test_links_between_pages_lead_somewhere():
    for page in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("*.md")]:
        for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text("utf-8")):
            assert (page.parent / target).exists(), f"{page.name}: {target}"


def test_the_page_on_the_paper_shows_the_table_that_was_made():
    page = (ROOT / "docs" / "reproduction.md").read_text("utf-8")
    shown = re.search(r"<!-- table1 -->\n(.*?)\n<!-- end of table1 -->", page, re.DOTALL)[1]
    assert shown == (ROOT / "docs" / "reproduction" / "table1.md").read_text("utf-8").rstrip()
