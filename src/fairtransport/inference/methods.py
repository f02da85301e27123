"""sampling_law() and difference_law(): the inference methods, each under its name."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

import numpy as np

from fairtransport._core.notes import Figure, Note
from fairtransport._core.units import Units
from fairtransport._core.validation import (
    IntArray,
    check_choice,
    check_float_array,
    check_generator,
    check_integer,
    check_number,
    short_repr,
)
from fairtransport.errors import InputError, param
from fairtransport.geometry import Geometry
from fairtransport.inference.asymptotic import (
    DrawnLaw,
    LimitLaw,
    MinOfNormals,
    PlugInLaw,
    check_resamples,
)
from fairtransport.inference.finite.difference import DifferenceLaw, pair_evidence
from fairtransport.inference.finite.evidence import (
    Evidence,
    GainLimits,
    find_loss_limits,
    find_space_limits,
)
from fairtransport.inference.finite.law import FiniteSampleLaw
from fairtransport.inference.resampling import (
    compute_resampled_values,
    draw_truncated,
    draw_with_replacement,
    draw_without_replacement,
)
from fairtransport.transport import AuditProblem

if TYPE_CHECKING:
    from fairtransport._core.validation import BoolArray, FloatArray
    from fairtransport.inference.laws import Interval, SamplingLaw
    from fairtransport.inference.resampling import Draw

DISTORTION = 0.05
"""Shift of the mean frequencies (in L1) or lost share of their spread that counts as distorted."""


@dataclass(frozen=True, eq=False)
class Request:
    """A checked problem, sample and settings that a method computes a law from."""

    problem: AuditProblem
    counts: IntArray
    units: Units
    n_resamples: int
    rng: np.random.Generator
    size: int | None
    step: float | None
    alpha: float
    loss_range: tuple[float, float] | None
    binary_losses: bool
    most_gain: float | None

    @property
    def n(self) -> int:
        """The size of the audit sample."""
        return int(self.counts.sum())

    @property
    def estimate(self) -> float:
        """ψ(f_n)."""
        return self.problem.value(self.units.frequencies(self.problem.size))


class Method(Protocol):
    """A method computes a law from a request.

    Registered under its name in ``METHODS``, it is what ``method=`` and ``--method`` accept.
    """

    def __call__(self, request: Request, /) -> SamplingLaw:
        """Return the law."""
        ...


def m_out_of_n(request: Request) -> DrawnLaw:
    """Algorithm 1: √m(ψ(f*_{n,m}) − ψ(f_n)), m = floor(2√n) by default.

    m/n → 0 makes it consistent even if ψ has a corner; the validity page shows its error at usual
    sizes.
    """
    size = request.size or default_size(request.n)
    return _resample(request, "m-out-of-n", draw_with_replacement(request.counts, size), size)


def efron(request: Request) -> DrawnLaw:
    """Resample n of n, the ordinary bootstrap: the paper's diagnostic."""
    law = _resample(request, "efron", draw_with_replacement(request.counts, request.n), request.n)
    return DrawnLaw(law.method, law.estimate, law.n, (law.gaussianity.words,), law.draws, law.size)


def subsampling(request: Request) -> DrawnLaw:
    """Subsamples of m people without replacement (Politis, Romano and Wolf)."""
    size = request.size or default_size(request.n)
    if size > request.n:
        msg = f"{param('m')} must be at most the {request.n} people of the sample, got {size}"
        raise InputError(msg)
    return _resample(request, "subsampling", draw_without_replacement(request.counts, size), size)


def numerical(request: Request) -> DrawnLaw:
    """Algorithm 2: ϵ⁻¹(ψ(f_n + ϵZ) − ψ(f_n)), ϵ = n^(−1/4) by default."""
    step = request.step or request.n**-0.25
    f = request.counts / request.n
    sample = draw_truncated(f, step, request.n_resamples, request.rng)
    estimate = request.estimate
    # the untruncated law has mean f and total variance ϵ²Σ f(1 − f); draws vary by chance too
    variance = float(step**2 * np.sum(f * (1 - f)))
    noise = float(step * np.sqrt(f * (1 - f) / request.n_resamples).sum())
    shift = float(np.abs(sample.frequencies.mean(axis=0) - f).sum()) - noise
    narrowing = 1 - math.sqrt(sample.frequencies.var(axis=0).sum() / variance) if variance else 0.0
    notes = []
    if sample.exact:
        notes.append(
            Note(
                "Rejection sampling of Algorithm 2 would accept {share:.2%} of its draws, so the "
                "same law was drawn exactly instead.",
                share=Figure(sample.acceptance),
            )
        )
    if max(shift, narrowing) > DISTORTION:
        notes.append(
            Note(
                "Do not trust the bounds of the numerical method here: truncation to frequencies "
                "≥ 0 shifts their mean by {shift:.2f} in all and removes {narrowing:.0%} of their "
                "spread.",
                shift=Figure(max(shift, 0)),
                narrowing=Figure(max(narrowing, 0)),
            )
        )
    draws = (request.problem.values(sample.frequencies) - estimate) / step
    return DrawnLaw(
        "numerical", estimate, request.n, tuple(notes), draws,
        step=step, acceptance=sample.acceptance,
    )  # fmt: skip


