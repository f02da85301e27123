"""Proxies: which columns tell a sensitive feature, and what of the statistic goes through each."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from fairtransport.access.boxes import choose_access
from fairtransport.access.oracle import Oracle
from fairtransport.checks import generator
from fairtransport.errors import InputError
from fairtransport.localise.telling import Column, Proxies, Telling, halves

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairtransport.audit.core import Core
    from fairtransport.checks import BoolArray, FloatArray, IntArray
    from fairtransport.space import SampleSpace

MOST_MOVES = 1000
"""Of so many moves, those that add most, it is looked at what they go through."""
MOST_LEVELS = 20
"""A feature with more values is no group that could be told."""


def find_proxies(core: Core, oracle: Oracle | None, rng: object = None) -> tuple[Proxies, ...]:
    """Say of each sensitive feature what tells it; see `AuditResult.proxies`."""
    space = core.space
    source = generator("rng", core.seed if rng is None else rng)
    names = check_proxies(space)
    first, second = halves(space, source)
    swaps = None if oracle is None else _Swaps(core, oracle)
    found = []
    for feature in space.sensitive:
        told = Telling(space, feature, first, second)
        accuracy, lower, upper = told.interval(names, core.alpha)
        looked_at = told.most_used(names)
        columns = [
            Column(name, told.accuracy([name]), told.accuracy(_others(names, name)),
                   *((None, None) if swaps is None else swaps.through(name)))
            for name in looked_at
        ]  # fmt: skip
        columns.sort(key=lambda one: (-one.alone, one.without))
        found.append(
            Proxies(
                feature, accuracy, lower, upper, 1 / len(told.levels), core.alpha,
                len(first) + len(second), None if swaps is None else swaps.statistic,
                None if swaps is None else swaps.needing, len(names) - len(columns),
                tuple(columns),
            )
        )  # fmt: skip
    return tuple(found)


def check_proxies(space: SampleSpace) -> list[str]:
    """Return the columns that could tell sensitive features, or refuse to look for any."""
    names = [name for name in space.features if name not in space.sensitive]
    if not names:
        msg = "`proxies` needs an audit with columns that are not sensitive, got none"
        raise InputError(msg)
    for feature in space.sensitive:
        levels = len(space.columns[feature].levels)
        if levels > MOST_LEVELS:
            msg = (
                f"`proxies` needs sensitive features of at most {MOST_LEVELS} values, got "
                f"{levels} of {feature}; `bins` makes fewer of them"
            )
            raise InputError(msg)
    return names


def asked_again(core: Core, model: object) -> Oracle:
    """Return whom to ask, if it answers as the audited model did."""
    settings = core.settings
    if core.space.predictions:
        msg = "`model` must be left out where the audit was of predictions, which cannot be asked"
        raise InputError(msg)
    access = choose_access(model, None, None, settings.chosen_loss)
    oracle = Oracle(access, settings.chosen_loss, settings.pos_label)
    targets = core.moved.targets[:MOST_MOVES]
    now = _losses(core, oracle, targets, targets, core.space.features[0])
    if not np.allclose(now, core.problem.losses[targets]):
        msg = "`model` must be the audited one, and it answers otherwise than that did"
        raise InputError(msg)
    return oracle


def _others(names: Sequence[str], name: str) -> list[str]:
    return [one for one in names if one != name]


class _Swaps:
    """The largest moves, and what those add that need sensitive features to change.

    Notes
    -----
    The others alone are a plan of the problem in which these are held fixed, so that its value ψ'
    is at least what they add: ``needing`` is at least ψ − ψ', the attributable part, if all moves
    are looked at, and equal to it where nothing can be gained without.
    """

    def __init__(self, core: Core, oracle: Oracle) -> None:
        moved, most = core.moved, slice(MOST_MOVES)
        gains = moved.people[most] * moved.gains[most] / core.n
        needs = need_sensitive(core, moved.sources[most], moved.targets[most])
        self.core, self.oracle = core, oracle
        self.statistic, self.needing = float(gains.sum()), float(gains[needs].sum())
        self.sources, self.targets = moved.sources[most][needs], moved.targets[most][needs]
        self.people = moved.people[most][needs]
        self.found: dict[str, tuple[float, float]] = {}

    def through(self, name: str) -> tuple[float, float]:
        """Return what they add with one column changed alone, and with all but it."""
        if name not in self.found:
            before = self.core.problem.losses[self.sources]
            added = [
                float(
                    self.people @ (_losses(self.core, self.oracle, *pair, name) - before)
                    / self.core.n
                )
                for pair in ((self.sources, self.targets), (self.targets, self.sources))
            ]  # fmt: skip
            self.found[name] = (added[0], added[1])
        return self.found[name]


def need_sensitive(core: Core, sources: IntArray, targets: IntArray) -> BoolArray:
    """Say which moves change sensitive features, or what tells them."""
    space = core.space
    differ: BoolArray = space.sensitive_groups[sources] != space.sensitive_groups[targets]
    if space.made_up is None:
        return differ
    made = space.made_up
    along = made.person[made.along] * space.size + made.twin[made.along]
    return np.asarray(differ | np.isin(sources * space.size + targets, along))


def _losses(core: Core, oracle: Oracle, rows: IntArray, others: IntArray, name: str) -> FloatArray:
    """Return the losses of some points with one column as others have it."""
    if not len(rows):
        return np.zeros(0)
    columns = {
        known: column.take(others if known == name else rows)
        for known, column in core.space.columns.items()
    }
    mixed = replace(
        core.space, columns=columns, counts=np.ones(len(rows), np.int64), targets=None,
        reference=None, made_up=None,
    )  # fmt: skip
    return oracle.answer(mixed).losses
