"""How it was done: model, data, settings and versions, name by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairtransport.report.sections import Section
from fairtransport.report.sections.finding import caution
from fairtransport.report.strings import loss_name, visible
from fairtransport.summary import WHY_STOPPED

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fairtransport.report.sections import Output
    from fairtransport.summary import AuditSummary

LEFT_OUT = "left out"


def facts(summary: AuditSummary) -> tuple[tuple[str, str], ...]:
    """Return how the audit was done, name by name.

    Parameters
    ----------
    summary
        What a shared document does not tell is "left out", so that nobody takes it for absent.
    """
    made = summary.provenance
    limits = "" if made.loss_range is None else ", from {:.4g} to {:.4g}".format(*made.loss_range)
    asked = "none (predictions only)"
    if summary.queried != 0:
        asked = LEFT_OUT if summary.queried is None else f"{summary.queried:,} questions"
    questions = summary.questions
    if questions is not None and questions.draws is not None:
        asked += f", {questions.draws:,} times each"
    if questions is not None and questions.stopped is not None and summary.queried is not None:
        about = f"{summary.n:,} of {questions.people:,} people"
        asked += f", about {about}, until {WHY_STOPPED[questions.stopped]}"
    points = LEFT_OUT
    if summary.points is not None:
        points = f"{summary.points:,}, {summary.observed_points:,} of them observed"
    known = [
        ("Model", visible(made.model)),
        ("Questions asked of the model", asked),
        ("People", f"{summary.n:,}"),
        ("Distinct points", points),
        ("Features", _listed(made.features)),
        ("Sensitive features", _listed(made.sensitive)),
        ("Label", "none" if made.label is None else visible(made.label)),
        ("Loss", loss_name(made.loss) + limits),
        ("Similarity", visible(made.similarity)),
        ("Budget", f"{summary.budget:g}"),
        ("Method", f"{visible(summary.method)}, {made.resamples:,} resamples where it draws any"),
        ("Guarantee", visible(summary.guarantee)),
        ("Seed", LEFT_OUT if made.seed is None else f"{made.seed}"),
        ("Data, SHA-256", made.data_sha256 or LEFT_OUT),
        ("Versions", _listed(f"{name} {version}" for name, version in
                             {"fairtransport": made.version, **made.libraries}.items())),
        ("Duality gap of the solution", f"{summary.duality_gap:.1e}"),
    ]  # fmt: skip
    if made.settings_taken:
        known.append(("Taken from a settings file", _listed(made.settings_taken)))
    return tuple(known)


def _listed(names: Iterable[str]) -> str:
    """Return names in a line, made visible.

    Examples
    --------
    >>> _listed(["age", "sex"]), _listed([])
    ('age, sex', 'none')
    """
    return ", ".join(map(visible, names)) or "none"


def _contents(summary: AuditSummary, _: Output) -> dict[str, object]:
    """Return what the template part ``how.j2`` shows, by name."""
    return {"facts": facts(summary), "caution": caution(summary)}


SECTION = Section("how", "How it was done", 50, _contents)
