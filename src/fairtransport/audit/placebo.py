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
    """Audit again with the answers shuffled; see `AuditResult.placebo`."""
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
    frequencies = core.space.frequencies
    left = held_fixed(core, *core.space.sensitive).value(frequencies)
    moved = find_moved(core.solution, core.n)
    return core.statistic, core.statistic - left, _one_way(find_directions(moved, core.space))


def _one_way(directions: tuple[Direction, ...]) -> float:
    """Return the most that one direction adds over its reverse."""
    added = {(one.feature, one.better, one.worse): one.contribution for one in directions}
    net = [
        total - added.get((feature, worse, better), 0.0)
        for (feature, better, worse), total in added.items()
    ]
    return max(net, default=0.0)


def _profiles(space: SampleSpace) -> IntArray:
    """Return numbers that are equal where people agree in all but sensitive features."""
    label = () if space.label is None else (space.label,)
    return space.groups([*(name for name in space.profile if name not in space.sensitive), *label])


def _share_shuffled(space: SampleSpace) -> float:
    profiles = _profiles(space)
    groups = np.unique(np.column_stack([profiles, space.sensitive_groups]), axis=0)
    several = np.bincount(groups[:, 0])[profiles] > 1
    return float(space.counts[several].sum() / space.n)


def _shuffled_answers(core: Core, rng: np.random.Generator) -> Core:
    """Hand the answers of a profile's twins round among them, a shuffle for each profile."""
    profiles = _profiles(core.space)
    order = np.lexsort((rng.random(core.space.size), profiles))
    taken = np.empty(core.space.size, np.int64)
    taken[np.argsort(profiles, kind="stable")] = order
    losses = core.problem.losses[taken]
    problem = AuditProblem(losses, core.problem.geometry, budget=core.problem.budget)
    answers = replace(core.answers, losses=losses)
    solution = problem.solve(core.space.frequencies)
    return replace(core, answers=answers, solution=solution)


def _shuffled_people(core: Core, rng: np.random.Generator) -> Core:
    """Hand the sensitive values of a profile's people round among them; answers stay."""
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
    geometry = core.similarity.geometry(shuffled)
    problem = AuditProblem(losses, geometry, budget=core.problem.budget)
    answers = replace(core.answers, losses=losses, predictions=core.answers.predictions[kept])
    solution = problem.solve(shuffled.frequencies)
    return replace(core, space=shuffled, answers=answers, solution=solution)
