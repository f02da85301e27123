"""The pytest plugin: an audit as an assertion, with what it found in pytest's own JUnit file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    from fairtransport.audit import AuditResult
    from fairtransport.space.reader import ColumnLike, TableLike

RECORDED = ("verdict", "statistic", "lower_bound", "upper_bound", "delta", "alpha", "n", "seed")
"""What is recorded of an audit, as ``fairtransport.verdict`` and so on."""


@pytest.fixture
def assert_delta_fair(record_property: Callable[[str, object], None]) -> Callable[..., AuditResult]:
    """Assert as `fairtransport.testing.assert_delta_fair` does, and record what was found.

    Verdict, statistic, bounds and settings become properties of the test in the file of
    ``pytest --junitxml``, whether it passes or fails.
    """
    # pytest loads plugins in every suite of an environment: what audits need waits for a test
    from fairtransport.audit import audit
    from fairtransport.checks import choice
    from fairtransport.testing import REQUIRED, assert_verdict

    def assert_and_record(
        model: object,
        X: TableLike,  # noqa: N803
        y: ColumnLike | None = None,
        *,
        delta: float,
        require: str = "certified",
        **asked: Any,
    ) -> AuditResult:
        choice("require", require, REQUIRED)
        result = audit(X, y, model=model, delta=delta, **asked)
        for name in RECORDED:
            record_property(f"fairtransport.{name}", getattr(result, name))
        assert_verdict(result, require)
        return result

    return assert_and_record
