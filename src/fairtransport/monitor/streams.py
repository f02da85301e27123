"""From points in order of arrival to evidence: free moves record by record, others by batch."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NotRequired, TypeAlias, TypedDict

import numpy as np

from fairtransport.data import build_space
from fairtransport.data.twins import check_twins
from fairtransport.inference.sequential import CostlyMoves, FreeMoves
from fairtransport.transport import AuditProblem

if TYPE_CHECKING:
    from fairtransport._core.validation import FloatArray, IntArray
    from fairtransport.data.columns import Value
    from fairtransport.monitor.points import Key, Points
    from fairtransport.monitor.settings import MonitorSettings

Watcher: TypeAlias = Callable[[], None]


class SavedStream(TypedDict):
    """A stream in a state file: losses if moves are free, else the statistic."""

    points: list[list[Value]]
    counts: list[int]
    evidence: dict[str, object]
    losses: NotRequired[list[float]]
    worst: NotRequired[list[float]]
    statistic: NotRequired[float]


def next_look(n: int) -> int:
    """Return the record after n that a history stores: all up to 20, then every 5 %."""
    look = 1
    while look <= n:
        # fixed beforehand, so that the history does not depend on how records were batched
        look = max(look + 1, int(look * 1.05))
    return look


class Stream:
    """The points of a stream in order of arrival, each with a permanent cell and a count."""

    def __init__(self, settings: MonitorSettings, points: Points, watcher: Watcher) -> None:
        self.settings, self.points, self.watcher = settings, points, watcher
        self.cell_of: dict[Key, int] = {}
        self.counts: IntArray = np.zeros(0, np.int64)

    def find_new(self, keys: Iterable[Key]) -> list[Key]:
        """Return the points that have no cell yet, each once, in order."""
        return list(dict.fromkeys(key for key in keys if key not in self.cell_of))

    def admit(self, keys: Sequence[Key]) -> None:
        """Give new points a cell, without people."""
        for key in keys:
            self.cell_of[key] = len(self.cell_of)
        self.counts = np.r_[self.counts, np.zeros(len(keys), np.int64)]

    def cells(self, keys: Sequence[Key]) -> IntArray:
        """Return the cells of points."""
        return np.array([self.cell_of[key] for key in keys], np.int64)

    def count(self, cells: IntArray) -> None:
        """Count people at some cells."""
        self.counts += np.bincount(cells, minlength=len(self.counts))

    def restore(self, saved: SavedStream) -> None:
        """Restore the points and counts of a state file."""
        self.cell_of = {tuple(key): cell for cell, key in enumerate(saved["points"])}
        self.counts = np.array(saved["counts"], np.int64)


class FreeStream(Stream):
    """Points that move for free inside a block: a gain is the block's largest loss minus the own.

    With a model that loss is known from the twins. With predictions only it increases when a worse
    point arrives, and earlier records of the block are revised.
    """

    def __init__(self, settings: MonitorSettings, points: Points, watcher: Watcher) -> None:
        super().__init__(settings, points, watcher)
        self.evidence = FreeMoves(
            settings.delta, settings.audit.alpha, settings.max_gain,
            fixed_targets=settings.fixed_targets,
        )  # fmt: skip
        self.losses: FloatArray = np.zeros(0)
        self.gains: FloatArray = np.zeros(0)
        self._members: dict[Key, list[int]] = {}
        self._worst: dict[Key, float] = {}
        self._next_look = 0

    @property
    def statistic(self) -> float:
        """ψ of the frequencies so far."""
        # later points of a batch would change the rounding of the sum
        counted = np.flatnonzero(self.counts)
        return float(self.counts[counted] @ self.gains[counted] / max(self.evidence.n, 1))

    def take(self, keys: Sequence[Key]) -> None:
        """Process points in order; count none of them if one is invalid.

        All losses are computed before anything is counted. Then records are bet on in their order;
        before one that raises the largest loss of its block, earlier ones are bet on with the gains
        that they had, and then the block is revised.
        """
        fresh = self.find_new(keys)
        if not fresh:
            self._flush(self.cells(keys))
            return
        losses, worst = self._find_losses(fresh)
        self.admit(fresh)
        self.losses = np.r_[self.losses, losses]
        self.gains = np.r_[self.gains, np.zeros(len(fresh))]
        cells = self.cells(keys)
        # the first position of each
        firsts = np.unique(cells, return_index=True)[1]
        first = dict(zip(cells[firsts].tolist(), firsts.tolist(), strict=True))
        start = 0
        for key, limit in zip(fresh, worst, strict=True):
            cell = self.cell_of[key]
            block = self.points.block(key)
            members = self._members.setdefault(block, [])
            if limit > self._worst.get(block, -np.inf):
                if members:
                    # earlier records are bet on with the gains known then, however they are batched
                    self._flush(cells[start : first[cell]])
                    start = first[cell]
                    # a worse target for all earlier records: their gains increase, and their bets
                    # are revised
                    self._raise(np.array(members), limit)
                self._worst[block] = limit
            members.append(cell)
            self.gains[cell] = self._worst[block] - self.losses[cell]
        self._flush(cells[start:])

    def as_json(self) -> SavedStream:
        """Return the state that a later run needs."""
        return {
            "points": [list(key) for key in self.cell_of],
            "counts": self.counts.tolist(),
            "losses": self.losses.tolist(),
            "worst": [self._worst[self.points.block(key)] for key in self.cell_of],
            "evidence": self.evidence.bets.as_json(),
        }

    def restore(self, saved: SavedStream) -> None:
        """Restore the state from `as_json`."""
        super().restore(saved)
        self.losses = np.array(saved["losses"], np.float64)
        worst = np.array(saved["worst"], np.float64)
        self.gains = worst - self.losses
        for key, cell in self.cell_of.items():
            block = self.points.block(key)
            self._members.setdefault(block, []).append(cell)
            self._worst[block] = float(worst[cell])
        self.evidence.bets.restore(saved["evidence"])

    def _find_losses(self, keys: list[Key]) -> tuple[FloatArray, FloatArray]:
        """Return the loss at each point, and the largest one that it is known to move to."""
        if self.settings.box is None:
            losses = self.points.losses(keys)
            return losses, losses
        blocks = [self.points.block(key) for key in keys]
        first = {block: key for block, key in zip(blocks, keys, strict=True)
                 if block not in self._worst}  # fmt: skip
        size = check_twins(map(len, self.settings.levels.values()),
                           len(self._worst) + len(first))  # fmt: skip
        twins = [twin for key in first.values() for twin in self.points.twins(key)]
        # at once: a call of the model may cost more than a question
        losses, flat = np.split(self.points.losses([*keys, *twins]), [len(keys)])
        worst = dict(zip(first, flat.reshape(-1, size).max(axis=1).tolist(), strict=True))
        return losses, np.array([self._worst.get(block, worst.get(block)) for block in blocks])

    def _raise(self, members: IntArray, worst: float) -> None:
        """Revise the gains of a block's earlier records: a worse point of the block has come."""
        old, new = self.gains[members], worst - self.losses[members]
        self.evidence.bets.revise(old, new, self.counts[members])
        self.gains[members] = new

    def _flush(self, cells: IntArray) -> None:
        """Bet on records in order, and pass those of a history to the watcher."""
        start = 0
        while start < len(cells):
            if self.evidence.n >= self._next_look:
                self._next_look = next_look(self.evidence.n)
            part = cells[start : start + self._next_look - self.evidence.n]
            self.count(part)
            self.evidence.bets.take(self.gains[part])
            start += len(part)
            if self.evidence.n == self._next_look:
                self.watcher()


