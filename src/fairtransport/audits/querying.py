"""How the model is queried: once, until there is a verdict, or in several draws."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtransport._core.progress import with_draw
from fairtransport._core.validation import check_threshold, short_repr
from fairtransport.access.oracle import Oracle
from fairtransport.access.repeats import Repeats, count_repeats
from fairtransport.data.columns import object_array
from fairtransport.documents.audit import ABOUT_WORDS
from fairtransport.errors import InputError, option, param
from fairtransport.inference.clopper_pearson import share_upper_bound
from fairtransport.similarity.base import label_columns

if TYPE_CHECKING:
    from fairtransport._core.validation import BoolArray, FloatArray, IntArray, Values
    from fairtransport.access.black_box import Access
    from fairtransport.access.oracle import AnsweredPoints
    from fairtransport.data import SampleSpace
    from fairtransport.geometry import Geometry
    from fairtransport.inference import SamplingLaw
    from fairtransport.inference.rates.random_answers import RandomAnswersLaw
    from fairtransport.inference.sequential import StoppedLaw
    from fairtransport.losses import Loss
    from fairtransport.settings import AuditSettings


GROWTH = 0.1
"""Growth of the number of people between two looks, which keeps requests few."""
STOPPED_NOTE = (
    "People came in random order, and the audit stopped at a point that depends on the answers. "
    "Bounds and verdict are valid all the same (they are a confidence sequence). The statistic is "
    "that of the people up to this point, and tends to be further from δ than that of everybody."
)


@dataclass(frozen=True)
class QueryRecord:
    """How the model was queried: repeats, draws, and where the queries stopped."""

    repeats: Repeats = field(default_factory=Repeats)
    draws: int | None = None
    about: str = "population"
    unit: float | None = None
    people: int | None = None
    stopped: str | None = None
    law: SamplingLaw | None = None

    @property
    def once_about_everybody(self) -> bool:
        """Whether everybody was queried once, so that the method's bounds and plans hold."""
        return self.law is None

    @property
    def answers_at_random(self) -> bool:
        """Whether a model without declared randomness gave differing answers."""
        return self.draws is None and self.repeats.differed > 0

    def differ_at_most(self, alpha: float) -> float | None:
        """Return the exact upper confidence limit of the share of questions with another answer.

        The questions are a random sample without replacement, and each gets another answer with its
        own probability. The generating function of their number has real roots, as elementary
        symmetric polynomials of such factors have, so it is a sum of independent indicators; by
        Hoeffding (1956) its lower tail is below that of the binomial with the same mean wherever
        Clopper and Pearson use it.
        """
        if self.repeats.count == 0:
            return None
        return share_upper_bound(self.repeats.differed, self.repeats.count, alpha)


def is_random(settings: AuditSettings, access: Access) -> bool:
    """Return whether answers count as random: by several draws, or by the model's declaration."""
    return settings.queries.draws > 1 or access.answers_at_random is True


def check_loss_range(
    settings: AuditSettings, access: Access, *, has_other_methods: bool = True
) -> None:
    """Check, before data or model are read, that a loss has the limits that the bounds need."""
    oracle = Oracle(access, settings.chosen_loss, settings.pos_label, settings.best_label)
    loss = oracle.known_loss()
    if settings.delta is not None:
        check_threshold(settings.delta, loss.range)
    _check_unit(settings.queries.unit, loss)
    if loss.range is None and settings.method == "finite-sample":
        is_plain = not is_random(settings, access) and not settings.queries.until_sure
        raise missing_range_error(loss, has_other_methods=has_other_methods and is_plain)


def _check_unit(unit: float | None, loss: Loss) -> None:
    """Reject a unit without effect: for losses with two values, or beyond their range."""
    if unit is None:
        return
    name = param("queries.unit")
    if loss.binary:
        msg = (
            f"{name} is for losses of more than two values, got {unit:g} with the loss "
            f"{loss.name!r}"
        )
        raise InputError(msg)
    if loss.range is not None and unit > (width := loss.range[1] - loss.range[0]):
        msg = f"{name} must be at most the range of the loss, {width:g}, got {unit:g}"
        raise InputError(msg)


def missing_range_error(loss: Loss, *, has_other_methods: bool) -> InputError:
    """Return the error for a loss without limits, with what to pass instead."""
    examples = {
        "absolute": ", such as 0 and 10 where no prediction can be off by more than 10",
        "squared": ", such as 0 and 100 where no prediction can be off by more than 10",
        "outcome": ", such as 0 and 1 where predictions are shares",
    }
    advice = [f"give the smallest and the largest loss that can occur{examples.get(loss.name, '')}"]
    if not loss.uses_truth:
        advice.append(f"for decisions give {param('pos_label')}, the one whose rate is audited")
    if has_other_methods:
        advice.append(f"or give {option('method', 'limit-law')}, whose bounds are approximations")
    msg = (
        f"{param('loss_range')} must be given for the loss {loss.name!r}, whose bounds need it, "
        f"got None: {'; '.join(advice)}"
    )
    return InputError(msg)


