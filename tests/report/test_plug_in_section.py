"""A section that is listed with the others is in every report, as CONTRIBUTING says."""

from dataclasses import fields, make_dataclass
from typing import Annotated

import pytest

from fairtransport._core.schema import Doc, json_schema
from fairtransport.documents.audit import AuditSummary
from fairtransport.report import render
from fairtransport.report.sections import SECTIONS, certainty
from fairtransport.report.sections.section import Section
from fairtransport.report.tables import Cell, Table, columns_of
from tests.report.samples import sample


def contents(summary, _output):
    table = Table("toy", "Toys", columns_of(["Share"], ["Share"]), ((Cell("a|b<c", 1.0),),))
    return {"parts": (f"Toys <are> {summary.toy_share}.", table)}


TOY = Section("toy", "Toys & more", "parts.j2", contents)
Grown = make_dataclass(
    "Grown",
    [("toy_share", Annotated[float, Doc("A share of toys.")], 0.0)],
    bases=(AuditSummary,),
    frozen=True,
    kw_only=True,
)


@pytest.fixture
def grown(monkeypatch):
    listed = SECTIONS[AuditSummary]
    place = listed.index(certainty.DEPENDENCE) + 1
    monkeypatch.setitem(SECTIONS, AuditSummary, (*listed[:place], TOY, *listed[place:]))
    one = sample(flows=(), law=None, methods=(), budget_curve=())
    return Grown(**{field.name: getattr(one, field.name) for field in fields(one)}, toy_share=0.25)


def test_it_is_in_its_place_in_both_reports(grown):
    page, text = render(grown, "html"), render(grown, "markdown")

    assert '<a class="button" href="#toy">Toys &amp; more</a>' in page
    assert page.index('<h2 id="depends"') < page.index('<h2 id="toy">') < page.index('<h2 id="how"')
    assert "<p>Toys &lt;are&gt; 0.25.</p>" in page
    assert '<td class="number" data-sort="1.0"><bdi>a|b&lt;c</bdi></td>' in page
    assert "\n\n## Toys & more\n\nToys &lt;are&gt; 0.25.\n\n**Toys**\n\n| Share |\n" in text
    assert "| a\\|b&lt;c |" in text


def test_its_field_is_in_the_document_and_in_the_schema(grown):
    described = json_schema(Grown, "A grown audit")

    assert grown.as_json()["toy_share"] == 0.25
    assert described["properties"]["toy_share"] == {
        "description": "A share of toys.",
        "type": "number",
    }
    assert "toy_share" in described["required"]


def test_a_field_with_a_default_is_not_shared_unless_that_is_said(grown):
    assert grown.without_details().toy_share == 0.0
    assert grown.without_details().worst_pair is None
    assert grown.without_details().moves == grown.moves


@pytest.mark.parametrize("document", SECTIONS)
def test_sections_of_a_document_have_keys_and_templates_of_their_own(document):
    sections = SECTIONS[document]
    own = [section.template for section in sections if section.template != "parts.j2"]

    assert len({section.key for section in sections}) == len(sections)
    assert len(set(own)) == len(own)
