"""Whose decision would change: the sentences and rows of every first screen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fairtransport.explain.decisions import BOTH_WAYS, SCOPES
from fairtransport.report.sections.controls import (
    controls_sentence,
    held_back_sentence,
    is_held_back,
)
from fairtransport.report.sections.finding import (
    another_group,
    confidence,
    has_known_bounds,
    is_on_record,
    mean_loss_text,
    outlook_sentence,
    verdict_sentence,
    verdict_title,
    worst_swap,
)
from fairtransport.report.sections.rates import rates_finding
from fairtransport.report.sections.section import Section
from fairtransport.report.tables import ARROW, Cell, Table, columns_of, pairs_cell, people_cell
from fairtransport.report.text import (
    DOWN,
    ERROR,
    OUTCOME,
    ROUNDING,
    UP,
    about,
    allowed_people,
    bound,
    decimal,
    distinct_decimals,
    for_units,
    is_shared,
    is_telling,
    level,
    people,
    percent,
    prediction_text,
    shorten,
    value_text,
    visible,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairtransport.documents.audit import AuditSummary, SampledUnits, Value
    from fairtransport.documents.comparison import ComparisonSummary
    from fairtransport.explain.decisions import (
        DecisionCase,
        DecisionCounts,
        Decisions,
        LabelDecisions,
        ScoreChange,
        ShareOfPeople,
    )
    from fairtransport.report.sections.section import Output

MAX_LABEL_CHARACTERS = 30
PERCENT_DIGITS = 1
EFFECTS = ("worse off", "better off", "")
WHERE_LISTED = " (section “The people”, column “True label {}”)"
AS_SAID = " (as set for this audit)"
ROUNDED = "number rounded"
OF_RANDOM_ANSWERS = "draws"
"""The method of an audit of random answers."""
IN_SEVERAL, IN_BOTH = "some are counted more than once", "some are counted in both"
MAX_NAMED_GROUPS = 3
RANDOM_SAMPLE = "these {units} are a random sample, drawn independently of each other"
NOT_TRAINED_ON = ", and were not used to train the model"
NOT_TRAINED_ON_ANY = ", and were not used to train any of the models"
OF_POPULATION = " from all those that the audit is about"
CLUSTERS_HINT = "If rows belong together, as those of a household, name their column (`clusters`)."
OF_DECISIONS = (
    "A file of decisions alone can show that the limit is exceeded, never that it is kept: it "
    "cannot exclude differences among people of whom it has few examples. With the model, an audit "
    "can show both."
)
EXPLAIN_RATES = (
    "Check first whether something that was not compared, in the file or outside it, explains the "
    "difference. Then ask how these decisions are made."
)
HOLDS_OF_THESE_IF = "the model's answers are independent of each other, and only for these people"


@dataclass(frozen=True)
class DirectionRow:
    """People who get one decision and would get another: a row of the first screen."""

    decision: str
    alternative: str
    count: ShareOfPeople
    effect: str
    details: str
    is_named: bool = True
    """Whether the decisions are known by name."""

    @property
    def own(self) -> str:
        """The decision, in quotes if it is a name."""
        return f"“{self.decision}”" if self.is_named else self.decision

    @property
    def other(self) -> str:
        """The alternative's decision, in quotes if it is a name."""
        return f"“{self.alternative}”" if self.is_named else self.alternative

    @property
    def text(self) -> str:
        """The text after the number of people."""
        is_one = people(self.count.people) == "1"
        they, get = ("this person", "gets") if is_one else ("they", "get")
        start = f"{'is' if is_one else 'are'} {self.effect} as recorded: {they} "
        start = start if self.effect else ""
        details = f" ({self.details})" if self.details else ""
        return f"{start}{get} {self.own}, and would then get {self.other}{details}"

    @property
    def sentence(self) -> str:
        """The row as a line of text."""
        return f"{people(self.count.people)} {self.text}"


def headline(summary: AuditSummary, *, with_interval: bool = True) -> str | None:
    """Return how many decisions would change, in a sentence; None if unknown."""
    decisions = summary.decisions
    if decisions is None:
        return None
    sensitive = summary.provenance.sensitive
    return changed_sentence(decisions, sensitive, about(summary), with_interval=with_interval)


def answer_word(decisions: Decisions) -> str:
    """Return what a person gets from the model: scores are no decisions."""
    return "decision" if decisions.scores is None else "prediction"


def changed_sentence(
    decisions: Decisions, sensitive: Sequence[str], near: str = "", *, with_interval: bool = True
) -> str:
    """Return how many people would get another decision, or how far scores would change."""
    count, what = decisions.changed, answer_word(decisions)
    names = alternatives_text(changed_features(decisions, sensitive))
    whose = "their" if decisions.scores is None or not count.people else "people's"
    only = f"if only {whose} recorded {names} were different."
    if count.scope == SCOPES[2]:
        only = f"as the same person as typically recorded with another {names}."
    if decisions.scores is not None and count.people:
        return f"{_score_change_text(decisions.scores)} {only}"
    if not count.people:
        sure = f" (with {level(count.level)} confidence at most {_upper(count.upper)})"
        most = sure if with_interval else ""
        return f"None of {decisions.n:,} people{most} would get another {what} {only}"
    share = share_text(count) if with_interval else percent(count.share)
    if is_weighted(count, decisions):
        share = f"weighted: {share}"
    return (
        f"{near.capitalize()}{people(count.people)} of {decisions.n:,} people ({share}) would get "
        f"another {what} {only}"
    )


