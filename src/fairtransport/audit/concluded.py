"""What is concluded from the core of an audit: how sure it is, and what the verdict is."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from fairtransport.audit.applicability import Obstacle, find_obstacle
from fairtransport.audit.attributable import Attributable, find_attributable
from fairtransport.audit.core import Core
from fairtransport.audit.rates import Rates, find_rates, is_bounded_by_rates, rate_bound_law
from fairtransport.errors import InputError
from fairtransport.inference import Interval, Pilot, SamplingLaw, sampling_law
from fairtransport.inference.planning.outlook import Outlook, find_outlook
from fairtransport.inference.verdict import Verdict, reach_verdict

COMPARED = ("finite-sample", "limit-law", "m-out-of-n")
"""The methods that a result shows side by side."""
OF_THE_STATISTIC = (
    'The plan is for bounds of the statistic, with `disagreement` set to "bias"; those of rates, '
    "which an audit of given predictions has otherwise, need more cases."
)


@dataclass(frozen=True, eq=False)
class Concluded(Core):
    """A core, and what its sample says about the population that it was drawn from."""

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
