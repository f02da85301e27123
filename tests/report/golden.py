"""The documents that must not change unnoticed; `python -m tests.report.golden` renews them."""

import re
from pathlib import Path

from fairtransport.report import render
from tests.report.samples import comparison, family, sample, with_budget

FOLDER = Path(__file__).parent / "golden_files"


def structure(html):
    """Return a report without scripts, styles and their hashes, which libraries decide."""
    html = re.sub(r"(<script[^>]*>).*?(</script>)", r"\1\2", html, flags=re.DOTALL)
    html = re.sub(r"(<style>).*?(</style>)", r"\1\2", html, flags=re.DOTALL)
    return re.sub(r"&#39;sha256-[^;]*?&#39;", "(hash)", html)


def documents():
    """Return the text of every golden file by its name: one a kind and format."""
    return {
        "audit.html": structure(render(sample(), "html")),
        # the sentences are those of the page, so that another audit shows others
        "audit.md": render(with_budget(), "markdown"),
        "audit.json": sample().to_json(),
        "comparison.html": structure(render(comparison(), "html")),
        "comparison.md": render(comparison(), "markdown"),
        "comparison.json": comparison().to_json(),
        "family.html": structure(render(family(), "html")),
        "family.md": render(family(), "markdown"),
        "family.json": family().to_json(),
    }


if __name__ == "__main__":
    for path in FOLDER.iterdir():
        path.unlink()
    for name, text in documents().items():
        (FOLDER / name).write_text(text, encoding="utf-8")
