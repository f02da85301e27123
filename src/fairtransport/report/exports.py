"""An audit as JUnit's XML, as a run of MLflow, and as a section of a model card."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from fairtransport._core.files import write_text
from fairtransport.documents.verdicts import VERDICTS
from fairtransport.errors import FairtransportError, InputError, param
from fairtransport.report.rendering import render
from fairtransport.report.sections.decisions import headline, limit_lines, verdict_with_finding
from fairtransport.report.sections.family import is_failing, member_sentence
from fairtransport.report.sections.finding import outlook_sentence, verdict_sentence
from fairtransport.report.text import visible

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairtransport.documents.audit import AuditSummary
    from fairtransport.documents.family import FamilySummary


PREFIX = "fairtransport."
SUITE_PREFIX = "fairtransport: "
JUNIT_MARK = f'<testsuite name="{SUITE_PREFIX}'.encode()
"""Text near the beginning of our files."""
RECORDED = ("statistic", "lower_bound", "upper_bound", "delta", "alpha", "n")
"""Fields of a document that are properties of a test, besides its verdict, seed and model."""


NO_XML = re.compile("[\ufffe\uffff]")
"""Characters, besides control characters, that XML does not allow."""


def xml_text(text: str) -> str:
    """Return text as XML can hold it."""
    return NO_XML.sub("\N{REPLACEMENT CHARACTER}", visible(text))


EFFECTS = ("worse_off", "better_off")


def list_properties(summary: AuditSummary, **family: object) -> list[tuple[str, str]]:
    """Return the properties of an audit in a test's file, as names and values without nulls.

    ``family`` are those of the audit's family, which replace its own.
    """
    values: dict[str, object] = {"verdict": summary.verdict}
    values |= {name: getattr(summary, name) for name in RECORDED}
    if summary.is_about_part:
        judged = summary.judged
        values |= {
            "attributable": judged.value, "attributable_lower_bound": judged.lower_bound,
            "attributable_upper_bound": judged.upper_bound,
        }  # fmt: skip
    if summary.decisions is not None:
        counts = {name: getattr(summary.decisions, name) for name in ("changed", *EFFECTS)}
        values |= {name: None if one is None else one.people for name, one in counts.items()}
    values |= {"seed": summary.provenance.seed, "model": summary.provenance.model}
    values |= {"sensitive_features": ", ".join(summary.provenance.sensitive)}
    values |= family
    return [
        (PREFIX + name, xml_text(f"{value}")) for name, value in values.items() if value is not None
    ]


@dataclass(frozen=True)
class AuditSuite:
    """An audit in JUnit's form: a suite of one test.

    The schema of xunit2 lets suites have properties, and tests none.
    """

    name: str
    verdict: str | None
    message: str
    text: str
    properties: list[tuple[str, str]]
    failed: bool

    def write_to(self, suites: Element, seconds: float) -> None:
        """Append the suite; ``seconds`` is the duration of its test."""
        time = f"{seconds:.3f}"
        name, message, text = map(xml_text, (self.name, self.message, self.text))
        # a test that settles nothing does not pass
        skipped = not self.failed and not VERDICTS[self.verdict].decides
        suite = SubElement(
            suites, "testsuite", name=f"{SUITE_PREFIX}{name}", tests="1", errors="0", time=time,
            failures=str(int(self.failed)), skipped=str(int(skipped)),
        )  # fmt: skip
        properties = SubElement(suite, "properties")
        for key, value in self.properties:
            SubElement(properties, "property", name=key, value=value)
        case = SubElement(suite, "testcase", classname="fairtransport.audit", name=name, time=time)
        if self.failed:
            kind = self.verdict or "not tested"
            SubElement(case, "failure", message=message, type=kind).text = text
        elif skipped:
            SubElement(case, "skipped", message=message).text = text
        else:
            SubElement(case, "system-out").text = text


def render_junit(summary: AuditSummary, *, failed: bool, seconds: float = 0.0) -> str:
    """Return an audit as a test's result in JUnit's XML."""
    suite = AuditSuite(
        _test_name(summary), summary.verdict, _message(summary), _text(summary),
        list_properties(summary), failed,
    )  # fmt: skip
    return _render_suites([suite], seconds)


def _message(summary: AuditSummary) -> str:
    """Return the verdict and the limit in a line or two."""
    lines = limit_lines(summary)
    title = VERDICTS[summary.verdict].title
    if summary.rates is not None and summary.applicability is None:
        return f"{verdict_with_finding(summary)}."
    return " ".join([f"{title}.", *lines]) if lines else verdict_sentence(summary)


def _text(summary: AuditSummary) -> str:
    """Return whose decision would change, and the verdict as a statistician writes it."""
    sentences = [headline(summary), verdict_sentence(summary), outlook_sentence(summary)]
    return " ".join(sentence for sentence in sentences if sentence)


def render_family_junit(summary: FamilySummary, *, fail_on: str, seconds: float = 0.0) -> str:
    """Return a family as tests, which fail by the family's verdicts and share its time."""
    suites = []
    for member, audit in zip(summary.members, summary.audits, strict=True):
        properties = list_properties(
            audit, verdict=member.verdict, lower_bound=member.lower, upper_bound=member.upper,
            alpha=summary.alpha, pvalue_adjusted=member.pvalue_adjusted,
        )  # fmt: skip
        sentence, failed = member_sentence(summary, member, audit), is_failing(member, fail_on)
        suites.append(
            AuditSuite(member.name, member.verdict, sentence, sentence, properties, failed)
        )
    return _render_suites(suites, seconds / len(suites))


