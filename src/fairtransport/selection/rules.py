"""Which candidates pass, which of them is chosen, and what is said when there is none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fairtransport.errors import NoCandidateError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairtransport.checks import BoolArray, FloatArray

TIE = 1e-12
"""Errors closer than this are equal: they differ by the order of a sum."""


@dataclass(frozen=True)
class Rule:
    """A bound that must be at most δ for a candidate to pass.

    ``words`` says in plain words which bound that is.

    Attributes
    ----------
    name
        What a user types.
    words
        What an error says.
    """

    name: str
    words: str

    def bounds(self, lower: FloatArray, upper: FloatArray) -> FloatArray:
        """Return the bounds that decide.

        Parameters
        ----------
        lower, upper
            Of all candidates.
        """
        # bounds that contradict each other certify nothing, as in a verdict
        return lower if self.words == "lower bound" else np.maximum(lower, upper)


RULES = {
    rule.name: rule
    for rule in (
        # the paper's: the test of H0: ψ <= δ does not reject
        Rule("not-rejected", "lower bound"),
        # ours: the test of H0: ψ > δ rejects, which a small sample does not get for free
        Rule("certified", "upper bound"),
    )
}


def passing(bounds: FloatArray, delta: float) -> BoolArray:
    """Say which candidates pass: those whose bound is at most δ; NaN never is.

    Parameters
    ----------
    bounds
        Of all candidates.
    delta
        The threshold.

    Examples
    --------
    >>> passing(np.array([0.02, 0.2, np.nan]), 0.05).tolist()
    [True, False, False]
    """
    return np.asarray(bounds <= delta)


def ranks(errors: FloatArray, passes: BoolArray) -> list[int | None]:
    """Rank the passing candidates by error, 1 the chosen one; equal ones by their order.

    Parameters
    ----------
    errors
        Of all candidates; those within ``TIE`` are equal.
    passes
        Which of them pass; the others have no rank.

    Examples
    --------
    >>> ranks(np.array([0.3, 0.1, 0.2, 0.2]), np.array([True, False, True, True]))
    [3, None, 1, 2]
    """
    places: list[int | None] = [None] * len(errors)
    left = [int(at) for at in np.flatnonzero(passes)]
    for rank in range(1, len(left) + 1):
        least = min(errors[at] for at in left)
        first = next(at for at in left if errors[at] <= least + TIE)
        places[first] = rank
        left.remove(first)
    return places


def choose(
    errors: FloatArray, bounds: FloatArray, delta: float, candidates: Sequence[object], words: str,
    results: object = None,
) -> int:  # fmt: skip
    """Return the place of the chosen candidate: the least error among those that pass.

    Parameters
    ----------
    errors, bounds
        The error of each candidate, and the bound that decides whether it passes.
    delta
        The threshold.
    candidates
        What an error message calls them: their parameters.
    words
        What the bound is, in plain words.
    results
        The table that goes with the error if no candidate passes.

    Examples
    --------
    The second and third pass; of these the third errs least.

    >>> errors, bounds = np.array([0.1, 0.3, 0.2]), np.array([0.9, 0.01, 0.02])
    >>> choose(errors, bounds, 0.05, ["a", "b", "c"], "lower bound")
    2
    """
    passes = passing(bounds, delta)
    if not passes.any():
        raise NoCandidateError(_nobody(bounds, delta, candidates, words), results)
    least = errors[passes].min()
    return int(np.flatnonzero(passes & (errors <= least + TIE))[0])


def _nobody(bounds: FloatArray, delta: float, candidates: Sequence[object], words: str) -> str:
    """Return the sentence when no candidate passes, with the one that is nearest to it.

    Parameters
    ----------
    bounds
        By candidate: the bound that is compared with δ; NaN or infinite where there is none.
    delta
        The threshold.
    candidates
        Their settings.
    words
        What the bound is called.

    Examples
    --------
    >>> _nobody(np.array([0.2, 0.08]), 0.05, ["a", "b"], "upper bound").split("; ")[1]
    'the nearest is b, whose upper bound 0.08 is 0.03 above it'
    """
    count = len(candidates)
    start = f"none of the {count} candidates has" if count > 1 else "the only candidate has not"
    start += f" a {words} of at most δ = {delta:g}"
    if not np.isfinite(bounds).any():
        return f"{start}: there is no finite {words} at all"
    nearest = int(np.nanargmin(bounds))
    distance = bounds[nearest] - delta
    return (
        f"{start}; the nearest is {candidates[nearest]}, whose {words} {bounds[nearest]:.4g} "
        f"is {distance:.4g} above it"
    )
