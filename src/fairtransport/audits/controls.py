"""Control edits: queried like twins, to compare sensitive edits with."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from fairtransport._core.notes import Note, join_notes
from fairtransport._core.ranks import number_rows
from fairtransport.audits.querying import is_random, missing_range_error
from fairtransport.data.controls import (
    Controls,
    add_columns,
    build_control_edits,
    check_control_columns,
    list_control_levels,
    list_sensitive_edits,
)
from fairtransport.data.sample_space import SampleSpace
from fairtransport.errors import InputError, param
from fairtransport.geometry import Geometry
from fairtransport.inference import Interval, difference_law
from fairtransport.transport import AuditProblem

if TYPE_CHECKING:
    from fairtransport._core.units import Units
    from fairtransport._core.validation import BoolArray, FloatArray, IntArray
    from fairtransport.access.black_box import Access
    from fairtransport.access.oracle import Oracle
    from fairtransport.audits.result import AuditResult
    from fairtransport.inference.finite.difference import DifferenceLaw
    from fairtransport.inference.laws import Verdict
    from fairtransport.settings import AuditSettings


MAX_DEALS, MAX_DEALT_PROFILES = 999, 2_000
"""Number of permutations of the test, and maximum number of permuted profiles."""
ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class EditShifts:
    """How much each edit of the audited people raises their loss.

    ``source`` is the point of the people, ``shift`` the increase of their loss by the edit (0 for a
    decrease), ``is_control`` whether the edit changes a control.
    """

    source: IntArray
    shift: FloatArray
    is_control: BoolArray

    def means(self, size: int, *, control: bool) -> FloatArray:
        """Return each point's mean shift over edits of one kind; NaN if it has none."""
        chosen = self.is_control == control
        counts = np.bincount(self.source[chosen], minlength=size)
        sums = np.bincount(self.source[chosen], self.shift[chosen], size)
        return np.asarray(np.divide(sums, counts, out=np.full(size, np.nan), where=counts > 0))

    def move(self, points: IntArray, size: int) -> EditShifts:
        """Return the edits of some points of a space, renumbered."""
        places = np.full(size, -1)
        places[points] = np.arange(len(points))
        inside = places[self.source] >= 0
        return EditShifts(places[self.source[inside]], self.shift[inside], self.is_control[inside])


@dataclass(frozen=True)
class ControlComparison:
    """Sensitive edits compared with edits that should not matter, for the same people.

    An edit changes one column, or one set of columns that change together; its shift is the
    increase of a person's loss.

    Attributes
    ----------
    columns
        The control columns.
    margin
        The tolerated difference.
    people
        Number of people with edits of both kinds.
    sensitive_shift, control_shift
        The mean shift of sensitive and of control edits.
    difference
        ``sensitive_shift`` minus ``control_shift``.
    lower_bound, upper_bound
        One-sided confidence bounds of the difference at level 1 − α each.
    interval
        The two-sided confidence interval of the difference.
    pvalue
        The p-value of a difference of at most ``margin``.
    permutation_pvalue
        The p-value if edits are exchangeable given the person: labels of edits are permuted inside
        one person of each set of people whose questions or clusters overlap.
    exceeds
        Whether the difference is significantly above ``margin``, at level α.

    Examples
    --------
    >>> import fairtransport as ft, pandas as pd
    >>> people = pd.DataFrame({"sex": ["f", "m"] * 40, "weekday": ["Mon", "Tue"] * 40,
    ...                        "good": [1, 1, 0, 0] * 20})
    >>> result = ft.audit(people, "good", model=lambda rows: (rows["sex"] == "m").astype(int),
    ...                   sensitive_features="sex", controls=["weekday"], delta=0.1, rng=0)
    >>> result.controls.sensitive_shift, result.controls.control_shift, result.controls.exceeds
    (0.5, 0.0, True)
    """

    columns: tuple[str, ...]
    margin: float
    people: int
    sensitive_shift: float
    control_shift: float
    difference: float
    lower_bound: float
    upper_bound: float
    interval: Interval
    pvalue: float
    permutation_pvalue: float
    exceeds: bool


def add_own_controls(settings: AuditSettings, access: Access) -> AuditSettings:
    """Return settings whose controls include the model's own."""
    if not access.controls:
        return settings
    controls = settings.chosen_controls
    names, margin = ((), 0.0) if controls is None else (controls.columns, controls.margin)
    return replace(
        settings, controls=Controls([*dict.fromkeys((*names, *access.controls))], margin)
    )


