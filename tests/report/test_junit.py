"""A verdict as a test's result."""

import re
from dataclasses import replace
from xml.etree import ElementTree as ET

import pytest

from fairtransport.report.exports import render_junit
from tests.report.samples import sample


@pytest.mark.parametrize("failed", [False, True])
def test_the_suite_has_one_test_that_fails_when_it_should(biased, failed):
    suite = ET.fromstring(render_junit(biased.summary, failed=failed, seconds=1.23456))
    suite = suite.find("testsuite")
    (case,) = suite.findall("testcase")

    assert (suite.get("tests"), suite.get("failures")) == ("1", str(int(failed)))
    assert (case.find("failure") is not None) == failed
    assert (suite.get("time"), case.get("time")) == ("1.235", "1.235")
    text = case.find("failure" if failed else "system-out").text
    assert text.startswith("40 of 200 people (20 %; with 95 % confidence 14.6–26.3 %) would")
    assert "δ-fairness rejected at level 5 %" in text
    if failed:
        message = case.find("failure").get("message")
        assert message.startswith(
            "Over the limit. Your limit: at most 5 % of all people (10 of these 200)"
        )


def test_properties_say_what_was_found(biased):
    summary = biased.summary
    (suite,) = ET.fromstring(render_junit(summary, failed=True)).iter("testsuite")
    values = {one.get("name"): one.get("value") for one in suite.find("properties")}

    assert values == {
        "fairtransport.verdict": "rejected",
        "fairtransport.statistic": str(summary.statistic),
        "fairtransport.lower_bound": str(summary.lower_bound),
        "fairtransport.upper_bound": str(summary.upper_bound),
        "fairtransport.delta": str(summary.delta),
        "fairtransport.alpha": "0.05",
        "fairtransport.n": str(summary.n),
        "fairtransport.changed": str(summary.decisions.changed.people),
        "fairtransport.seed": str(summary.provenance.seed),
        "fairtransport.model": summary.provenance.model,
        "fairtransport.sensitive_features": "sex",
    }


def test_properties_count_who_is_worse_and_better_off():
    (suite,) = ET.fromstring(render_junit(sample(), failed=True)).iter("testsuite")
    values = {one.get("name"): one.get("value") for one in suite.find("properties")}
    names = ("changed", "worse_off", "better_off")

    assert [values[f"fairtransport.{name}"] for name in names] == ["143", "134", "9"]


def test_names_tell_audits_apart_and_stay_the_same(biased):
    summary = biased.summary
    named = replace(summary, provenance=replace(summary.provenance, data_name="loans.csv"))
    titled = replace(summary, provenance=replace(summary.provenance, title="Loans"))
    names = [
        next(ET.fromstring(render_junit(one, failed=False, seconds=seconds)).iter("testcase"))
        for seconds, one in enumerate((summary, summary, named, titled))
    ]
    sensitive = " and ".join(summary.provenance.sensitive)
    assert [one.get("name") for one in names] == [
        f"δ-fairness by {sensitive}", f"δ-fairness by {sensitive}",
        f"δ-fairness by {sensitive}, loans.csv", "Loans",
    ]  # fmt: skip


ALLOWED = {
    "testsuites": ((), ("testsuite",)),
    "testsuite": (
        ("name", "tests", "failures", "errors", "skipped", "time"), ("properties", "testcase"),
    ),
    "properties": ((), ("property",)),
    "property": (("name", "value"), ()),
    "testcase": (("name", "classname", "time"), ("failure", "system-out")),
    "failure": (("type", "message"), ()),
    "system-out": ((), ()),
}  # fmt: skip
"""Of the schema of xunit2 what is used: attributes and children of each element."""


@pytest.mark.parametrize("failed", [False, True])
def test_the_file_keeps_to_the_schema_of_xunit2(biased, failed):
    for element in ET.fromstring(render_junit(biased.summary, failed=failed)).iter():
        attributes, children = ALLOWED[element.tag]
        assert set(element.attrib) == set(attributes)
        assert {child.tag for child in element} <= set(children)
        assert re.fullmatch(r"\d+\.\d{3}", element.get("time", "0.000"))


def test_a_test_that_settles_nothing_is_skipped(biased):
    """Without a limit, or where it is not settled: a green test would be read as a pass."""
    result = replace(biased, settings=replace(biased.settings, delta=None))
    for summary in (result.summary, sample(verdict="inconclusive")):
        (suite,) = ET.fromstring(render_junit(summary, failed=False)).iter("testsuite")
        case = suite.find("testcase")

        assert (suite.get("failures"), suite.get("skipped")) == ("0", "1")
        assert case.find("failure") is case.find("system-out") is None
        assert case.find("skipped").get("message")


def test_hostile_titles_make_no_markup(biased):
    provenance = replace(biased.summary.provenance, title='</testcase>\x00"&<x>')
    summary = replace(biased.summary, provenance=provenance)
    (case,) = ET.fromstring(render_junit(summary, failed=True)).iter("testcase")

    assert "</testcase>" in case.get("name")
    assert "\x00" not in case.get("name")


def test_characters_that_xml_has_not_are_replaced(biased):
    title = "a\uffffb\ufffec\x00d"
    named = replace(biased.summary, provenance=replace(biased.summary.provenance, title=title))
    suite = ET.fromstring(render_junit(named, failed=True)).find("testsuite")
    assert "a\N{REPLACEMENT CHARACTER}b" in suite.get("name")
