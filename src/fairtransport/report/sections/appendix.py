"""How the audit was done, and the glossary."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from fairtransport.documents.audit import WHY_STOPPED
from fairtransport.documents.verdicts import VERDICTS
from fairtransport.report.sections.finding import caution
from fairtransport.report.sections.section import Section
from fairtransport.report.text import LEFT_OUT, loss_name, visible

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

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
        query_text = LEFT_OUT if summary.queried is None else f"{summary.queried:,} different rows"
    questions = summary.questions
    if questions is not None and questions.draws is not None:
        query_text += f", {questions.draws:,} times each"
    if questions is not None and questions.unit is not None:
        query_text += f"; differences of two losses are clipped at {questions.unit:g}"
    if questions is not None and questions.stopped is not None and summary.queried is not None:
        whom = f"{summary.n:,} of {questions.people:,} people"
        query_text += f", for {whom}, until {WHY_STOPPED[questions.stopped]}"
    if summary.queried:
        query_text += " (people with equal values share one)"
    points = LEFT_OUT
    if summary.points is not None:
        parts = ["features", *["true label"] * (provenance.label is not None)]
        parts += ["prediction"] * (summary.queried == 0)
        points = f"{summary.points:,} ({', '.join(parts)}), {summary.observed_points:,} in the data"
    versions = {"fairtransport": provenance.version, **provenance.libraries}
    rows = [
        ("Model", visible(provenance.model)),
        ("Model queried for", query_text),
        ("People", f"{summary.n:,}"),
        ("Different rows compared", points),
        ("Features", _join_names(provenance.features)),
        ("Sensitive features", _join_names(provenance.sensitive)),
        ("True label", "none" if provenance.label is None else visible(provenance.label)),
        ("Loss", loss_name(provenance.loss) + limits),
        ("Similarity", visible(provenance.similarity)),
        *([("Budget ε", f"{summary.budget:g}")] if summary.budget else []),
        ("Method", visible(summary.method)),
        ("Guarantee", visible(summary.guarantee_words)),
        ("Random seed", LEFT_OUT if provenance.seed is None else f"{provenance.seed}"),
        ("Hash of the data (SHA-256)", provenance.data_sha256 or LEFT_OUT),
        ("Versions", _join_names(f"{name} {version}" for name, version in versions.items())),
        ("Numerical check (duality gap)", f"{summary.duality_gap:.1e}"),
    ]
    if provenance.settings_taken:
        rows.append(("Settings from a file", _join_names(provenance.settings_taken)))
    return tuple(rows)


def _join_names(names: Iterable[str]) -> str:
    """Return names as one line, with hidden characters spelled out."""
    return ", ".join(map(visible, names)) or "none"


def _method_contents(summary: AuditSummary, _: Output) -> dict[str, object]:
    """Return the contents of the template part ``method.j2``, by name."""
    return {"facts": facts(summary), "caution": caution(summary)}


METHOD = Section(
    "how", "Method", "method.j2", _method_contents, folded=True,
    hint="model, data, comparisons, versions",
)  # fmt: skip


GLOSSARY = {
    "At least, at most (lower and upper bound)": (
        "Bounds that allow for chance, which the number found in the data does not. Each is wrong "
        "in at most a share α of audits. The verdict compares them with the limit."
    ),
    "Better off": (
        "Gets a more favourable decision than with another value of the sensitive features."
    ),
    "Budget, ε": (
        "How different people may be, on average, to be swapped, as a squared distance. With ε = 0 "
        "people are swapped only with people at distance 0."
    ),
    "Confidence": (
        "95 % confidence: at most 5 % of audits state something wrong in this place. It is "
        "1 − α, where α is the significance level."
    ),
    "Confidence interval": (
        "A range that contains the true value of the population with the stated confidence. It may "
        "fail on either side, in α/2 of audits each, so that it is at least as wide as the range "
        "between the lower and the upper bound."
    ),
    "Control columns": (
        "Columns that should not matter for the decision. The effect of the sensitive features is "
        "compared with theirs."
    ),
    "Copy": (
        "The same person with other values of the sensitive features. All other columns stay as "
        "they are."
    ),
    "Counterpart": (
        "The same person as typically recorded in another group: columns that depend on the group "
        "change as far as they depend on it."
    ),
    "Density": "The height of a histogram: values with a larger density are more frequent.",
    "δ-fairness": (
        "A model is δ-fair if the statistic of the whole population is at most the limit δ."
    ),
    "Empirical Lipschitz constant": (
        "The largest difference between two people's predictions, divided by their distance."
    ),
    "FaiTH statistic": (
        "The largest possible rise of the mean loss when people are swapped with similar people. "
        "With zero-one loss, if people are swapped only at distance 0, it is a share of all "
        "people: those with a correct decision that is wrong for a similar person."
    ),
    "Favourable": "A decision that is good for the person, as set for this audit.",
    "Guarantee": (
        "finite-sample: the bounds are valid at every sample size. asymptotic: they are "
        "approximations for large samples."
    ),
    "Independently": (
        "Whether one person was drawn says nothing about whether another one was. Members of "
        "one household, for example, are not drawn independently."
    ),
    "Limit, δ": (
        "The largest value of the result that is tolerated. Whoever orders the audit chooses it "
        "before the audit."
    ),
    "Loss": (
        "What a prediction costs. zero-one: 1 for a wrong decision and 0 for a correct one, so the "
        "mean loss is the share of wrong decisions. outcome: no true label is used, and the mean "
        "loss is the share of people with one decision, or the mean prediction."
    ),
    "p-value": (
        "A number from 0 to 1 for how well the data agree with a hypothesis, here that the "
        "population is within the limit; small means badly. If the hypothesis is true, p is at "
        "most α in at most a share α of samples. The verdict is “over the limit” if p is at most α."
    ),
    "Percentage points": (
        "The difference of two percentages: from 30 % to 40 % it is 10 percentage points."
    ),
    "Population": (
        "All people that the audit makes a statement about. The audited people are a sample of it."
    ),
    "Price": "What one more unit of budget would add to the statistic.",
    "Proxies": (
        "Other columns that stand in for a sensitive feature, because they differ between its "
        "groups."
    ),
    "R": (
        "By how much the mean loss would rise if, among people with equal values in all other "
        "columns, everybody were treated like the worst-treated group. It does not say why groups "
        "are treated differently."
    ),
    "Ratio": "The rate of a group divided by the rate of the reference group.",
    "Reference": "The group that the other groups of a table are compared with.",
    "Resamples": (
        "Samples that are drawn at random from the data, to see how far a result varies."
    ),
    "Seed": (
        "The number that random choices start from. With the same seed an audit can be repeated."
    ),
    "Sensitive feature": (
        "A column that should make no difference to the decision, such as race or sex."
    ),
    "Similar people": (
        "People whom the similarity calls comparable. By default they differ only in sensitive "
        "features."
    ),
    "Squared distance": (
        "How different two people are under the similarity, squared. 0: they count as equal."
    ),
    "Swap": "A similar person takes the place of a person.",
    "True label": "The correct decision or outcome, in the same words as the predictions.",
    **{f"{row.title} ({row.value})": row.definition for row in VERDICTS.values() if row.definition},
    "Worse off": (
        "Gets a less favourable decision than with another value of the sensitive features."
    ),
}
"""What the words of reports mean, in the order in which they are listed."""
WRITTEN_AS = {
    "At least, at most (lower and upper bound)": "at least|at most|(lower|upper) bound",
    "Budget, ε": "budget|ε",
    "Copy": "copy|copies",
    "FaiTH statistic": "statistic",
    "Counterpart": "counterparts?",
    "Independently": "independent(ly)?",
    "Limit, δ": "limit|δ",
    "Loss": "loss",
    "p-value": "p-value|p [=<>≤]|p, adjusted",
    "R": "(?-i:R)",
    "Sensitive feature": "sensitive features?|sensitive values?",
    "Similar people": "similar (people|person)",
    "Swap": "swaps?|swapped",
    "Favourable": "favourable",
    "Confidence interval": "interval|intervals",
    "Control columns": "control columns|irrelevant edits|control edits",
    "Seed": "seed",
}
"""How a word of the glossary is written in a report, where that is not its entry: a pattern."""


def explain_words(text: str, entries: Mapping[str, str]) -> dict[str, str]:
    """Return the entries whose words occur in a text, or in another such entry."""
    found: dict[str, str] = {}
    while True:
        said = " ".join([text, *found.values()])
        more = {
            term: meaning
            for term, meaning in entries.items()
            if term not in found and _occurs(term, said)
        }
        if not more:
            return {term: entries[term] for term in sorted(found, key=_sort_key)}
        found |= more


def _sort_key(term: str) -> str:
    return term.casefold().replace("δ", "d")


def _occurs(term: str, text: str) -> bool:
    written = WRITTEN_AS.get(term, re.escape(term.split(" (", maxsplit=1)[0]))
    return re.search(rf"(?<!\w)({written})(?!\w)", text, re.IGNORECASE) is not None


GLOSSARY_SECTION = Section(
    "glossary", "Glossary", "glossary.j2",
    lambda _, output: {"glossary": explain_words(output.text, GLOSSARY)} if output.html else {},
    folded=True,
)  # fmt: skip
