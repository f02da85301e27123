"""Audits with counterparts: hold-out, a bound that allows for the maps, the document."""

from __future__ import annotations

import copy
import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from fairtransport.documents.audit import CounterpartPair, CounterpartsFound, ToldCounterparts
from fairtransport.errors import InputError, param
from fairtransport.explain.moves import Profiles
from fairtransport.explain.proxies import bound_balanced_accuracy, predict_groups
from fairtransport.inference.laws import Interval, SamplingLaw
from fairtransport.similarity.counterparts import Counterparts
from fairtransport.transport import AuditProblem

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from fairtransport._core.validation import BoolArray
    from fairtransport.access.black_box import Access
    from fairtransport.access.oracle import Oracle
    from fairtransport.audits.result import AuditResult
    from fairtransport.data import SampleSpace
    from fairtransport.settings import AuditSettings

RESAMPLES = 20
"""Number of resampled hold-outs that show how much the statistic varies with the maps."""
MAX_RESAMPLED_PEOPLE = 2000
"""Maximum number of people whose counterparts are built by each of these maps."""
MAX_LISTED_PAIRS = 10
ROUNDING = 1e-12
MAX_CLASSIFIED = 4000
"""Maximum number of people and counterparts to fit and test a classifier on."""


@dataclass(frozen=True, eq=False)
class CounterpartLaw(SamplingLaw):
    """A lower bound for ψ of counterparts: that of fixed ones, lowered by the maps' variation.

    With L the bound of the audited people at level α/2 for the counterparts as fitted, s the
    standard deviation of ψ over maps refitted on resampled hold-outs, and z the normal quantile of
    1 − α/2, the bound is

        ψ − √((ψ − L)² + (z s)²).

    The first term holds at every n, the second for large hold-outs. The other half of α is used by
    the gate. There is no upper bound: a closed gate makes ψ 0.
    """

    fixed_maps: SamplingLaw
    spread: float

    @property
    def guarantee(self) -> str:
        """Approximate, as the bound allows for the maps approximately."""
        return "approximate"

    @property
    def has_pvalue(self) -> bool:
        """False, as the lowered bound is not a test of δ."""
        return False

    def lower_bound(self, alpha: float = 0.05) -> float:
        """Return the bound, at least 0."""
        from scipy.stats import norm

        half = self._level(alpha) / 2
        below = self.estimate - self.fixed_maps.lower_bound(half)
        return max(0.0, self.estimate - math.hypot(below, norm.isf(half) * self.spread))

    def upper_bound(self, alpha: float = 0.05) -> float:
        """Return infinity."""
        self._level(alpha)
        return math.inf

    def interval(self, alpha: float = 0.05) -> Interval:
        """Return an interval without ends, as only the lower bound is known."""
        self._level(alpha)
        return Interval(-math.inf, math.inf)

    def graded_pvalue(self, delta: float, levels: Sequence[float]) -> float:
        """Return the last of falling levels at which the bound is above δ, for families."""
        last = 1.0
        for level in levels:
            if not self.rejects(delta, level):
                break
            last = level
        return last

    def _p_greater(self, delta: float) -> float:  # noqa: ARG002
        return math.nan

    def _p_less(self, delta: float) -> float:  # noqa: ARG002
        return math.nan


def check_counterparts(settings: AuditSettings, access: Access) -> None:
    """Reject settings that an audit with counterparts does not support."""
    similarity = settings.chosen_similarity
    if not isinstance(similarity, Counterparts):
        return
    rules = (
        (access.box is None, "model", "be given", "predictions"),
        (settings.levels is not None, "levels", "be left out", "it"),
        (settings.together is not None, "together", "be left out", "it"),
        (settings.targets is not None, "targets", "be left out", "it"),
        (settings.budget > 0, "budget", "be 0", f"{settings.budget:g}"),
        (settings.sample_weight is not None, "sample_weight", "be left out", "it"),
        (settings.queries.until_sure, "queries.until_sure", "be left out", "it"),
        (settings.queries.draws > 1, "queries.draws", "be 1", f"{settings.queries.draws}"),
        (access.answers_at_random is True, "model", "have fixed answers", "one that has not"),
        (settings.method != "finite-sample", "method", "be 'finite-sample'", settings.method),
    )
    level = similarity.model_.level if similarity.is_fitted else similarity.level
    if level is not None and level > settings.alpha / 2 + ROUNDING:
        msg = (
            f"{param('level')} of the gate must be at most half of {param('alpha')}, "
            f"{settings.alpha / 2:g}, got {level:g}"
        )
        raise InputError(msg)
    for is_broken, name, rule, value in rules:
        if is_broken:
            msg = f"{param(name)} must {rule} with the similarity 'counterparts', got {value}"
            raise InputError(msg)


def with_gate_level(settings: AuditSettings, level: float) -> AuditSettings:
    """Return settings whose gate has the level of a family, unless it has its own."""
    similarity = settings.chosen_similarity
    if not isinstance(similarity, Counterparts) or similarity.is_fitted:
        return settings
    own = similarity.level
    similarity = copy.copy(similarity).set_params(level=level if own is None else min(own, level))
    return replace(settings, similarity=similarity)


def build_law(result: AuditResult, oracle: Oracle) -> CounterpartLaw:
    """Return the bound of an audit with counterparts; refitted maps need further queries."""
    law = result.law
    spread = _measure_spread(result, oracle) if result.statistic > 0 else 0.0
    return CounterpartLaw(
        law.method, law.estimate, law.n, law.notes, fixed_targets=False, fixed_maps=law,
        spread=spread,
    )  # fmt: skip