def changed_features(decisions: Decisions | None, sensitive: Sequence[str]) -> Sequence[str]:
    """Return the sensitive features that the model receives, if these are known."""
    received = [] if decisions is None else [one.feature for one in decisions.by_feature]
    return received or sensitive


def is_weighted(count: ShareOfPeople, decisions: Decisions) -> bool:
    """Return whether a share is weighted, because people count unequally."""
    return abs(count.share * decisions.n - count.people) >= 1


def interval_sentence(decisions: Decisions) -> str:
    """Return the interval of the share of people whose decision would change."""
    count = decisions.changed
    seen = "Only values that occur in the data were compared." if count.scope == SCOPES[1] else None
    scope = counterparts_caveat(decisions) or seen
    sure = f"In the population: {interval_of(count)}, with {level(count.level)} confidence."
    return " ".join(filter(None, [sure, scope]))


def counterparts_caveat(decisions: Decisions) -> str | None:
    """Return the scope of the interval with fitted counterparts; None without any."""
    if decisions.changed.scope != SCOPES[2]:
        return None
    return (
        "The interval takes the counterparts as they were fitted on the hold-out: it does not "
        "include the error of this fit."
    )


def share_text(count: ShareOfPeople) -> str:
    """Return a share with its interval, as in "9 %; with 95 % confidence 7.6–10.6 %"."""
    return f"{percent(count.share)}; with {level(count.level)} confidence {interval_of(count)}"


def interval_of(count: ShareOfPeople) -> str:
    """Return the interval of a share, rounded outwards, as in "7.6–10.6 %"."""
    return f"{bound(100 * count.lower, DOWN, PERCENT_DIGITS)}–{_upper(count.upper)}"


def _upper(share: float) -> str:
    return f"{bound(100 * share, UP, PERCENT_DIGITS)} %"


def alternatives_text(sensitive: Sequence[str]) -> str:
    """Return the sensitive features as in "race or sex"."""
    return " or ".join(map(visible, sensitive))


def direction_rows(decisions: Decisions) -> list[DirectionRow]:
    """Return the changes by decision and alternative, worse off first."""
    if not decisions.changes:
        return _unlabelled_rows(decisions)
    few = len(decisions.changes) <= BOTH_WAYS
    rows = []
    for change in decisions.changes:
        effect = _effect(decisions.favourable, change.decision, change.alternative)
        details = _by_feature_text(decisions, effect) if few else ""
        texts = label_text(change.decision), label_text(change.alternative)
        rows.append(DirectionRow(*texts, change.count, effect, details))
    return sorted(rows, key=lambda row: EFFECTS.index(row.effect))


def _unlabelled_rows(decisions: Decisions) -> list[DirectionRow]:
    """Return who is worse and better off if no decisions are shown."""
    if decisions.worse_off is None or decisions.better_off is None:
        return []
    worse, better = "a worse decision", "a better one"
    is_named = len(decisions.favourable) == 1
    if is_named:
        better = label_text(decisions.favourable[0])
        worse = f"not {better}"
    return [
        DirectionRow(worse, better, decisions.worse_off, "worse off", ROUNDED, is_named),
        DirectionRow(better, worse, decisions.better_off, "better off", ROUNDED, is_named),
    ]


def _effect(order: Sequence[Value], decision: Value, alternative: Value) -> str:
    """Return the effect of a decision compared with another; empty if unknown."""
    if len(order) > 1:
        better = order.index(alternative) > order.index(decision)
        return "worse off" if better else "better off"
    if alternative in order:
        return "worse off"
    return "better off" if decision in order else ""


def label_text(value: object) -> str:
    """Return a decision in the file's own words, shortened."""
    return shorten(value_text(value), MAX_LABEL_CHARACTERS)  # type: ignore[arg-type]


def counted(counts: DecisionCounts, effect: str) -> float:
    """Return how many people of a group are worse off, better off or changed."""
    number = {"worse off": counts.worse_off, "better off": counts.better_off}.get(
        effect, counts.changed
    )
    return 0.0 if number is None else number


