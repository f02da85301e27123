"""A verdict as a test's result, in the XML that build servers read (JUnit's)."""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from fairtransport.report.headings import heading_of
from fairtransport.report.sections.finding import verdict_line
from fairtransport.report.strings import visible

if TYPE_CHECKING:
    from fairtransport.summary import AuditSummary


def render_junit(summary: AuditSummary, *, failed: bool) -> str:
    """Return a suite with one test: the audit.

    Parameters
    ----------
    summary
        What the audit says.
    failed
        Whether its verdict is a failure, which whoever asked has decided.
    """
    name, sentence = visible(heading_of(summary)), visible(verdict_line(summary))
    suites = Element("testsuites")
    suite = SubElement(
        suites, "testsuite", name="fairtransport", tests="1", failures=str(int(failed)), errors="0"
    )
    case = SubElement(suite, "testcase", classname="fairtransport.audit", name=name)
    if failed:
        SubElement(
            case, "failure", message=sentence, type=summary.verdict or "not tested"
        ).text = sentence
    else:
        SubElement(case, "system-out").text = sentence
    indent(suites)
    return tostring(suites, encoding="unicode", xml_declaration=True) + "\n"