def plug_in(request: Request) -> PlugInLaw:
    """Theorem 1's law with f_n for f*; normal except for samples exactly at a corner."""
    estimate = request.estimate
    return PlugInLaw("plug-in", estimate, request.n, (), plug_in_limit(request))


def limit_law(request: Request) -> LimitLaw:
    """Theorem 1's law, its lower bound by the intersection–union over prices."""
    sweep = request.problem.sweep(request.counts / request.n)
    budget = request.problem.budget
    offset = np.zeros_like(sweep.prices) if budget == 0 else budget * sweep.prices
    # at the infinite price Y is infinite unless the budget is 0: it can never be least
    means, usable = offset + sweep.mean, np.isfinite(offset)
    return LimitLaw(
        "limit-law", request.estimate, request.n, (), plug_in_limit(request),
        means[usable], sweep.spread()[usable],
    )  # fmt: skip


def plug_in_limit(request: Request) -> MinOfNormals:
    """Return the minimum of normals that Theorem 1 gives at the sample's frequencies."""
    return limit_at(request.problem, request.counts / request.n)


def limit_at(problem: AuditProblem, f: object) -> MinOfNormals:
    """Return the limit law of Theorem 1 at known frequencies.

    Parameters
    ----------
    problem
        The audit problem.
    f
        (K,) the population's frequencies.

    Returns
    -------
    MinOfNormals
        The limit law; normal if the budget curve has no corner at the budget.

    Notes
    -----
    √n(ψ(f_n) − ψ(f*)) → min(Z'φ_lo, Z'φ_hi) with Z ~ N(0, Σ(f*)) and φ at the two ends of
    the interval of optimal prices: on it every φ_ν(i) with f_i > 0 is linear in ν.

    Examples
    --------
    >>> import fairtransport as ft
    >>> problem = ft.AuditProblem([0.0, 1.0], [[0.0, 0.0], [0.0, 0.0]])
    >>> limit = ft.inference.limit_at(problem, [0.3, 0.7])
    >>> limit.is_gaussian, round(limit.sd_x, 3)
    (True, 0.458)
    """
    frequencies = np.asarray(f, dtype=float)
    low, high = problem.solve(frequencies).price_interval
    at_low, at_high = problem.net_gains(low), problem.net_gains(high)
    centred = [gains - frequencies @ gains for gains in (at_low, at_high)]
    (xx, xy), (_, yy) = np.array([[frequencies @ (a * b) for b in centred] for a in centred])
    sd_x, sd_y = _spread(xx, at_low), _spread(yy, at_high)
    # away from corners the two ends are one price, up to rounding
    if low == high or sd_x == 0 or sd_y == 0:
        return MinOfNormals(sd_x, sd_y, 1.0)
    return MinOfNormals(sd_x, sd_y, float(np.clip(xy / (sd_x * sd_y), -1, 1)))


def _spread(variance: float, gains: FloatArray) -> float:
    """Return the standard deviation; 0 for rounding errors of a constant gain."""
    scale = float(np.max(np.abs(gains), initial=0.0))
    return math.sqrt(variance) if variance > (1e-12 * scale) ** 2 else 0.0


def finite_sample(request: Request) -> FiniteSampleLaw:
    """Return bounds, tests and certificates that hold at every n, by betting."""
    problem, units = request.problem, request.units
    limits = _find_limits(
        problem, request.loss_range, binary=request.binary_losses, max_gain=request.most_gain
    )
    # not if the units of a sample happen to be people: two tests, chosen by the data, exceed level
    # α
    limits = limits if units.is_single else replace(limits, two_valued=False)
    return FiniteSampleLaw(
        "finite-sample", request.estimate, units.n, (), problem, units, limits, request.alpha,
        request.rng,
    )  # fmt: skip


def _find_limits(
    problem: AuditProblem, loss_range: tuple[float, float] | None, *, binary: bool,
    max_gain: float | None,
) -> GainLimits:  # fmt: skip
    """Return the limits of gains: from the losses' range, or of a complete sample space."""
    if loss_range is None:
        return find_space_limits(problem)
    return find_loss_limits(problem, loss_range, binary=binary, max_gain=max_gain)