class CostStream(Stream):
    """Points under any similarity; frontiers are rebuilt when new points arrive."""

    def __init__(self, settings: MonitorSettings, points: Points, watcher: Watcher) -> None:
        super().__init__(settings, points, watcher)
        self.evidence = CostlyMoves(
            settings.delta, settings.audit.alpha, settings.max_gain,
            fixed_targets=settings.fixed_targets,
        )  # fmt: skip
        self.statistic = 0.0
        self._problem: AuditProblem | None = None
        self._place: IntArray = np.zeros(0, np.int64)

    def take(self, keys: Sequence[Key]) -> None:
        """Process a batch of points; count none of them if one is invalid."""
        fresh = self.find_new(keys)
        if self._problem is None or fresh:
            self._problem, self._place = self._build([*self.cell_of, *fresh])
            self.admit(fresh)
        cells = self.cells(keys)
        problem, place = self._problem, self._place
        before = self.evidence.n
        counts = np.bincount(place, self.counts, problem.size).astype(np.int64)
        # counts before these records: a price is chosen from the past
        self.evidence.take(problem, place[cells], counts)
        self.count(cells)
        counts = np.bincount(place, self.counts, problem.size).astype(np.int64)
        self.evidence.look(problem, counts)
        self.statistic = problem.value(counts / self.evidence.n)
        if self.evidence.n >= next_look(before):
            self.watcher()

    def as_json(self) -> SavedStream:
        """Return the state that a later run needs."""
        return {
            "points": [list(key) for key in self.cell_of],
            "counts": self.counts.tolist(),
            "statistic": self.statistic,
            "evidence": self.evidence.as_json(),
        }

    def restore(self, saved: SavedStream) -> None:
        """Restore the state from `as_json`; frontiers are built with the next records."""
        super().restore(saved)
        self.statistic = float(saved["statistic"])
        self.evidence.restore(saved["evidence"])

    def _build(self, keys: list[Key]) -> tuple[AuditProblem, IntArray]:
        """Return the problem over all points so far, and the index of each of them in it."""
        settings = self.settings
        space = build_space(
            self.points.space(keys).frame(),
            settings.label,
            sensitive_features=list(settings.sensitive),
            predictions=list(settings.predictions) or None,
            prediction_parameter=settings.access.parameter,
            features=list(self.points.roles.features),
            missing=settings.audit.missing,
            levels=settings.levels or None,
            targets=settings.audit.targets,
            twins=settings.box is not None,
            label_matters=settings.label is not None,
        )
        # values were binned when the records arrived
        losses = self.points.oracle.answer(replace(space, bins=settings.bins)).losses
        problem = AuditProblem(
            losses, settings.similarity.geometry(space), budget=settings.audit.budget
        )
        rows = zip(*(space.columns[name].to_list() for name in self.points.names), strict=True)
        place = {key: at for at, key in enumerate(rows)}
        return problem, np.array([place[key] for key in keys], np.int64)
