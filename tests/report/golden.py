"""The documents that must not change unnoticed; `python -m tests.report.golden` renews them."""

import re
from pathlib import Path

from fairtransport.report import (
    render_comparison_html,
    render_comparison_markdown,
    render_family_html,
    render_family_markdown,
    render_fragment,
    render_html,
    render_markdown,
)
from tests.report.samples import comparison, family, sample, with_budget

FOLDER = Path(__file__).parent / "golden_files"


def structure(html):
    """Return a report without scripts, styles and their hashes, which libraries decide."""
    html = re.sub(r"(<script[^>]*>).*?(</script>)", r"\1\2", html, flags=re.DOTALL)
    html = re.sub(r"(<style>).*?(</style>)", r"\1\2", html, flags=re.DOTALL)
    return re.sub(r"&#39;sha256-[^;]*?&#39;", "(hash)", html)


def documents():
    """Return the text of every golden file by its name."""
    return {
        "audit.json": sample().to_json(),
        "audit_with_budget.json": with_budget().to_json(),
        "report.md": render_markdown(sample()),
        "report_with_budget.md": render_markdown(with_budget()),
        "fragment.html": render_fragment(sample()),
        "report.html": structure(render_html(sample())),
        "report_with_budget.html": structure(render_html(with_budget())),
        "family.md": render_family_markdown(family()),
        "family.html": structure(render_family_html(family())),
        "comparison.md": render_comparison_markdown(comparison()),
        "comparison.html": structure(render_comparison_html(comparison())),
    }


if __name__ == "__main__":
    for name, text in documents().items():
        (FOLDER / name).write_text(text, encoding="utf-8")
