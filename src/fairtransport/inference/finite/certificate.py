"""Evidence against ψ >= δ: the certificate at a declared δ, and the upper bound with it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from fairtransport.inference.finite.evidence import CAP, WEIGHT, Evidence
from fairtransport.inference.finite.ladder import Ladder
from fairtransport.threads import threads_for

if TYPE_CHECKING:
    from fairtransport.checks import FloatArray
    from fairtransport.inference.finite.certificate_bets import Path
    from fairtransport.inference.finite.ladder import Rejects

CUSHION = 0.75
"""How closely wealth is aimed at 1/α: less than for a rejection, since the price is a guess too."""
POINTS = 16
"""Thresholds inside a rung at which a bound may lie."""


@dataclass(frozen=True, eq=False)
class Certificate:
    """Bets against "ψ >= d" for all d, those at a declared δ first.

    Attributes
    ----------
    evidence
        The sample.
    declared
        The δ that was declared before the data, if there is one.

    Notes
    -----
    As for `Rejection`, turned round: the test of a rung d > δ follows the path of prices and
    stakes of the test at δ until an order is given up there, so that d is rejected whenever δ
    is. The upper bound is the last d that is not rejected, coming from above. It is at most
    δ exactly if δ is certified.
    """

    evidence: Evidence
    declared: float | None = None

    def log_wealth(self, level: float) -> float:
        """Return the log-wealth against ψ >= δ at the declared δ, aimed at a level.

        Parameters
        ----------
        level
            The level whose test this is: stakes are aimed at 1/level.

        Returns
        -------
        float
            It certifies at that level if it reaches −log(level). Orders that were given up count
            as lost.

        Raises
        ------
        ValueError
            If no δ was declared.
        """
        if self.declared is None:
            msg = "no threshold was declared"
            raise ValueError(msg)
        rows, path = self._declared_run(level)
        return self.evidence.average(
            np.where(path.until < path.stakes.shape[1], -math.inf, rows[0])
        )

    def certifies(self, level: float) -> bool:
        """Whether ψ >= δ is rejected at the declared δ.

        Parameters
        ----------
        level
            The level of this one test; `Ladder.main_level` of α where a bound goes with it.
        """
        return self.log_wealth(level) >= -math.log(level)

    def bound(self, alpha: float) -> float:
        """Return the threshold from which on all are rejected.

        Parameters
        ----------
        alpha
            The level of the bound.

        Returns
        -------
        float
            U with P(ψ(f*) <= U) >= 1 − α, at most what needs no data. It is at most the declared δ
            exactly if δ is certified at `Ladder.main_level` of α.
        """
        declared, level = self.declared, Ladder.main_level(alpha)
        most = min(self.evidence.limits.most, self._data_free)
        # δ >= what needs no data is certified by that, δ <= 0 never: neither has a test of its own
        if declared is None or not 0 < declared < most:
            return self._descend(alpha, math.inf)
        if self.certifies(level):
            return self._descend(alpha, declared)
        return self._descend_above(alpha, declared)

    @property
    def _data_free(self) -> float:
        """What ψ cannot exceed whatever the population, min over ν of εν + max φ_ν."""
        return self.evidence.limits.data_free_bound(self.evidence.budget)

    def _descend(self, alpha: float, ceiling: float) -> float:
        """Return the bound where everything from ``ceiling`` on is rejected.

        Parameters
        ----------
        alpha
            The level of the bound.
        ceiling
            The declared δ if it was certified, else infinite.

        Returns
        -------
        float
            At most the ceiling and what needs no data.
        """
        ladder, level = self.evidence.ladder, Ladder.main_level(alpha)
        last = ladder.rungs
        # rungs are counted from the top: those above the ceiling were rejected together with it
        floor = 0 if ceiling == math.inf else last - ladder.below(ceiling) - 1
        rung = self._climb_down(alpha, self._rejects_above, floor)
        # on the rung that was not rejected as a whole, the lowest point that is
        bottom, top = ladder.threshold(rung - 1), ladder.threshold(rung)
        rows, _ = self._run(bottom, _inside(bottom, top), level)
        return min(self._data_free, ceiling, self._lowest(rows, _inside(bottom, top), top, level))

    def _descend_above(self, alpha: float, declared: float) -> float:
        """Return the bound where the declared threshold is not certified: more than that.

        Parameters
        ----------
        alpha
            The level of the bound.
        declared
            The declared δ.

        Returns
        -------
        float
            More than δ, so that the bound says nothing else than the test did.

        Notes
        -----
        Rungs above δ lay the prices and stakes of the test at δ as long as it goes on. The same
        stakes win more against a larger d, so that no d > δ fails where δ would have passed.
        """
        ladder, level = self.evidence.ladder, Ladder.main_level(alpha)
        _, path = self._declared_run(level)

        def rejects(rung: int, level: float) -> bool:
            """Whether everything above a rung over δ is rejected, with δ's path held."""
            bottom = ladder.threshold(rung)
            # these would be rejected only together with δ, which was not
            if bottom <= declared:
                return False
            # ψ cannot be so large, whoever is drawn: rejected at no risk
            if bottom > self._data_free:
                return True
            rows, _ = self._run(bottom, np.array([bottom]), level, held=path)
            return self.evidence.average(rows[0]) >= -math.log(level)

        first = ladder.below(declared) + 1
        rung = max(self._climb_down(alpha, rejects, 0), first)
        bottom, top = max(ladder.threshold(rung - 1), declared), ladder.threshold(rung)
        # on the rung that δ lies on, a path aimed at δ decides that gives up as δ's own test does:
        # it is that test
        held = path if rung > first else None
        deltas = _inside(bottom, top)
        rows, _ = self._run(bottom, deltas, level, held=held, gives_up=held is None)
        return min(self._data_free, self._lowest(rows, deltas, top, level))

    def _climb_down(self, alpha: float, rejects: Rejects, floor: int) -> int:
        """Climb down the ladder, counted from its top.

        Parameters
        ----------
        alpha
            The level of the climb in all.
        rejects
            Whether everything above a rung is rejected, by the tests that the bound is made of.
            The start is looked for by `_rejects_above` in any case.
        floor
            The number of rungs, from the top, that are known to be rejected.

        Returns
        -------
        int
            The lowest rung above which everything is rejected.
        """
        ladder = self.evidence.ladder
        last = ladder.rungs
        return last - ladder.climb(
            alpha,
            lambda down, level: self._rejects_above(last - down, level),
            lambda down, level: rejects(last - down, level),
            last - self.evidence.guesses[1],
            floor,
        )

    def _rejects_above(self, rung: int, level: float) -> bool:
        """Whether ψ >= δ is rejected for all δ above the given rung.

        Parameters
        ----------
        rung
            A rung of the ladder. At rung 0, δ = 0, nothing can be rejected.
        level
            The level of this test.

        Notes
        -----
        One path aimed at the rung's threshold decides: against a larger δ it wins more.
        """
        if rung <= 0:
            return False
        bottom = self.evidence.ladder.threshold(rung)
        if bottom > self._data_free:
            return True
        rows, _ = self._run(bottom, np.array([bottom]), level)
        return self.evidence.average(rows[0]) >= -math.log(level)

    def _lowest(self, rows: FloatArray, deltas: FloatArray, top: float, level: float) -> float:
        """Return the lowest of some thresholds that a run rejected, else the top of their rung.

        Parameters
        ----------
        rows
            (deltas, orders) log-wealths.
        deltas
            The thresholds inside the rung, rising.
        top
            The rung's top, which is rejected already.
        level
            The level of the run.
        """
        # one path for all of them, so wealth grows with δ: those that pass are the upper ones
        passed = np.array([self.evidence.average(row) >= -math.log(level) for row in rows])
        return float(min([top, *deltas[passed]]))

    # -- runs

    @cached_property
    def _cache(self) -> dict[float, tuple[FloatArray, Path]]:
        """The runs at the declared δ by their level: the climb and the test share them."""
        return {}

    def _declared_run(self, level: float) -> tuple[FloatArray, Path]:
        """Return log-wealths and path of the test at the declared δ, run once a level."""
        if level not in self._cache and self.declared is not None:
            aim = np.array([self.declared])
            self._cache[level] = self._run(self.declared, aim, level, gives_up=True)
        return self._cache[level]

    def _run(
        self, aim: float, deltas: FloatArray, level: float, *, held: Path | None = None,
        gives_up: bool = False,
    ) -> tuple[FloatArray, Path]:  # fmt: skip
        """Return (deltas, orders) log-wealths of a path aimed at ``aim``, and the path.

        Parameters
        ----------
        aim
            The threshold that prices and stakes are chosen for.
        deltas
            Rising thresholds, none below the aim, that the same path is played against.
        level
            The level whose 1/level wealth is aimed at.
        held
            The path whose prices and stakes are laid as long as it was not given up there.
        gives_up
            Whether an order that is as good as lost stakes nothing any more: then it counts as 0
            for δ, and other tests may go on from there with stakes of their own.
        """
        from fairtransport.inference.finite import certificate_bets as kernels

        evidence = self.evidence
        orders, frontiers, limits = evidence.orders, evidence.frontiers, evidence.limits
        shape = orders.before.shape
        result = np.empty((len(deltas), shape[0]))
        path, none = (
            kernels.Path(np.zeros(shape), np.zeros(shape), np.zeros(shape[0], np.int64))
            for _ in range(2)
        )
        target = kernels.CertificateAim(
            float(aim), level, CUSHION, deltas, evidence.budget, limits.prices, limits.limits,
            WEIGHT, CAP, evidence.every, gives_up,
        )  # fmt: skip
        with threads_for(len(orders.cell) + len(orders.before) * len(frontiers.row)):
            kernels.certificate_wealths(orders, frontiers, target, held or none, *path, result)
        return result, path


def _inside(bottom: float, top: float) -> FloatArray:
    """Return thresholds inside a rung.

    Parameters
    ----------
    bottom, top
        The thresholds at its ends, both left out.

    Returns
    -------
    ndarray
        ``POINTS`` thresholds, equally spaced and rising.

    Examples
    --------
    >>> inside = _inside(0.0, 1.0)
    >>> len(inside) == POINTS, bool(0 < inside[0] < inside[-1] < 1)
    (True, True)
    """
    return np.asarray(np.linspace(bottom, top, POINTS + 2)[1:-1])
