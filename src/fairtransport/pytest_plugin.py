"""The pytest plugin: an audit as an assertion, with what it found in pytest's own JUnit file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    from fairtransport.audits import AuditResult
    from fairtransport.data.sources import ColumnLike, TableLike


@pytest.fixture
def assert_delta_fair(request: pytest.FixtureRequest) -> Callable[..., AuditResult]:
    """Assert as `fairtransport.testing.assert_delta_fair` does, and record what was found.

    A test takes the fixture and calls it, as in ``assert_delta_fair(model, people, "good",
    delta=0.03, sensitive_features="sex")``.

    Verdict, statistic, bounds and settings become properties of the test in the file of
    ``pytest --junitxml``, whether it passes or fails.
    """
    # pytest loads plugins in every suite of an environment: what audits need waits for a test
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
        # what record_property does, which warns under the default junit_family, xunit2
        request.node.user_properties.extend(list_properties(result.headline))
        assert_verdict(result, fail_on)
        return result

    # Python's own errors of a call name the function by it
    assert_and_record.__qualname__ = "assert_delta_fair"
    return assert_and_record