def advise_controls(settings: AuditSettings, access: Access) -> Note | None:
    """Return that any edit may change the model's answers, and how to tell; None with controls."""
    if settings.controls is not None or access.controls is None:
        return None
    sentence = Note(
        "Any change of the prompt can change the answers of a language model, also one that should "
        "not matter. Without control edits ({controls}), this audit cannot tell such changes from "
        "those of sensitive features.",
        controls=param("controls"),
    )
    if is_random(settings, access) or settings.queries.until_sure:
        more = Note("They need one answer per query, and queries about everybody.")
    else:
        more = Note(
            "Add ready-made ones to the prompt (`controls=['blank line', 'reordered']`), or name "
            "columns of the data."
        )
    return join_notes([sentence, more])


def check_controls(settings: AuditSettings, space: SampleSpace, access: Access) -> None:
    """Reject, before any query, controls that cannot be queried or compared."""
    controls = settings.chosen_controls
    if controls is None:
        return
    units = space.units
    rules = (
        (access.box is not None, f"a {param('model')} to query, got predictions"),
        (
            not is_random(settings, access),
            "a model that does not answer at random: one answer per query",
        ),
        (
            space.has_twins,
            "people who are compared with themselves with other sensitive values, got counterparts",
        ),
        (
            units is None or units.is_adaptive,
            (
                f"sizes of {param('clusters')} and weights with a declared `largest`, got none: "
                "without it differences have no bounds"
            ),
        ),
    )
    for keeps, requirement in rules:
        if not keeps:
            msg = f"{param('controls')} needs {requirement}"
            raise InputError(msg)
    check_control_columns(controls, space, access.controls or {})


def ask_controls(settings: AuditSettings, space: SampleSpace, oracle: Oracle) -> EditShifts | None:
    """Query twins and control edits in one run and in random order; None without controls.

    The oracle keeps the answers for later queries about the space.
    """
    controls = settings.chosen_controls
    if controls is None:
        return None
    loss = oracle.known_loss()
    if loss.range is None:
        raise missing_range_error(loss, has_other_methods=False)
    own = oracle.access.controls or {}
    space = add_columns(space, own)
    people, edits = build_control_edits(list_control_levels(controls, space, own), space)
    everything = _join(space, edits)
    # ordered by kind, any drift during the run would enter the difference
    order = np.random.default_rng([settings.seed, 23]).permutation(everything.size)
    losses = np.empty(everything.size)
    losses[order] = oracle.answer(everything.take(order)).losses
    source, target = list_sensitive_edits(space)
    source = np.concatenate([source, people])
    target = np.concatenate([target, space.size + np.arange(edits.size)])
    is_control = np.arange(len(source)) >= len(source) - len(people)
    return EditShifts(source, np.maximum(losses[target] - losses[source], 0.0), is_control)


def _join(space: SampleSpace, edits: SampleSpace) -> SampleSpace:
    """Return the points of both, those of the space first, without counts."""
    columns = {
        name: replace(column, codes=np.concatenate([column.codes, edits.columns[name].codes]))
        for name, column in space.columns.items()
    }
    return SampleSpace(
        columns=columns,
        counts=np.zeros(space.size + edits.size, np.int64),
        features=space.features,
        sensitive=space.sensitive,
        label=space.label,
        one_hot=space.one_hot,
        model_features=space.model_features,
        bins=space.bins,
        library=space.library,
    )


def compare_controls(result: AuditResult) -> ControlComparison | None:
    """Return how much more sensitive edits shift answers than control edits; None without edits."""
    controls, shifts = result.settings.chosen_controls, result.shifts
    if controls is None or shifts is None:
        return None
    size, alpha = result.space.size, result.alpha
    means = np.array([shifts.means(size, control=kind) for kind in (False, True)])
    matched = result.space.observed & np.isfinite(means).all(axis=0)
    if not matched.any():
        msg = f"{param('controls')} needs people with edits of both kinds, got none"
        raise InputError(msg)
    f = _weigh_points(result.space, matched)
    f = f / f.sum()
    sensitive, control = (float(f[matched] @ mean[matched]) for mean in means)
    points, limits, units = np.flatnonzero(matched), result.loss.range, result.space.units
    assert limits is not None  # noqa: S101 - checked before any query
    if units is not None:
        places = np.full(size, -1)
        places[points] = np.arange(len(points))
        units = units.among(matched).move(places)
    law = build_shift_law(
        means[:, points], result.space.counts[points], units, limits[1] - limits[0], alpha,
        result.seed,
    )  # fmt: skip
    return ControlComparison(
        columns=tuple(controls.columns),
        margin=controls.margin,
        people=int(result.space.counts[matched].sum()),
        sensitive_shift=sensitive,
        control_shift=control,
        difference=sensitive - control,
        lower_bound=law.lower_bound(alpha),
        upper_bound=law.upper_bound(alpha),
        interval=law.interval(alpha),
        pvalue=law.pvalue(controls.margin),
        permutation_pvalue=_test_permutations(result, shifts, matched),
        exceeds=law.rejects(controls.margin, alpha),
    )


