"""A section that is put beside the others is found, as CONTRIBUTING says."""

import sys
from dataclasses import fields, make_dataclass
from typing import Annotated

import pytest

from fairtransport.documents import Doc, json_schema
from fairtransport.report import render_html, render_markdown, sections
from fairtransport.summary import AuditSummary
from tests.report.samples import sample

MODULE = """
from fairtransport.report.cells import Cell, Table, columns_of
from fairtransport.report.sections import Section

def contents(summary, output):
    table = Table("toy", "Toys", columns_of(["Share"], ["Share"]), ((Cell("a|b<c", 1.0),),))
    return {"share": f"Toys <are> {summary.toy_share}.", "table_of_toys": table}

SECTION = Section("toy", "Toys & more", 45, contents)
"""
PART = """
{% if output.html %}
<p>{{ share }}</p>
{{ table(table_of_toys) }}
{% else %}
{{ share }}

{{ table(table_of_toys) }}
{% endif %}
"""
Grown = make_dataclass(
    "Grown",
    [("toy_share", Annotated[float, Doc("A share of toys.")], 0.0)],
    bases=(AuditSummary,),
    frozen=True,
    kw_only=True,
)


@pytest.fixture
def grown(tmp_path, monkeypatch):
    (tmp_path / "toy.py").write_text(MODULE)
    (tmp_path / "toy.j2").write_text(PART)
    monkeypatch.setattr(sections, "__path__", [*sections.__path__, str(tmp_path)])
    one = sample(flows=(), law=None, methods=(), budget_curve=())
    yield Grown(**{field.name: getattr(one, field.name) for field in fields(one)}, toy_share=0.25)
    sys.modules.pop("fairtransport.report.sections.toy", None)
    vars(sections).pop("toy", None)


def test_it_is_in_its_place_in_both_reports(grown):
    page, text = render_html(grown), render_markdown(grown)

    assert '<li><a href="#toy">Toys &amp; more</a></li>' in page
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


def test_each_section_has_a_part_and_a_place_of_its_own():
    found = sections.find_sections()

    assert list(found) == [
        "finding.j2", "brief.j2", "rates.j2", "who.j2", "sure.j2", "depends.j2",
        "made_up.j2", "telling.j2", "how.j2", "notes.j2", "glossary.j2",
    ]  # fmt: skip
    assert len({section.place for section in found.values()}) == len(found)
    assert len({section.key for section in found.values()}) == len(found)
