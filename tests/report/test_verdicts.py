"""One table of verdicts, which every document, report and exit code reads."""

from dataclasses import replace
from typing import get_args

import pytest

from fairtransport.cli.errors import exit_code, family_exit_code
from fairtransport.documents.audit import audit_schema
from fairtransport.documents.verdicts import (
    COMPARISON_VERDICTS,
    EXIT_CODES,
    VERDICT_VALUES,
    VERDICTS,
    VerdictRow,
)
from fairtransport.inference.laws import Verdict
from fairtransport.report import render
from fairtransport.report.html import style_sheet
from fairtransport.report.sections.family import counts_sentence, family_title
from fairtransport.report.sections.finding import verdict_line, verdict_sentence
from tests.report.samples import family, sample


def test_the_table_has_the_verdicts_of_inference_and_of_the_schema():
    verdict = audit_schema()["properties"]["verdict"]

    assert get_args(Verdict) == VERDICT_VALUES
    assert set(VERDICT_VALUES) <= set(str(verdict).replace("'", " ").split())
    assert set(COMPARISON_VERDICTS.values()) <= set(VERDICT_VALUES)


@pytest.mark.parametrize("column", ["title", "phrase", "mark", "colour", "rank", "css_class"])
def test_verdicts_are_told_apart_by_every_column(column):
    assert len({getattr(row, column) for row in VERDICTS.values()}) == len(VERDICTS)


def test_the_style_sheet_has_the_colours_of_verdicts():
    assert ".rejected { --accent: #a63f00; --tint: #fdf3ec; }\n" in style_sheet()
    assert ".not-applicable" not in style_sheet()


@pytest.mark.parametrize(
    ("verdict", "codes"),
    [
        ("rejected", (3, 3, 0)),
        ("certified", (0, 0, 0)),
        ("inconclusive", (0, 4, 0)),
        ("not-applicable", (5, 5, 0)),
        (None, (0, 0, 0)),
    ],
)
def test_each_verdict_has_its_exit_code(verdict, codes):
    assert (
        tuple(exit_code(verdict, fail) for fail in ("rejected", "not-certified", "never")) == codes
    )


@pytest.mark.parametrize(
    ("verdicts", "code"),
    [
        (["certified", "rejected", "not-applicable"], 3),
        (["certified", "not-applicable", "inconclusive"], 5),
        (["certified", "inconclusive"], 4),
        (["certified", None], 4),
        (["certified", "certified"], 0),
    ],
)
def test_a_family_exits_as_its_worst_verdict(verdicts, code):
    assert family_exit_code(verdicts, "not-certified") == code


def test_every_exit_code_of_a_verdict_has_a_meaning():
    assert {row.exit_code for row in VERDICTS.values()} <= set(EXIT_CODES)


def test_a_row_is_all_that_a_new_verdict_needs(monkeypatch):
    toy = VerdictRow(
        value="toy", formal="A toy", title="Toys", phrase="a toy", mark="!", colour="green",
        evidence="{sure} {bounds}", figures=("upper",), rank=1, exit_code=6, exit_meaning="a toy",
        glyph=(1, 2, 3),
    )  # fmt: skip
    monkeypatch.setitem(VERDICTS, "toy", toy)
    one = replace(sample(), verdict="toy", lower_bound=0.01, upper_bound=0.09, delta=0.05)
    members = family().members
    toys = family(members=tuple(replace(member, verdict="toy") for member in members))

    assert verdict_sentence(one) == (
        "A toy at level 5 %: with 95 % confidence the population's statistic is at least 0.0100, "
        "and with as much confidence it is at most 0.0900."
    )
    assert verdict_line(one) == "A toy at level 5 %: δ = 0.05, upper bound 0.0900."
    assert 'class="verdict toy"' in render(one, "html")
    assert family_title(toys) == f"A toy in all {len(members)} audits"
    assert counts_sentence(toys) == f"Of {len(toys.members)} audits: {len(toys.members)} a toy."
    assert exit_code("toy", "rejected") == 6