def _by_feature_text(decisions: Decisions, effect: str) -> str:
    """Return whom a direction is about: groups, or for how many each feature is enough."""
    if not effect:
        return ""
    if len(decisions.by_feature) == 1:
        groups = sorted(decisions.by_feature[0].groups, key=lambda row: -counted(row, effect))
        texts = [_group_text(row, effect) for row in groups if counted(row, effect)]
        return "; ".join(texts[:MAX_NAMED_GROUPS])
    alone = {one.feature: counted(one.total, effect) for one in decisions.by_feature}
    names = [(visible(name), people(number)) for name, number in alone.items() if number]
    parts = [
        f"changing {name} {'' if at else 'is enough '}for {number}"
        for at, (name, number) in enumerate(names)
    ]
    together = decisions.only_together
    count = 0.0 if together is None else counted(together, effect)
    if count:
        parts.append(f"{people(count)} need {together_text(decisions)} changes")
    total = decisions.worse_off if effect == "worse off" else decisions.better_off
    if total is not None and sum(alone.values()) + count > total.people + ROUNDING:
        parts[-1] += f"; {_in_several(parts)}"
    return "; ".join(parts)


def _in_several(parts: Sequence[str]) -> str:
    return IN_BOTH if len(parts) == 2 else IN_SEVERAL  # noqa: PLR2004


def together_text(decisions: Decisions) -> str:
    """Return "both" or "several", of the sensitive features."""
    return "both" if len(decisions.by_feature) == 2 else "several"  # noqa: PLR2004


def _favourable_label(decisions: Decisions) -> LabelDecisions | None:
    """Return the counts of people whose true label is the favourable one; None without them."""
    if decisions.worse_off is None or not decisions.favourable:
        return None
    best = decisions.favourable[-1]
    return next((one for one in decisions.by_label if one.label == best), None)


def _wrongly_worse_off(decisions: Decisions) -> float:
    """Return how many people are worse off although their true label is the favourable one."""
    row = _favourable_label(decisions)
    return 0.0 if row is None else counted(row.total, "worse off")


def label_sentence(decisions: Decisions) -> str | None:
    """Return how many of the worse off have the favourable true label."""
    worse, row = decisions.worse_off, _favourable_label(decisions)
    if row is None or worse is None or not worse.people:
        return None
    number = counted(row.total, "worse off")
    if not number and len(decisions.favourable) > 1:  # others could be wrongly worse off
        return None
    most: dict[tuple[str, ...], DecisionCounts] = {}
    for one in sorted(row.groups, key=lambda group: -counted(group, "worse off")):
        most.setdefault(tuple(one.group), one)
    groups = [
        f"{people(counted(one, 'worse off'))} {_with_group(one)}"
        for one in most.values()
        if counted(one, "worse off")
    ]
    listed = sum(counted(one, "worse off") for one in most.values())
    several = f"; {_in_several(groups)}" if listed > number + ROUNDING else ""
    who = f" ({', '.join(groups)}{several})" if number and groups else ""
    label, all_worse = label_text(row.label), people(worse.people)
    if all_worse == "1":
        has = "does not have" if not number else "has"
        wrong = ": this decision is wrong" if number else ""
        return f"The person who is worse off {has} the true label “{label}”{wrong}."
    if not number:
        return f"None of the {all_worse} who are worse off has the true label “{label}”."
    have = "this person has" if people(number) == "1" else "they have"
    # of more than two decisions others can be wrong too
    least = "at least " if len(decisions.by_label) > BOTH_WAYS else ""
    return (
        f"The decision is wrong for {least}{people(number)} of the {all_worse} who are worse off: "
        f"{have} the true label “{label}”{who}."
    )


def _score_change_text(change: ScoreChange) -> str:
    """Return how far scores or numbers change, as the beginning of a sentence."""
    what = "Predictions" if change.of is None else f"Scores of {label_text(change.of)}"
    ways = [
        f"up to {value_text(largest)} {way} ({value_text(mean)} on average)"
        for largest, mean, way in (
            (change.largest_rise, change.mean_rise, "higher"),
            (change.largest_fall, change.mean_fall, "lower"),
        )
        if largest
    ]
    return f"{what} would be {' or '.join(ways)}"


def score_sentences(decisions: Decisions) -> list[str]:
    """Return how far scores change on average, by feature and by group."""
    if decisions.scores is None:
        return []
    several = len(decisions.by_feature) > 1
    sentences = []
    for one in decisions.by_feature:
        groups = sorted(one.groups, key=lambda row: -max(_rise_and_fall(row)))
        texts = [f"{group_name(row)} {_mean_change_text(row)}" for row in groups[:MAX_NAMED_GROUPS]]
        rest = len(groups) - len(texts)
        texts += [f"less in {rest} other groups"] if rest > 0 else []
        name = f"{'only ' * several}another {visible(one.feature)}"
        if not one.total.changed:
            sentences.append(f"With {name}, no prediction changes.")
            continue
        sentences.append(f"With {name}, predictions are on average: {'; '.join(texts)}.")
    return sentences


def _rise_and_fall(row: DecisionCounts) -> tuple[float, float]:
    return row.mean_rise or 0.0, row.mean_fall or 0.0


def _mean_change_text(row: DecisionCounts) -> str:
    """Return the mean change in a group, as in "0.05 higher"."""
    rise, fall = _rise_and_fall(row)
    ways = [
        f"{value_text(size)} {way}" for size, way in ((rise, "higher"), (fall, "lower")) if size
    ]
    return " or ".join(ways) or "the same"


