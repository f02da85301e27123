"""Placebo: the same audit with answers shuffled between the sensitive groups of each profile."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from fairtransport.audit.attributable import held_fixed
from fairtransport.checks import generator, whole
from fairtransport.errors import InputError
from fairtransport.localise import find_directions, find_moved
from fairtransport.transport import AuditProblem

if TYPE_CHECKING:
    from fairtransport.audit.core import Core
    from fairtransport.checks import FloatArray, IntArray
    from fairtransport.localise import Direction
    from fairtransport.space import SampleSpace


@dataclass(frozen=True, eq=False, repr=False)
class Placebo:
    """An audit beside audits of the same people with shuffled sensitive features.

    Attributes
    ----------
    statistic, attributable, one_way
        The audit's statistic, the part of it that needs sensitive features to change, and the
        most that worse treatment of one level adds over the reverse.
    statistics, attributables, one_ways
        The same in each shuffled audit.
    shuffled
        The share of people in whose profile there is something to shuffle.

    Examples
    --------
    >>> import pandas as pd
    >>> import fairtransport as ft
    >>> people = pd.DataFrame({"sex": ["f", "m"] * 200, "good": [1] * 400, "said": [0, 1] * 200})
    >>> result = ft.audit(people, "good", y_pred="said", sensitive_features="sex", delta=0.1, rng=0)
    >>> beside = result.placebo(draws=5)
    >>> beside.one_way, bool(beside.one_ways.max() < 0.1)
    (0.5, True)
    """

    statistic: float
    attributable: float
    one_way: float
    statistics: FloatArray
    attributables: FloatArray
    one_ways: FloatArray
    shuffled: float

    def __repr__(self) -> str:
        rows = (
            ("statistic", self.statistic, self.statistics),
            ("attributable part", self.attributable, self.attributables),
            ("one way more than back", self.one_way, self.one_ways),
        )
        told = [
            f"  {name}: {own:.4f}; shuffled {np.mean(others):.4f} "
            f"({np.min(others):.4f} to {np.max(others):.4f})"
            for name, own, others in rows
        ]
        head = (
            f"Placebo: {len(self.statistics)} audits with sensitive features shuffled within "
            f"profiles; {100 * self.shuffled:.3g} % of the people have a profile of several groups"
        )
        return "\n".join([head, *told])


def find_placebo(core: Core, draws: int, rng: object) -> Placebo:
    """Audit again with the answers shuffled; see `AuditResult.placebo`.

    Parameters
    ----------
    core
        The audit.
    draws
        How many shuffled audits.
    rng
        A seed or generator; None: the audit's seed.

    Raises
    ------
    InputError
        If twins were made up: each is somebody's own, and there is nothing to hand round.
    """
    if core.space.made_up is not None:
        msg = "`placebo` shuffles answers among twins, and made-up ones have their own: it needs "
        msg += 'an audit with `twins="observed"`'
        raise InputError(msg)
    core.refuse_bracket("placebo")
    source = generator("rng", core.seed if rng is None else rng)
    shuffle = _shuffled_answers if core.space.has_twins else _shuffled_people
    found = [_figures(shuffle(core, source)) for _ in range(whole("draws", draws))]
    statistics, attributables, one_ways = (np.array(column) for column in zip(*found, strict=True))
    own = _figures(core)
    return Placebo(*own, statistics, attributables, one_ways, _share_shuffled(core.space))


def _figures(core: Core) -> tuple[float, float, float]:
    """Return an audit's statistic, its attributable part, and its one-sidedness."""
    frequencies = core.space.frequencies
    left = held_fixed(core, *core.space.sensitive).value(frequencies)
    moved = find_moved(core.solution, core.n)
    return core.statistic, core.statistic - left, _one_way(find_directions(moved, core.space))


def _one_way(directions: tuple[Direction, ...]) -> float:
    """Return the most that one direction adds over its reverse.

    Parameters
    ----------
    directions
        Pairs of levels that moves go between.
    """
    added = {(one.feature, one.better, one.worse): one.contribution for one in directions}
    # net of the reverse direction: noise without a preference adds to both alike
    net = [
        total - added.get((feature, worse, better), 0.0)
        for (feature, better, worse), total in added.items()
    ]
    return max(net, default=0.0)


def _profiles(space: SampleSpace) -> IntArray:
    """Return numbers that are equal where people agree in all but sensitive features.

    Parameters
    ----------
    space
        The audit's points.
    """
    label = () if space.label is None else (space.label,)
    return space.groups([*(name for name in space.profile if name not in space.sensitive), *label])


def _share_shuffled(space: SampleSpace) -> float:
    """Return the share of people in whose profile several sensitive groups are."""
    profiles = _profiles(space)
    groups = np.unique(np.column_stack([profiles, space.sensitive_groups]), axis=0)
    several = np.bincount(groups[:, 0])[profiles] > 1
    return float(space.counts[several].sum() / space.n)


def _shuffled_answers(core: Core, rng: np.random.Generator) -> Core:
    """Hand the answers of a profile's twins round among them, a shuffle for each profile.

    Parameters
    ----------
    core
        An audit of a model that was asked about all twins.
    rng
        Shuffles.
    """
    profiles = _profiles(core.space)
    # random numbers sorted inside each profile: a uniform shuffle of all profiles at once
    order = np.lexsort((rng.random(core.space.size), profiles))
    taken = np.empty(core.space.size, np.int64)
    taken[np.argsort(profiles, kind="stable")] = order
    losses = core.problem.losses[taken]
    problem = AuditProblem(losses, core.problem.geometry, budget=core.problem.budget)
    answers = replace(core.answers, losses=losses)
    solution = problem.solve(core.space.frequencies)
    return replace(core, answers=answers, solution=solution)


def _shuffled_people(core: Core, rng: np.random.Generator) -> Core:
    """Hand the sensitive values of a profile's people round among them; answers stay.

    Parameters
    ----------
    core
        An audit of given predictions.
    rng
        Shuffles person by person: counts of points change with it.
    """
    space = core.space
    person = np.repeat(np.arange(space.size), space.counts)
    profiles = _profiles(space)[person]
    order = np.lexsort((rng.random(len(person)), profiles))
    donor = np.empty(len(person), np.int64)
    donor[np.argsort(profiles, kind="stable")] = person[order]
    # points of a reference stay where they are
    fixed = np.flatnonzero(space.counts == 0)
    pairs = np.r_[np.column_stack([person, donor]), np.column_stack([fixed, fixed])]
    codes = np.column_stack(
        [
            column.codes[pairs[:, 1 if name in space.sensitive else 0]]
            for name, column in space.columns.items()
        ]
    )
    # people who now agree in everything, answers included, are one point again
    _, first, place = np.unique(codes, axis=0, return_index=True, return_inverse=True)
    counts = np.bincount(place.reshape(-1)[: len(person)], minlength=len(first))
    columns = {
        name: replace(column, codes=codes[first, at])
        for at, (name, column) in enumerate(space.columns.items())
    }
    kept = pairs[first, 0]
    targets = None if space.targets is None else space.targets[kept]
    shuffled = replace(space, columns=columns, counts=counts, targets=targets)
    losses = core.problem.losses[kept]
    # the points are other ones now, so that who is comparable has to be asked anew
    geometry = core.similarity.geometry(shuffled)
    problem = AuditProblem(losses, geometry, budget=core.problem.budget)
    answers = replace(core.answers, losses=losses, predictions=core.answers.predictions[kept])
    solution = problem.solve(shuffled.frequencies)
    return replace(core, space=shuffled, answers=answers, solution=solution)
