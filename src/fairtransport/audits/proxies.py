"""Proxies: which columns predict a sensitive feature, and how much goes through each."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from fairtransport._core.validation import check_generator
from fairtransport.access.black_box import choose_access
from fairtransport.access.oracle import Oracle
from fairtransport.errors import DataError, InputError, param
from fairtransport.explain.proxies import Column, Proxies, ProxyPredictor, draw_halves
from fairtransport.similarity.counterpart_model import CounterpartModel
from fairtransport.similarity.counterparts import Counterparts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairtransport._core.validation import BoolArray, FloatArray, IntArray
    from fairtransport.audits.result import AuditResult
    from fairtransport.data import SampleSpace

MAX_PROXY_MOVES = 1000
"""Maximum number of moves, those that add most, whose columns are examined."""
MAX_PROXY_LEVELS = 20
"""Maximum number of values of a feature to be predicted."""


def find_proxies(
    result: AuditResult, oracle: Oracle | None, rng: object = None
) -> tuple[Proxies, ...]:
    """Find the columns that predict each sensitive feature; see `AuditResult.proxies`."""
    space = result.space
    source = check_generator("rng", result.seed if rng is None else rng)
    names = check_proxies(space)
    first, second = draw_halves(space, source)
    swaps = None if oracle is None else _Swaps(result, oracle)
    proxies = []
    gate = _run_gate(result, np.r_[first, second])
    for feature in space.sensitive:
        predictor = ProxyPredictor(space, feature, first, second)
        accuracy, lower, upper = predictor.interval(names, result.alpha)
        candidates = predictor.find_most_used(names)
        columns = [
            Column(name, predictor.accuracy([name]), predictor.accuracy(_others(names, name)),
                   *gate.get((feature, name), (None, None, None)),
                   *((None, None) if swaps is None else swaps.through(name)))
            for name in candidates
        ]  # fmt: skip
        columns.sort(
            key=lambda one: (not one.depends, -(one.strength or 0.0), -one.alone, one.without)
        )
        proxies.append(
            Proxies(
                feature, accuracy, lower, upper, 1 / len(predictor.levels), result.alpha,
                len(first) + len(second), None if swaps is None else swaps.statistic,
                None if swaps is None else swaps.needing, len(names) - len(columns),
                tuple(columns),
            )
        )  # fmt: skip
    return tuple(proxies)


def _run_gate(
    result: AuditResult, points: IntArray
) -> dict[tuple[str, str], tuple[float, float, bool]]:
    """Return how columns depend on each feature: strength, p-value and whether significant.

    This is the gate of `Counterparts`; groups with too few people are not tested.
    """
    space, similarity = result.space, result.similarity
    if isinstance(similarity, Counterparts):
        model = similarity.model_
    else:
        counts = np.bincount(points, minlength=space.size)
        people = replace(space, has_twins=False, origin=None).take(counts > 0, counts)
        try:
            model = CounterpartModel(people, (), {}, result.alpha / 2, result.seed)
        except DataError:
            return {}
    tests = {(row.feature, row.column): (row.strength, row.pvalue, row.moves) for row in model.gate}
    # columns with equal content, and those of a one-hot set, share one test
    same = {name: other for name, (other, _) in model.aliases.items()}
    same |= {one: whole.name for whole in model.one_hot for one in whole.columns}
    return tests | {
        (feature, name): tests[feature, other]
        for feature in model.groups
        for name, other in same.items()
        if (feature, other) in tests
    }


def check_proxies(space: SampleSpace) -> list[str]:
    """Return the columns that could predict sensitive features; raise if there are none."""
    names = [name for name in space.features if name not in space.sensitive]
    if not names:
        msg = f"{param('proxies')} needs an audit with columns that are not sensitive, got none"
        raise InputError(msg)
    for feature in space.sensitive:
        levels = len(space.columns[feature].levels)
        if levels > MAX_PROXY_LEVELS:
            msg = (
                f"{param('proxies')} needs sensitive features of at most {MAX_PROXY_LEVELS} "
                f"values, got {levels} of {feature}; {param('bins')} makes fewer of them"
            )
            raise InputError(msg)
    return names


def reopen_oracle(result: AuditResult, model: object) -> Oracle:
    """Return the oracle of a model, if it answers like the audited one."""
    settings = result.settings
    if result.space.predictions:
        msg = (
            f"{param('model')} must be left out where the audit was of predictions, which cannot "
            "be queried"
        )
        raise InputError(msg)
    access = choose_access(model, None, None, settings.chosen_loss)
    oracle = Oracle(access, settings.chosen_loss, settings.pos_label, settings.best_label)
    targets = result.moved.targets[:MAX_PROXY_MOVES]
    now = _losses(result, oracle, targets, targets, result.space.features[0])
    if not np.allclose(now, result.problem.losses[targets]):
        msg = f"{param('model')} is not the audited model: its answers differ"
        raise InputError(msg)
    return oracle


def _others(names: Sequence[str], name: str) -> list[str]:
    return [one for one in names if one != name]


class _Swaps:
    """The largest moves, and the gains that need sensitive features to change.

    The other moves alone are a plan of the problem with these features held fixed, so that its
    value ψ' is at least their gain: ``needing`` is at least ψ − ψ', the attributable part, if all
    moves are included, and equal to it if nothing can be gained without.
    """

    def __init__(self, result: AuditResult, oracle: Oracle) -> None:
        moves, most = result.moved, slice(MAX_PROXY_MOVES)
        gains = moves.people[most] * moves.gains[most] / result.n
        needs = changes_sensitive(result, moves.sources[most], moves.targets[most])
        self.result, self.oracle = result, oracle
        self.statistic, self.needing = float(gains.sum()), float(gains[needs].sum())
        self.sources, self.targets = moves.sources[most][needs], moves.targets[most][needs]
        self.people = moves.people[most][needs]
        self.gains_through: dict[str, tuple[float, float]] = {}

    def through(self, name: str) -> tuple[float, float]:
        """Return their gain with one column changed alone, and with all but it."""
        if name not in self.gains_through:
            before = self.result.problem.losses[self.sources]
            gains = [
                float(
                    self.people @ (_losses(self.result, self.oracle, *pair, name) - before)
                    / self.result.n
                )
                for pair in ((self.sources, self.targets), (self.targets, self.sources))
            ]  # fmt: skip
            self.gains_through[name] = (gains[0], gains[1])
        return self.gains_through[name]


def changes_sensitive(result: AuditResult, sources: IntArray, targets: IntArray) -> BoolArray:
    """Return which moves change sensitive features."""
    groups = result.space.sensitive_groups
    return np.asarray(groups[sources] != groups[targets])


def _losses(
    result: AuditResult, oracle: Oracle, rows: IntArray, others: IntArray, name: str
) -> FloatArray:
    """Return the losses of some points with one column taken from others."""
    if not len(rows):
        return np.zeros(0)
    columns = {
        column_name: column.take(others if column_name == name else rows)
        for column_name, column in result.space.columns.items()
    }
    mixed = replace(
        result.space, columns=columns, counts=np.ones(len(rows), np.int64), targets=None,
        reference=None,
    )  # fmt: skip
    return oracle.answer(mixed).losses