def check_asking(settings: AuditSettings, space: SampleSpace, access: Access) -> None:
    """Reject, before any query, ways of querying whose bounds are not proved."""
    random, fixed = is_random(settings, access), access.answers_at_random is False
    if not random and not settings.queries.until_sure:
        return
    name = "a model that answers at random"
    if settings.queries.draws > 1:
        name = param("queries.draws")
    if settings.queries.until_sure:
        name = param("queries.until_sure")
    twins = space.has_twins and settings.chosen_similarity.moves_only_to_twins
    got = short_repr(settings.chosen_similarity) if space.targets is None else f"{param('targets')}"
    rules = (
        (access.box is not None, f"a {param('model')} to query, got predictions"),
        (not (random and settings.queries.until_sure), "a model that does not answer at random"),
        (
            not (random and fixed),
            (
                "a model that answers at random, got one that says it does not, as a prompt with "
                f"a {param('seed')} does"
            ),
        ),
        (
            twins and space.targets is None,
            (
                "people who are compared only with themselves with other sensitive values, as "
                f"under IgnoreSensitive() without {param('targets')}, got {got}"
            ),
        ),
        (
            not (settings.queries.until_sure and space.observed_sets),
            f"{param('together')} with its combinations, got those that occur",
        ),
        (settings.budget == 0, f"a {param('budget')} of 0, got {settings.budget:g}"),
        (
            settings.method == "finite-sample",
            f"the {param('method')} 'finite-sample', got {settings.method!r}",
        ),
    )
    for keeps, requirement in rules:
        if not keeps:
            msg = f"{name} needs {requirement}"
            raise InputError(msg)


class UntilSure:
    """The people in random order, and the answers about them so far.

    The audit data are an independent sample, so that in a random order the first t people are one
    too, for any t; the evidence after each of them is an e-process. Whom to query next, and how
    many before the next look, depends on the order and on past answers, so that the time of the
    stop is a stopping time.
    """

    def __init__(
        self, settings: AuditSettings, space: SampleSpace, oracle: Oracle, geometry: Geometry
    ) -> None:
        self.settings, self.space, self.oracle = settings, space, oracle
        rng = np.random.default_rng([settings.seed, 14])
        self.people: IntArray = rng.permutation(np.repeat(np.arange(space.size), space.counts))
        self.blocks = np.unique(geometry.blocks, return_inverse=True)[1].reshape(-1)
        self.question: IntArray = oracle.questions(space).group
        self.is_asked: BoolArray = np.zeros(int(self.question.max()) + 1, bool)
        order = np.argsort(self.blocks, kind="stable")
        ends = np.cumsum(np.bincount(self.blocks))
        self.members = np.split(order, ends[:-1])
        self.losses: FloatArray = np.full(space.size, np.nan)
        queries = settings.queries
        self.repeats = count_repeats(oracle.access.box, queries.repeats, queries.limit)

    def ask(self) -> tuple[SampleSpace, StoppedLaw, str]:
        """Query until there is a verdict, or no question or nobody is left."""
        from fairtransport.inference.sequential import StoppedLaw, build_verdict_bets

        settings, limits = self.settings, self.oracle.known_loss().range
        assert settings.delta is not None and limits is not None  # noqa: S101, PT018
        most_gain = limits[1] - limits[0]
        evidence = build_verdict_bets(settings.delta, settings.alpha, most_gain)
        people_count, gains, why = 0, np.empty(0), "everybody"
        while people_count < len(self.people):
            # the number of people before the next look depends on their number, never on their
            # answers
            ready = self._count_ready(people_count, max(1, int(GROWTH * people_count)))
            if ready == 0:
                why = "budget"
                break
            new = self._measure_gains(self.people[people_count : people_count + ready])
            # in the random order drawn beforehand, record by record: Ville's inequality covers
            # every stop
            evidence.take(new)
            gains, people_count = np.r_[gains, new], people_count + ready
            rejected, certified = evidence.crossed
            if rejected or certified:
                why = "rejected" if rejected else "certified"
                break
        if people_count == 0:
            min_questions = len(np.unique(self.question[self.members[self.blocks[self.people[0]]]]))
            msg = (
                f"{param('queries.limit')} must be enough for the {min_questions} queries about "
                f"one person, beside {self.repeats} repeated ones, got {settings.queries.limit}"
            )
            raise InputError(msg)
        law = StoppedLaw(
            "anytime", float(gains.mean()), people_count, (STOPPED_NOTE,), gains, most_gain
        )
        return self._take_part(self.people[:people_count]), law, why

    def _count_ready(self, start: int, count: int) -> int:
        """Return how many of the next people the questions left suffice for; reserve these."""
        limit = self.settings.queries.limit
        many = 0
        for person in self.people[start : start + count].tolist():
            questions = np.unique(self.question[self.members[self.blocks[person]]])
            new = questions[~self.is_asked[questions]]
            # a person counts only with all twins, so a part of them would waste questions
            if limit is not None and int(self.is_asked.sum()) + len(new) > limit - self.repeats:
                break
            self.is_asked[new] = True
            many += 1
        return many

    def _measure_gains(self, people: IntArray) -> FloatArray:
        """Return people's gains when swapped with the twin whom the model treats worst."""
        points = np.concatenate([self.members[block] for block in np.unique(self.blocks[people])])
        # twins are shared: a block that was queried needs no further questions
        new = np.sort(points[np.isnan(self.losses[points])])
        if len(new):
            self.losses[new] = self.oracle.answer(self.space.take(new)).losses
        worst = {block: self.losses[self.members[block]].max() for block in self.blocks[people]}
        return np.array([worst[self.blocks[person]] - self.losses[person] for person in people])

    def _take_part(self, people: IntArray) -> SampleSpace:
        """Return the points of the people queried and of their twins."""
        counts = np.bincount(people, minlength=self.space.size)
        points = np.flatnonzero(~np.isnan(self.losses))
        return self.space.take(points, counts)


