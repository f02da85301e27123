"""Markdown that no string from the data can break."""

import html
import re
from dataclasses import replace

from fairtransport.report import render
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
        found = tables(render(summary, "markdown"))
        assert len(found) == 8
        for lines in found:
            assert len({columns(line) for line in lines}) == 1


def test_no_html_and_no_line_comes_from_the_data():
    text = render(hostile(), "markdown")
    wanted = render(sample(), "markdown")

    assert "<" not in text.replace("p < 0.0001", "")
    assert not set(text) & set("\u202e\u2028\u0000\u001b")
    headings = [line for line in text.split("\n") if line.startswith("#")]
    assert headings == [line for line in wanted.split("\n") if line.startswith("#")]


def test_escaped_text_has_no_bare_mark():
    for attack in HOSTILE:
        assert not re.search(r"(?<!\\)[`|*\[\]]", escape(attack).replace("\\\\", ""))


def test_moves_that_are_not_shown_are_counted():
    text = render(sample(), "markdown", max_moves=2, title="A | model")

    assert text.startswith("# A \\| model\n")
    assert "2 of 6 swaps are shown" in text
    people, moves = (tables(text)[at] for at in (1, 6))
    assert len(people) == len(moves) == 2 + 2


def test_code_stays_code_and_only_if_it_is_plain():
    assert prose("declare `levels`; `a|b` *x*") == "declare `levels`; \\`a\\|b\\` \\*x\\*"


LIVE = [
    "https://evil.example/x", "HTTP://EVIL.example", "ftp://evil.example", "www.evil.example",
    "(www.evil.example)", "me@evil.example", "mailto:me@evil.example", "@octocat", "see @some/team",
    "#123", "owner/repo#12", "GH-12", ":smile:", ":+1:", "a94a8fe5ccb19ba61c4c0873d391e987982fbbd3",
    "http&colon;//evil.example", "&#104;ttps://evil.example", "[^1]", "[x](https://evil.example)",
    "<https://evil.example>", "- [ ] task", "a | b", "one\ntwo", "~~gone~~", "![x](https://evil.example)",
]  # fmt: skip
# what GitHub looks for in text that is shown, links of its own making included
FOUND = re.compile(
    r"(?:https?|ftp)://\S|\bwww\.\w|[\w.+-]@[\w-]|(?<!\w)@\w|#\d|\bGH-\d|:[\w+-]+:|\b[0-9a-f]{40}\b",
    re.IGNORECASE,
)


def shown(text):
    """Return the HTML that Markdown becomes, tables included."""
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark").enable(["table", "strikethrough"]).render(text)


def test_the_patterns_find_what_is_live():
    assert all(FOUND.search(text) for text in LIVE[:15])


def test_nothing_from_the_data_becomes_a_link_a_picture_or_a_mark():
    one = sample()
    profiles = [{**one.moves[0].from_profile, "age_cat": text} for text in LIVE]
    moves = tuple(replace(one.moves[0], from_profile=profile) for profile in profiles)
    warned = sample(moves=moves, warnings=tuple(LIVE))
    warned = replace(warned, provenance=replace(one.provenance, model="me@evil.example"))
    page = shown(render(warned, "markdown", max_moves=len(LIVE)))
    words = html.unescape(re.sub(r"<[^>]*>", "", page))

    assert not re.search("<(a|img|del|input|sup)[ >]", page)
    assert FOUND.search(words) is None
    # a reader sees the text as it is
    for text in LIVE:
        assert text.replace("\n", "⟨U+000A⟩") in words.replace("\u2060", "")
