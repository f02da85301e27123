"""From the core of an audit to its document, with everything in it."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtransport.audit.concluded import COMPARED
from fairtransport.audit.dependence import without_each_feature
from fairtransport.audit.grouping import MOST_METRICS, compare_groups, favoured, unmeasured
from fairtransport.audit.making_up import some_twins
from fairtransport.inference import DrawnLaw
from fairtransport.localise import (
    describe_moves,
    find_directions,
    flow_shapes,
    flow_table,
    group_flows,
    most_affected,
    worst_pair,
)
from fairtransport.localise.profiles import plain
from fairtransport.similarity.checking import check_space
from fairtransport.space.fingerprint import data_sha256
from fairtransport.summary import (
    SCHEMA,
    AttributablePart,
    AuditSummary,
    CostRule,
    CurvePoint,
    FeatureRate,
    FlowTable,
    Law,
    LawBin,
    Limits,
    MethodLimits,
    Provenance,
    QuestionsAsked,
    RatesFound,
    StatisticBracket,
    TwinsMade,
)

if TYPE_CHECKING:
    from fairtransport.audit.concluded import Concluded
    from fairtransport.audit.core import Core
    from fairtransport.checks import FloatArray
    from fairtransport.inference import SamplingLaw
    from fairtransport.localise import GroupFlow, Move, Moved
    from fairtransport.similarity import SimilarityCheck
    from fairtransport.space import SampleSpace

MOST_LEVELS = 40
"""Of a feature with more levels a document shows those with most moves, and all others as one;
`AuditResult.flows` gives them."""
FEWEST_LEVELS = 3
"""Where there is no room for these, flows are left out."""
MOST_LABELS = 20
"""The same for labels, of which each has a heat map of its own."""
MOST_CELLS = 1000
"""The same for labels times levels times groups."""
MOST_CORNERS = 400
"""A document has so many corners of the budget curve, half of them near the budget."""
NEAR = 10
"""So many times the budget is near, as in the picture."""
MOST_DIRECTIONS = 200
"""The same for pairs of levels of sensitive features."""
MOST_GROUPS = 500
"""The same for sensitive groups; those that add most to the statistic are listed."""
LAW_BINS = 40
ROUNDING = 1e-9
"""Values that differ by less, as a share of the largest, are one value."""
LIBRARIES = ("numpy", "scipy", "narwhals", "pandas", "duckdb")


def summarise(core: Concluded, headline: AuditSummary) -> AuditSummary:
    """Return everything an audit says; ``headline`` is what `summarise_headline` returns.

    Parameters
    ----------
    core
        The audit.
    headline
        Filled up with what takes longer. Nothing here is computed from anything else than the
        core: the same core gives the same document.
    """
    moved = core.moved
    compared = compare_groups(core)
    notes = [note for one in compared for note in one.notes]
    curve, omitted_corners = _curve(core)
    return replace(
        headline,
        certificate_pvalue=core.certificate_pvalue,
        evalue=core.evalue,
        # of a statistic that is no evidence there is nothing to compare
        methods=() if core.rates else tuple(
            method_limits(law, core.alpha) for law in core.compared_laws
        ),
        flows=flow_tables(core, moved, fixed=core.targets_are_fixed),
        most_affected=most_affected(
            moved, core.space, core.settings.moves_limit, favoured(core)
        ),
        groups=largest_groups(group_flows(moved, core.space, core.problem.losses)),
        group_metrics=tuple(one.metrics for one in compared),
        worst_pair=worst_pair(
            core.space, core.problem.geometry, core.answers.predictions,
            are_labels=core.loss.needs == "label",
        ),
        budget_curve=curve,
        elbow=_elbow(core),
        costs=_costs(core),
        similarity_check=_similarity_check(core),
        without_feature=without_each_feature(core),
        law=_law(core),
        warnings=(
            *headline.warnings, *notes, *omissions(core, folds=True), *omitted_corners,
        ),
        provenance=replace(
            headline.provenance,
            data_sha256=data_sha256(core.space),
            similarity_record=_similarity_record(core),
        ),
    )  # fmt: skip


def summarise_headline(core: Concluded) -> AuditSummary:
    """Return what a screen says of an audit, without what takes time and only a document shows.

    Parameters
    ----------
    core
        The audit.
    """
    moved, solution = core.moved, core.solution
    return AuditSummary(
        schema=SCHEMA,
        statistic=core.statistic,
        bracket=None if core.bracket is None else StatisticBracket(**vars(core.bracket)),
        baseline_risk=core.baseline_risk,
        worst_case_risk=core.worst_case_risk,
        n=core.n,
        points=core.points,
        observed_points=int(core.space.observed.sum()),
        queried=core.queried,
        target_scope=core.target_scope,
        budget=core.problem.budget,
        price=core.price,
        price_interval=_limits(*solution.price_interval),
        delta=core.delta,
        alpha=core.alpha,
        method=core.law.method,
        guarantee=core.guarantee,
        interval=_limits(*core.interval),
        lower_bound=finite(core.lower_bound),
        upper_bound=finite(core.upper_bound),
        pvalue=core.pvalue,
        verdict=core.verdict,
        applicability=core.applicability,
        instead=core.instead,
        ready=core.ready,
        judge=core.settings.judge,
        favourable=plain(core.favourable),
        attributable=_attributable(core),
        outlook=core.outlook,
        rates=_rates(core),
        random_swap_risk=core.random_swap_risk,
        comparable_share=core.comparable_share,
        made_twins=_made_twins(core),
        questions=_questions(core),
        plan_is_unique=solution.plan_is_unique,
        duality_gap=solution.duality_gap,
        disagreement=core.disagreement,
        moved=moved.total,
        moves_found=len(moved),
        moves=listed_moves(core, moved),
        directions=find_directions(
            moved,
            core.space,
            favoured(core),
            core.problem.best_in_blocks() if moved.tied.any() else None,
        )[:MOST_DIRECTIONS],
        budget_in_words=_budget_in_words(core),
        warnings=(*core.warnings, *core.law.notes),
        provenance=provenance(core),
    )


def finite(value: float) -> float | None:
    """Return a number, or None for one that is infinite.

    Parameters
    ----------
    value
        A bound that may not exist.

    Examples
    --------
    >>> finite(0.5), finite(math.inf)
    (0.5, None)
    """
    return float(value) if math.isfinite(value) else None


def _made_twins(core: Core) -> TwinsMade | None:
    """Return the account of made-up twins with some examples; None where nobody was made up.

    Parameters
    ----------
    core
        The audit. Examples are drawn by a stream of their own, so that they change no other number.
    """
    made, listed = core.made, core.space.made_up
    if made is None or listed is None:
        return None
    rng = np.random.default_rng([core.seed, 18])
    return TwinsMade(
        kind=made.twins.kind,
        steps=len(made.steps.rows),
        plausibility=made.twins.plausibility,
        twins=len(listed.person),
        proposed=made.proposed,
        equal=made.equal,
        costly=made.costly,
        implausible=made.implausible,
        aside=made.aside,
        searched=made.searched,
        examples=some_twins(core.space, core.problem.geometry, rng),
    )


def _attributable(core: Concluded) -> AttributablePart:
    """Return the attributable part as a document has it."""
    part = core.attributable
    return AttributablePart(
        value=part.value,
        same_group=part.same_group,
        interval=_limits(*part.interval),
        lower_bound=finite(part.lower_bound),
        upper_bound=finite(part.upper_bound),
        pvalue=part.pvalue,
        verdict=part.verdict,
    )


def _questions(core: Core) -> QuestionsAsked | None:
    """Return how the model was asked; None with given predictions.

    Parameters
    ----------
    core
        The audit; the limit of the share that would answer otherwise is at its own level.
    """
    asked = core.asked
    if core.queried == 0:
        return None
    return QuestionsAsked(
        repeated=asked.repeats.asked,
        differed=asked.repeats.differed,
        differed_at_most=asked.differ_at_most(core.alpha),
        draws=asked.draws,
        people=asked.people,
        stopped=asked.stopped,
    )


def _rates(core: Concluded) -> RatesFound | None:
    """Return what was found of rates as a document has it."""
    found = core.rates
    if found is None:
        return None
    features = tuple(FeatureRate(**vars(one)) for one in found.features)
    return RatesFound(**vars(found) | {"features": features})


def _limits(lower: float, upper: float) -> Limits:
    """Return two ends, None for infinite ones."""
    return Limits(finite(lower), finite(upper))


def method_limits(law: SamplingLaw, alpha: float) -> MethodLimits:
    """Return one method's interval and bounds.

    Parameters
    ----------
    law
        What the method says.
    alpha
        The level.
    """
    interval = law.interval(alpha)
    return MethodLimits(
        law.method, law.guarantee, finite(interval.lower), finite(interval.upper),
        finite(law.lower_bound(alpha)), finite(law.upper_bound(alpha)),
    )  # fmt: skip


def listed_moves(core: Core, moved: Moved) -> tuple[Move, ...]:
    """Return the moves that a document lists.

    Parameters
    ----------
    core
        The audit.
    moved
        All moves, what adds most first.
    """
    return describe_moves(
        moved.take(slice(core.settings.moves_limit)), core.space, core.answers.predictions,
        core.problem.losses,
    )  # fmt: skip


def flow_tables(
    core: Core, moved: Moved, *, fixed: bool, space: SampleSpace | None = None
) -> tuple[FlowTable, ...]:
    """Return the flows by each feature that a document has room for.

    Parameters
    ----------
    core
        The audit.
    moved
        The moves.
    fixed
        Whether there are to be intervals.
    space
        As the audit's with other counts, for a document that is shared: there features of many
        levels are left out, as which of them are shown would tell of those with few people.
    """
    too_long = _too_long(core, folds=space is None)
    most = {name: room for name, room, _ in _foldable(core)} if space is None else {}
    return tuple(
        flow_table(
            moved, space or core.space, name, alpha=core.alpha, fixed=fixed, most=most.get(name)
        )
        for name in _by_features(core)
        if name not in too_long
    )


def largest_groups(groups: tuple[GroupFlow, ...]) -> tuple[GroupFlow, ...]:
    """Return the groups that a document lists, in their own order.

    Parameters
    ----------
    groups
        All of them; those that add most to the statistic are kept, then the largest.
    """

    def rank(at: int) -> tuple[float, float, int]:
        """Return what a group is ranked by."""
        return -groups[at].contribution, -(groups[at].people or 0.0), at

    return tuple(groups[at] for at in sorted(sorted(range(len(groups)), key=rank)[:MOST_GROUPS]))


def omissions(core: Concluded, *, folds: bool) -> list[str]:
    """Return a sentence for each thing that a document has no room for.

    Parameters
    ----------
    core
        The audit.
    folds
        Whether flows show levels as one where there are many.
    """
    notes = [
        f"Flows by {name} are left out here: {reason}."
        for name, reason in _too_long(core, folds=folds).items()
    ]
    notes += [
        f"Flows by {name} show {most - 1} of {levels} levels, those with most moves, and all "
        "others as one."
        for name, most, levels in (_foldable(core) if folds else ())
    ]
    groups = len(core.space.first_of_groups)
    if groups > MOST_GROUPS:
        notes.append(f"{MOST_GROUPS} of {groups} groups are listed here, those that add most.")
    notes += [
        f"Group metrics by {name} are left out here: it has more than {MOST_METRICS} levels."
        for name in unmeasured(core)
    ]
    if core.asked.draws is not None and core.loss.needs == "label":
        notes.append("Group metrics are left out here, as each question has several answers.")
    there = {law.method for law in core.compared_laws}
    whole = core.asked.once_about_everybody and core.rates is None
    whole = whole and core.bracket is None
    lacking = [name for name in COMPARED if name not in there and whole]
    if lacking:
        notes.append(
            f"Not compared here: {', '.join(lacking)}. The loss has no known range for it, or the "
            "level asks for more resamples."
        )
    return notes


def _by_features(core: Core) -> list[str]:
    """Return the features that flows are shown by: those that are not sensitive, or else all."""
    space = core.space
    return [name for name in space.profile if name not in space.sensitive] or list(space.sensitive)


def _too_long(core: Core, *, folds: bool) -> dict[str, str]:
    """Return why there is no room for flows, by the features of which that is so.

    Parameters
    ----------
    core
        The audit.
    folds
        Whether flows show levels as one where there are many.
    """
    reasons = {}
    folded = {name for name, _, _ in _foldable(core)} if folds else set()
    shapes = flow_shapes(core.space, _by_features(core))
    for name, (labels, levels, groups) in shapes.items():
        if name in folded:
            continue
        if levels > MOST_LEVELS:
            reasons[name] = f"it has more than {MOST_LEVELS} levels"
        elif labels > MOST_LABELS:
            reasons[name] = f"there are more than {MOST_LABELS} labels"
        elif labels * levels * groups > MOST_CELLS:
            reasons[name] = f"labels, levels and groups make more than {MOST_CELLS} cells"
    return reasons


def _foldable(core: Core) -> list[tuple[str, int, int]]:
    """Return features with too many levels, with how many there is room for and how many are.

    Two levels at least must be there beside all others.
    """
    shapes = flow_shapes(core.space, _by_features(core)).items()
    rooms = [
        (name, min(MOST_LEVELS, MOST_CELLS // (labels * groups)), levels)
        for name, (labels, levels, groups) in shapes
        if labels <= MOST_LABELS
    ]
    return [(name, room, levels) for name, room, levels in rooms if FEWEST_LEVELS <= room < levels]


def _budget_in_words(core: Core) -> str:
    """Return what the budget means under the similarity."""
    # a user's own similarity need not say more than who is comparable
    describe = getattr(core.similarity, "describe_budget", None)
    return "" if describe is None else str(describe(core.problem.budget))


def _costs(core: Core) -> tuple[CostRule, ...]:
    """Return what costs what, where the similarity tells it column by column."""
    table = getattr(core.similarity, "cost_table", None)
    return () if table is None else tuple(CostRule(**row) for row in table(core.space))


def _similarity_check(core: Core) -> SimilarityCheck:
    """Return what the similarity calls comparable among the audited people."""
    return check_space(
        core.similarity, core.space, core.problem.geometry, core.problem.budget,
        np.random.default_rng(core.seed), share=core.comparable_share,
    )  # fmt: skip


def _curve(core: Core) -> tuple[tuple[CurvePoint, ...], list[str]]:
    """Return the corners of the budget curve that a document has, and what it leaves out."""
    if core.bracket is not None:  # what was found is near this budget alone
        return (), []
    curve, below = core.budget_curve.thinned(MOST_CORNERS, NEAR * core.problem.budget)
    corners = zip(curve.budgets.tolist(), curve.values.tolist(), strict=True)
    listed = tuple(CurvePoint(*corner) for corner in corners)
    if len(core.budget_curve.budgets) <= MOST_CORNERS:
        return listed, []
    note = (
        f"{len(listed)} of the budget curve's {len(core.budget_curve.budgets)} corners are listed "
        f"here; lines between them are below the curve by at most {below:.1g}."
    )
    return listed, [note]


def _elbow(core: Core) -> CurvePoint | None:
    if core.bracket is not None:
        return None
    curve = core.budget_curve
    return None if len(curve.budgets) == 1 else CurvePoint(curve.elbow, curve(curve.elbow))


def _law(core: Concluded) -> Law | None:
    """Return the histogram of a drawn law, moved and scaled to the statistic's axis.

    Parameters
    ----------
    core
        The audit; the first of its laws that is known by draws is shown.
    """
    laws = () if core.rates else (core.law, *core.compared_laws)
    drawn = [law for law in laws if isinstance(law, DrawnLaw)]
    if not drawn:
        return None
    values = drawn[0].estimate + drawn[0].draws / math.sqrt(core.n)
    if np.ptp(values) <= ROUNDING * np.abs(values).max():
        return None
    density, edges = np.histogram(values, _edges(values), density=True)
    bins = zip(edges[:-1].tolist(), edges[1:].tolist(), density.tolist(), strict=True)
    return Law(drawn[0].method, tuple(LawBin(*one) for one in bins))


def _edges(values: FloatArray) -> FloatArray:
    """Return the edges of bins; around each value where there are few, on a lattice.

    Parameters
    ----------
    values
        Draws, not all equal. Shares of n people lie on a lattice, which other bins would make
        look rugged.

    Examples
    --------
    Few values on a lattice get a bin each, with the value in its middle.

    >>> _edges(np.array([0.0, 1.0, 1.0, 3.0])).tolist()
    [-0.5, 0.5, 1.5, 2.5, 3.5]
    """
    steps = np.diff(np.unique(values))
    step = steps[steps > np.ptp(values) * ROUNDING].min()
    if np.ptp(values) / step < LAW_BINS:
        return np.arange(values.min() - step / 2, values.max() + step, step)
    return np.linspace(values.min(), values.max(), LAW_BINS + 1)


def _similarity_record(core: Core) -> dict[str, Any] | None:
    """Return what the similarity was told and learned, where it can say so."""
    record = getattr(core.similarity, "to_json", None)
    return None if record is None else record()


def provenance(core: Core) -> Provenance:
    """Return how an audit was done, without the data's fingerprint.

    Parameters
    ----------
    core
        The audit.
    """
    from importlib.metadata import version

    loss = core.loss
    return Provenance(
        version=version("fairtransport"),
        libraries={name: version(name) for name in LIBRARIES},
        seed=core.seed,
        similarity=core.similarity.describe(),
        loss=loss.name,
        loss_range=None if loss.range is None else (float(loss.range[0]), float(loss.range[1])),
        loss_is_error=loss.name == "zero-one",
        model=core.model,
        features=core.space.features,
        sensitive=core.space.sensitive,
        label=core.space.label,
        resamples=core.n_resamples,
        disagreement=core.settings.disagreement,
        settings_taken=core.settings_taken,
        classes=tuple(map(plain, core.answers.classes)),
        title=core.settings.title,
        date=core.settings.date,
        data_name=core.settings.data_name,
        auditor=core.settings.auditor,
    )
