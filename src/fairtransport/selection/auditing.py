"""The audit that every candidate of a search gets, its settings fixed once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtransport.access import Estimator
from fairtransport.audit import audit
from fairtransport.checks import choice, number, shown
from fairtransport.errors import InputError
from fairtransport.inference import METHODS
from fairtransport.losses import as_loss
from fairtransport.selection.rows import audit_frame, column_names, frame_library, named_levels
from fairtransport.similarity import as_similarity

if TYPE_CHECKING:
    from fairtransport.audit import AuditResult
    from fairtransport.selection.rows import Rows

OPTIONS = ("loss_range", "missing", "pos_label", "targets")
"""What `audit_options` may hold; the rest of an audit has a parameter of its own."""


@dataclass(frozen=True, eq=False)
class AuditSettings:
    """Everything an audit is told except the model and the people."""

    sensitive_features: Any
    delta: float | None = None
    alpha: float = 0.05
    method: str = "finite-sample"
    similarity: Any = "ignore-sensitive"
    loss: Any = "zero-one"
    budget: float = 0.0
    levels: Any = None
    n_resamples: int = 2000
    seed: int = 0
    options: Mapping[str, Any] = field(default_factory=dict)

    def check(self) -> None:
        """Refuse what no audit can use, before a candidate is fitted."""
        if self.delta is not None:
            number("delta", self.delta, at_least=0)
        number("alpha", self.alpha, above=0, below=1)
        number("budget", self.budget, at_least=0)
        choice("method", self.method, METHODS)
        as_similarity(self.similarity)
        if not isinstance(self.options, Mapping) or not set(self.options) <= set(OPTIONS):
            words = ", ".join(OPTIONS)
            msg = f"`audit_options` may only have the keys {words}, got {shown(self.options)}"
            raise InputError(msg)
        as_loss(self.loss, self.options.get("loss_range"))

    def audit(self, model: Any, people: Rows) -> AuditResult:
        """Audit a fitted estimator with some people."""
        frame = audit_frame(people.X)
        known = people.names
        return audit(
            frame,
            people.y,
            model=Estimator(model, frame_library(frame)),
            sensitive_features=column_names("sensitive_features", self.sensitive_features, known),
            levels=named_levels(self.levels, known),
            similarity=self.similarity,
            loss=self.loss,
            budget=self.budget,
            delta=self.delta,
            alpha=self.alpha,
            method=self.method,
            n_resamples=self.n_resamples,
            rng=self.seed,
            **self.options,
        )


def recorded_seed(random_state: Any) -> int:
    """Return one seed for everything that is drawn: the number given, or one drawn from it."""
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
