"""Whether an audit could find anything: what makes its verdict empty, and what to do instead."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fairtransport.audit.rates import why_untestable
from fairtransport.geometry.reach import are_all_alike
from fairtransport.similarity.base import is_numeric, label_columns
from fairtransport.similarity.scales import typical_scales

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairtransport.audit.concluded import Concluded
    from fairtransport.audit.core import Core
    from fairtransport.space import SampleSpace

FEW = 0.05
"""If no larger share of people has a comparable person of another group, there is hardly anything
to see; a rejection stands all the same."""
LITTLE = 0.01
"""If no larger share of the features' variance is left, a learned distance tells nobody apart."""
FIRST_BUDGET = 0.05
"""The budget of the audit that is proposed for proxies: .22 standard deviations."""

FIT_SHARE = 0.3
"""The share of people on whom that audit's similarity is fitted, if there are no other data."""
MADE_UP = (
    "audit with twins that are made up along what tells the sensitive features, as below (in "
    f"Python or as flags; {100 * FIT_SHARE:g} % of the people are set aside at random to learn "
    "what tells them: name other people's data in `fit` if you have any)."
)
STATED = (
    "audit with a distance between people, stated as below (in Python or as flags; scales are "
    "standard deviations)"
)


@dataclass(frozen=True)
class Obstacle:
    """Why an audit says nothing, what to do instead, and settings for that to paste.

    Attributes
    ----------
    reason
        A sentence that the report prints in place of a verdict.
    instead
        What would find something.
    ready
        Settings of such an audit, in Python and as flags; empty where none can be told.
    """

    reason: str
    instead: str
    ready: tuple[str, ...] = ()


def find_obstacle(core: Concluded) -> Obstacle | None:
    """Return the first thing that makes an audit's verdict empty; None if nothing does.

    Parameters
    ----------
    core
        The audit.

    Notes
    -----
    All but the last hold whatever the sample says of ψ. The last, that hardly anybody has anyone
    to be compared with, does not take back a rejection, which so few can be enough for.
    """
    for find in (_blind, _one_place, _equal_losses, _noisy, _random, _lonely):
        if (found := find(core)) is not None:
            return found
    return None


def _blind(core: Core) -> Obstacle | None:
    """Return the obstacle of a model that cannot tell twins apart, as it receives nothing of it.

    Parameters
    ----------
    core
        The audit. An obstacle only where twins are made up by changing sensitive features alone:
        under another similarity people differ in what the model does receive.
    """
    space = core.space
    if not space.has_twins or not core.similarity.moves_only_to_twins:
        return None
    reason = why_zero(space.sensitive, space.features)
    if reason is None:
        return None
    return Obstacle(
        reason,
        f"Bias can still come through other columns: {MADE_UP}",
        made_up_settings(space),
    )


def why_zero(sensitive: Sequence[str], features: Sequence[str]) -> str | None:
    """Return why swaps between twins change nothing; None where they can.

    Parameters
    ----------
    sensitive, features
        The columns in which twins differ, and those that the model receives.
    """
    if set(sensitive) & set(features):
        return None
    return (
        f"The model receives no sensitive feature ({', '.join(sensitive)}), and people who differ "
        "only in these count as equal: the statistic is 0 by construction."
    )


def _one_place(core: Core) -> Obstacle | None:
    """Return the obstacle of a similarity under which everybody is similar to everybody.

    Parameters
    ----------
    core
        The audit. A learned similarity says how much of the features' variance it kept; at most
        ``LITTLE`` of it, distances are rounding errors of one place.
    """
    if core.similarity.moves_only_to_twins:
        return None
    space = core.space
    measure = getattr(core.similarity, "kept_variance", None)
    kept = 1.0 if measure is None else float(measure(space))
    alike = are_all_alike(core.problem.geometry, space.groups(label_columns(space)))
    if alike or (space.made_up is not None and kept == 0):
        reason = (
            "The similarity puts all people of one label at distance 0: anybody may be swapped "
            "with anybody for nothing, so that the statistic says nothing of similar people."
        )
    elif kept <= LITTLE:
        reason = (
            f"The similarity took out all but {100 * kept:.2g} % of the features' variance: nearly "
            "everybody counts as similar to everybody, so that the statistic says nothing of "
            "similar people."
        )
    else:
        return None
    # what was learned left nothing to tell them apart by
    learned = "" if measure is not None else " or learned by 'sensitive-subspace'"
    instead = f"Take a similarity that tells people apart: {STATED}{learned}."
    return Obstacle(reason, instead, proxy_settings(space))


