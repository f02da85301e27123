"""The report of several audits: right words, all numbers, nothing of the data alive."""

import json
import re
from dataclasses import replace

import jsonschema
import pytest

from fairtransport.documents.family import family_schema
from fairtransport.report import render
from fairtransport.report.charts import family_chart
from fairtransport.report.sections.family import (
    counts_sentence,
    family_row,
    family_title,
    intervals_sentence,
    promise_sentence,
)
from fairtransport.report.terminal import print_family
from tests.report.page_checks import check_headings
from tests.report.samples import family, hostile_family

BIDI = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f\u061c"


def with_verdicts(*verdicts):
    one = family().members[0]
    return family(members=tuple(replace(one, verdict=verdict) for verdict in verdicts))


@pytest.fixture(scope="module")
def page():
    return render(family(), "html")


@pytest.fixture(scope="module")
def attacked():
    return render(hostile_family(), "html")


@pytest.mark.parametrize(
    ("verdicts", "title", "worst"),
    [
        (("rejected", "certified", None), "Over the limit in 1 of 3 audits; 1 without a limit",
         "rejected"),
        (("rejected", "not-applicable", "certified"),
         "Over the limit in 1 of 3 audits; 1 cannot tell", "rejected"),
        (("certified", "not-applicable"), "Cannot tell in 1 of 2 audits", "not-applicable"),
        (("certified", None, None), "Within the limit in 1 of 3 audits; 2 without a limit",
         "certified"),
        (("certified", "certified"), "Within the limit in both audits", "certified"),
        (("certified",) * 3, "Within the limit in all 3 audits", "certified"),
        (("certified", "inconclusive"), "Not settled in 1 of 2 audits", "inconclusive"),
        (("inconclusive",) * 3, "Not settled in all 3 audits", "inconclusive"),
        ((None, None), "No limit set", None),
    ],
)  # fmt: skip
def test_the_title_says_what_became_of_the_audits(verdicts, title, worst):
    summary = with_verdicts(*verdicts)

    assert family_title(summary) == title
    assert family_row(summary).value == worst


def test_sentences_say_what_is_promised():
    summary = family()
    asymptotic = replace(summary.members[1], guarantee="asymptotic")
    weaker = family(members=(summary.members[0], asymptotic))

    assert counts_sentence(summary) == (
        "Of 4 audits: 1 over the limit, 1 within the limit, 1 not settled, 1 without a limit."
    )
    assert promise_sentence(summary).startswith("With 95 % confidence no verdict here is wrong")
    assert promise_sentence(weaker).startswith("With approximately 95 % confidence")
    assert "chosen before anybody looked at the data" in promise_sentence(summary)
    assert "simultaneous, with 95 % confidence" in intervals_sentence(summary)
    assert "simultaneous, with approximately 95 % confidence" in intervals_sentence(weaker)


def test_headings_are_in_order_and_words_are_right(page):
    check_headings(page)


def test_nothing_of_the_data_is_alive(attacked):
    body = re.sub(r"<script.*?</script>", "", attacked, flags=re.DOTALL)
    charts = re.search(r'<script type="application/json" id="charts">(.*?)</script>', attacked)[1]
    whole = attacked + json.dumps(json.loads(charts), ensure_ascii=False)

    for tag in ("<img", "<b>", "<!--", "<script>window"):
        assert tag not in body
    assert len(re.findall(r"</script", attacked)) == 3
    assert not set(whole) & set(BIDI + "\x00\x07\x1b\ud800")
    assert attacked.encode("utf-8")


def test_markdown_keeps_its_table():
    text = render(hostile_family(), "markdown")
    rows = [line for line in text.splitlines() if line.startswith("| ")]

    # a mark before a sign keeps it from being a cell's end
    assert {len(re.findall(r"(?<!\\)\|", row)) for row in rows} == {10}
    assert "<script" not in text
    assert not set(text) & set(BIDI)


def test_the_fragment_has_no_script_and_a_row_for_each():
    fragment = render(hostile_family(), "notebook")

    assert "<script" not in fragment
    assert fragment.count("<tr>") == 13


def test_the_document_validates():
    validator = jsonschema.Draft202012Validator(family_schema())

    validator.validate(json.loads(family().to_json()))
    assert not validator.is_valid({**json.loads(family().to_json()), "surprise": 1})
    assert hostile_family().to_json().encode("utf-8")


def test_the_chart_draws_every_audit_and_says_so():
    members = [vars(one) for one in (*family().members, family().members[0])]
    drawn = family_chart(members).to_dict()

    assert "everybody 0.0452 to 0.0791, limit 0.0365" in drawn["description"]
    assert "scores at least 0.0310, no upper bound" in drawn["description"]
    rows = next(iter(drawn["datasets"].values()))
    assert [row["row"] for row in rows][-1] == "everybody (2)"
    assert drawn == family_chart(members).to_dict()


def test_the_screen_has_all_numbers_and_obeys_nothing(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    print_family(family(), "people.csv, 4 audits")
    out = capsys.readouterr().out
    for text in (
        "0.0452 to 0.0791",
        "over the ",
        "within the",
        "not settled",
        "without a",
    ):
        assert text in out
    print_family(hostile_family(), "x")
    assert "\x1b" not in capsys.readouterr().out
