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
    """Audit a model and raise an `AssertionError` if its verdict fails.

    Parameters
    ----------
    model
        The model, as `audit` takes it; `fairtransport.access.load` reads one from a file.
    X, y
        The audit data and the true labels, as `audit` takes them.
    delta
        Largest tolerated increase in the mean loss (δ). Required: without a limit nothing can fail.
    fail_on
        Which verdicts fail, as for ``--fail-on``. "rejected": the statistic is shown to exceed δ;
        small samples cannot show it, so passing is no evidence of fairness. "not-certified": the
        statistic is not shown to be at most δ with confidence 1 − α. "never": none. With the first
        two, an audit that is not applicable fails too, as it could not have found anything.
    settings
        Further parameters of `audit`; ``sensitive_features`` is required.

    Returns
    -------
    AuditResult
        The audit.

    Raises
    ------
    AssertionError
        If the verdict fails; the message explains it.
    InputError
        If ``delta`` is missing or a setting is invalid.

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
    """Check ``delta`` and ``fail_on`` before the audit, as models may be slow."""
    check_choice("fail_on", fail_on, FAIL_ON)
    if delta is None:
        msg = (
            f"{param('delta')} must be the limit, as in delta=0.03, got None: without a limit "
            "nothing can fail; `fairtransport.audit` takes none"
        )
        raise InputError(msg)


def assert_verdict(result: AuditResult, fail_on: str) -> None:
    """Raise an `AssertionError` for verdicts that fail on the command line."""
    __tracebackhide__ = True
    if exit_code(result.verdict, fail_on):
        raise AssertionError(str(result))