def _weigh_points(space: SampleSpace, points: BoolArray) -> FloatArray:
    """Return the weight of the people at each of some points, 0 at others."""
    if space.units is None:
        return np.where(points, space.counts, 0).astype(np.float64)
    units = space.units.among(points)
    return np.asarray(np.bincount(units.point, units.mass, space.size), dtype=np.float64)


def build_shift_law(
    means: FloatArray, counts: IntArray, units: Units | None, width: float, alpha: float, seed: int
) -> DifferenceLaw:
    """Return the law of the difference of people's (2, K) mean shifts, in [0, width].

    A mean shift is the gain of somebody with loss 0 who can only become somebody with this loss.
    The difference of two such audits of the same people is bet on in pairs, with the people's
    clusters and weights.
    """
    size = means.shape[1]
    geometry = Geometry(np.tile(np.arange(size), 2))
    first, second = (
        AuditProblem(np.concatenate([np.zeros(size), mean]), geometry) for mean in means
    )
    return difference_law(
        first, second, np.concatenate([counts, np.zeros(size, np.int64)]),
        rng=np.random.default_rng([seed, 24]), alpha=alpha, loss_range=(0.0, width), units=units,
    )  # fmt: skip


def _test_permutations(result: AuditResult, shifts: EditShifts, matched: BoolArray) -> float:
    """Return the p-value of edits whose shifts are exchangeable given the person.

    People who share a question share its answer, and those of a cluster may be dependent. One
    person is drawn to represent each set of such people; their labels are permuted independently of
    other sets.
    """
    space, rng = result.space, np.random.default_rng([result.seed, 25])
    sets, weight = _find_overlaps(result), _weigh_points(space, matched)
    points = np.flatnonzero(matched)
    # the point with the largest key is drawn with a probability proportional to its weight
    keys = np.log(weight[points]) + rng.gumbel(size=len(points))
    order = points[np.lexsort((keys, sets[points]))]
    is_last = np.append(sets[order][1:] != sets[order][:-1], True)
    profiles, total = order[is_last], np.bincount(sets[points], weight[points])
    if len(profiles) > MAX_DEALT_PROFILES:
        profiles = rng.choice(profiles, MAX_DEALT_PROFILES, replace=False)
    edits = np.lexsort((shifts.is_control, shifts.source))
    edits = edits[np.isin(shifts.source[edits], profiles)]
    source, values = shifts.source[edits], shifts.shift[edits]
    sensitive = np.bincount(source[~shifts.is_control[edits]], minlength=space.size)
    first = np.searchsorted(source, profiles)
    sizes = np.searchsorted(source, profiles, side="right") - first
    observed, dealt = 0.0, np.zeros(MAX_DEALS)
    for kind, size in sorted({*zip(sensitive[profiles].tolist(), sizes.tolist(), strict=True)}):
        alike = (sensitive[profiles] == kind) & (sizes == size)
        table = values[first[alike][:, None] + np.arange(size)]
        scale = total[sets[profiles[alike]]] / total.sum()
        varies = np.ptp(table, axis=1) > 0  # all permutations of equal shifts are the same
        table, scale = table[varies], scale[varies]
        signs = np.r_[np.full(kind, 1 / kind), np.full(size - kind, -1 / (size - kind))]
        observed += float(scale @ (table @ signs))
        for deal in range(MAX_DEALS):
            dealt[deal] += float(scale @ (rng.permuted(table, axis=1) @ signs))
    return float((1 + np.sum(dealt >= observed - ROUNDING)) / (MAX_DEALS + 1))


def _find_overlaps(result: AuditResult) -> IntArray:
    """Return (K,) the number of the set of points whose people share questions or clusters."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    space, controls = result.space, result.settings.chosen_controls
    edited = {*space.sensitive, *(() if controls is None else controls.columns)}
    codes = [space.columns[name].codes for name in space.features if name not in edited]
    questions = number_rows([np.zeros(space.size, np.int64), *codes])
    if space.units is None:
        return questions
    units, count = space.units, int(questions.max()) + 1
    # units of a kind with several copies have the same points, and so the same questions
    size = count + len(units.counts)
    links = coo_array(
        (np.ones(len(units.point)), (questions[units.point], count + units.unit)),
        shape=(size, size),
    )
    components = connected_components(links, directed=False)[1][questions]
    return np.asarray(np.unique(components, return_inverse=True)[1].reshape(-1), dtype=np.int64)


def limit_by_controls(
    verdict: Verdict | None, controls: ControlComparison | None
) -> Verdict | None:
    """Return a verdict; "inconclusive" for a rejection that does not exceed the controls."""
    if verdict == "rejected" and controls is not None and not controls.exceeds:
        return "inconclusive"
    return verdict
