"""Markdown that no string from the data can break."""

import re

from fairtransport.report import render_markdown
from fairtransport.report.markdown import escape, prose
from tests.report.samples import HOSTILE, hostile, sample


def tables(text):
    """Return the lines of each table."""
    return [
        [line for line in block.split("\n") if line.startswith("|")]
        for block in text.split("\n\n")
        if block.startswith("|")
    ]


def columns(line):
    return len(re.findall(r"(?<!\\)\|", line)) - 1


def test_tables_keep_their_columns_whatever_the_data():
    for summary in (sample(), hostile()):
        found = tables(render_markdown(summary))
        assert len(found) == 5
        for lines in found:
            assert len({columns(line) for line in lines}) == 1


def test_no_html_and_no_line_comes_from_the_data():
    text = render_markdown(hostile())
    wanted = render_markdown(sample())

    assert "<" not in text.replace("p < 0.0001", "")
    assert not set(text) & set("\u202e\u2028\u0000\u001b")
    headings = [line for line in text.split("\n") if line.startswith("#")]
    assert headings == [line for line in wanted.split("\n") if line.startswith("#")]


def test_escaped_text_has_no_bare_mark():
    for attack in HOSTILE:
        assert not re.search(r"(?<!\\)[`|*\[\]]", escape(attack).replace("\\\\", ""))


def test_moves_that_are_not_shown_are_counted():
    text = render_markdown(sample(), most_moves=2, title="A | model")

    assert text.startswith("# A \\| model\n")
    assert "The JSON document has 4 more." in text
    assert len(tables(text)[1]) == 2 + 2


def test_code_stays_code_and_only_if_it_is_plain():
    assert prose("declare `levels`; `a|b` *x*") == "declare `levels`; \\`a\\|b\\` \\*x\\*"
