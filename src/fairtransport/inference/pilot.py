"""Pilot: a small audit that represents the population when a larger one is planned."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np

from fairtransport._core.validation import check_finite, check_float_array, short_repr
from fairtransport.errors import InputError, param
from fairtransport.transport import AuditProblem

if TYPE_CHECKING:
    from fairtransport._core.validation import BoolArray, FloatArray, IntArray


def is_share(pilot: Pilot) -> bool:
    """Return whether ψ is the share of people who can be swapped, for free, into an error."""
    free = pilot.problem.budget == 0 or pilot.problem.geometry.is_free
    is_binary = pilot.binary_losses and tuple(pilot.loss_range or ()) == (0, 1)
    return pilot.fixed_targets and free and is_binary and pilot.most_gain in (None, 1.0)


@dataclass(frozen=True, eq=False)
class Pilot:
    """A small audit that represents the population, and the prior knowledge of a larger one.

    Attributes
    ----------
    problem, frequencies
        The pilot's problem and the distribution over its points that samples are drawn from.
    loss_range
        The limits of the losses that the planned audit knows before its data; None if none.
    binary_losses
        Whether it knows that each loss is an end of these.
    most_gain
        The largest gain that it knows to be possible; None: the whole range.
    fixed_targets
        Whether the planned audit's targets do not depend on its sample.
    families
        (K,) family of each point: a sampled point brings its family into an audit, such as the
        twins that the model is queried about. None: every audit has all points of the problem.
    open_levels
        (K, columns) codes of the sensitive features whose levels an audit takes from its data: an
        audit lacks points with a level that is not in its sample.
    delta, alpha, method, n_resamples
        The pilot's own settings, the defaults of a plan.
    notes
        Notes on the pilot for readers of the plan.
    n
        Number of people of the pilot; None if unknown.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> import fairtransport as ft
    >>> people = pd.DataFrame({"sex": ["f", "m"] * 20, "good": [1] * 40})
    >>> result = ft.audit(people, "good", model=lambda x: (x["sex"] == "m").astype(int),
    ...                   sensitive_features="sex", delta=0.1, rng=0)
    >>> pilot = result.as_pilot()
    >>> pilot.frequencies.tolist(), pilot.delta
    ([0.5, 0.5], 0.1)
    """

    problem: AuditProblem
    frequencies: FloatArray
    loss_range: tuple[float, float] | None
    fixed_targets: bool
    binary_losses: bool = False
    most_gain: float | None = None
    families: IntArray | None = None
    open_levels: IntArray | None = None
    delta: float | None = None
    alpha: float | None = None
    method: str | None = None
    n_resamples: int | None = None
    notes: tuple[str, ...] = ()
    n: int | None = None

    def audited(self, counts: IntArray) -> tuple[AuditProblem, IntArray]:
        """Return the problem and the counts that the audit of a sample would have.

        Parameters
        ----------
        counts
            (K,) number of people at each point of the pilot's problem.

        Returns
        -------
        tuple of AuditProblem and ndarray of int
            The problem and the counts without the points that such an audit would lack.

        Examples
        --------
        This sample has no woman, so that the audit knows no other sex.

        >>> problem, counts = pilot.audited(np.array([0, 5]))
        >>> problem.size, counts.tolist()
        (1, [5])
        """
        if self.families is None:
            return self.problem, counts
        there = np.flatnonzero(self._there(self.families, counts > 0))
        return self.problem.at(there), counts[there]

    def _there(self, families: IntArray, sampled: BoolArray) -> BoolArray:
        """Return which points a sample's audit would have."""
        there = np.isin(families, families[sampled])
        if self.open_levels is not None:
            for codes in self.open_levels.T:
                there &= np.isin(codes, codes[sampled])
        return there

    def chance_to_miss_a_level(self, n: int) -> float:
        """Return an upper limit of the probability that n people lack some level.

        Parameters
        ----------
        n
            The number of people.

        Returns
        -------
        float
            A probability.

        Examples
        --------
        >>> round(pilot.chance_to_miss_a_level(5), 4)
        0.0625
        """
        if self.open_levels is None:
            return 0.0
        # the code of a missing value is -1
        shares = [np.bincount(codes + 1, self.frequencies) for codes in self.open_levels.T]
        return float(sum(((1 - share[share > 0]) ** n).sum() for share in shares))


@runtime_checkable
class HasPilot(Protocol):
    """The result of an audit, as far as a plan needs it.

    A protocol, so that planning does not import audits, which are built on top of it.
    """

    def as_pilot(self) -> Pilot:
        """Return the input of a plan."""
        ...


def as_pilot(pilot: object) -> Pilot:
    """Return the pilot itself, or that of an audit's result."""
    if isinstance(pilot, Pilot):
        return pilot
    if not isinstance(pilot, HasPilot):
        msg = f"{param('pilot')} must be the result of an audit, got {short_repr(pilot)}"
        raise InputError(msg)
    return pilot.as_pilot()


def build_pilot(
    problem: object, frequencies: object, counts: object, loss_range: object, fixed_targets: object,
    binary_losses: object,
) -> Pilot:  # fmt: skip
    """Return a pilot from its parts, as `sample_size` takes them."""
    if not isinstance(problem, AuditProblem):
        msg = f"{param('problem')} must be an AuditProblem, got {short_repr(problem)}"
        raise InputError(msg)
    shares = _check_shares(problem, frequencies, counts)
    if not isinstance(fixed_targets, bool | np.bool_):
        msg = (
            f"{param('fixed_targets')} must say whether the planned audit's targets are those of "
            f"{param('problem')} whoever is sampled (True) or the points of its own sample "
            f"(False), got {short_repr(fixed_targets)}"
        )
        raise InputError(msg)
    limits = None
    if loss_range is not None:
        low, high = check_float_array("loss_range", loss_range, (2,)).tolist()
        limits = (low, high)
    # without fixed targets, an audit has sampled points only
    families = None if fixed_targets else np.arange(problem.size)
    people = None if counts is None else round(float(np.sum(np.asarray(counts, float))))
    return Pilot(
        problem, shares, limits, bool(fixed_targets), bool(binary_losses), families=families,
        n=people or None,
    )  # fmt: skip


def _check_shares(problem: AuditProblem, frequencies: object, counts: object) -> FloatArray:
    """Return the distribution over a problem's points, summing to 1."""
    if (frequencies is None) == (counts is None):
        got = "neither" if counts is None else "both"
        msg = f"{param('frequencies')} or {param('counts')} must be given, and not both, got {got}"
        raise InputError(msg)
    name, values = ("counts", counts) if frequencies is None else ("frequencies", frequencies)
    shares = check_finite(name, check_float_array(name, values, (problem.size,)), nonnegative=True)
    total = float(shares.sum())
    if not total > 0 or (frequencies is not None and abs(total - 1) > 1e-6):  # noqa: PLR2004
        rule = "have a positive sum" if frequencies is None else "sum to 1"
        msg = f"{param(name)} must {rule}, got {total:g}"
        raise InputError(msg)
    return shares / total
