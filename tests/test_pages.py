"""What the pages of the site print is what their code prints."""

from pathlib import Path

import pytest

from tests.pages import BLOCK, as_run

DOCS = Path(__file__).parents[1] / "docs"
PAGES = {str(page.relative_to(DOCS)): page.read_text("utf-8") for page in DOCS.rglob("*.md")}
LONG = {"how-to/coming-from.md", "proxies.md"}
"""Pages whose audits take many seconds."""


def marks_of(name):
    # what the extra `reproduce` brings is not there where only versions differ
    reproduces = [pytest.mark.reproduce] if "from aif360" in PAGES[name] else []
    return reproduces + [pytest.mark.slow] * (name in LONG)


RUN = [
    pytest.param(name, marks=marks_of(name))
    for name, page in sorted(PAGES.items())
    if "\n>>> " in page
]


@pytest.mark.parametrize("name", RUN)
def test_a_page_runs_as_shown(name):
    page = PAGES[name]

    assert as_run(page) == page
    assert ">>> " not in BLOCK.sub("", page)  # nothing stands where it is not run


def test_a_page_that_shows_something_else_is_seen():
    page = "```python\n>>> 1 + 1\n3\n```\n"

    assert as_run(page) == page.replace("3", "2")
