"""How the comparison was done, and what the words mean."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairtransport.report.sections import Section
from fairtransport.report.sections.glossary import GLOSSARY
from fairtransport.report.strings import loss_name, visible

if TYPE_CHECKING:
    from fairtransport.comparison_summary import ComparisonSummary
    from fairtransport.report.sections import Output

NOT_SAID = (
    "A comparison speaks of the people it compares and of the loss it counts. Less bias than "
    "another model has is no proof of fairness, and undecided does not mean equal."
)
KEPT = ("FaiTH statistic, ψ", "Similar, comparable", "Sensitive feature")
MORE = {
    "Difference": (
        "The statistic of one model minus that of another, for the same people. What both models "
        "do to a person cancels, so that it is known better than either statistic."
    ),
    "Tolerance": "How much more bias than an earlier model a later one may have.",
    "Not worse": (
        "Whether it is certified that a model has at most the tolerance more bias than another; "
        "open where that is not shown."
    ),
    "p": (
        "The p-value of “neither less bias, nor more by over the tolerance”, adjusted for all "
        "pairs by Holm."
    ),
}


def facts(summary: ComparisonSummary) -> list[tuple[str, str]]:
    """Return how it was done, as names and what they are.

    Parameters
    ----------
    summary
        The comparison; rows that would be empty are left out.
    """
    made = summary.provenance
    rows = [
        ("People", f"{summary.n:,}"),
        ("Distinct points", f"{summary.points:,}"),
        ("Sensitive features", ", ".join(map(visible, made.sensitive))),
        ("Features", ", ".join(map(visible, made.features)) or "none"),
        ("Similarity", made.similarity),
        ("Loss", loss_name(made.loss)),
        ("Budget", f"{summary.budget:g}"),
        ("Compared with", summary.target_scope),
        (
            "Models",
            "; ".join(f"{visible(one.name)}: {visible(one.model)}" for one in summary.models),
        ),
        ("Seed", str(made.seed)),
        ("Fingerprint of the data", made.data_sha256 or "none"),
        ("fairtransport", made.version),
    ]
    return [(name, value) for name, value in rows if value]


def _contents(summary: ComparisonSummary, _: Output) -> dict[str, object]:
    """Return what the template part ``comparison_how.j2`` shows, by name."""
    return {
        "facts": facts(summary),
        "not_said": NOT_SAID,
        "glossary": {name: GLOSSARY[name] for name in KEPT} | MORE,
    }


SECTION = Section("how", "How it was done", 30, _contents)
