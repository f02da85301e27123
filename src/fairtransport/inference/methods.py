"""sampling_law(): every method that says how sure ψ(f_n) is, each under its name."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

import numpy as np

from fairtransport.checks import IntArray, choice, float_array, generator, number, shown, whole
from fairtransport.errors import InputError
from fairtransport.inference.finite.bracketed import BracketedLaw, Ceiling
from fairtransport.inference.finite.difference import DifferenceLaw
from fairtransport.inference.finite.evidence import (
    Evidence,
    GainLimits,
    limits_of_losses,
    limits_of_space,
)
from fairtransport.inference.finite.finite_sample import FiniteSampleLaw
from fairtransport.inference.finite.paired_evidence import paired
from fairtransport.inference.paper.min_of_normals import MinOfNormals
from fairtransport.inference.paper.quantile_laws import (
    DrawnLaw,
    LimitLaw,
    PlugInLaw,
    check_resamples,
)
from fairtransport.inference.paper.resampling import (
    values_of_resamples,
    with_replacement,
    without_replacement,
)
from fairtransport.inference.paper.truncated import draw_truncated
from fairtransport.transport.bracket import BracketedProblem

if TYPE_CHECKING:
    from fairtransport.checks import FloatArray
    from fairtransport.inference.laws import SamplingLaw
    from fairtransport.inference.paper.resampling import Draw
    from fairtransport.transport import AuditProblem

DISTORTION = 0.05
"""Shift of the mean frequencies (in L1) or lost share of their spread that counts as distorted."""


@dataclass(frozen=True, eq=False)
class Request:
    """What a method is asked: a checked problem, sample and settings.

    Attributes
    ----------
    problem, counts
        The audit problem, and how many people are at each of its points.
    n_resamples, rng
        How many draws a law by resampling makes, and the generator of all that is random.
    size, step
        m and ϵ; None for the method's own default.
    alpha
        The level that tests are aimed at.
    loss_range, binary_losses, most_gain
        What is known of losses and gains before the data; ``loss_range`` is None where the
        problem's points are the whole sample space.
    delta
        The declared threshold, if there is one.
    """

    problem: AuditProblem
    counts: IntArray
    n_resamples: int
    rng: np.random.Generator
    size: int | None
    step: float | None
    alpha: float
    loss_range: tuple[float, float] | None
    binary_losses: bool
    most_gain: float | None
    delta: float | None

    @property
    def n(self) -> int:
        """The size of the audit sample."""
        return int(self.counts.sum())

    @property
    def estimate(self) -> float:
        """ψ(f_n)."""
        return self.problem.value(self.counts / self.n)


class Method(Protocol):
    """A method makes a law from a request.

    Registered under its name in ``METHODS``, it is what ``method=`` and ``--method`` accept.
    """

    def __call__(self, request: Request, /) -> SamplingLaw:
        """Return the law."""
        ...


def m_out_of_n(request: Request) -> DrawnLaw:
    """Algorithm 1: √m(ψ(f*_{n,m}) − ψ(f_n)), m = floor(2√n) unless told.

    Parameters
    ----------
    request
        The checked problem, sample and settings.

    Notes
    -----
    m/n → 0 makes it consistent also where ψ has a corner; how far off it is at sizes that
    people have is on the validity page.
    """
    size = request.size or default_size(request.n)
    return _resampled(request, "m-out-of-n", with_replacement(request.counts, size), size)


def efron(request: Request) -> DrawnLaw:
    """Resample n of n, the ordinary bootstrap: the diagnostic that the paper proposes.

    Parameters
    ----------
    request
        The checked problem, sample and settings.

    Returns
    -------
    DrawnLaw
        With a note in words on whether its draws look centred normal.
    """
    law = _resampled(request, "efron", with_replacement(request.counts, request.n), request.n)
    return DrawnLaw(law.method, law.estimate, law.n, (law.gaussianity.words,), law.draws, law.size)


def subsampling(request: Request) -> DrawnLaw:
    """Subsamples of m people without replacement (Politis, Romano and Wolf).

    Parameters
    ----------
    request
        The checked problem, sample and settings.

    Raises
    ------
    InputError
        If m exceeds the sample.
    """
    size = request.size or default_size(request.n)
    if size > request.n:
        msg = f"`m` must be at most the {request.n} people of the sample, got {size}"
        raise InputError(msg)
    return _resampled(request, "subsampling", without_replacement(request.counts, size), size)


def numerical(request: Request) -> DrawnLaw:
    """Algorithm 2: ϵ⁻¹(ψ(f_n + ϵZ) − ψ(f_n)), ϵ = n^(−1/4) unless told.

    Parameters
    ----------
    request
        The checked problem, sample and settings.

    Returns
    -------
    DrawnLaw
        With notes where Algorithm 2's own rejection would hardly end, and where truncation moves
        or narrows the frequencies by more than ``DISTORTION``.
    """
    step = request.step or request.n**-0.25
    f = request.counts / request.n
    drawn = draw_truncated(f, step, request.n_resamples, request.rng)
    estimate = request.estimate
    # the untruncated law has mean f and total variance ϵ²Σ f(1 − f); draws vary by chance too
    variance = float(step**2 * np.sum(f * (1 - f)))
    noise = float(step * np.sqrt(f * (1 - f) / request.n_resamples).sum())
    shift = float(np.abs(drawn.frequencies.mean(axis=0) - f).sum()) - noise
    narrowing = 1 - math.sqrt(drawn.frequencies.var(axis=0).sum() / variance) if variance else 0.0
    notes = []
    if drawn.exact:
        notes.append(
            f"Algorithm 2's rejection accepts {drawn.acceptance:.2%} of its draws; the same "
            "law was drawn exactly."
        )
    if max(shift, narrowing) > DISTORTION:
        notes.append(
            f"Truncation to frequencies >= 0 moves their mean by {max(shift, 0):.2f} in all and "
            f"takes {max(narrowing, 0):.0%} of their spread: the numerical method's law is "
            "distorted and its bounds are not to be trusted."
        )
    draws = (request.problem.values(drawn.frequencies) - estimate) / step
    return DrawnLaw(
        "numerical", estimate, request.n, tuple(notes), draws,
        step=step, acceptance=drawn.acceptance,
    )  # fmt: skip


def plug_in(request: Request) -> PlugInLaw:
    """Theorem 1's law with f_n for f*; normal but for samples exactly at a corner.

    Parameters
    ----------
    request
        The checked problem and sample.
    """
    estimate = request.estimate
    return PlugInLaw("plug-in", estimate, request.n, (), plug_in_limit(request))


def limit_law(request: Request) -> LimitLaw:
    """Theorem 1's law, its lower bound by the intersection–union over prices.

    Parameters
    ----------
    request
        The checked problem and sample.
    """
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
    """Return the minimum of normals that Theorem 1 gives at the sample's frequencies.

    Parameters
    ----------
    request
        The checked problem and sample.
    """
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
        Normal where the budget curve has no corner at the budget.

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
    at_low = problem.frontiers.net_gains(low)
    at_high = problem.frontiers.net_gains(high)
    centred = [gains - frequencies @ gains for gains in (at_low, at_high)]
    (xx, xy), (_, yy) = np.array([[frequencies @ (a * b) for b in centred] for a in centred])
    sd_x, sd_y = _spread(xx, at_low), _spread(yy, at_high)
    # away from corners the two ends are one price, whatever rounding says
    if low == high or sd_x == 0 or sd_y == 0:
        return MinOfNormals(sd_x, sd_y, 1.0)
    return MinOfNormals(sd_x, sd_y, float(np.clip(xy / (sd_x * sd_y), -1, 1)))


def _spread(variance: float, gains: FloatArray) -> float:
    """Return the standard deviation; rounding errors of a constant gain are no variation.

    Parameters
    ----------
    variance
        As computed, perhaps a rounding error.
    gains
        φ, whose size says how large such an error can be.

    Examples
    --------
    >>> _spread(0.25, np.array([0.0, 1.0])), _spread(1e-30, np.array([0.1, 0.1]))
    (0.5, 0.0)
    """
    scale = float(np.max(np.abs(gains), initial=0.0))
    return math.sqrt(variance) if variance > (1e-12 * scale) ** 2 else 0.0


def finite_sample(request: Request) -> SamplingLaw:
    """Make bounds, tests and certificates that hold at every n, by betting.

    Parameters
    ----------
    request
        The checked problem, sample and settings. Nothing is computed until it is asked for.
    """
    problem = request.problem
    limits = _limits(
        problem, request.loss_range, binary=request.binary_losses, most=request.most_gain
    )
    law = FiniteSampleLaw(
        "finite-sample", request.estimate, request.n, (), problem, request.counts, limits,
        request.alpha, request.rng, request.delta,
    )  # fmt: skip
    if not isinstance(problem, BracketedProblem):
        return law
    # which targets were found depends on the sample
    below = replace(law, fixed_targets=False)
    above = Ceiling(problem, request.counts, limits, request.delta)
    return BracketedLaw("finite-sample", law.estimate, law.n, (), below, above)


def _limits(
    problem: AuditProblem, known: tuple[float, float] | None, *, binary: bool, most: float | None
) -> GainLimits:
    """Return what is known of gains: from the losses' range, or because the points are all.

    Parameters
    ----------
    problem
        The audit problem.
    known
        The range of losses; None says that the problem's points are the whole sample space.
    binary, most
        Whether losses are at the ends of the range, and a limit of every gain, if there is one.
    """
    if known is None and isinstance(problem, BracketedProblem):
        most = float(problem.known.at_no_price.max())
        return GainLimits(
            np.zeros(1), np.array([most]), linear=problem.budget == 0, two_valued=False
        )
    if known is None:
        return limits_of_space(problem)
    return limits_of_losses(problem, known, binary=binary, most=most)


DRAWING = ("m-out-of-n", "numerical", "subsampling", "efron")
"""The methods whose law is known by draws from it."""
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

    Parameters
    ----------
    n
        The size of the audit sample.

    Returns
    -------
    int
        m.

    Examples
    --------
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
    delta: float | None = None,
    fixed_targets: bool = True,
) -> SamplingLaw:
    """Return what a sample says about ψ(f*), by one of several methods.

    Parameters
    ----------
    problem
        The audit problem.
    counts
        (K,) how many people are at each point.
    method
        "finite-sample", whose bounds hold at every n, or one of the asymptotic methods
        "m-out-of-n", "numerical", "subsampling", "limit-law", "plug-in", "efron".
    n_resamples
        B, the number of draws; without meaning for the laws in closed form.
    rng
        A seed or a numpy generator.
    m
        The size of a resample; default floor(2√n).
    step
        ϵ of the numerical derivative method; default n^(−1/4).
    alpha
        The level at which the p-values of "finite-sample" are aimed.
    loss_range
        Limits of the losses that hold for points outside ``problem`` too, for "finite-sample";
        None says that the problem's points are the whole sample space.
    binary_losses
        Whether each loss is an end of ``loss_range``, at points outside ``problem`` too.
    most_gain
        A limit of every gain, where that is known to be less than the whole ``loss_range``.
    delta
        The threshold that was declared before the data. The bounds of "finite-sample" then
        never contradict the test at this δ.
    fixed_targets
        Whether the targets do not depend on the sample. If they do, no method gives an upper
        bound: it is infinite.

    Returns
    -------
    SamplingLaw
        Bounds at any level, p-values, and what they promise.

    Raises
    ------
    InputError
        If a setting breaks its rule, or a method needs one that is missing.

    Examples
    --------
    >>> import fairtransport as ft
    >>> problem = ft.AuditProblem([0.0, 1.0], [[0.0, 0.0], [0.0, 0.0]])
    >>> law = ft.inference.sampling_law(problem, [30, 70], method="limit-law")
    >>> round(law.lower_bound(0.05), 3), round(law.pvalue(0.2), 4)
    (0.225, 0.0145)
    """
    choice("method", method, METHODS)
    if isinstance(problem, BracketedProblem) and method != "finite-sample":
        msg = (
            "`method` must be 'finite-sample' for a problem whose values are brackets, got "
            f"{method!r}"
        )
        raise InputError(msg)
    law = METHODS[method](
        Request(
            problem=problem,
            counts=_check_counts(counts, problem.size),
            n_resamples=whole("n_resamples", n_resamples),
            rng=generator("rng", rng),
            size=None if m is None else whole("m", m),
            step=None if step is None else number("step", step, above=0),
            alpha=number("alpha", alpha, above=0, below=1),
            loss_range=None if loss_range is None else _check_range(loss_range, problem),
            binary_losses=bool(binary_losses),
            most_gain=None if most_gain is None else number("most_gain", most_gain, at_least=0),
            delta=None if delta is None else number("delta", delta),
        )
    )
    return replace(law, fixed_targets=bool(fixed_targets))


def check_level(method: str, alpha: float, n_resamples: int) -> None:
    """Refuse, before any work, a level at which a method's draws give no two-sided interval.

    Parameters
    ----------
    method
        Its name; methods without draws have any level.
    alpha
        The level.
    n_resamples
        How many draws there will be.

    Raises
    ------
    InputError
        If a tail of α/2 is thinner than one draw.
    """
    if method in DRAWING:
        check_resamples(alpha / 2, whole("n_resamples", n_resamples), alpha)


def _check_counts(counts: object, size: int) -> IntArray:
    """Return how many people are at each point, as whole numbers.

    Parameters
    ----------
    counts
        What a caller passed.
    size
        The number of points.

    Raises
    ------
    InputError
        If they are not whole numbers >= 0 with a positive sum.

    Examples
    --------
    >>> _check_counts([3.0, 0.0], 2).tolist()
    [3, 0]
    """
    array = float_array("counts", counts, (size,))
    whole = np.isfinite(array) & (array >= 0) & (array == np.floor(array))
    if not whole.all() or not array.sum() > 0:
        bad = array[~whole][0] if not whole.all() else 0.0
        msg = f"`counts` must be whole numbers >= 0 with a positive sum, got {bad:g}"
        raise InputError(msg)
    return array.astype(np.int64)


def _check_range(loss_range: object, problem: AuditProblem) -> tuple[float, float]:
    """Return the range of losses, which must hold those of the problem.

    Parameters
    ----------
    loss_range
        What a caller passed.
    problem
        Whose losses are looked at.

    Raises
    ------
    InputError
        If it is not finite, or a loss lies outside.
    """
    low, high = float_array("loss_range", loss_range, (2,)).tolist()
    seen = (float(problem.losses.min()), float(problem.losses.max()))
    if not (math.isfinite(low) and math.isfinite(high) and low <= seen[0] and seen[1] <= high):
        msg = f"`loss_range` must be finite and hold all losses {seen}, got {shown(loss_range)}"
        raise InputError(msg)
    return low, high


def _resampled(request: Request, method: str, draw: Draw, size: int) -> DrawnLaw:
    """Return the law of √m(ψ(resample) − ψ(f_n)).

    Parameters
    ----------
    request
        The problem, the sample and how many draws.
    method
        Its name.
    draw
        Makes resamples.
    size
        m.
    """
    estimate = request.estimate
    values = values_of_resamples(request.problem, draw, request.n_resamples, request.rng)
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
    declared: tuple[float | None, float | None] = (None, None),
) -> DifferenceLaw:
    """Return what one sample says about Δ = ψ(f*) − ψ'(f*), for two audits of it.

    The targets of both must not depend on the sample: with targets from it a difference can
    err either way, and nothing can be said.

    Parameters
    ----------
    problem, other
        The two audit problems, over the same points: two models, or one model with two
        similarities.
    counts
        (K,) how many people are at each point.
    rng
        A seed or a numpy generator.
    alpha
        The level at which p-values are aimed.
    loss_range
        Limits of the losses of both that hold for points outside the problems too; None says
        that the problems' points are the whole sample space.
    most_gains
        Limits of every gain, where they are known to be less than the whole ``loss_range``.
    nested
        Whether ``problem`` has the losses of ``other`` and allows every move that it allows,
        at no higher cost.
    declared
        The differences, declared before the data, that the lower and the upper bound will be
        compared with.

    Returns
    -------
    DifferenceLaw
        Bounds and p-values of ψ of the first minus ψ of the other.

    Raises
    ------
    InputError
        If the problems are not over the same points, or a setting breaks its rule.

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
        msg = f"`other` must be about the {problem.size} points of `problem`, got {other.size}"
        raise InputError(msg)
    sample, level = _check_counts(counts, problem.size), number("alpha", alpha, above=0, below=1)
    known = None if loss_range is None else _check_range(loss_range, problem)
    if known is not None:
        _check_range(known, other)
    pairs = zip((problem, other), most_gains, generator("rng", rng).spawn(2), strict=True)
    first, second = (
        Evidence(
            one,
            sample,
            _limits(one, known, binary=False, most=most),
            fixed_targets=True,
            rng=stream,
        )
        for one, most, stream in pairs
    )
    f = sample / sample.sum()
    return DifferenceLaw(
        "finite-sample", problem.value(f) - other.value(f), first.n, (),
        paired(first, second, nested=nested), paired(second, first), level, declared,
    )  # fmt: skip