def group_name(row: DecisionCounts) -> str:
    """Return a group by its values, as in "Female, Caucasian" or "age 18"."""
    return ", ".join(_level_name(name, value) for name, value in row.group.items())


def _with_group(row: DecisionCounts) -> str:
    """Return a group as the text after a number of people, as in "Female" or "with age 18"."""
    named = not is_telling(next(iter(row.group.values()), ""))
    return f"with {group_name(row)}" if named else group_name(row)


def _level_name(name: str, value: Value) -> str:
    """Return a level, with its column if it is ambiguous."""
    text = label_text(value)
    return text if is_telling(value) else f"{shorten(visible(name), MAX_LABEL_CHARACTERS)} {text}"


def alternatives_sentence(decisions: Decisions) -> str | None:
    """Return how many alternatives a person has, and the effect of a random one."""
    count, share = decisions.alternatives, decisions.random_share
    if count == 1 or share is None:
        return None
    names = alternatives_text([one.feature for one in decisions.by_feature])
    differ = f" that differ only in {names}" if names else ""
    copies = f"Each person was compared with {count:,} copies of themselves{differ}."
    if decisions.scores is not None:
        return copies
    return (
        f"{copies} For {percent(decisions.changed.share)} of people at least one copy gets another "
        f"decision. If one copy per person is picked at random, {percent(share)} do on average."
    )


def decision_lines(decisions: Decisions) -> list[str]:
    """Return the decisions in plain sentences, for `print`."""
    sensitive = [one.feature for one in decisions.by_feature]
    rows = [row.sentence for row in direction_rows(decisions)]
    lines = [
        changed_sentence(decisions, sensitive), *rows, *score_sentences(decisions),
        label_sentence(decisions), alternatives_sentence(decisions), counterparts_caveat(decisions),
    ]  # fmt: skip
    return [line for line in lines if line]


def limit_lines(summary: AuditSummary) -> list[str]:
    """Return the limit in people, or in the loss's unit, and the result."""
    if summary.applicability is not None or summary.rates is not None:
        return []
    lines = [] if summary.delta is None else [limit_sentence(summary)]
    found = [f"Found: {_found_text(summary)}."]
    if bounds := list(_bound_texts(summary).values()):
        each = "each " if len(bounds) > 1 else ""
        sure = f"{confidence(summary)} confidence{for_units(summary.units)}"
        whose = "For these people" if summary.is_about_these else "In the population"
        found.append(f"{whose}: {', '.join(bounds)}, {each}with {sure}.")
    controls = controls_sentence(summary)
    return [*lines, " ".join(found), *([] if controls is None else [controls])]


def _found_text(summary: AuditSummary) -> str:
    """Return what was found; with what it counts, unless a limit has just said that."""
    value, near, part = summary.judged.value, about(summary), _of_part(summary)
    if not counts_people(summary):
        number = f"{near}{decimal(value)}{part}"
        if summary.delta is not None:
            return number
        return f"{mean_text(summary)} would rise by {number} {worst_swap(summary)}"
    found = f"{near}{_percents(value)} of people (weighted)"
    if counts_people_once(summary):
        count = people(round(value * summary.n, 0 if is_shared(summary) else 6))
        who = "person" if count == "1" else "people"
        parts = _counted_parts(summary)
        found = f"{near}{_percents(value)} of these people ({near}{count} {who}{parts})"
    return f"{found}{part}" if summary.delta is not None else f"{found} {_have(summary)}{part}"


def _of_part(summary: AuditSummary) -> str:
    """Return that a figure is of the attributable part; "" where it is of the statistic."""
    return f" through swaps with {another_group(summary)}" if summary.is_about_part else ""


def _bound_texts(summary: AuditSummary) -> dict[str, str]:
    """Return the bounds by their sides, with enough digits to differ from the limit."""
    unit, digits = (100, 1) if counts_people(summary) else (1, 4)
    texts = {}
    for side, end, rounding in (
        ("at least", summary.judged.lower_bound, DOWN),
        ("at most", summary.judged.upper_bound, UP),
    ):  # fmt: skip
        if end is None or (side == "at least" and end <= 0 and summary.verdict != "rejected"):
            continue  # what is true of every model is not worth a line
        text = bound(unit * end, rounding, digits)
        if summary.delta is not None and end == summary.delta:
            text = _limit_number(summary).removesuffix(" %")
        elif summary.delta is not None:
            text, _ = distinct_decimals(unit * end, unit * summary.delta, digits, rounding)
        is_more = end == summary.delta and side == "at least" and summary.verdict == "rejected"
        sign = " %" if counts_people(summary) else ""
        texts[side] = f"{'more than' if is_more else side} {text}{sign}"
    return texts


def _limit_number(summary: AuditSummary) -> str:
    """Return the limit as a percentage of people, or in the loss's unit."""
    delta = summary.delta or 0.0
    return _percents(delta) if counts_people(summary) else f"{delta:g}"


