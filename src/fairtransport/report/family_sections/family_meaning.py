"""How sure the verdicts are together: which levels tests and bounds have, and what words mean."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairtransport.report.numbers import level
from fairtransport.report.sections import Section
from fairtransport.report.sections.glossary import GLOSSARY
from fairtransport.report.sections.sure import NOT_SAID

if TYPE_CHECKING:
    from fairtransport.family import FamilySummary
    from fairtransport.report.sections import Output

KEPT = ("FaiTH statistic, ψ", "Similar, comparable", "Sensitive feature", "δ-fairness, δ")
TOGETHER = {
    "Family": "The audits that were declared to be looked at together.",
    "Level, α": "The largest probability that any verdict of the family is wrong.",
    "p, adjusted": (
        "The p-value of δ-fairness after a correction for the whole family, stepped down as "
        "Holm's; δ-fairness is rejected when it is at most α."
    ),
    "E-value": (
        "Evidence against a hypothesis, whose mean is at most 1 if the hypothesis holds: 20 or "
        "more has a chance of at most 5 % then. Those of independent samples may be multiplied."
    ),
}


def levels_sentence(summary: FamilySummary) -> str:
    """Return which levels the tests have.

    Parameters
    ----------
    summary
        The family, whose level α is that of all rejections together.
    """
    return (
        "An audit's δ-fairness is rejected when its adjusted p-value is at most "
        f"{level(summary.alpha)}. A certificate has level {_rounded(summary.certificate_level)}: "
        "rejections and certificates share the level of the family, as each audit can be wrong in "
        "one of the two ways only, but which one is not known."
    )


def _rounded(share: float) -> str:
    """Return a level with three digits, as a percentage.

    Examples
    --------
    >>> _rounded(0.05 / 6)
    '0.833 %'
    """
    return level(float(f"{share:.3g}"))


def _contents(summary: FamilySummary, _: Output) -> dict[str, object]:
    """Return what the template part ``family_meaning.j2`` shows, by name.

    Parameters
    ----------
    summary
        The family. Questions are counted once for models that audits share; a family that was
        put together from earlier audits does not know their number, and says nothing of it.
    """
    facts = [("fairtransport", summary.version)]
    if summary.queried is not None:
        asked = f"{summary.queried:,}" if summary.queried else "none (predictions only)"
        facts.append(("Questions asked of all models, each once", asked))
    return {
        "levels": levels_sentence(summary),
        "not_said": NOT_SAID,
        "facts": facts,
        "glossary": {name: GLOSSARY[name] for name in KEPT} | TOGETHER,
    }


SECTION = Section("sure", "How sure", 30, _contents)
