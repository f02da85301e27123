"""How the model was asked, beyond once about everybody: what that makes of the bounds."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from fairtransport.access.repeating import Repeats
from fairtransport.access.wrapping import answers_at_random
from fairtransport.checks import shown
from fairtransport.errors import InputError
from fairtransport.inference.finite.clopper_pearson import share_at_most

if TYPE_CHECKING:
    from fairtransport.access.boxes import Access
    from fairtransport.inference import SamplingLaw
    from fairtransport.losses import Loss
    from fairtransport.settings import AuditSettings
    from fairtransport.space import SampleSpace


@dataclass(frozen=True)
class Asked:
    """How the model was asked.

    Attributes
    ----------
    repeats
        The questions that were asked a second time.
    draws
        Answers to each question, where the model answers at random; None: one, for good.
    people
        How many people the audit data have, where the asking stopped when it was sure.
    stopped
        Why it stopped then, a word of `fairtransport.summary.WHY_STOPPED`; None where everybody
        was to be asked about.
    law
        What sample and draws say then; None: what the method of the audit says.
    """

    repeats: Repeats = field(default_factory=Repeats)
    draws: int | None = None
    people: int | None = None
    stopped: str | None = None
    law: SamplingLaw | None = None

    @property
    def once_about_everybody(self) -> bool:
        """Whether bounds are those of the method, and plans can be made from them."""
        return self.law is None

    @property
    def answers_at_random(self) -> bool:
        """Whether a model that was to answer the same twice did not."""
        return self.draws is None and self.repeats.differed > 0

    def differ_at_most(self, alpha: float) -> float | None:
        """Return the exact upper limit of the share of questions that get another answer.

        Parameters
        ----------
        alpha
            The level.

        Returns
        -------
        float or None
            None where nothing was asked again.

        Notes
        -----
        The questions were chosen at random without replacement, each is answered otherwise with
        a probability of its own. Their number has a generating function with real roots, as
        elementary symmetric polynomials of such factors have, and so is a sum of independent
        indicators; by Hoeffding (1956) its lower tail is below that of the binomial with the
        same mean, wherever Clopper and Pearson look at it.
        """
        if self.repeats.asked == 0:
            return None
        return share_at_most(self.repeats.differed, self.repeats.asked, alpha)


def is_random(settings: AuditSettings, access: Access) -> bool:
    """Say whether answers are taken for random: several are asked for, or the model says so.

    Parameters
    ----------
    settings, access
        What is asked, and of whom.
    """
    return settings.draws > 1 or answers_at_random(access.box) is True


def check_asking(settings: AuditSettings, space: SampleSpace, access: Access, loss: Loss) -> None:
    """Refuse, before anything is asked, ways of asking whose bounds are not proved.

    Parameters
    ----------
    settings
        What is asked.
    space
        The audit's points.
    access
        Where answers come from.
    loss
        With its range as far as that is known.

    Raises
    ------
    InputError
        Naming what is needed and what was given.
    """
    random, fixed = is_random(settings, access), answers_at_random(access.box) is False
    if not random and not settings.ask_until_sure:
        return
    name = "`draws`" if settings.draws > 1 else "a model that answers at random"
    if settings.ask_until_sure:
        name = "`ask_until_sure`"
    twins = space.has_twins and settings.chosen_similarity.moves_only_to_twins
    got = shown(settings.chosen_similarity) if space.targets is None else "`targets`"
    rules = (
        (access.box is not None, "a `model` to ask, got predictions"),
        (not (random and settings.ask_until_sure), "a model that does not answer at random"),
        (
            not (random and fixed),
            (
                "a model that answers at random, got one that says it does not, as a prompt with "
                "a `seed` does"
            ),
        ),
        (
            twins and space.targets is None,
            (
                "people who are compared with their like at other sensitive levels alone, as "
                f"under IgnoreSensitive() without `targets`, got {got}"
            ),
        ),
        (settings.budget == 0, f"a `budget` of 0, got {settings.budget:g}"),
        (
            settings.method == "finite-sample",
            f"the `method` 'finite-sample', got {settings.method!r}",
        ),
        (loss.range is not None, f"a `loss_range` for the loss {loss.name!r}, got None"),
    )
    for keeps, needed in rules:
        if not keeps:
            msg = f"{name} needs {needed}"
            raise InputError(msg)