def _equal_losses(core: Core) -> Obstacle | None:
    """Return the obstacle of losses that are all equal, once everybody was asked about.

    Parameters
    ----------
    core
        The audit. Where the asking stopped before everybody was asked about there is no obstacle:
        the losses are equal among those asked about alone.
    """
    losses = core.problem.losses
    # of those who were not asked about nothing is known
    if np.ptp(losses) > 0 or core.asked.stopped not in {None, "everybody"}:
        return None
    return Obstacle(
        f"Every loss is {losses[0]:g}, whoever is asked about: no swap can change anything.",
        "Audit what differs between people: scores instead of labels (the losses 'log' or "
        "'brier'), or the decisions themselves (the loss 'outcome').",
    )


def _random(core: Core) -> Obstacle | None:
    """Return the obstacle of a model that gave other answers when it was asked again.

    Parameters
    ----------
    core
        The audit, with what came of asking some questions a second time.

    Notes
    -----
    A maximum over twins of noisy losses is above the largest mean: without any bias at all ψ would
    be positive, and a rejection of δ-fairness would accuse chance.
    """
    if not core.asked.answers_at_random:
        return None
    repeats = core.asked.repeats
    return Obstacle(
        f"{repeats.differed} of {repeats.asked} questions that were asked a second time got "
        "another answer: the model answers at random or has changed, and the worst of several "
        "twins is then the one with the worst luck, whoever they are.",
        "Ask for several answers to each question with `draws`, so that noise is not counted as "
        "bias; or hold the model's version, seed and temperature fixed.",
    )


def _noisy(core: Core) -> Obstacle | None:
    """Return the obstacle of answers that differ inside a profile where there are no rates.

    Parameters
    ----------
    core
        The audit of given predictions. With ``disagreement`` "bias" the user has said that such
        noise counts; where rates can be tested, they are, and nothing is in the way.
    """
    if core.settings.disagreement == "bias" or not core.answers_differ:
        return None
    reason = why_untestable(core)
    if reason is None:
        return None
    return Obstacle(
        "People with one and the same profile got different answers: the system knows more than "
        "the audited columns, or answers at random, and the statistic counts that as bias. Rates, "
        "which do not, compare the people of the audit with those alike in all columns but the "
        f"sensitive ones; {reason}.",
        f"{_to_rates(core)}, or give a `model` to ask. Only if different answers for one profile "
        'are to count as bias, set `disagreement` to "bias".',
    )


def _to_rates(core: Core) -> str:
    """Return what lets rates be compared.

    Parameters
    ----------
    core
        An audit of given predictions, which lacks a range of losses or compares others than twins.
    """
    if core.loss.range is None:
        return "Give the least and the largest loss there can be as `loss_range`"
    there = "" if core.space.targets is None else " and without `targets`"
    numbers = [
        name for name in core.space.profile
        if name not in core.space.sensitive and is_numeric(core.space.columns[name].levels)
    ]  # fmt: skip
    cut = f", with `bins` for numbers ({', '.join(numbers)})" if numbers else ""
    return f"Audit with the similarity 'ignore-sensitive'{there}{cut}"


def _lonely(core: Concluded) -> Obstacle | None:
    """Return the obstacle of people who have hardly anyone to be compared with.

    Parameters
    ----------
    core
        The audit. A rejection stands however few were compared: their harm is enough for it.
    """
    space, share = core.space, core.comparable_share
    if share > FEW or core.tested == "rejected":
        return None
    if space.made_up is not None:
        return _without_twins(core)
    people = round(share * space.n)
    who = f"Only {people} of {space.n} people have" if people else "Nobody has"
    freely = "" if core.problem.budget > 0 else ", to whom a move is free"
    reason = (
        f"{who} anyone to be compared with, that is someone comparable with another "
        f"{' or '.join(space.sensitive)}{freely}."
    )
    return Obstacle(reason, _more_company(core))


