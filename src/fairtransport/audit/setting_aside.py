"""People set aside at random: what is learned from them is used on the others alone."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from fairtransport.errors import InputError
from fairtransport.similarity.sensitive_subspace import SensitiveSubspace

if TYPE_CHECKING:
    from fairtransport.settings import AuditSettings
    from fairtransport.space import SampleSpace


def set_aside(
    space: SampleSpace, name: str, share: float, rng: np.random.Generator
) -> tuple[SampleSpace, SampleSpace]:
    """Return the people who are set aside, each with the same chance, and the others.

    Parameters
    ----------
    space
        The audit's points.
    name, share
        The setting that asks for it, and the chance of each person.
    rng
        Draws.

    Raises
    ------
    InputError
        If nobody would be left on one side.

    Notes
    -----
    Who is set aside depends on nothing about anybody: given that, and how many there are, the
    others are independent draws from the population as before, whatever is learned from the first.
    """
    first = rng.binomial(space.counts, share)
    parts = [with_counts(space, counts) for counts in (first, space.counts - first)]
    if not all(part.n for part in parts):
        msg = (
            f"`{name}` must leave some people to audit and set some aside, got {share:g} of "
            f"{space.n} people"
        )
        raise InputError(msg)
    return parts[0], parts[1]


def fit_on_some(settings: AuditSettings, space: SampleSpace) -> tuple[AuditSettings, SampleSpace]:
    """Fit a similarity that asks for a share of the people on them, and return the others.

    Parameters
    ----------
    settings, space
        What is asked, and everybody.

    Returns
    -------
    settings, space
        With the fitted similarity and the people who are audited; both as they were where the
        similarity asks for nothing.
    """
    similarity = settings.chosen_similarity
    if not isinstance(similarity, SensitiveSubspace) or similarity.is_fitted:
        return settings, space
    if similarity.fit_share is None:
        return settings, space
    rng = np.random.default_rng([settings.seed, 19])
    aside, rest = set_aside(space, "fit_share", similarity.fit_share, rng)
    people = np.repeat(np.arange(aside.size), aside.counts)
    fitted = copy.copy(similarity).fit(aside.frame(aside.profile, people))
    fitted.set_aside_ = aside.n
    return replace(settings, similarity=fitted), rest


def with_counts(space: SampleSpace, counts: np.ndarray) -> SampleSpace:
    """Return the points of the people counted, and of those who come in with them.

    Parameters
    ----------
    space
        The audit's points.
    counts
        (K,) how many people of each count.
    """
    family = space.families
    kept = np.bincount(family, counts)[family] > 0
    return replace(
        space,
        columns={name: column.take(kept) for name, column in space.columns.items()},
        counts=counts[kept],
        targets=None if space.targets is None else space.targets[kept],
    )
