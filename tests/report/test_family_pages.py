"""The report of several audits: right words, all numbers, nothing of the data alive."""

import itertools
import json
import re
from dataclasses import replace

import jsonschema
import pytest

from fairtransport.family import Multiplied
from fairtransport.report import family_schema, render_family_html, render_family_markdown
from fairtransport.report.charts import family_chart
from fairtransport.report.family_pages import render_family_fragment
from fairtransport.report.family_sections.family_finding import (
    counts_sentence,
    evalue_text,
    family_title,
    intervals_sentence,
    multiplied_sentence,
    promise_sentence,
    worst_verdict,
)
from fairtransport.report.screen.families import print_family
from tests.report.samples import family, hostile_family

BIDI = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f\u061c"


def with_verdicts(*verdicts):
    one = family().members[0]
    return family(members=tuple(replace(one, verdict=verdict) for verdict in verdicts))


@pytest.fixture(scope="module")
def page():
    return render_family_html(family())


@pytest.fixture(scope="module")
def attacked():
    return render_family_html(hostile_family())


@pytest.mark.parametrize(
    ("verdicts", "title", "worst"),
    [
        (("rejected", "certified", None), "δ-fairness rejected in 1 of 2 audits", "rejected"),
        (("certified", "certified"), "δ-fairness certified in all 2 audits", "certified"),
        (("certified", "inconclusive"), "δ-fairness certified in 1 of 2 audits", "inconclusive"),
        (("inconclusive",) * 3, "Inconclusive: none of 3 audits rejected or certified",
         "inconclusive"),
        ((None, None), "No verdict", None),
    ],
)  # fmt: skip
def test_the_title_says_what_became_of_the_audits(verdicts, title, worst):
    summary = with_verdicts(*verdicts)

    assert family_title(summary) == title
    assert worst_verdict(summary) == worst


def test_sentences_say_what_is_promised():
    summary = family()
    asymptotic = replace(summary.members[1], guarantee="asymptotic")
    weaker = family(members=(summary.members[0], asymptotic))
    earlier = family(queried=None, audits=(), intervals_miss=0.15)

    assert counts_sentence(summary) == (
        "Of 4 audits: δ-fairness is rejected in 1 and certified in 1; 1 inconclusive, 1 without δ."
    )
    assert promise_sentence(summary).startswith("With 95 % confidence no verdict here is wrong")
    assert promise_sentence(weaker).startswith("With approximately 95 % confidence")
    assert "declared before the data" in promise_sentence(summary)
    assert "not chosen by what they found" in promise_sentence(earlier)
    assert "at least 85 % confidence" in intervals_sentence(earlier)
    assert "promise nothing" in intervals_sentence(replace(earlier, intervals_miss=1.0))
    assert multiplied_sentence(summary) is None


@pytest.mark.parametrize(
    ("evalue", "rejected", "words"),
    [(5.87, False, "5.8, which does not reject the hypothesis (20 are needed at level 5 %)"),
     (412.0, True, "412, so the hypothesis is rejected (20 are needed at level 5 %; p ≤ 0.0025)")],
)  # fmt: skip
def test_multiplied_evidence_names_its_hypothesis(evalue, rejected, words):
    found = Multiplied(hypothesis="all is well.", evalue=evalue, pvalue=1 / evalue,
                       rejected=rejected)  # fmt: skip
    said = multiplied_sentence(family(multiplied=found))

    assert words in said
    assert said.endswith("The hypothesis is: all is well.")
    assert "that you say are independent" in said


def test_evidence_is_never_rounded_up():
    for value in (0.0004, 0.9999, 1.0, 19.99, 999_999.9, 1.0e6, 9.99e9, 1e304):
        text = evalue_text(value)
        told = 10.0 ** int(text.split("^")[1]) if "^" in text else float(text)
        assert told <= value


def test_headings_are_in_order_and_words_are_right(page):
    levels = [int(level) for level in re.findall(r"<h([1-6])", page)]

    assert levels[0] == 1
    assert all(after <= before + 1 for before, after in itertools.pairwise(levels))
    assert "is fair" not in page
    ids = re.findall(r'\bid="([^"]+)"', re.sub(r"<script.*?</script>", "", page, flags=re.DOTALL))
    assert len(ids) == len(set(ids))


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
    text = render_family_markdown(hostile_family())
    rows = [line for line in text.splitlines() if line.startswith("| ")]

    # a mark before a sign keeps it from being a cell's end
    assert {len(re.findall(r"(?<!\\)\|", row)) for row in rows} == {10}
    assert "<script" not in text
    assert not set(text) & set(BIDI)


def test_the_fragment_has_no_script_and_a_row_for_each():
    fragment = render_family_fragment(hostile_family())

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

    assert "everybody 0.0452 to 0.0791, δ 0.0365" in drawn["description"]
    assert "scores at least 0.0310, no upper bound" in drawn["description"]
    rows = next(iter(drawn["datasets"].values()))
    assert [row["row"] for row in rows][-1] == "everybody (2)"
    assert drawn == family_chart(members).to_dict()


def test_the_screen_has_all_numbers_and_obeys_nothing(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    print_family(family(), "people.csv, 4 audits")
    out = capsys.readouterr().out
    for text in ("0.0452 to 0.0791", "rejected", "certified", "inconclusive", "untested", "0.0012"):
        assert text in out
    print_family(hostile_family(), "x")
    assert "\x1b" not in capsys.readouterr().out