def _counted_parts(summary: AuditSummary) -> str:
    """Return which of the worse and better off the limit counts; empty if unknown."""
    decisions = summary.decisions
    if decisions is None or decisions.worse_off is None or decisions.better_off is None:
        return ""
    if summary.is_about_part:
        return ""
    correct = _correct_now(decisions)
    total = sum(number for number, _ in correct)
    if counted_label(summary) is not None or abs(total - summary.statistic * summary.n) > ROUNDING:
        return ""
    sides = zip(correct, ("worse off", "better off"), strict=True)
    texts = [
        f"{people(number)} of the {people(of)} who are {effect}"
        for (number, of), effect in sides
        if number
    ]
    return f": {' and '.join(texts)}" if texts else ""


def _correct_now(decisions: Decisions) -> list[tuple[float, float]]:
    """Return the numbers of worse and better off who are decided correctly, and the totals.

    With two decisions, the worse off get the other one than the favourable, the better off the
    favourable one.
    """
    best = decisions.favourable[-1:]
    worse = sum(
        counted(one.total, "worse off") for one in decisions.by_label if (one.label,) != best
    )
    better = sum(
        counted(one.total, "better off") for one in decisions.by_label if (one.label,) == best
    )
    totals = (decisions.worse_off, decisions.better_off)
    counts = [0.0 if one is None else one.people for one in totals]
    return list(zip((worse, better), counts, strict=True))


def limit_sentence(summary: AuditSummary) -> str:
    """Return the sentence on the limit."""
    if not counts_people(summary):
        return (
            f"Your limit: {mean_text(summary)} may rise by at most {_limit_number(summary)} "
            f"{worst_swap(summary)}."
        )
    has_count = counts_people_once(summary) and not is_shared(summary)
    of = (
        f" ({allowed_people(summary.delta or 0.0, summary.n):,} of these {summary.n:,})"
        if has_count
        else ""
    )
    return f"Your limit: at most {_limit_number(summary)} of all people{of} may {_have(summary)}."


def _have(summary: AuditSummary) -> str:
    """Return what the people whom the limit counts have or get."""
    if (label := counted_label(summary)) is not None:
        return f"get “{label_text(label)}” only {_as_other(summary)}"
    return f"have a correct decision that would become wrong {_as_other(summary, 'for')}"


def _as_other(summary: AuditSummary, as_word: str = "as") -> str:
    """Return as whom people are judged in place of themselves, as in "with another race or sex"."""
    names = alternatives_text(changed_features(summary.decisions, summary.provenance.sensitive))
    if summary.target_scope == "counterparts":
        return f"{as_word} the same person as typically recorded with another {names}"
    if summary.target_scope == "twins":
        return f"with another {names}"
    return f"{as_word} a similar person"


def mean_text(summary: AuditSummary) -> str:
    """Return the quantity that rises."""
    errors = summary.provenance.loss == ERROR
    return "the share of errors" if errors else mean_loss_text(summary)


def verdict_finding(summary: AuditSummary) -> str | None:
    """Return the bounds that a verdict comes from and the limit, for its line; else None."""
    if summary.delta is None or summary.applicability is not None:
        return None
    if summary.rates is not None:
        return rates_finding(summary, summary.rates)
    least, most = summary.judged.lower_bound, summary.judged.upper_bound
    is_crossed = least is not None and most is not None and most < least
    if is_crossed or is_held_back(summary):
        return None
    sides = {"rejected": ("at least",), "certified": ("at most",)}
    texts = [
        text for side, text in _bound_texts(summary).items()
        if side in sides.get(summary.verdict or "", (side,))
    ]  # fmt: skip
    found, part = " and ".join(texts), _of_part(summary)
    if not texts and summary.is_about_part and has_known_bounds(summary):
        finding = f"no bound on swaps with {another_group(summary)}"
    elif not texts:
        return None
    elif counts_people(summary):
        finding = f"{found} of people {_have(summary)}{part}"
    else:
        swaps = part or " through swaps with similar people"
        finding = f"{mean_text(summary)} would rise by {found}{swaps}"
    return f"{finding}; limit {_limit_number(summary)}"


def verdict_with_finding(summary: AuditSummary) -> str:
    """Return the verdict's title with its evidence."""
    title, finding = verdict_title(summary), verdict_finding(summary)
    return title if finding is None else f"{title}: {finding}"


def failure_sentence(summary: AuditSummary) -> str:
    """Return the verdict that fails a pipeline in a line: its reason, or its evidence."""
    if summary.applicability is not None:
        return verdict_sentence(summary)
    return f"{verdict_with_finding(summary)}."


def counts_people_once(summary: AuditSummary | ComparisonSummary) -> bool:
    """Return whether every person counts once, so that a share is a number of people."""
    return summary.units is None or summary.units.counts_people_once


