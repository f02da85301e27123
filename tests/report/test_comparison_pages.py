"""The report of a comparison: right words, all numbers, nothing of the data alive."""

import json
import re
from dataclasses import replace

import jsonschema
import pytest

from fairtransport.documents.comparison import comparison_schema
from fairtransport.report import render
from fairtransport.report.sections.comparison import (
    certificate_sentence,
    comparison_title,
    difference_sentence,
    risks_sentence,
)
from fairtransport.report.sections.comparison import (
    comparison_intervals_sentence as intervals_sentence,
)
from fairtransport.report.terminal import print_comparison
from tests.report.page_checks import check_headings
from tests.report.samples import comparison, hostile_comparison

BIDI = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f\u061c"


def judged(**changes):
    """Return the sample with another verdict on its last model."""
    whole = comparison()
    differences = tuple(
        replace(one, **changes) if one.second == "new" and one.first == "old" else one
        for one in whole.differences
    )
    kept = {name: value for name, value in changes.items() if name in {"verdict", "not_worse"}}
    return replace(whole, differences=differences, **kept)


@pytest.mark.parametrize(
    ("verdict", "title"),
    [
        ("better", "Less individual bias in new than in old"),
        ("worse", "More individual bias in new than in old, by more than the tolerance (0.005)"),
        ("undecided", "Not settled: new compared with old"),
    ],
)
def test_the_title_is_about_the_last_model_beside_the_first(verdict, title):
    assert comparison_title(judged(verdict=verdict)) == title


def test_without_a_tolerance_none_is_named():
    assert comparison_title(replace(judged(verdict="worse"), tolerance=0.0)) == (
        "More individual bias in new than in old"
    )
    assert "no more individual bias" in certificate_sentence(replace(comparison(), tolerance=0.0))


def test_sentences_say_what_was_found_and_how_sure_it_is():
    summary = comparison()

    assert difference_sentence(summary) == (
        "The FaiTH statistic of new minus that of old is −0.0320 in the data. In the population it "
        "is between −0.0410 and −0.0203, with 95 % confidence for independent people, at every "
        "sample size."
    )
    unbounded = judged(lower=None, upper=None)
    assert difference_sentence(unbounded).endswith("For the population there is no interval here.")
    assert certificate_sentence(summary) == (
        "It is shown (certified) that new has at most 0.005 more individual bias than old."
    )
    assert certificate_sentence(judged(not_worse=False)).startswith("It is not shown that new")
    assert certificate_sentence(judged(verdict="worse", not_worse=False)) is None
    assert risks_sentence(summary).startswith(
        "Errors: 33.5 % under old, at worst 38.8 %; 33.5 % under new, at worst 35.6 %. “At worst”: "
    )
    assert "So are the intervals of the differences" in intervals_sentence(summary)
    two = replace(summary, differences=summary.differences[1:2])
    assert "The interval of the difference is for the same people" in intervals_sentence(two)


def test_headings_are_in_order_and_words_are_right():
    check_headings(render(comparison(), "html"))


def test_nothing_of_the_data_is_alive():
    attacked = render(hostile_comparison(), "html")
    body = re.sub(r"<script.*?</script>", "", attacked, flags=re.DOTALL)

    for tag in ("<img", "<b>", "<!--", "<script>window"):
        assert tag not in body
    assert not set(attacked) & set(BIDI + "\x00\x07\x1b\ud800")
    assert attacked.encode("utf-8")
    fragment = render(hostile_comparison(), "notebook")
    assert "<script" not in fragment


def test_markdown_keeps_its_tables():
    text = render(hostile_comparison(), "markdown")
    rows = [line for line in text.splitlines() if line.startswith("| ")]

    # a mark before a sign keeps it from being a cell's end: models, differences, groups, profiles
    assert {len(re.findall(r"(?<!\\)\|", row)) for row in rows} == {8, 6}
    assert "<script" not in text
    assert not set(text) & set(BIDI)


def test_the_document_validates():
    validator = jsonschema.Draft202012Validator(comparison_schema())

    validator.validate(json.loads(comparison().to_json()))
    assert not validator.is_valid({**json.loads(comparison().to_json()), "surprise": 1})
    assert hostile_comparison().to_json().encode("utf-8")


@pytest.mark.parametrize("width", [80, 120])
def test_the_screen_has_all_numbers_and_obeys_nothing(capsys, monkeypatch, width):
    monkeypatch.setenv("COLUMNS", str(width))
    print_comparison(comparison(), "people.csv, 1584 cases")
    out = capsys.readouterr().out
    for text in ("−0.0410 to −0.0203", "better", "worse", "not settled", "certified", "0.0002"):
        assert text in out
    assert max(map(len, out.splitlines())) <= width
    print_comparison(hostile_comparison(), "x")
    assert "\x1b" not in capsys.readouterr().out


def test_no_column_of_the_screen_is_cut(capsys, monkeypatch):
    """With long names, the longest verdict and people who are better and worse off."""
    monkeypatch.setenv("COLUMNS", "80")
    whole = comparison()
    new = {one.name: f"{one.name}-model-of-2024" for one in whole.models}
    decisions = next(one.decisions for one in whole.models if one.decisions is not None)
    models = tuple(
        replace(one, name=new[one.name], decisions=replace(decisions, favourable=(1,)))
        for one in whole.models
    )
    differences = tuple(
        replace(one, first=new[one.first], second=new[one.second], verdict="not-applicable",
                pvalue=1e-9)
        for one in whole.differences
    )  # fmt: skip
    print_comparison(replace(whole, models=models, differences=differences), "people.csv")
    out = capsys.readouterr().out

    assert max(map(len, out.splitlines())) <= 80
    lines = out.partition("The models")[2].splitlines()
    for word in ("Model", "Statistic", "Difference", "Interval", "cannot", "shown",
                 "< 0.0001", "new-mo"):  # fmt: skip
        assert any(word in one for one in lines), word