DRAWING = ("m-out-of-n", "numerical", "subsampling", "efron")
"""Methods whose law is approximated by draws."""
METHODS: dict[str, Method] = {
    "finite-sample": finite_sample,
    "m-out-of-n": m_out_of_n,
    "numerical": numerical,
    "subsampling": subsampling,
    "limit-law": limit_law,
    "plug-in": plug_in,
    "efron": efron,
}


def default_size(n: int) -> int:
    """Return the paper's rule of thumb for the resample size, m = floor(2√n), at most n.

    >>> import fairtransport as ft
    >>> ft.inference.default_size(1584)
    79
    """
    return max(1, min(n, math.isqrt(4 * n)))


def sampling_law(
    problem: AuditProblem,
    counts: object,
    *,
    method: str = "finite-sample",
    n_resamples: int = 2000,
    rng: object = None,
    m: int | None = None,
    step: float | None = None,
    alpha: float = 0.05,
    loss_range: tuple[float, float] | None = None,
    binary_losses: bool = False,
    most_gain: float | None = None,
    fixed_targets: bool = True,
    fixed_levels: bool = True,
    units: Units | None = None,
) -> SamplingLaw:
    """Return the sampling law of ψ(f*), by one of several methods.

    Parameters
    ----------
    problem
        The audit problem.
    counts
        (K,) number of people at each point.
    method
        "finite-sample", whose bounds hold at every n, or one of the asymptotic methods in
        `METHODS`.
    n_resamples
        B, the number of draws; ignored by laws in closed form.
    rng
        A seed or a numpy generator.
    m
        The size of a resample; default floor(2√n).
    step
        ϵ of the numerical derivative method; default n^(−1/4).
    alpha
        Level for which p-values of "finite-sample" are computed most precisely.
    loss_range
        For "finite-sample": limits of the losses, also at points outside ``problem``; None: the
        problem's points are the whole sample space.
    binary_losses
        Whether each loss is an end of ``loss_range``, also at points outside ``problem``.
    most_gain
        Limit of every gain, if known to be less than the whole ``loss_range``.
    fixed_targets
        Whether the targets do not depend on the sample. If they do, the upper bound is infinite.
    fixed_levels
        Whether the levels that twins take do not depend on the sample. If they do, the lower bounds
        of "finite-sample" use stakes fixed beforehand, and upper bounds are about the levels of the
        sample.
    units
        For "finite-sample": the independent units of the sample, as in ``result.space.units``;
        None: every person is one.

    Returns
    -------
    SamplingLaw
        Bounds at any level, p-values, and their guarantee.

    Raises
    ------
    InputError
        If a setting is invalid, or a method needs one that is missing.

    Examples
    --------
    >>> import fairtransport as ft
    >>> problem = ft.AuditProblem([0.0, 1.0], [[0.0, 0.0], [0.0, 0.0]])
    >>> law = ft.inference.sampling_law(problem, [30, 70], method="limit-law")
    >>> round(law.lower_bound(0.05), 3), round(law.pvalue(0.2), 4)
    (0.225, 0.0145)
    """
    check_choice("method", method, METHODS)
    if units is not None and method != "finite-sample":
        msg = f"{param('method')} must be 'finite-sample' with units, got {short_repr(method)}"
        raise InputError(msg)
    sample = _check_counts(counts, problem.size)
    law = METHODS[method](
        Request(
            problem=problem,
            counts=sample,
            units=Units.of_people(sample) if units is None else units,
            n_resamples=check_integer("n_resamples", n_resamples),
            rng=check_generator("rng", rng),
            size=None if m is None else check_integer("m", m),
            step=None if step is None else check_number("step", step, above=0),
            alpha=check_number("alpha", alpha, above=0, below=1),
            loss_range=None if loss_range is None else _check_range(loss_range, problem),
            binary_losses=bool(binary_losses),
            most_gain=None
            if most_gain is None
            else check_number("most_gain", most_gain, at_least=0),
        )
    )
    return replace(law, fixed_targets=bool(fixed_targets), fixed_levels=bool(fixed_levels))


def unit_share_interval(
    units: Units, is_member: BoolArray, alpha: float, rng: object = None
) -> Interval:  # fmt: skip
    """Return the interval for the share of people, or of units' weight, at some points.

    The share is ψ of a problem without costs: everybody may move to a loss of 1, and people at the
    points have a loss of 0.
    """
    losses = np.append(np.where(is_member, 0.0, 1.0), 1.0)
    problem = AuditProblem(losses, Geometry(np.zeros(len(losses), np.int64)))
    counts = np.append(units.count_people(len(is_member)), 0)
    return sampling_law(
        problem, counts, rng=rng, alpha=alpha, loss_range=(0.0, 1.0), binary_losses=True,
        units=units,
    ).interval(alpha)  # fmt: skip