def counts_people(summary: AuditSummary) -> bool:
    """Say whether the statistic is a share of people: of random answers it is a mean loss."""
    is_count = summary.provenance.loss == ERROR or counted_label(summary) is not None
    return is_count and summary.budget == 0 and summary.method != OF_RANDOM_ANSWERS


def counted_label(summary: AuditSummary) -> Value:
    """Return the decision that the statistic counts as someone else; None if it counts none."""
    decisions, provenance = summary.decisions, summary.provenance
    is_outcome = provenance.loss == OUTCOME and decisions is not None and decisions.scores is None
    return provenance.pos_label if is_outcome else None


def _percents(share: float) -> str:
    """Return a share as a percentage with the digits that it needs."""
    return f"{100 * share:.3g} %" if abs(share) >= ROUNDING else "0 %"


def case_text(case: DecisionCase, sensitive: Sequence[str]) -> tuple[str, str]:
    """Return who people of a profile are, sensitive features first, and who the alternative is."""
    own = [_level_name(name, case.profile[name]) for name in sensitive if name in case.profile]
    rest = [
        f"{visible(name)} {value_text(value)}"
        for name, value in case.profile.items()
        if name not in sensitive
    ]
    other = [_level_name(name, value) for name, value in case.changes.items()]
    return ", ".join([*own, *rest]), ", ".join(other)


def group_heading(decisions: Decisions) -> str:
    """Return whom the table by feature is about."""
    rows = direction_rows(decisions)
    worse = decisions.worse_off
    if decisions.scores is not None:
        return "How far predictions would change"
    if worse is None or not worse.people:
        return "Whose decision would change"
    if len(decisions.changes) == BOTH_WAYS:
        first = rows[0]
        who = f"the {people(worse.people)} with {first.own} who would get {first.other}"
        return f"Who is worse off: {who}"
    return f"Who is worse off: {people(worse.people)} people"


def changed_by_feature_table(decisions: Decisions) -> Table | None:
    """Return who is worse off (or changed) by each feature alone, group by group."""
    if decisions.scores is not None:  # nearly all scores change, by however little
        return None
    worse = decisions.worse_off
    effect = "worse off" if worse is not None and worse.people else ""
    rows = []
    for one in decisions.by_feature:
        name = shorten(visible(one.feature), MAX_LABEL_CHARACTERS)
        groups = sorted(one.groups, key=lambda row: -counted(row, effect))
        first = groups[:MAX_NAMED_GROUPS]
        texts = [_group_text(row, effect) for row in first]
        rest = groups[MAX_NAMED_GROUPS:]
        if rest:
            number = sum(counted(row, effect) for row in rest)
            total = sum(row.people for row in rest)
            texts.append(f"{people(number)} of {people(total)} in {len(rest)} other groups")
        number = counted(one.total, effect)
        rows.append((Cell(name), people_cell(number), Cell("; ".join(texts))))
    if not rows:
        return None
    together = decisions.only_together
    if together is not None:
        number = counted(together, effect)
        several = f"only {together_text(decisions)} together"
        rows.append((Cell(several), people_cell(number), Cell("–")))
    change = "Which change is enough" if len(decisions.by_feature) > 1 else "Change of"
    titles = [change, effect.capitalize() or "People", "By group"]
    return Table("by-feature", group_heading(decisions), columns_of(titles, titles[1:2]),
                 tuple(rows))  # fmt: skip


def _group_text(row: DecisionCounts, effect: str) -> str:
    """Return how many of a group, as in "Male: 60 of 1,269"."""
    return f"{group_name(row)}: {people(counted(row, effect))} of {people(row.people)}"


def limit_note(summary: AuditSummary) -> str | None:
    """Return that the limit does not count people harmed, and whom it leaves out; else None."""
    decisions = summary.decisions
    if decisions is None or summary.applicability is not None or not counts_people(summary):
        return None
    if counted_label(summary) is not None or decisions.worse_off is None or is_shared(summary):
        return None
    wrong, (_, (better, _)) = _wrongly_worse_off(decisions), _correct_now(decisions)
    if not wrong and not better:
        return None
    note = (
        "This is not the number of people harmed: it counts correct decisions that would become "
        "wrong, in the person's favour or against it."
    )
    if not wrong:
        return note
    label = label_text(decisions.favourable[-1])
    return (
        f"{note} It does not count the {people(wrong)} above whose true label is “{label}”: their "
        "decision is wrong already."
    )


def verdict_note(summary: AuditSummary) -> str | None:
    """Return what the verdict does not mean, or that there is none."""
    whose = "model is" if summary.queried != 0 else "decisions are"
    if summary.applicability is not None:
        return f"This is not a finding that the {whose} fair."
    if summary.verdict == "certified":
        return f"This is not a finding that the model is fair{_still_changes(summary)}."
    if summary.verdict == "inconclusive" and summary.rates is not None:
        return None if summary.rates.largest_possible is not None else OF_DECISIONS
    if summary.verdict != "inconclusive" or is_held_back(summary):
        return held_back_sentence(summary)
    if _is_never_settled(summary):
        they = "it is" if summary.queried != 0 else "they are"
        return (
            f"Nothing shows that the {whose} over the limit, and this audit cannot show that "
            f"{they} within it."
        )
    return f"These data are not enough to say whether the {whose} over or within the limit."


