"""What the pages of the site print is what their code prints."""

import re
from pathlib import Path

import pytest

from tests.pages import BLOCK, as_run

DOCS = Path(__file__).parents[1] / "docs"
PAGES = {str(page.relative_to(DOCS)): page.read_text("utf-8") for page in DOCS.rglob("*.md")}
LONG = {"how-to/coming-from.md", "proxies.md"}
"""Pages whose audits take many seconds."""
MAX_WORDS = 1500
NOT_PROSE = re.compile(
    r"^(```+|:::+)[^\n]*\n.*?^\1$"  # code and directives
    r"|<!--.*?-->|^\|[^\n]*$|(?<=\])\([^)]*\)",  # comments, rows of tables, addresses of links
    re.MULTILINE | re.DOTALL,
)


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


def count_words(page):
    """Count the words of a page's prose: no code, no tables, no addresses."""
    return len(NOT_PROSE.sub("", page).split())


@pytest.mark.parametrize("name", sorted(PAGES.keys() - {"theory.md"}))
def test_a_page_is_not_long(name):
    assert count_words(PAGES[name]) <= MAX_WORDS


def test_words_are_counted_in_prose_alone():
    page = "# Two words\n\n```python\n>>> 1\n1\n```\n\n| a | b |\n|---|---|\n\n[A link](x.md#y)\n"

    assert count_words(page) == 5  # the mark of the heading is one
    assert count_words("word " * (MAX_WORDS + 1)) > MAX_WORDS


def test_a_page_that_shows_something_else_is_seen():
    page = "```python\n>>> 1 + 1\n3\n```\n"

    assert as_run(page) == page.replace("3", "2")