def _render_suites(suites: Sequence[AuditSuite], seconds: float) -> str:
    """Return suites as a file, each with the time that its test took."""
    root = Element("testsuites")
    for suite in suites:
        suite.write_to(root, seconds)
    indent(root)
    return tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _test_name(summary: AuditSummary) -> str:
    """Return a name that is the same in every run and distinct within a pipeline."""
    source = summary.provenance
    where = f", {source.data_name}" if source.data_name else ""
    # the model is a property: a file is described by its hash, which changes with every version
    return source.title or f"δ-fairness by {' and '.join(source.sensitive)}{where}"


FOLDER = "fairtransport"
METRICS = ("statistic", "baseline_risk", "worst_case_risk", "lower_bound", "upper_bound", "pvalue")
SETTINGS = ("delta", "alpha", "budget", "method", "n", "target_scope")


def log_summary(summary: AuditSummary, run_id: str | None) -> str:
    """Log metrics, settings, verdict, report and document; return the run's id."""
    try:
        import mlflow
    except ModuleNotFoundError:
        msg = "logging to MLflow needs its package: pip install mlflow-skinny, or mlflow"
        raise FairtransportError(msg) from None
    client = mlflow.MlflowClient()
    run = run_id or (mlflow.active_run() or mlflow.start_run()).info.run_id
    for name in METRICS:
        value = getattr(summary, name)
        if value is not None:
            client.log_metric(run, f"{FOLDER}.{name}", value)
    for name in SETTINGS:
        client.log_param(run, f"{FOLDER}.{name}", getattr(summary, name))
    client.log_param(run, f"{FOLDER}.loss", summary.provenance.loss)
    client.set_tag(run, f"{FOLDER}.verdict", summary.verdict or "none: no limit was set")
    with TemporaryDirectory() as folder:
        report = write_text(Path(folder, "report.html"), render(summary, "html"))
        document = write_text(Path(folder, "audit.json"), summary.to_json())
        for file in (report, document):
            client.log_artifact(run, str(file), FOLDER)
    return str(run)


BEGIN, END = "<!-- fairtransport: audit -->", "<!-- fairtransport: end of audit -->"
_SECTION = re.compile(f"{re.escape(BEGIN)}.*?{re.escape(END)}", re.DOTALL)


def with_section(card: str, summary: AuditSummary) -> str:
    """Return a card with the audit's section: in the place of an earlier one, or at the end.

    Its headings are one level below those of a report, as a part of the card.
    """
    if card.count(BEGIN) != card.count(END) or card.count(BEGIN) > 1:
        msg = (
            f"{param('path')} must be a card with the lines {BEGIN!r} and {END!r} once each, or "
            f"without them, got {card.count(BEGIN)} and {card.count(END)} of them"
        )
        raise InputError(msg)
    text = re.sub("^#", "##", render(summary, "markdown"), flags=re.MULTILINE)
    section = f"{BEGIN}\n{text}{END}"
    if BEGIN in card:
        return _SECTION.sub(lambda _: section, card)
    return f"{card.rstrip()}\n\n{section}\n" if card.strip() else f"{section}\n"