def _is_never_settled(summary: AuditSummary) -> bool:
    """Return whether more people like these give no verdict, as nothing can be certified."""
    judged, rates = summary.judged, summary.rates
    is_open = summary.verdict == "inconclusive" and judged.upper_bound is None
    found = judged.value if rates is None or rates.value is None else rates.value
    # without a lower bound neither verdict can be reached
    is_low = summary.delta is not None and (found <= summary.delta or judged.lower_bound is None)
    return is_open and is_low and has_known_bounds(summary)


def _still_changes(summary: AuditSummary) -> str:
    """Return that decisions change within the limit too, as the end of a sentence."""
    decisions = summary.decisions
    if decisions is None or not decisions.changed.people:
        return ""
    if decisions.scores is not None:
        return ": predictions would still change"
    number = people(decisions.changed.people)
    who = "person" if number == "1" else "people"
    return f": the decision of {about(summary)}{number} {who} would still change"


def next_steps(summary: AuditSummary) -> list[str]:
    """Return what to do next, most useful first."""
    sensitive = " and ".join(map(visible, summary.provenance.sensitive))
    proxies = f"audit the other columns, which may stand in for {sensitive} (proxies)"
    decisions = summary.decisions
    if summary.applicability is not None:
        return [] if summary.advice is None else [summary.advice]
    steps = []
    if summary.verdict == "inconclusive":
        outlook, larger = summary.outlook, "Audit a new, larger sample."
        is_beyond = summary.rates is not None and summary.rates.largest_possible is not None
        if _is_never_settled(summary) or is_beyond:
            larger = ""
        advice = "Do not move the limit to get a verdict."
        if is_beyond:
            advice = "Set a smaller limit, by what is acceptable and not by what was found."
        steps.append(f"{larger} {advice}".strip())
        steps += [] if outlook is None else [outlook_sentence(summary) or ""]
    if summary.rates is not None and summary.verdict == "rejected":
        steps.append(EXPLAIN_RATES)
    if decisions is None or not decisions.changed.people:
        return steps
    if wrong := _wrongly_worse_off(decisions):
        best = label_text(decisions.favourable[-1])
        steps.append(
            f"Look first at the {people(wrong)} who are worse off although their true label is "
            f"“{best}”{WHERE_LISTED.format(best) if decisions.cases else ''}."
        )
    if summary.verdict == "certified":
        steps.append(f"Decide whether these changes are acceptable, and {proxies}.")
    elif summary.target_scope == "counterparts":
        steps.append("Ask which of the columns that changed should enter the decision.")
    else:
        them = "it" if len(summary.provenance.sensitive) == 1 else "them"
        steps.append(
            f"Ask whether {sensitive} should enter the decision at all. A model without {them} "
            f"makes no such changes, but then {proxies}."
        )
    return steps


def holds_if(summary: AuditSummary) -> str:
    """Return the assumptions of bounds and verdict, with the sampled unit."""
    if summary.is_about_these:
        return HOLDS_OF_THESE_IF
    population = OF_POPULATION if is_on_record(summary) else NOT_TRAINED_ON
    return _sample_condition(summary.units, population)


def _sample_condition(units: SampledUnits | None, population: str) -> str:
    """Return the assumption on sampling, with the sampled unit."""
    if units is None:
        return RANDOM_SAMPLE.format(units="people") + population
    if units.has_clusters:
        return RANDOM_SAMPLE.format(units=visible(units.name)) + population + units.given
    column = visible(units.column)
    drawn = f"these people were drawn independently, with chances inverse to {column}"
    trained = "" if population == OF_POPULATION else population
    return f"{drawn}{trained}{units.given}"


def several_hold_if(units: Sequence[SampledUnits | None], *, on_record: bool) -> str:
    """Return the assumptions of several audits, and what to do if they fail."""
    population = OF_POPULATION if on_record else NOT_TRAINED_ON_ANY
    conditions = dict.fromkeys(_sample_condition(one, population) for one in units)
    hint = "" if all(units) else f" {CLUSTERS_HINT}"
    return f"Intervals and verdicts are valid only if {', and '.join(conditions)}.{hint}"


def favourable_text(summary: AuditSummary) -> str | None:
    """Return which decision is good for a person; None if none was named."""
    decisions = summary.decisions
    order = () if decisions is None else decisions.favourable
    if len(order) > 1:
        return f"from worst to best {', '.join(f'“{label_text(one)}”' for one in order)}{AS_SAID}"
    if summary.favourable is None:
        return None
    return f"“{label_text(summary.favourable)}”{AS_SAID}"


def favourable_hint(decisions: Decisions) -> str | None:
    """Return how to see who is worse off; None if that is known or decisions are scores."""
    if decisions.favourable or decisions.scores is not None or not decisions.changed.people:
        return None
    return "To see who is worse off, name the decision that is good for a person (`favourable`)."


