"""The core of an audit: what was asked and worked out, and the figures that are read off it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

from fairtransport.audit.asked import Asked
from fairtransport.errors import InputError
from fairtransport.geometry import Geometry
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
