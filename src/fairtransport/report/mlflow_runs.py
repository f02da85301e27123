"""Puts what an audit says into a run of MLflow's tracking."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from fairtransport.errors import FairtransportError
from fairtransport.filesystem import write_text
from fairtransport.report.html import render_html

if TYPE_CHECKING:
    from fairtransport.summary import AuditSummary

FOLDER = "fairtransport"
METRICS = ("statistic", "baseline_risk", "worst_case_risk", "lower_bound", "upper_bound", "pvalue")
SETTINGS = ("delta", "alpha", "budget", "method", "n", "target_scope")


def log_summary(summary: AuditSummary, run_id: str | None) -> str:
    """Log metrics, settings, verdict, report and document; return the run's id.

    Parameters
    ----------
    summary
        What the audit says, whole or to be shared.
    run_id
        The run; None: the active one, or one that is started.

    Raises
    ------
    FairtransportError
        If MLflow is not installed.
    """
    try:
        import mlflow
    except ModuleNotFoundError:
        msg = "logging to MLflow needs its package: pip install mlflow-skinny, or mlflow"
        raise FairtransportError(msg) from None
    client = mlflow.MlflowClient()
    run = run_id or (mlflow.active_run() or mlflow.start_run()).info.run_id
    for name in METRICS:
        value = getattr(summary, name)
        if value is not None:
            client.log_metric(run, f"{FOLDER}.{name}", value)
    for name in SETTINGS:
        client.log_param(run, f"{FOLDER}.{name}", getattr(summary, name))
    client.log_param(run, f"{FOLDER}.loss", summary.provenance.loss)
    client.set_tag(run, f"{FOLDER}.verdict", summary.verdict or "none: no δ was given")
    with TemporaryDirectory() as folder:
        report = write_text(Path(folder, "report.html"), render_html(summary))
        document = write_text(Path(folder, "audit.json"), summary.to_json())
        for file in (report, document):
            client.log_artifact(run, str(file), FOLDER)
    return str(run)
