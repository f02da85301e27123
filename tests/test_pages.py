"""What the pages of the site print is what their code prints."""

from pathlib import Path

import pytest

from tests.pages import as_run

DOCS = Path(__file__).parents[1] / "docs"
PAGES = sorted(
    str(page.relative_to(DOCS))
    for room in ("tutorials", "how-to", "explanation", "reference")
    for page in (DOCS / room).glob("*.md")
)


@pytest.mark.parametrize("name", [name for name in PAGES if "\n>>> " in (DOCS / name).read_text()])
def test_a_page_runs_as_shown(name):
    page = (DOCS / name).read_text("utf-8")

    assert as_run(page) == page


def test_a_page_that_shows_something_else_is_seen():
    page = "```python\n>>> 1 + 1\n3\n```\n"

    assert as_run(page) == page.replace("3", "2")
