"""Twins that nobody observed: made up for the people of an audit before the model is asked."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from fairtransport.errors import InputError
from fairtransport.similarity.checking import SimilarPair, profile_of
from fairtransport.similarity.learned import Learned
from fairtransport.similarity.twins import Maker, Proposals, Twins, propose, steps_for
from fairtransport.space.made_up import with_made_up
from fairtransport.space.row_numbers import row_numbers
from fairtransport.space.twins import MOST_POINTS

if TYPE_CHECKING:
    from fairtransport.access.boxes import Access
    from fairtransport.geometry import Geometry
    from fairtransport.settings import AuditSettings
    from fairtransport.similarity.twins import Making, Steps
    from fairtransport.space import SampleSpace
    from fairtransport.space.columns import CodedColumn


CAN = "'sensitive-subspace', 'comparable-groups', 'comparable-pairs', 'mixed-tabular'"


@dataclass(frozen=True, eq=False)
class MakingUp:
    """How the twins of an audit were made up.

    Attributes
    ----------
    twins
        What was asked for.
    steps
        The steps, the same for everybody, by which twins were proposed.
    proposed
        How many twins they proposed, for all points of people.
    equal, costly, implausible
        How many of these were nobody new (their own person, or another twin of theirs again),
        were no longer at distance 0 at a budget of 0, and were not plausible.
    aside
        How many people were set aside for a search.
    searched
        How many questions that asked.
    """

    twins: Twins
    steps: Steps
    proposed: int
    equal: int
    costly: int
    implausible: int
    aside: int = 0
    searched: int = 0


def asked_twins(
    settings: AuditSettings, space: SampleSpace, access: Access
) -> tuple[Twins, Making] | None:
    """Return which twins are to be made up and how; None where people meet observed ones.

    Unless told otherwise they are made up where that is possible: where the model can be asked,
    no reference frame says whom to compare with, and the similarity can propose somebody. Of very
    many people there are then fewer of each, which depends on their number alone.
    """
    similarity, twins = settings.chosen_similarity, settings.chosen_twins
    if twins is not None and twins.kind == "observed":
        return None
    making = similarity.making(space) if isinstance(similarity, Maker) else None
    obstacles = (
        (access.box is None, "a `model` to ask, got predictions"),
        (space.targets is not None, "no `targets`, which say whom people are compared with"),
        (
            not isinstance(similarity, Maker),
            f"a similarity that can make them up ({CAN})",
        ),
        (
            making is None,
            "a similarity that was fitted on people, whose ranges and levels made-up ones keep to",
        ),
    )
    for obstacle, needed in obstacles:
        if obstacle and twins is None:
            return None
        if obstacle and twins is not None:
            msg = f'`twins="{twins.kind}"` needs {needed}'
            raise InputError(msg)
    assert making is not None  # noqa: S101
    if isinstance(similarity, Learned):
        similarity.check_columns(space)
    chosen = twins or Twins(per_person=min(Twins.per_person, max(1, MOST_POINTS // space.n)))
    _refuse_too_many(space, chosen)
    if not len(steps_for(making, chosen, settings.budget, settings.seed).rows):
        if twins is None:
            return None
        msg = f'`twins="{twins.kind}"` needs columns in which people may differ, got none'
        raise InputError(msg)
    return chosen, making


def _refuse_too_many(space: SampleSpace, twins: Twins) -> None:
    most = int(space.observed.sum()) * twins.per_person
    if most > MOST_POINTS:
        msg = (
            f"`per_person` of `twins` must make at most {MOST_POINTS:,} twins in all, got "
            f"{twins.per_person:,} for each of {int(space.observed.sum()):,} distinct people"
        )
        raise InputError(msg)


def make_up(
    settings: AuditSettings, space: SampleSpace, twins: Twins, making: Making, steps: Steps
) -> tuple[SampleSpace, MakingUp]:
    """Return a space with the twins that steps make, and an account of that."""
    larger, found = beside_people(settings, space, twins, making, steps)
    equal = found.equal + len(found.person) - _distinct_pairs(found)
    account = MakingUp(twins, steps, found.proposed, equal, found.costly, found.implausible)
    assert larger.made_up is not None  # noqa: S101 - it has just been made
    made_up = replace(larger.made_up, from_the_sample=making.support.is_from(space))
    return replace(larger, made_up=made_up), account


def beside_people(
    settings: AuditSettings, space: SampleSpace, twins: Twins, making: Making, steps: Steps
) -> tuple[SampleSpace, Proposals]:
    """Return a space with the twins that steps make beside its people, and how they were found."""
    found = propose(making, space, steps, twins, settings.budget, settings.seed)
    found = replace(found, columns=found.columns | _other_levels(space, found, steps))
    return with_made_up(space, found.person, found.columns, steps.along[found.step]), found


def _distinct_pairs(found: Proposals) -> int:
    """Return how many pairs of a person and a twin there are: several steps may lead to one."""
    if not len(found.person):
        return 0
    told = [found.person, *(column.codes for column in found.columns.values())]
    return int(row_numbers(told).max()) + 1


def some_twins(
    space: SampleSpace, geometry: Geometry, rng: np.random.Generator, most: int = 5
) -> tuple[SimilarPair, ...]:
    """Return some people at random, each beside a twin at random."""
    made = space.made_up
    if made is None or not len(made.person):
        return ()
    people = rng.permutation(np.unique(made.person))[:most]
    found = []
    for person in people.tolist():
        twin = int(rng.choice(made.twin[made.person == person]))
        cost = float(geometry.costs(np.array([person]), np.array([twin]))[0, 0])
        found.append(SimilarPair(profile_of(space, person), profile_of(space, twin), cost))
    return tuple(found)


def _other_levels(space: SampleSpace, found: Proposals, steps: Steps) -> dict[str, CodedColumn]:
    """Return sensitive levels that the twins of a person take in turn, where the model sees them.

    The first step keeps the person's own, the next ones go on from there through all combinations.
    Steps beside what tells the sensitive features keep them too: what such a step gains by itself
    would else be taken for a gain that needs these to change.
    """
    names = [name for name in space.sensitive if name not in found.columns]
    if not set(names) & set(space.features):
        return {}
    sizes = [max(1, len(space.columns[name].levels)) for name in names]
    turn = np.where(steps.along[found.step], found.step % int(np.prod(sizes)), 0)
    shifts = np.unravel_index(turn, sizes)
    changed = {}
    for name, shift, size in zip(names, shifts, sizes, strict=True):
        column = space.columns[name].take(found.person)
        codes = np.where(column.codes < 0, column.codes, (column.codes + shift) % size)
        changed[name] = replace(column, codes=codes)
    return changed
