"""Pytest plugin: an audit as an assertion, with its results in the JUnit file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    from fairtransport.audits import AuditResult
    from fairtransport.data.sources import ColumnLike, TableLike


@pytest.fixture
def assert_delta_fair(request: pytest.FixtureRequest) -> Callable[..., AuditResult]:
    """Call `fairtransport.testing.assert_delta_fair` and record the results.

    A test requests the fixture and calls it, as in ``assert_delta_fair(model, people, "good",
    delta=0.03, sensitive_features="sex")``.

    Verdict, statistic, bounds and settings become test properties in the file of ``pytest
    --junitxml``, whether the test passes or fails.
    """
    # pytest loads this plugin in every suite of an environment, so heavy imports wait for use
    from fairtransport.audits import audit
    from fairtransport.report.exports import list_properties
    from fairtransport.testing import assert_verdict, check_gate

    def assert_and_record(
        model: object,
        X: TableLike,  # noqa: N803
        y: ColumnLike | None = None,
        *,
        delta: float | None = None,
        fail_on: str = "rejected",
        **settings: Any,
    ) -> AuditResult:
        __tracebackhide__ = True
        check_gate(delta, fail_on)
        result = audit(X, y, model=model, delta=delta, **settings)
        # as record_property, which warns under the default junit_family, xunit2
        request.node.user_properties.extend(list_properties(result.headline))
        assert_verdict(result, fail_on)
        return result

    # Python's TypeErrors name the function by it
    assert_and_record.__qualname__ = "assert_delta_fair"
    return assert_and_record
