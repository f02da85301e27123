"""A verdict as a test's result."""

from dataclasses import replace
from xml.etree import ElementTree as ET

import pytest

from fairtransport.report.junit import render_junit


@pytest.mark.parametrize("failed", [False, True])
def test_the_suite_has_one_test_that_fails_when_it_should(biased, failed):
    suite = ET.fromstring(render_junit(biased.summary, failed=failed)).find("testsuite")
    (case,) = suite.findall("testcase")

    assert (suite.get("tests"), suite.get("failures")) == ("1", str(int(failed)))
    assert (case.find("failure") is not None) == failed
    said = case.find("failure" if failed else "system-out").text
    assert said.startswith("δ-fairness rejected at level 5 %")


def test_hostile_titles_make_no_markup(biased):
    provenance = replace(biased.summary.provenance, title='</testcase>\x00"&<x>')
    summary = replace(biased.summary, provenance=provenance)
    (case,) = ET.fromstring(render_junit(summary, failed=True)).iter("testcase")

    assert "</testcase>" in case.get("name")
    assert "\x00" not in case.get("name")