def not_said(summary: AuditSummary) -> list[str]:
    """Return what the first screen does not show; the last item is its assumption."""
    features = alternatives_text(summary.provenance.sensitive)
    condition = f"Intervals and verdict are valid only if {holds_if(summary)}."
    valid = f"{condition}{_sample_example(summary)}"
    if summary.applicability is not None:
        whose = "model is" if summary.queried != 0 else "decisions are"
        return [
            f"That the {whose} fair, or within a limit.",
            f"That {features} plays no part: other columns can stand in for it (proxies).",
            valid,
        ]
    proxies = f"Whether other columns stand in for {features} (proxies)."
    if summary.target_scope == "counterparts":
        proxies = f"What {features} causes: counterparts are statistical, and nothing is certified."
    return ["Why decisions differ.", "That equal decisions would be fair.", proxies, valid]


def _sample_example(summary: AuditSummary) -> str:
    """Return what a random sample is, and what remains without one."""
    if summary.is_about_these or summary.units is not None:
        return ""
    return (
        " An example: people drawn by lot from all about whom a decision was made in a year. "
        "Without such a sample, the counts describe the people in the file, and nobody else."
    )


def not_said_text(summary: AuditSummary) -> str:
    """Return the same in a paragraph."""
    *items, valid = not_said(summary)
    return f"What this does not say: {' '.join(items)} {valid}"


MAX_CASE_CELLS = 4_000
MIN_CASE_ROWS = 20
"""Minimum number of rows of people on a page, for any number of columns."""


def cases_table(summary: AuditSummary, most: int | None = None) -> Table:
    """Return the people whose decision would change, a row for people with equal values."""
    decisions, sensitive = summary.decisions, summary.provenance.sensitive
    cases = () if decisions is None else decisions.cases[:most]
    best = None if decisions is None or not decisions.favourable else decisions.favourable[-1]
    has_labels = best is not None and any(case.labels for case in cases)
    has_effect = decisions is not None and decisions.worse_off is not None
    word = "decision" if decisions is None else answer_word(decisions)
    titles = ["People", "Who they are", word.capitalize(), "If recorded as"]
    titles += ["As recorded"] * has_effect
    label_title = f"True label {label_text(best)}"
    titles += [label_title] * has_labels + ["Such a person is in your file"]

    def row(case: DecisionCase) -> tuple[Cell, ...]:
        """Return one group's cells."""
        names = [*sensitive, *(name for name in case.profile if name not in sensitive)]
        pairs = [(visible(name), value_text(case.profile[name])) for name in names
                 if name in case.profile]  # fmt: skip
        only = "only " if len(case.changes) == 1 and len(sensitive) > 1 else ""
        changes = [(only + visible(name), value_text(value)) for name, value in
                   case.changes.items()]  # fmt: skip
        correct = case.labels.get(str(best), 0)
        decision = ARROW.join(
            shorten(prediction_text(one), MAX_LABEL_CHARACTERS)
            for one in (case.decision, case.alternative)
        )
        return (
            people_cell(case.people), pairs_cell(pairs), Cell(decision), pairs_cell(changes),
            *[Cell(case.effect)] * has_effect,
            *[Cell(f"{correct:,} of {people(case.people)}", correct)] * has_labels,
            Cell("yes" if case.is_observed else "no"),
        )  # fmt: skip

    columns = columns_of(titles, ("People", label_title))
    caption = f"The people whose {word} would change"
    return Table("people", caption, columns, tuple(map(row, cases)))


def cases_sentence(decisions: Decisions, most: int) -> str:
    """Return how many people with changed decisions a table of ``most`` rows lists."""
    cases = decisions.cases[:most]
    count = sum(case.people for case in cases)
    total, whose = decisions.changed.people, f"whose {answer_word(decisions)} would change"
    if count == total:
        return f"The {people(count)} people {whose}. People with equal values share a row."
    return (
        f"{people(count)} of the {people(total)} people {whose}. People with equal values share "
        "a row."
    )


def _people_contents(summary: AuditSummary, output: Output) -> dict[str, object]:
    """Return the contents of the template part ``people.j2``, by name."""
    decisions = summary.decisions
    if decisions is None or summary.applicability is not None or not decisions.cases:
        return {"cases": None}
    columns = max(1, len(decisions.cases[0].profile))
    most = output.max_moves or max(MIN_CASE_ROWS, MAX_CASE_CELLS // columns)
    return {
        "cases": cases_table(summary, most),
        "listed": cases_sentence(decisions, most),
        "order": (
            "Largest groups first."
            if decisions.worse_off is None
            else "Those who are worse off come first, then the largest groups."
        ),
        "meaning": (
            "If several changes give another decision, a row shows one with the fewest columns. "
            "The last column says whether your file has a person with the changed values; if not, "
            "only the model's answer for such a person is known."
        ),
    }


PEOPLE = Section("people", "The people", "people.j2", _people_contents)