def check_level(method: str, alpha: float, n_resamples: int) -> None:
    """Reject, before any work, a level at which a method's draws give no two-sided interval."""
    if method in DRAWING:
        check_resamples(alpha / 2, check_integer("n_resamples", n_resamples), alpha)


def _check_counts(counts: object, size: int) -> IntArray:
    """Return the number of people at each point, as integers."""
    array = check_float_array("counts", counts, (size,))
    whole = np.isfinite(array) & (array >= 0) & (array == np.floor(array))
    if not whole.all() or not array.sum() > 0:
        bad = array[~whole][0] if not whole.all() else 0.0
        msg = f"{param('counts')} must be whole numbers >= 0 with a positive sum, got {bad:g}"
        raise InputError(msg)
    return array.astype(np.int64)


def _check_range(loss_range: object, problem: AuditProblem) -> tuple[float, float]:
    """Return the range of losses, which must hold those of the problem."""
    low, high = check_float_array("loss_range", loss_range, (2,)).tolist()
    ends = (float(problem.losses.min()), float(problem.losses.max()))
    if not (math.isfinite(low) and math.isfinite(high) and low <= ends[0] and ends[1] <= high):
        msg = (
            f"{param('loss_range')} must be finite and hold all losses {ends}, got "
            f"{short_repr(loss_range)}"
        )
        raise InputError(msg)
    return low, high


def _resample(request: Request, method: str, draw: Draw, size: int) -> DrawnLaw:
    """Return the law of √m(ψ(resample) − ψ(f_n))."""
    estimate = request.estimate
    values = compute_resampled_values(request.problem, draw, request.n_resamples, request.rng, size)
    draws = math.sqrt(size) * (values - estimate)
    return DrawnLaw(method, estimate, request.n, (), draws, size)


def difference_law(
    problem: AuditProblem,
    other: AuditProblem,
    counts: object,
    *,
    rng: object = None,
    alpha: float = 0.05,
    loss_range: tuple[float, float] | None = None,
    most_gains: tuple[float | None, float | None] = (None, None),
    nested: bool = False,
    units: Units | None = None,
) -> DifferenceLaw:
    """Return the law of Δ = ψ(f*) − ψ'(f*), for two audits of one sample.

    The targets of both must not depend on the sample: otherwise a difference can err either way,
    and has no bounds.

    Parameters
    ----------
    problem, other
        The two audit problems, over the same points: two models, or one model with two
        similarities.
    counts
        (K,) number of people at each point.
    rng
        A seed or a numpy generator.
    alpha
        Level for which p-values are computed most precisely.
    loss_range
        Limits of the losses of both, also at points outside the problems; None: the problems'
        points are the whole sample space.
    most_gains
        Limits of every gain, if known to be less than the whole ``loss_range``.
    nested
        Whether ``problem`` has the losses of ``other`` and allows every move that it allows,
        at no higher cost.
    units
        The independent units of the sample, as for `sampling_law`. Sizes without a declared limit
        must be equal, as stakes and prices of a difference depend on the past.

    Returns
    -------
    DifferenceLaw
        Bounds and p-values of ψ of the first minus ψ of the other.

    Raises
    ------
    InputError
        If the problems are not over the same points, or a setting is invalid.

    Examples
    --------
    >>> import fairtransport as ft
    >>> free = [[0.0, 0.0], [0.0, 0.0]]
    >>> old, new = ft.AuditProblem([0.0, 1.0], free), ft.AuditProblem([0.0, 0.0], free)
    >>> law = ft.inference.difference_law(old, new, [30, 70], rng=0)
    >>> law.estimate, law.lower_bound(0.05) > 0.2
    (0.3, True)
    """
    if problem.size != other.size:
        msg = (
            f"{param('other')} must be about the {problem.size} points of {param('problem')}, got "
            f"{other.size}"
        )
        raise InputError(msg)
    sample, level = (
        _check_counts(counts, problem.size),
        check_number("alpha", alpha, above=0, below=1),
    )
    limits = None if loss_range is None else _check_range(loss_range, problem)
    if limits is not None:
        _check_range(limits, other)
    records = Units.of_people(sample) if units is None else units
    if not records.is_adaptive:
        msg = f"{param('units')} must have a declared limit or equal sizes, got neither"
        raise InputError(msg)
    pairs = zip((problem, other), most_gains, check_generator("rng", rng).spawn(2), strict=True)
    first, second = (
        Evidence(
            audit,
            records,
            _find_limits(audit, limits, binary=False, max_gain=max_gain),
            adaptive=True,
            rng=stream,
        )
        for audit, max_gain, stream in pairs
    )
    f = records.frequencies(problem.size)
    return DifferenceLaw(
        "finite-sample", problem.value(f) - other.value(f), first.n, (),
        pair_evidence(first, second, nested=nested), pair_evidence(second, first), level,
    )  # fmt: skip
