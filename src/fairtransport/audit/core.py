"""The core of an audit: what was asked and worked out, and the figures that follow from it."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from fairtransport.audit.applicability import Obstacle, find_obstacle
from fairtransport.audit.asked import Asked
from fairtransport.audit.attributable import Attributable, find_attributable
from fairtransport.audit.rates import (
    Rates,
    find_rates,
    is_bounded_by_rates,
    rate_bound_law,
)
from fairtransport.errors import InputError
from fairtransport.geometry import Geometry
from fairtransport.inference import Interval, Pilot, SamplingLaw, sampling_law
from fairtransport.inference.planning.outlook import Outlook, find_outlook
from fairtransport.inference.verdict import Verdict, reach_verdict
from fairtransport.localise import Moved, find_moved, random_swap_risk
from fairtransport.similarity.checking import comparable_share
from fairtransport.transport import AuditProblem, BudgetCurve, Solution
from fairtransport.transport.bracket import Bracket, BracketedProblem

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Self

    import numpy as np
    from scipy.sparse import csr_array

    from fairtransport.access.oracle import AnsweredPoints
    from fairtransport.audit.making_up import MakingUp
    from fairtransport.localise.telling import Proxies
    from fairtransport.losses import Loss
    from fairtransport.settings import AuditSettings
    from fairtransport.similarity import Similarity
    from fairtransport.space import SampleSpace

COMPARED = ("finite-sample", "limit-law", "m-out-of-n")
"""The methods that a result shows side by side."""
OF_THE_STATISTIC = (
    'The plan is for bounds of the statistic, with `disagreement` set to "bias"; those of rates, '
    "which an audit of given predictions has otherwise, need more cases."
)


@dataclass(frozen=True, eq=False)
class Core:
    """What an audit was asked and worked out; every figure follows from it.

    Attributes
    ----------
    settings
        What was asked, but for tables of people, which are in the space.
    space, answers, similarity, solution
        What was audited, what the model said at every point, who is comparable, and the
        solution of the transport problem.
    model
        The model's name.
    target_scope
        "twins": mass moves to a person's twins, all of them asked about: people who differ in
        sensitive features alone, or who were made up; "reference": to the points of a
        reference frame; "observed": to points of the audit sample, so that the value may miss
        people who are not in it.
    warnings
        What a reader of the numbers should know.
    settings_taken
        The flags whose values came from a settings file, for the provenance.
    asked
        How the model was asked, beyond once about everybody.
    made
        How twins were made up; None where nobody was.
    proxies_found
        Which columns tell the sensitive features, once that was asked; documents then say it.
    """

    settings: AuditSettings
    space: SampleSpace
    answers: AnsweredPoints
    similarity: Similarity
    solution: Solution
    model: str
    target_scope: str
    warnings: tuple[str, ...] = ()
    settings_taken: tuple[str, ...] = ()
    asked: Asked = field(default_factory=Asked)
    made: MakingUp | None = None
    proxies_found: list[Proxies] = field(default_factory=list)

    @property
    def delta(self) -> float | None:
        """The threshold of δ-fairness, if there is one.

        Returns
        -------
        float | None

        Examples
        --------
        None would make an audit without a verdict.

        >>> result.delta
        0.05
        """
        return self.settings.delta

    @property
    def alpha(self) -> float:
        """The level of bounds and tests.

        Returns
        -------
        float

        Examples
        --------
        Bounds are at level 95 %, and a test rejects what is true in at most 5 % of all samples.

        >>> result.alpha
        0.05
        """
        return self.settings.alpha

    @property
    def method(self) -> str:
        """How the bounds are made.

        Returns
        -------
        str

        Examples
        --------
        >>> result.method
        'finite-sample'
        """
        return self.settings.method

    @property
    def n_resamples(self) -> int:
        """The number of draws of the resampling methods.

        Returns
        -------
        int

        Examples
        --------
        >>> result.n_resamples
        2000
        """
        return self.settings.n_resamples

    @property
    def seed(self) -> int:
        """The seed of everything random.

        Returns
        -------
        int

        Examples
        --------
        >>> result.seed
        0
        """
        return self.settings.seed

    @property
    def favourable(self) -> object:
        """The label that is good to receive, for group metrics.

        Returns
        -------
        object

        Examples
        --------
        >>> named = ft.audit(people, "good", model=hires, sensitive_features="sex", favourable=1,
        ...                  privileged={"sex": "m"}, rng=0)
        >>> named.favourable
        1
        """
        return self.settings.favourable

    @property
    def privileged(self) -> Mapping[str, object]:
        """By sensitive feature, the group that others are compared with, for group metrics.

        Returns
        -------
        Mapping[str, object]

        Examples
        --------
        >>> named = ft.audit(people, "good", model=hires, sensitive_features="sex", favourable=1,
        ...                  privileged={"sex": "m"}, rng=0)
        >>> named.privileged
        {'sex': 'm'}
        """
        return self.settings.privileged or {}

    @property
    def loss(self) -> Loss:
        """The loss, with its range as far as it is known without the data.

        Returns
        -------
        Loss

        Examples
        --------
        >>> result.loss.name, result.loss.range
        ('zero-one', (0.0, 1.0))
        """
        return self.answers.loss

    @property
    def queried(self) -> int:
        """How many distinct questions the model was asked; 0 with predictions only.

        Returns
        -------
        int

        Examples
        --------
        Four grades of two sexes, each asked about once.

        >>> result.queried
        8
        """
        return self.answers.queried

    @property
    def problem(self) -> AuditProblem:
        """The transport problem behind the result.

        Returns
        -------
        AuditProblem

        Examples
        --------
        >>> result.problem
        AuditProblem(8 points, budget=0)
        >>> result.problem.losses.tolist()
        [0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0]
        """
        return self.solution.problem

    @property
    def statistic(self) -> float:
        """The FaiTH statistic ψ(f_n): how much worse the model does when people are swapped.

        Of random answers it is that of mean losses, chosen and measured on different draws.

        Returns
        -------
        float

        Examples
        --------
        An eighth of the people are men of grade 3, whom the model would reject as women.

        >>> result.statistic
        0.125
        """
        law = self.asked.law
        return self.solution.value if law is None or self.asked.draws is None else law.estimate

    @property
    def bracket(self) -> Bracket | None:
        """The lower and upper value between which the statistic lies; None where it is exact.

        `statistic` is the lower one, which the plan gains.

        Returns
        -------
        Bracket | None

        Examples
        --------
        >>> print(result.bracket)
        None
        """
        return self.problem.bracket if isinstance(self.problem, BracketedProblem) else None

    def refuse_bracket(self, name: str) -> None:
        """Refuse what needs the exact statistic, where it is a bracket.

        Parameters
        ----------
        name
            What was asked for.

        Raises
        ------
        InputError
            If the statistic is a bracket.

        Examples
        --------
        This statistic is exact, so that nothing is refused.

        >>> result.refuse_bracket("budget_curve")
        """
        if self.bracket is not None:
            msg = (
                f"`{name}` needs the exact statistic, got a bracket: audit without `time_limit` "
                "and `search_rounds`"
            )
            raise InputError(msg)

    @property
    def baseline_risk(self) -> float:
        """The mean loss on the audit data.

        Returns
        -------
        float

        Examples
        --------
        >>> result.baseline_risk
        0.125
        """
        return float(self.space.frequencies @ self.problem.losses)

    @property
    def worst_case_risk(self) -> float:
        """The mean loss after people were swapped with similar ones.

        Returns
        -------
        float

        Examples
        --------
        >>> result.worst_case_risk == result.baseline_risk + result.statistic
        True
        >>> result.worst_case_risk
        0.25
        """
        return self.baseline_risk + self.statistic

    @property
    def n(self) -> int:
        """The number of people in the audit data.

        Returns
        -------
        int

        Examples
        --------
        >>> result.n
        400
        """
        return self.space.n

    @property
    def points(self) -> int:
        """The number of distinct points, K, those that only are targets included.

        Returns
        -------
        int

        Examples
        --------
        >>> result.points
        8
        """
        return self.space.size

    @property
    def price(self) -> float:
        """What a little more budget would add to the statistic, per unit of budget.

        Returns
        -------
        float

        Examples
        --------
        Twins are compared for free, so that more budget would buy nothing.

        >>> result.price
        0.0
        """
        return self.solution.price

    @property
    def plan(self) -> csr_array[np.float64]:
        """The optimal plan: the share of people moved from each point (row) to each target.

        Returns
        -------
        csr_array

        Examples
        --------
        Each row holds the share of people at a point, wherever they are moved.

        >>> result.plan.shape, result.plan.sum(axis=1).round(3).tolist()[:2]
        ((8, 8), [0.125, 0.125])
        """
        return self.solution.plan

    @cached_property
    def budget_curve(self) -> BudgetCurve:
        """The statistic at every budget; it is refused where the statistic is a bracket.

        Returns
        -------
        BudgetCurve

        Raises
        ------
        InputError
            If the statistic is a bracket.

        Examples
        --------
        >>> near = ft.audit(people, "good", model=hires, sensitive_features="sex", rng=0,
        ...                 similarity=ft.similarity.MixedTabular(scales={"grade": 1}))
        >>> curve = near.budget_curve
        >>> curve.budgets.round(3).tolist(), curve.values.round(3).tolist()
        ([0.0, 0.25], [0.125, 0.375])
        """
        self.refuse_bracket("budget_curve")
        return self.problem.budget_curve(self.space.frequencies)

    def at_budget(self, budget: float) -> Self:
        """Return the whole result at another budget, from the same frontiers.

        Parameters
        ----------
        budget
            ε >= 0, the transport budget.

        Returns
        -------
        AuditResult
            As if the audit had been made with this budget.

        Raises
        ------
        InputError
            If the budget is negative or no finite number.

        Examples
        --------
        >>> near = ft.audit(people, "good", model=hires, sensitive_features="sex", rng=0,
        ...                 similarity=ft.similarity.MixedTabular(scales={"grade": 1}))
        >>> [round(near.at_budget(budget).statistic, 3) for budget in (0, 0.1, 0.5)]
        [0.125, 0.225, 0.375]
        """
        self.refuse_bracket("at_budget")
        problem = self.problem.with_budget(budget)
        settings = replace(self.settings, budget=problem.budget)
        return replace(self, settings=settings, solution=problem.solve(self.space.frequencies))

    @cached_property
    def disagreement(self) -> float:
        """The part of the statistic that is different predictions for one and the same profile.

        Only given predictions can disagree so; it is 0 with query access.

        Returns
        -------
        float

        Examples
        --------
        A model that is asked gives one answer for one profile.

        >>> result.disagreement
        0.0
        """
        if not self.space.predictions:
            return 0.0
        label = () if self.space.label is None else (self.space.label,)
        blocks = self.space.groups((*self.space.profile, *label))
        same_profile = Geometry(blocks, targets=self.problem.geometry.targets)
        return AuditProblem(self.problem.losses, same_profile).value(self.space.frequencies)

    @property
    def answers_differ(self) -> bool:
        """Whether people of one profile and label got answers of different losses.

        Returns
        -------
        bool

        Examples
        --------
        A system that knows more than the grade may say yes to some people of a profile.

        >>> given = people.assign(answer=[0, 1] * 100 + [1, 0] * 100)
        >>> ft.audit(given, "good", y_pred="answer", sensitive_features="sex", rng=0).answers_differ
        True
        """
        return self.disagreement > 0

    @cached_property
    def rates(self) -> Rates | None:
        """R, which the verdict is about where given answers differ inside a profile; else None.

        Returns
        -------
        Rates | None

        Examples
        --------
        Grade 3 of women got both answers: what the system knows beyond the grade is no bias.

        >>> answers = [0, 0, 0, 0, 0, 1, 1, 1] * 30 + [0, 0, 0, 0, 1, 1, 1, 1] * 20
        >>> given = ft.audit(people.assign(answer=answers), "good", y_pred="answer",
        ...                  sensitive_features="sex", delta=0.02, rng=0)
        >>> given.rates.groups, round(given.rates.value, 3), round(given.rates.lower_bound, 3)
        (('sex',), 0.075, 0.044)
        """
        return find_rates(self)

    @cached_property
    def moved(self) -> Moved:
        """Who the optimal plan moves, as arrays over the points.

        Returns
        -------
        Moved

        Examples
        --------
        >>> result.moved.people.tolist()
        [50.0]
        """
        return find_moved(self.solution, self.n)

    @cached_property
    def law(self) -> SamplingLaw:
        """What the sample says about the population's value, by the chosen method.

        Of given predictions it is what the sample says about R, which lies below the value,
        unless `disagreement` is "bias".

        Returns
        -------
        SamplingLaw

        Examples
        --------
        Bounds at another level come from the same law.

        >>> round(result.law.lower_bound(0.01), 3)
        0.089
        """
        if self.asked.law is not None:
            return self.asked.law
        return rate_bound_law(self) if is_bounded_by_rates(self) else self._law(self.method)

    @cached_property
    def interval(self) -> Interval:
        """The two-sided confidence interval at level 1 − α.

        Returns
        -------
        Interval

        Examples
        --------
        >>> lower, upper = result.interval
        >>> round(lower, 3), round(upper, 3)
        (0.094, 0.161)
        """
        return self.law.interval(self.alpha)

    @cached_property
    def lower_bound(self) -> float:
        """The one-sided lower confidence bound at level 1 − α.

        Returns
        -------
        float

        Examples
        --------
        >>> round(result.lower_bound, 3)
        0.099
        """
        return self.law.lower_bound(self.alpha)

    @cached_property
    def upper_bound(self) -> float:
        """The one-sided upper confidence bound at level 1 − α; infinite if there is none.

        Returns
        -------
        float

        Examples
        --------
        >>> round(result.upper_bound, 3)
        0.156
        """
        return self.law.upper_bound(self.alpha)

    @cached_property
    def pvalue(self) -> float | None:
        """The p-value of δ-fairness, H0: ψ <= δ, or R <= δ where there is R; None without δ.

        Returns
        -------
        float | None

        Examples
        --------
        >>> result.pvalue < 0.001
        True
        """
        return None if self.delta is None else self.law.pvalue(self.delta)

    @cached_property
    def certificate_pvalue(self) -> float | None:
        """The p-value of ψ >= δ, against which a certificate speaks; None without δ.

        Returns
        -------
        float | None

        Examples
        --------
        Nothing speaks for a statistic of at most 0.05.

        >>> round(result.certificate_pvalue, 3)
        1.0
        """
        return None if self.delta is None else self.law.pvalue(self.delta, "less")

    @cached_property
    def evalue(self) -> float | None:
        """Evidence against δ-fairness that may be multiplied; None without δ or a guarantee.

        Returns
        -------
        float | None

        Examples
        --------
        Evidence of 20 and more rejects at level 5 %.

        >>> result.evalue > 20
        True
        """
        return None if self.delta is None else self.law.evalue(self.delta)

    @cached_property
    def verdict(self) -> Verdict | None:
        """What the tests at δ say (rejected, certified, inconclusive); None without δ.

        It is "not-applicable" where the audit could find nothing, or finds it by construction.

        Returns
        -------
        Verdict | None

        Examples
        --------
        >>> result.verdict
        'rejected'
        """
        return self.tested if self._obstacle is None else "not-applicable"

    @property
    def applicability(self) -> str | None:
        """Why the audit cannot find anything, in a sentence; None if it can.

        Returns
        -------
        str | None

        Examples
        --------
        A model without the sensitive feature cannot treat twins differently.

        >>> blind = ft.audit(people, "good", model=lambda asked: (asked["grade"] > 2).astype(int),
        ...                  features=["grade"], sensitive_features="sex", delta=0.05, rng=0)
        >>> blind.verdict
        'not-applicable'
        >>> print(blind.applicability)
        The model receives no sensitive feature (sex), and people who differ only in these count as
        equal: the statistic is 0 by construction.
        """
        return None if self._obstacle is None else self._obstacle.reason

    @property
    def instead(self) -> str | None:
        """What to do instead of an audit that cannot find anything; None if it can.

        Returns
        -------
        str | None

        Examples
        --------
        >>> blind = ft.audit(people, "good", model=lambda asked: (asked["grade"] > 2).astype(int),
        ...                  features=["grade"], sensitive_features="sex", delta=0.05, rng=0)
        >>> print(blind.instead)
        Bias can still come through other columns: audit with twins that are made up along what
        tells the sensitive features, as below (in Python or as flags; 30 % of the people are set
        aside at random to learn what tells them: name other people's data in `fit` if you have
        any).
        """
        return None if self._obstacle is None else self._obstacle.instead

    @property
    def ready(self) -> tuple[str, ...]:
        """Settings of another audit to paste, in Python and as flags, where there is a reason.

        Returns
        -------
        tuple[str, ...]

        Examples
        --------
        >>> blind = ft.audit(people, "good", model=lambda asked: (asked["grade"] > 2).astype(int),
        ...                  features=["grade"], sensitive_features="sex", delta=0.05, rng=0)
        >>> blind.ready
        ("similarity=ft.similarity.SensitiveSubspace(['sex'], fit_share=0.3), budget=0.05",
        '--similarity sensitive-subspace --similarity-settings.fit 0.3 --budget 0.05')
        """
        return () if self._obstacle is None else self._obstacle.ready

    @cached_property
    def _obstacle(self) -> Obstacle | None:
        """Why the audit could find nothing; None if it can."""
        return find_obstacle(self)

    @cached_property
    def outlook(self) -> Outlook | None:
        """About how many cases would settle an inconclusive verdict; None where it is another.

        A plan is about the statistic of an audit that asks once about everybody: None elsewhere.

        Returns
        -------
        Outlook | None

        Examples
        --------
        Near δ this sample is too small, and a few times as many people would do.

        >>> close = ft.audit(people, "good", model=hires, sensitive_features="sex", delta=0.11,
        ...                  rng=0)
        >>> close.verdict, close.outlook.goal, close.outlook.cases
        ('inconclusive', 'reject', 3000)
        """
        planned = self.asked.once_about_everybody and not is_bounded_by_rates(self)
        planned = planned and self.bracket is None
        if self.verdict != "inconclusive" or self.delta is None or not planned:
            return None
        return find_outlook(self.as_pilot(), self.price, self.n, self.law, self.delta, self.alpha)

    @cached_property
    def comparable_share(self) -> float:
        """The share of people who have somebody comparable with another sensitive value.

        Returns
        -------
        float

        Examples
        --------
        >>> result.comparable_share
        1.0
        """
        return comparable_share(self.space, self.problem.geometry, self.problem.budget)

    @cached_property
    def attributable(self) -> Attributable:
        """The part of the statistic that needs sensitive features to change.

        Returns
        -------
        Attributable

        Examples
        --------
        Twins differ in nothing but sex, so that all of the statistic needs it to change.

        >>> result.attributable.value, result.attributable.verdict
        (0.125, 'rejected')
        """
        found = find_attributable(self)
        return found if self._obstacle is None else replace(found, verdict="not-applicable")

    @cached_property
    def held_problems(self) -> dict[frozenset[str], AuditProblem]:
        """The problem with sensitive features held fixed, by these, as far as it was needed.

        Returns
        -------
        dict[frozenset[str], AuditProblem]

        Examples
        --------
        >>> part = result.attributable
        >>> list(result.held_problems) == [frozenset({"sex"})]
        True
        """
        return {}

    @property
    def judged(self) -> Verdict | None:
        """The verdict that `judge` asks for: on the statistic, or on the attributable part.

        All of R needs sensitive features to change: where the verdict is about R, it is the one.

        Returns
        -------
        Verdict | None

        Examples
        --------
        It is the attributable part that is judged with ``judge="attributable"``.

        >>> result.judged
        'rejected'
        """
        if self.settings.judge == "statistic" or self.rates is not None:
            return self.verdict
        return self.attributable.verdict

    @cached_property
    def random_swap_risk(self) -> float | None:
        """The mean loss when people are swapped with a random comparable person, their twin.

        None where people are compared with others than twins.

        Returns
        -------
        float | None

        Examples
        --------
        The worst case would be 25 % of errors; swapped at random, people fare no worse.

        >>> result.random_swap_risk
        0.125
        """
        return random_swap_risk(self.space, self.problem.geometry, self.problem.losses)

    @cached_property
    def tested(self) -> Verdict | None:
        """What the tests at δ say, applicable or not; None without δ.

        Returns
        -------
        Verdict | None

        Examples
        --------
        >>> result.tested
        'rejected'
        """
        if self.delta is None:
            return None
        return reach_verdict(
            rejected=self.law.rejects(self.delta, self.alpha),
            certified=self.law.certifies(self.delta, self.alpha),
        )

    @property
    def guarantee(self) -> str:
        """What the bounds promise: "finite-sample" or "asymptotic".

        Returns
        -------
        str

        Examples
        --------
        >>> result.guarantee
        'finite-sample'
        """
        return self.law.guarantee

    @cached_property
    def compared_laws(self) -> tuple[SamplingLaw, ...]:
        """The laws of the methods that can be compared; some need a loss with a known range.

        Returns
        -------
        tuple[SamplingLaw, ...]

        Examples
        --------
        >>> [law.method for law in result.compared_laws]
        ['finite-sample', 'limit-law', 'm-out-of-n']
        """
        if self.asked.law is not None:  # others hold neither at a stopping time nor for draws
            return (self.asked.law,)
        if self.bracket is not None:  # others need the exact statistic
            return () if is_bounded_by_rates(self) else (self.law,)
        able = [name for name in COMPARED if name != "finite-sample" or self.loss.range is not None]
        laws = (self.law if name == self.law.method else self._law(name) for name in able)
        # a law of few draws has no bounds at a small level
        return tuple(law for law in laws if law.smallest_level <= self.alpha / 2)

    @property
    def fixed_targets(self) -> bool:
        """Whether mass may arrive at points that do not depend on the sample.

        A reference frame that is a part of the audit data, or mostly made of them, does, and so do
        twins that were made up by a similarity that was fitted on the audit data.

        Returns
        -------
        bool

        Examples
        --------
        >>> result.fixed_targets
        True
        """
        if self.space.made_up is not None:
            return not self.space.made_up.from_the_sample
        reference = self.space.reference
        if self.target_scope == "reference" and reference is not None:
            return not reference.is_from_the_sample
        return self.target_scope != "observed"

    @property
    def targets_are_fixed(self) -> bool:
        """Whether each point's target depends neither on the sample nor on the budget.

        Returns
        -------
        bool

        Examples
        --------
        >>> result.targets_are_fixed
        True
        """
        return self.fixed_targets and self.problem.budget == 0 and self.asked.once_about_everybody

    def as_pilot(self) -> Pilot:
        """Return what `sample_size` has to know to plan an audit like this one.

        An audit takes points from its sample, each with its twins where the model is asked;
        twins have the levels of the sample unless these were declared.

        Returns
        -------
        Pilot
            What ``sample_size(pilot=...)`` takes.

        Raises
        ------
        InputError
            If the audit asked otherwise than once about everybody, or its verdict is about rates.

        Examples
        --------
        >>> plan = ft.inference.sample_size(pilot=result.as_pilot(), delta=0.05, rng=0)
        >>> plan.goal, 0 < plan.n < result.n
        ('reject', True)
        """
        if not self.asked.once_about_everybody:
            msg = "`pilot` must be an audit that asked once about everybody, got another"
            raise InputError(msg)
        self.refuse_bracket("pilot")
        if is_bounded_by_rates(self) and self.answers_differ:
            msg = (
                "`pilot` must be an audit whose verdict is about the statistic, got one of answers "
                "that differ inside profiles, which is about rates; set its `disagreement` to "
                "'bias' if such differences are to count as bias"
            )
            raise InputError(msg)
        space = self.space
        # else all points that matter will be there, whoever is sampled
        varies = space.made_up is None and (
            not self.fixed_targets or (self.target_scope == "twins" and bool(space.open_levels))
        )
        asked = varies and space.has_twins
        return Pilot(
            self.problem, space.frequencies, **self._known_beforehand,
            families=space.families if varies else None,
            open_levels=space.codes(space.open_levels) if asked else None,
            delta=self.delta, alpha=self.alpha, method=self.method, n_resamples=self.n_resamples,
            notes=(OF_THE_STATISTIC,) if is_bounded_by_rates(self) else (),
        )  # fmt: skip

    def _law(self, method: str) -> SamplingLaw:
        """Return what the sample says by some method.

        Parameters
        ----------
        method
            Its name.

        Raises
        ------
        InputError
            If the method needs limits of the loss and there are none; an example is given.
        """
        if method == "finite-sample" and self.loss.range is None:
            low, high = float(self.problem.losses.min()), float(self.problem.losses.max())
            msg = (
                f"`loss_range` must be given for the loss {self.loss.name!r} with the method "
                "'finite-sample': limits that no loss can pass, known without these data, such as "
                f"0, {_round_above(high):g} (the losses here are from {low:.4g} to {high:.4g}); or "
                "take method='limit-law', which is asymptotic, got None"
            )
            raise InputError(msg)
        return sampling_law(
            self.problem,
            self.space.counts,
            method=method,
            n_resamples=self.n_resamples,
            rng=self.seed,
            alpha=self.alpha,
            delta=self.delta,
            **self._known_beforehand,
        )

    @property
    def _known_beforehand(self) -> dict[str, Any]:
        """What a law is told besides the sample."""
        return {
            "loss_range": self.loss.range,
            "binary_losses": self.loss.binary,
            "most_gain": self.most_gain,
            "fixed_targets": self.fixed_targets,
        }

    @property
    def most_gain(self) -> float | None:
        """The largest gain there can be, as far as a reference frame tells it.

        Its points were all asked about and do not depend on the sample: nobody can be moved to
        a larger loss than the largest there, from less than the least that the loss allows.

        Returns
        -------
        float | None

        Examples
        --------
        There is no reference frame here: a gain may be as large as the loss's range.

        >>> print(result.most_gain)
        None
        """
        targets = self.problem.geometry.targets
        if targets is None or self.loss.range is None or not self.fixed_targets:
            return None
        return max(float(self.problem.losses[targets].max()) - self.loss.range[0], 0.0)


def _round_above(number: float) -> float:
    """Return a round number that is no smaller, for an example.

    Parameters
    ----------
    number
        The largest loss of a sample.

    Examples
    --------
    >>> _round_above(37.2), _round_above(0.4)
    (40.0, 0.4)
    """
    if number <= 0:
        return 1.0
    step = 10.0 ** math.floor(math.log10(number))
    return math.ceil(number / step - 1e-9) * step
