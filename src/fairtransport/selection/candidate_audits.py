"""The audit that every candidate of a search gets, its settings fixed once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias, TypedDict, Unpack, cast

import numpy as np

from fairtransport.access import Estimator
from fairtransport.audit import audit_with
from fairtransport.checks import number, shown
from fairtransport.errors import InputError
from fairtransport.selection.rows import audit_frame, column_names, frame_library, named_levels
from fairtransport.settings import AuditSettings, LossLike, SimilarityLike

if TYPE_CHECKING:
    from fairtransport.audit import AuditResult
    from fairtransport.selection.rows import Rows

Levels: TypeAlias = Mapping[str, Sequence[object]] | Mapping[int, Sequence[object]] | None
"""Declared levels, by the names of columns or their places in an array."""
RandomState: TypeAlias = int | np.random.RandomState | None

Columns: TypeAlias = str | int | Sequence[str] | Sequence[int]
"""Names of columns of a frame, or places in an array."""


class Words(TypedDict, total=False):
    """What a search asks of every audit, as `audit` calls it."""

    sensitive_features: Columns
    delta: float
    alpha: float
    method: str
    similarity: SimilarityLike
    loss: LossLike
    budget: float
    n_resamples: int


OPTIONS = ("loss_range", "missing", "pos_label", "targets")
"""What `audit_options` may hold; the rest of an audit has a parameter of its own."""


def candidate_settings(
    audit_options: object, random_state: object, *, levels: Levels, **settings: Unpack[Words]
) -> AuditSettings:
    """Return the settings of every candidate's audit, or say what no audit can use.

    Parameters
    ----------
    audit_options
        Further arguments of `audit`, of those in ``OPTIONS``.
    random_state
        A seed, a RandomState or None, from which one seed for all is drawn.
    levels
        Declared levels, by name or by place.
    settings
        The search's own parameters, as `audit` calls them.

    Raises
    ------
    InputError
        Before any candidate is fitted.
    """
    options = {} if audit_options is None else audit_options
    if not isinstance(options, Mapping) or not set(options) <= set(OPTIONS):
        words = ", ".join(OPTIONS)
        msg = f"`audit_options` may only have the keys {words}, got {shown(options)}"
        raise InputError(msg)
    # by place until it is known which columns an audit has
    by_name = cast("Mapping[str, Sequence[object]] | None", levels)
    return AuditSettings(**settings, levels=by_name, **options, rng=_recorded_seed(random_state))


def audit_candidate(settings: AuditSettings, model: object, people: Rows) -> AuditResult:
    """Audit a fitted estimator with some people.

    Parameters
    ----------
    settings
        The same for all candidates, so that their bounds can be compared.
    model
        A fitted estimator.
    people
        Who had no part in fitting it.
    """
    frame, known = audit_frame(people.X), people.names
    named = replace(
        settings,
        sensitive_features=column_names("sensitive_features", settings.sensitive_features, known),
        levels=named_levels(settings.levels, known),
    )
    return audit_with(named, frame, people.y, model=Estimator(model, frame_library(frame)))


def _recorded_seed(random_state: object) -> int:
    """Return one seed for everything that is drawn: the number given, or one drawn from it.

    Parameters
    ----------
    random_state
        As scikit-learn takes it.

    Raises
    ------
    InputError
        If it is nothing of this kind.

    Examples
    --------
    >>> _recorded_seed(7)
    7
    """
    from sklearn.utils import check_random_state

    if isinstance(random_state, int | np.integer) and not isinstance(random_state, bool):
        return int(number("random_state", int(random_state), at_least=0))
    if random_state is not None and not isinstance(random_state, np.random.RandomState):
        msg = (
            "`random_state` must be a seed >= 0, a numpy RandomState or None, "
            f"got {shown(random_state)}"
        )
        raise InputError(msg)
    return int(check_random_state(random_state).randint(2**31 - 1))
