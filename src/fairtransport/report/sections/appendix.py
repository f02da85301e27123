"""How the audit was done, and the glossary."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairtransport.documents.audit import WHY_STOPPED
from fairtransport.documents.verdicts import VERDICTS
from fairtransport.report.sections.finding import caution
from fairtransport.report.sections.section import Section
from fairtransport.report.text import LEFT_OUT, loss_name, visible

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fairtransport.documents.audit import AuditSummary
    from fairtransport.report.sections.section import Output


def facts(summary: AuditSummary) -> tuple[tuple[str, str], ...]:
    """Return how the audit was done, as names and values."""
    provenance = summary.provenance
    limits = (
        ""
        if provenance.loss_range is None
        else ", from {:.4g} to {:.4g}".format(*provenance.loss_range)
    )
    query_text = "none (predictions only)"
    if summary.queried != 0:
        query_text = LEFT_OUT if summary.queried is None else f"{summary.queried:,} questions"
    questions = summary.questions
    if questions is not None and questions.draws is not None:
        query_text += f", {questions.draws:,} times each"
    if questions is not None and questions.unit is not None:
        query_text += f"; differences of losses count up to {questions.unit:g}"
    if questions is not None and questions.stopped is not None and summary.queried is not None:
        about = f"{summary.n:,} of {questions.people:,} people"
        query_text += f", about {about}, until {WHY_STOPPED[questions.stopped]}"
    points = LEFT_OUT
    if summary.points is not None:
        points = f"{summary.points:,}, {summary.observed_points:,} of them observed"
    versions = {"fairtransport": provenance.version, **provenance.libraries}
    rows = [
        ("Model", visible(provenance.model)),
        ("Questions asked of the model", query_text),
        ("People", f"{summary.n:,}"),
        ("Distinct points", points),
        ("Features", _join_names(provenance.features)),
        ("Sensitive features", _join_names(provenance.sensitive)),
        ("Label", "none" if provenance.label is None else visible(provenance.label)),
        ("Loss", loss_name(provenance.loss) + limits),
        ("Similarity", visible(provenance.similarity)),
        ("Budget", f"{summary.budget:g}"),
        ("Method",
         f"{visible(summary.method)}; up to {provenance.resamples:,} resamples"),
        ("Guarantee", visible(summary.guarantee_words)),
        ("Seed", LEFT_OUT if provenance.seed is None else f"{provenance.seed}"),
        ("Data, SHA-256", provenance.data_sha256 or LEFT_OUT),
        ("Versions", _join_names(f"{name} {version}" for name, version in versions.items())),
        ("Duality gap of the solution", f"{summary.duality_gap:.1e}"),
    ]  # fmt: skip
    if provenance.settings_taken:
        rows.append(("Taken from a settings file", _join_names(provenance.settings_taken)))
    return tuple(rows)


def _join_names(names: Iterable[str]) -> str:
    """Return names as one line, with hidden characters spelled out."""
    return ", ".join(map(visible, names)) or "none"


def _method_contents(summary: AuditSummary, _: Output) -> dict[str, object]:
    """Return the contents of the template part ``method.j2``, by name."""
    return {"facts": facts(summary), "caution": caution(summary)}


METHOD = Section(
    "how", "Method", "method.j2", _method_contents, folded=True,
    hint="the model, what was compared, what was asked",
)  # fmt: skip


GLOSSARY = {
    "Worse off": (
        "Gets an unfavourable decision, and would get the favourable one as somebody they are "
        "compared with."
    ),
    "Better off": (
        "Gets the favourable decision, and would get an unfavourable one as somebody they are "
        "compared with."
    ),
    "Limit, δ": (
        "The largest value of the statistic, or of R, that is tolerated. With a model, true "
        "labels and 0-1 loss it is a share of people: those who are decided correctly, but would "
        "be decided wrongly as someone else. It is to be chosen before the audit."
    ),
    "FaiTH statistic, ψ": (
        "How much worse the model does on average when people are swapped with people who are "
        "similar to them, in the worst way that the budget allows."
    ),
    "Similar, comparable": (
        "People whom the similarity calls alike, for example those who differ in nothing but "
        "sensitive features."
    ),
    "Sensitive feature": "A column that should make no difference to how well somebody is treated.",
    "δ-fairness, δ": (
        "A model is δ-fair if the statistic of the whole population is at most δ, the limit that "
        "the auditor sets."
    ),
    **{row.phrase.capitalize(): row.definition for row in VERDICTS.values() if row.definition},
    "Level, α": "The largest probability of a wrong rejection, and of a wrong certificate.",
    "p-value": "Small values speak against δ-fairness; it is rejected when p is at most α.",
    "Lower and upper bound": (
        "One-sided confidence bounds at level 1 − α. They agree with the verdict."
    ),
    "Interval": (
        "The two-sided confidence interval at level 1 − α, with α/2 on each side; it is a "
        "little wider than the two bounds, or as wide."
    ),
    "Rates, R": (
        "With predictions alone, where answers differ inside a profile: by how much the mean loss "
        "would rise if everybody were treated as the worst-treated group among people who are "
        "alike in all other columns. It does not say why they are treated differently."
    ),
    "Loss": (
        "What a prediction costs. With zero-one loss an error costs 1, so that mean losses "
        "are shares of errors."
    ),
    "Baseline risk": "The mean loss on the audit data as they are.",
    "Worst-case risk": "The mean loss after the swaps: baseline risk plus statistic.",
    "Budget, ε": (
        "How far people may be moved on average, as a squared distance. With ε = 0 only free "
        "moves count."
    ),
    "Price": "What one more unit of budget would add to the statistic.",
    "Move": "People of one profile who are swapped with people of another.",
    "Flow": "By how much the number of people in a cell changes when the moves are made.",
    "Tied": "Another target would have been as bad for these people; the table shows one of them.",
    "Empirical Lipschitz constant": (
        "The largest difference between two people's predictions, divided by their distance."
    ),
    "Rates by group": (
        "Who gets which decision in whole groups. Groups may have equal rates, and similar people "
        "be treated differently all the same."
    ),
}


GLOSSARY_SECTION = Section(
    "glossary", "Glossary", "glossary.j2", lambda *_: {"glossary": GLOSSARY}, folded=True
)
