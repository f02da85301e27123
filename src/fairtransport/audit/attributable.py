"""The part of the statistic that needs sensitive features to change, with its bounds."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from fairtransport.audit.narrowing import value_at_most
from fairtransport.inference import Interval, difference_law
from fairtransport.inference.verdict import Verdict, reach_verdict
from fairtransport.space.row_numbers import row_numbers
from fairtransport.transport import AuditProblem

if TYPE_CHECKING:
    from fairtransport.audit.concluded import Concluded
    from fairtransport.audit.core import Core
    from fairtransport.geometry import Geometry
    from fairtransport.inference.finite.difference import DifferenceLaw
    from fairtransport.space.made_up import MadeUp

NOTHING_KNOWN = Interval(-math.inf, math.inf)


@dataclass(frozen=True)
class Attributable:
    """What the statistic loses when all sensitive features are held fixed.

    Attributes
    ----------
    value
        ψ − ψ', where ψ' is the statistic with all sensitive features held fixed.
    same_group
        ψ': what people of the same sensitive group give already; where the statistic is a
        bracket, what that is at most.
    lower_bound, upper_bound
        One-sided confidence bounds at level 1 − α each; infinite where there are none.
    interval
        The two-sided confidence interval.
    pvalue
        The p-value of a part of at most δ; None without δ or bounds.
    verdict
        What the tests at δ say of the part; None without δ.

    Notes
    -----
    Both statistics are about the same people, so that bets are paired (`difference_law`). Where
    no two people of one group are comparable ψ' is 0 for every sample, and the part is ψ itself
    with its bounds. With targets from the sample a difference can err either way: there are no
    bounds then.
    """

    value: float
    same_group: float
    lower_bound: float = -math.inf
    upper_bound: float = math.inf
    interval: Interval = NOTHING_KNOWN
    pvalue: float | None = None
    verdict: Verdict | None = None


def find_attributable(core: Concluded) -> Attributable:
    """Return the part of an audit's statistic that needs sensitive features to change.

    Parameters
    ----------
    core
        The audit.

    Returns
    -------
    Attributable
        Without bounds where targets depend on the sample, losses have no known range, or the
        model was not asked once about everybody.
    """
    held = held_fixed(core)
    apart = _are_apart(held.geometry)
    same_group = 0.0 if apart else value_at_most(core, held)
    value = max(core.statistic - same_group, 0.0)
    if core.target_scope == "twins" and apart:
        return Attributable(
            value, same_group, core.lower_bound, core.upper_bound, core.interval, core.pvalue,
            core.tested,
        )  # fmt: skip
    exact = core.bracket is None and core.asked.once_about_everybody
    if not core.fixed_targets or core.loss.range is None or not exact:
        open_one: Verdict | None = None if core.delta is None else "inconclusive"
        return Attributable(value, same_group, verdict=open_one)
    law = difference_law(
        core.problem,
        held,
        core.space.counts,
        rng=core.seed,
        alpha=core.alpha,
        loss_range=core.loss.range,
        most_gains=(core.most_gain, core.most_gain),
        nested=True,
        declared=(core.delta, core.delta),
    )
    return Attributable(
        value, same_group, law.lower_bound(core.alpha), law.upper_bound(core.alpha),
        law.interval(core.alpha), *_tested(law, core),
    )  # fmt: skip


def _tested(law: DifferenceLaw, core: Core) -> tuple[float | None, Verdict | None]:
    """Return p-value and verdict of the part at the audit's δ; None and None without one."""
    if core.delta is None:
        return None, None
    verdict = reach_verdict(
        rejected=law.rejects(core.delta, core.alpha),
        certified=law.certifies(core.delta, core.alpha),
    )
    return law.pvalue(core.delta), verdict


def held_fixed(core: Core, *names: str) -> AuditProblem:
    """Return the audit's problem with some sensitive features held fixed; all if none is named.

    Parameters
    ----------
    core
        The audit; problems are kept there, as several figures need them.
    names
        Sensitive features.

    Notes
    -----
    Blocks are cut by the levels of what is held: fewer moves at the same costs, so that no gain is
    larger than before. A made-up twin differs in what tells the sensitive features, whichever are
    held: moves to such twins are forbidden.
    """
    geometry, space = core.problem.geometry, core.space
    held = frozenset(names or space.sensitive)
    if held not in core.held_problems:
        columns = [space.columns[name].codes for name in space.sensitive if name in held]
        # to hold a feature fixed is to compare people inside its levels only: finer blocks
        fixed = replace(geometry, blocks=row_numbers([geometry.blocks, *columns]))
        if space.made_up is not None:
            fixed = _without_telling(fixed, space.made_up)
        core.held_problems[held] = AuditProblem(
            core.problem.losses, fixed, budget=core.problem.budget
        )
    return core.held_problems[held]


def _without_telling(geometry: Geometry, made: MadeUp) -> Geometry:
    """Forbid moves to twins who differ in what tells the sensitive features.

    Parameters
    ----------
    geometry
        Who is comparable.
    made
        Which twins were made up along it.
    """
    from scipy.sparse import csr_array

    along = (made.person[made.along], made.twin[made.along])
    shape = (geometry.size, geometry.size)
    return replace(geometry, forbidden=csr_array((np.ones(len(along[0]), bool), along), shape))


def _are_apart(geometry: Geometry) -> bool:
    """Whether no two points are comparable; blocks are numbered from 0 on.

    Parameters
    ----------
    geometry
        With features held fixed.
    """
    moves = geometry.listed_moves()
    if moves is not None:
        return bool(np.all(moves.row == moves.col))
    return int(geometry.blocks.max()) + 1 == geometry.size
