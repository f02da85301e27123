"""A candidate: fitted on the training part, audited on the validation part."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, Self, TypeAlias

import numpy as np

from fairtransport.checks import calling, number, said, shown
from fairtransport.errors import FairtransportError, InputError
from fairtransport.selection.candidate_audits import audit_candidate

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    import pandas as pd

    from fairtransport.audit import AuditResult
    from fairtransport.checks import BoolArray, FloatArray, Values
    from fairtransport.selection.rows import People, Rows
    from fairtransport.settings import AuditSettings

    Scorer: TypeAlias = Callable[..., float]


class Trainable(Protocol):
    """An estimator of scikit-learn's kind: it can be copied and fitted."""

    def fit(self, X: People, y: Values) -> Self:  # noqa: N803
        """Fit and return itself."""
        ...

    def get_params(self) -> Mapping[str, object]:
        """Return the parameters by name."""
        ...

    def set_params(self, **params: object) -> Self:
        """Change parameters and return itself."""
        ...


@dataclass(frozen=True, eq=False)
class Candidate:
    """What the validation part says of one candidate, and its fit on the training part.

    Attributes
    ----------
    params, model
        Its parameters, and the very fit that was audited.
    validation_error
        The mean loss, or minus the score.
    statistic, lower_bound, upper_bound, pvalue, verdict
        Of its audit; they hold for this candidate alone.
    """

    params: Mapping[str, object]
    model: Trainable
    validation_error: float
    statistic: float
    lower_bound: float
    upper_bound: float
    pvalue: float
    verdict: str


FIGURES = (
    "params", "validation_error", "statistic", "lower_bound", "upper_bound", "pvalue", "verdict",
)  # fmt: skip


def try_candidate(
    estimator: Trainable, params: Mapping[str, object], training: Rows, validation: Rows,
    settings: AuditSettings, scorer: Scorer | None,
) -> Candidate:  # fmt: skip
    """Fit one candidate on the training part and audit it on the validation part.

    Parameters
    ----------
    estimator, params
        What is copied, and what is set on the copy.
    training, validation
        The parts.
    settings
        Of the audit.
    scorer
        None: the error is the mean loss of the audit.

    Raises
    ------
    InputError
        If it cannot be fitted, naming the parameters.
    """
    try:
        model = with_params(estimator, params).fit(training.X, training.y)
    except Exception as reason:
        # scikit-learn promises plain TypeErrors to callers
        is_type = isinstance(reason, TypeError) and not isinstance(reason, ValueError)
        if is_type or isinstance(reason, FairtransportError):
            raise
        msg = f"`estimator` failed with {shown(dict(params))}: {said(reason)}"
        raise InputError(msg) from reason
    result = audit_candidate(settings, model, validation)
    error = mean_loss(result) if scorer is None else -score(scorer, model, validation)
    return Candidate(
        params,
        model,
        error,
        result.statistic,
        result.lower_bound,
        result.upper_bound,
        float("nan") if result.pvalue is None else result.pvalue,
        str(result.verdict),
    )


def check_estimator(estimator: object) -> None:
    """Refuse what cannot be copied and fitted.

    Parameters
    ----------
    estimator
        What the user passed.

    Raises
    ------
    InputError
        If it is a class, or lacks a method.
    """
    methods = ("fit", "get_params", "set_params")
    if isinstance(estimator, type) or not all(hasattr(estimator, name) for name in methods):
        msg = f"`estimator` must be an estimator of scikit-learn's kind, got {shown(estimator)}"
        raise InputError(msg)


@contextmanager
def refusing(name: str, rule: str) -> Iterator[None]:
    """Say in our words that scikit-learn refuses an argument.

    Parameters
    ----------
    name, rule
        The parameter, and what it must be.

    Raises
    ------
    InputError
        With scikit-learn's reason at its end.

    Examples
    --------
    >>> with refusing("scoring", "name a score"):
    ...     raise ValueError("no such score")
    Traceback (most recent call last):
        ...
    fairtransport.errors.InputError: `scoring` must name a score: ValueError: no such score
    """
    try:
        yield
    except (TypeError, ValueError, AttributeError) as error:
        msg = f"`{name}` must {rule}: {said(error)}"
        raise InputError(msg) from error


def with_params(estimator: Trainable, params: Mapping[str, object]) -> Trainable:
    """Return an unfitted copy with the parameters set, they too copied.

    Parameters
    ----------
    estimator
        Left as it is.
    params
        Estimators among them, as steps of a pipeline, are copied: candidates must not share them.
    """
    from sklearn.base import clone

    copies = {name: clone(value, safe=False) for name, value in params.items()}
    copy: Trainable = clone(estimator)
    return copy.set_params(**copies)


def score(scorer: Scorer, model: Trainable, people: Rows) -> float:
    """Return a finite score.

    Parameters
    ----------
    scorer, model, people
        As scikit-learn calls it.

    Raises
    ------
    InputError
        If the scorer fails, or gives no finite number.
    """
    with calling("scoring"):
        value = scorer(model, people.X, people.y)
    return number("scoring", value)


def mean_loss(result: AuditResult) -> float:
    """Return the mean loss, summed so that equal numbers of errors are equal.

    Parameters
    ----------
    result
        The audit of the validation part.
    """
    return float(result.space.counts @ result.problem.losses / result.n)


def column(candidates: Sequence[Candidate], name: str) -> FloatArray:
    """Return one figure of all candidates.

    Parameters
    ----------
    candidates
        In the order of the grid.
    name
        An attribute that is a number.
    """
    return np.array([getattr(candidate, name) for candidate in candidates], dtype=np.float64)


def results_table(
    candidates: Sequence[Candidate], passes: BoolArray, ranks: Sequence[int | None]
) -> pd.DataFrame:
    """Return one row a candidate, in the order of the grid.

    Parameters
    ----------
    candidates
        All that were tried.
    passes, ranks
        Which of them the rule lets pass, and their order.
    """
    import pandas as pd

    columns = {name: [getattr(candidate, name) for candidate in candidates] for name in FIGURES}
    rank = pd.array(list(ranks), dtype="Int64")
    return pd.DataFrame({**columns, "passes": passes, "rank": rank})