def _without_twins(core: Core) -> Obstacle:
    """Say that hardly anybody has a made-up twin, and which setting gives them one.

    Parameters
    ----------
    core
        An audit with made-up twins.
    """
    people = round(core.comparable_share * core.space.n)
    who = f"Only {people} of {core.space.n} people have" if people else "Nobody has"
    made = core.made
    if core.problem.budget == 0 and made is not None and made.costly:
        why = (
            ": where whole numbers, levels or gaps tell something, nobody else is at distance 0, "
            "and the budget is 0"
        )
        instead = "Take a `budget` above 0, which allows for that."
    else:
        why = ": those that were proposed are nobody new or not plausible"
        instead = (
            "Let less plausible twins count (`plausibility` of `twins`), or compare with people "
            'of the audit data (`twins="observed"`).'
        )
    return Obstacle(f"{who} a made-up twin to be compared with{why}.", instead)


def _more_company(core: Core) -> str:
    """Return how more people get someone to be compared with.

    Parameters
    ----------
    core
        An audit in which hardly anybody has.
    """
    space = core.space
    if not core.similarity.moves_only_to_twins:
        return "Take a `budget` above 0, or a similarity that lets sensitive features change."
    exact = getattr(core.similarity, "exact", ())
    matched = [name for name in space.profile if name not in space.sensitive or name in exact]
    telling = [
        name for name in matched
        if _accompanied(space, [one for one in matched if one != name]) > FEW * space.n
    ]  # fmt: skip
    apart = f"Without {' or '.join(telling)} more would. " if telling else ""
    numbers = [name for name in matched if is_numeric(space.columns[name].levels)]
    cut = f", cut numbers ({', '.join(numbers)}) with `bins`" if numbers else ""
    ask = "" if space.has_twins else ", or give a `model` to ask: then everybody has twins"
    return f"{apart}Name in `features` what should be the same{cut}{ask}."


def _accompanied(space: SampleSpace, matched: Sequence[str]) -> int:
    """Return how many people have someone who differs from them in sensitive features alone.

    Parameters
    ----------
    space
        The audit's points; only people in the data count.
    matched
        Columns that have to agree, beside the label.
    """
    seen = space.observed
    block = space.groups((*matched, *label_columns(space)))[seen]
    kinds = np.unique(np.column_stack([block, space.sensitive_groups[seen]]), axis=0)
    return int(space.counts[seen][np.bincount(kinds[:, 0])[block] > 1].sum())


def made_up_settings(space: SampleSpace) -> tuple[str, str]:
    """Return settings of an audit that makes up twins, in Python and as flags.

    Parameters
    ----------
    space
        The audit's points, whose sensitive features are named.
    """
    like = f"ft.similarity.SensitiveSubspace({[*space.sensitive]!r}, fit_share={FIT_SHARE})"
    flags = f"--similarity sensitive-subspace --similarity-settings.fit {FIT_SHARE}"
    return f"similarity={like}, budget={FIRST_BUDGET}", f"{flags} --budget {FIRST_BUDGET}"


def proxy_settings(space: SampleSpace) -> tuple[str, str]:
    """Return settings of an audit in which other columns may change, in Python and as flags.

    Parameters
    ----------
    space
        The audit's points; scales are their standard deviations.
    """
    columns = [name for name in space.profile if name not in space.sensitive]
    scales = typical_scales(space, columns)
    mismatch = {name: 1.0 for name in columns if name not in scales}
    given = {name: rule for name, rule in (("scales", scales), ("mismatch", mismatch)) if rule}
    python = ", ".join(f"{name}={rule!r}" for name, rule in given.items())
    flags = " ".join(
        shlex.quote(f"--similarity-settings.{name}.{column}={value:g}")
        for name, rule in given.items()
        for column, value in rule.items()
    )
    return (
        f"similarity=ft.similarity.MixedTabular({python}), budget={FIRST_BUDGET}",
        f"--similarity mixed-tabular {flags} --budget {FIRST_BUDGET}",
    )
