"""An audit as an assertion, for test suites."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairtransport._core.validation import check_choice
from fairtransport.audits import audit
from fairtransport.documents.verdicts import FAIL_ON, exit_code
from fairtransport.errors import InputError, param

if TYPE_CHECKING:
    from fairtransport.audits import AuditResult
    from fairtransport.data.sources import ColumnLike, TableLike

__all__ = ["assert_delta_fair"]


def assert_delta_fair(
    model: object,
    X: TableLike,  # noqa: N803
    y: ColumnLike | None = None,
    *,
    delta: float | None = None,
    fail_on: str = "rejected",
    **settings: Any,
) -> AuditResult:
    """Fail where ``fairtransport audit`` would, by the verdict of an audit.

    Parameters
    ----------
    model
        The model, as `audit` takes it; `fairtransport.access.load` reads one from a file.
    X, y
        The audit data and the true labels, as `audit` takes them.
    delta
        The threshold of δ-fairness. It must be given: without a limit nothing can fail.
    fail_on
        As ``--fail-on`` of the command line. "rejected": the statistic is shown to be more than δ,
        which small samples never show; not finding is not fairness. "not-certified": it is not
        shown to be at most δ with confidence 1 − α. "never": the audit is only made. With the
        first two, an audit that is not applicable fails: it could not have found anything.
    settings
        Everything else that `audit` takes; ``sensitive_features`` it needs.

    Returns
    -------
    AuditResult
        The audit, for further assertions.

    Raises
    ------
    AssertionError
        With the verdict in words.
    InputError
        If ``delta`` is not given, or a setting breaks its rule.

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
    AssertionError: OVER THE LIMIT   at least 3.3 % of people have a correct decision...
    """
    __tracebackhide__ = True
    check_gate(delta, fail_on)
    result = audit(X, y, model=model, delta=delta, **settings)
    assert_verdict(result, fail_on)
    return result


def check_gate(delta: float | None, fail_on: str) -> None:
    """Check the limit and the rule of an assertion before the audit; a model may be slow."""
    check_choice("fail_on", fail_on, FAIL_ON)
    if delta is None:
        msg = (
            f"{param('delta')} must be the limit, as in delta=0.03, got None: without a limit "
            "nothing can fail; `fairtransport.audit` takes none"
        )
        raise InputError(msg)


def assert_verdict(result: AuditResult, fail_on: str) -> None:
    """Fail where a verdict would fail the command line."""
    __tracebackhide__ = True
    if exit_code(result.verdict, fail_on):
        raise AssertionError(str(result))