DRAWS_NOTE = (
    "The model answers at random, so the statistic and its bound are about mean losses. The worst "
    "copy is chosen on some draws and measured on others, so that chance is not counted. The bound "
    "is about {about}. The tables of swaps use the means of all draws, which include chance, and "
    "the most frequent answer as the prediction. Nothing can be certified from draws."
)
UNIT_NOTE = " Differences of two losses are cut off at {unit:g}."


def answer_in_draws(
    oracle: Oracle, space: SampleSpace, draws: int
) -> tuple[AnsweredPoints, FloatArray]:
    """Return the answers with their mean losses, and (K, draws) the loss in each draw."""
    answers = []
    for draw in range(draws):
        with with_draw(draw, draws):
            answers.append(oracle.answer(space, draw))
    losses = np.column_stack([one.losses for one in answers])
    together = replace(
        answers[0], losses=losses.mean(axis=1),
        predictions=_combine_predictions([one.predictions for one in answers]),
    )  # fmt: skip
    return together, losses


def law_of_draws(
    settings: AuditSettings, space: SampleSpace, oracle: Oracle, geometry: Geometry,
    losses: FloatArray, limits: tuple[float, float],
) -> RandomAnswersLaw:  # fmt: skip
    """Return the law of ψ of mean losses from the people and the draws."""
    from fairtransport.inference.rates.random_answers import LossDraws, random_answers_law

    width, queries = limits[1] - limits[0], settings.queries
    blocks = np.unique(geometry.blocks, return_inverse=True)[1].reshape(-1)
    draws = LossDraws(
        (losses - limits[0]) / width, space.counts, blocks, _place_in_blocks(blocks),
        _find_clusters(blocks, oracle.questions(space).group), space.groups(label_columns(space)),
        space.open_codes,
    )  # fmt: skip
    if (groups := space.sensitive_groups).size and _has_one_each(blocks, groups):
        draws = draws._replace(groups=groups)
    note = DRAWS_NOTE.format(about=ABOUT_WORDS[queries.about])
    if queries.unit is not None:
        note += UNIT_NOTE.format(unit=queries.unit)
    return random_answers_law(
        draws, alpha=settings.alpha, seed=settings.seed, width=width, unit=queries.unit,
        about=queries.about, notes=(note,),
    )  # fmt: skip


def _has_one_each(blocks: IntArray, groups: IntArray) -> bool:
    """Return whether a block has at most one point of each group."""
    return len(np.unique(np.column_stack([blocks, groups]), axis=0)) == len(blocks)


def _place_in_blocks(blocks: IntArray) -> IntArray:
    """Return the index of each point in its block."""
    order = np.argsort(blocks, kind="stable")
    sizes = np.bincount(blocks)
    places = np.empty(len(blocks), np.int64)
    places[order] = np.concatenate([np.arange(size) for size in sizes])
    return places


def _find_clusters(blocks: IntArray, questions: IntArray) -> IntArray:
    """Return sets of points whose draws can depend on each other.

    Points with the same question share its draws, and blocks are bet on as a whole.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    size = int(blocks.max()) + 1 + int(questions.max()) + 1
    links = coo_array(
        (np.ones(len(blocks)), (blocks, int(blocks.max()) + 1 + questions)), shape=(size, size)
    )
    components = connected_components(links, directed=False)[1][blocks]
    return np.unique(components, return_inverse=True)[1].reshape(-1).astype(np.int64)


def _combine_predictions(predictions: list[Any]) -> Values:
    """Return the mean of numbers, or the first of the most frequent labels."""
    if all(one.dtype.kind == "f" for one in predictions):
        return np.asarray(np.mean(predictions, axis=0))
    votes = zip(*(one.tolist() for one in predictions), strict=True)
    return object_array([Counter(one).most_common(1)[0][0] for one in votes])
