"""fairtransport demo: an audit to look at, on data that comes with the package."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from fairtransport.cli.exits import RAN
from fairtransport.cli.outputs import Outputs, check_report_ending, check_target
from fairtransport.cli.values import Seed, Switch

if TYPE_CHECKING:
    from fairtransport.audit import AuditResult


def demo(*, seed: Seed = 0, output: Path = Path("report.html"), quiet: Switch = False) -> int:
    """Audit a logistic regression on the embedded COMPAS counts.

    It is trained on 70 % of 5278 people; the other 30 % are the audit data.

    Parameters
    ----------
    seed
        Which random split to take.
    output
        Where the report goes: a file that ends in .html or .md.
    quiet
        Print nothing but errors.
    """
    from fairtransport.console import print_result, print_written

    check_report_ending("--output", output)
    check_target("--output", output)
    result = _audit_compas(seed)
    written = Outputs(report=output).write(result) if _can_report(result) else []
    if not quiet:
        print_result(result, f"A logistic regression on COMPAS, {result.n} people")
        print_written(written)
    return RAN


def _audit_compas(seed: int) -> AuditResult:
    from fairtransport.audit import audit
    from fairtransport.datasets.compas import DELTA, LABEL, LEVELS, SENSITIVE
    from fairtransport.reproduce.compas_study import logistic_regression, split_compas

    split = split_compas(seed)
    return audit(
        split.audit.drop(columns="high_risk"),
        LABEL,
        model=logistic_regression(split.training),
        sensitive_features=list(SENSITIVE),
        levels=LEVELS,
        delta=DELTA,
        rng=seed,
    )


def _can_report(result: Any) -> bool:
    return hasattr(result, "to_html")