def _measure_spread(result: AuditResult, oracle: Oracle) -> float:
    """Return the standard deviation of ψ over maps refitted on resampled hold-outs."""
    similarity = result.similarity
    assert isinstance(similarity, Counterparts)  # noqa: S101
    rng = np.random.default_rng([result.seed, 23])
    people = _draw_people(result.space, rng)
    values = []
    for _ in range(RESAMPLES):
        space = similarity.model_.resample(rng).add_counterparts(people)
        problem = AuditProblem(oracle.answer(space).losses, similarity.geometry(space))
        values.append(problem.value(space.frequencies))
    return float(np.std(values, ddof=1))


def _draw_people(space: SampleSpace, rng: np.random.Generator) -> SampleSpace:
    """Return the audited people without their counterparts; a sample of them if there are many."""
    people = replace(space.take(space.observed), family=None, has_twins=False)
    if people.n <= MAX_RESAMPLED_PEOPLE:
        return people
    if people.units is None:
        counts = rng.multivariate_hypergeometric(people.counts, MAX_RESAMPLED_PEOPLE)
    else:
        size = max(1, people.units.n * MAX_RESAMPLED_PEOPLE // people.n)
        unit_counts = rng.multivariate_hypergeometric(people.units.counts, size)
        units = people.units.take(unit_counts)
        people, counts = replace(people, units=units), units.count_people(people.size)
    return people.take(counts > 0, counts)


def summarise_counterparts(result: AuditResult) -> CounterpartsFound | None:
    """Return gate and counterparts for a document; None under other similarities."""
    similarity = result.similarity
    if not isinstance(similarity, Counterparts):
        return None
    model, law = similarity.model_, result.query_record.law
    return CounterpartsFound(
        held_out=model.size,
        legitimate=tuple(kind.name for kind in model.legitimate),
        gate_level=model.level,
        gate=model.gate,
        detectable_shift=model.detectable_shift,
        spread=law.spread if isinstance(law, CounterpartLaw) else 0.0,
        told=tuple(_tell_apart(result)),
        pairs=tuple(_list_pairs(result)),
    )


def _list_pairs(result: AuditResult) -> Iterator[CounterpartPair]:
    """Yield random people, each with one of their counterparts."""
    space = result.space
    profiles, predictions = Profiles(space), result.answers.predictions
    families, rng = space.families, np.random.default_rng([result.seed, 29])
    others = np.flatnonzero(space.counts == 0)
    sample = np.sort(rng.permutation(others)[:MAX_LISTED_PAIRS])
    person_of = np.zeros(families.max() + 1, np.int64)
    person_of[families[space.observed]] = np.flatnonzero(space.observed)
    for point in sample.tolist():
        person = int(person_of[families[point]])
        names = [
            name for name in space.profile
            if space.columns[name].codes[point] != space.columns[name].codes[person]
        ]  # fmt: skip
        yield CounterpartPair(
            profile=profiles.profile(person), changes=profiles.part(point, names),
            changes_answer=bool(np.any(predictions[person] != predictions[point])),
        )  # fmt: skip


def _tell_apart(result: AuditResult) -> Iterator[ToldCounterparts]:
    """Yield the accuracy with which a classifier tells counterparts from people of their group.

    Not with legitimate columns, which stay and so distinguish the two by design. Nor with units, as
    the bounds are for independent people.
    """
    space, similarity = result.space, result.similarity
    assert isinstance(similarity, Counterparts)  # noqa: S101
    if similarity.model_.legitimate or space.units is not None:
        return
    names = [name for name in space.features if name not in space.sensitive]
    people = np.bincount(space.families, space.counts)[space.families].astype(np.int64)
    rng = np.random.default_rng([result.seed, 31])
    for feature in space.sensitive:
        if not similarity.model_.is_open(feature):
            continue
        column = space.columns[feature]
        target = int(
            np.bincount(column.codes[space.observed], space.counts[space.observed]).argmax()
        )
        inside = (column.codes == target) & (space.observed | _moves_alone(space, feature))
        rows = rng.permutation(np.repeat(np.flatnonzero(inside), people[inside]))[:MAX_CLASSIFIED]
        half = len(rows) // 2
        truth = space.observed[rows].astype(np.int64)
        if min(np.bincount(truth[:half], minlength=2)) == 0:
            continue
        guesses = predict_groups(space, names, rows[:half], truth[:half], rows[half:])
        right = [int((guesses[truth[half:] == code] == code).sum()) for code in (0, 1)]
        counts = np.bincount(truth[half:], minlength=2).tolist()
        lower, upper = bound_balanced_accuracy(right, counts, result.alpha)
        accuracy = sum(a / max(b, 1) for a, b in zip(right, counts, strict=True)) / 2
        yield ToldCounterparts(
            feature=feature, group=column.levels.tolist()[target], accuracy=accuracy, lower=lower,
            upper=upper,
        )  # fmt: skip


def _moves_alone(space: SampleSpace, feature: str) -> BoolArray:
    """Return which points are counterparts with a changed feature."""
    codes, families = space.columns[feature].codes, space.families
    own = np.zeros(families.max() + 1, np.int64)
    own[families[space.observed]] = codes[space.observed]
    return np.asarray(~space.observed & (codes != own[families]))
