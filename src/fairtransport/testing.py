"""An audit as an assertion, for test suites."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairtransport.audit import audit
from fairtransport.checks import choice

if TYPE_CHECKING:
    from fairtransport.audit import AuditResult
    from fairtransport.space.reader import ColumnLike, TableLike

__all__ = ["assert_delta_fair"]

REQUIRED = ("certified", "not-rejected")


def assert_delta_fair(
    model: object,
    X: TableLike,  # noqa: N803
    y: ColumnLike | None = None,
    *,
    delta: float,
    require: str = "certified",
    **asked: Any,
) -> AuditResult:
    """Fail unless an audit reaches the verdict that is required.

    Parameters
    ----------
    model
        The model, as `audit` takes it.
    X, y
        The audit data and the true labels, as `audit` takes them.
    delta
        The threshold of δ-fairness.
    require
        "certified": with confidence 1 − α the statistic is at most δ. "not-rejected": it is not
        shown to be more, which small samples never show; not finding is not fairness.
    asked
        Everything else that `audit` takes; ``sensitive_features`` it needs.

    Returns
    -------
    AuditResult
        The audit, for further assertions.

    Raises
    ------
    AssertionError
        With the verdict in words. An audit that is not applicable always fails: it could not
        have found anything.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> from fairtransport.testing import assert_delta_fair
    >>> rng = np.random.default_rng(0)
    >>> people = pd.DataFrame({"sex": ["f", "m"] * 150, "points": rng.integers(0, 9, 300)})
    >>> people["good"] = (people["points"] > 4).astype(int)
    >>> def model(points):
    ...     return (points["points"] > 3 + (points["sex"] == "f")).astype(int)
    >>> assert_delta_fair(model, people, "good", delta=0.02, sensitive_features="sex", rng=0)
    Traceback (most recent call last):
    AssertionError: δ-fairness rejected at level 5 %...
    """
    choice("require", require, REQUIRED)
    result = audit(X, y, model=model, delta=delta, **asked)
    assert_verdict(result, require)
    return result


def assert_verdict(result: AuditResult, require: str) -> None:
    """Fail unless an audit that was made reached the verdict that is required."""
    passes = {"certified"} if require == "certified" else {"certified", "inconclusive"}
    if result.judged not in passes:
        raise AssertionError(str(result))
