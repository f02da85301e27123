"""What an audit logs, read back from MLflow's own tracking."""

import json
import sys
from pathlib import Path

import mlflow
import pytest

from fairtransport.errors import FairtransportError


@pytest.fixture(autouse=True)
def store(tmp_path, monkeypatch):
    # files do: a database would need all of MLflow
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    before = mlflow.get_tracking_uri()
    mlflow.set_tracking_uri((tmp_path / "runs").as_uri())
    mlflow.create_experiment("audits", artifact_location=(tmp_path / "files").as_uri())
    mlflow.set_experiment("audits")
    yield
    mlflow.end_run()
    mlflow.set_tracking_uri(before)


def test_a_run_holds_what_the_audit_says(biased):
    run = mlflow.get_run(biased.log_to_mlflow())

    assert run.data.metrics["fairtransport.statistic"] == biased.statistic
    assert run.data.metrics["fairtransport.lower_bound"] == biased.lower_bound
    assert run.data.params["fairtransport.delta"] == str(biased.delta)
    assert run.data.tags["fairtransport.verdict"] == biased.verdict
    folder = Path(mlflow.artifacts.download_artifacts(run_id=run.info.run_id))
    document = json.loads((folder / "fairtransport" / "audit.json").read_text("utf-8"))
    assert document == json.loads(biased.summary.to_json())
    assert "δ-fairness rejected" in (folder / "fairtransport" / "report.html").read_text("utf-8")


def test_it_goes_to_the_active_run_or_to_the_one_that_is_named(biased):
    with mlflow.start_run() as active:
        assert biased.log_to_mlflow() == active.info.run_id
    with mlflow.start_run() as other:
        pass
    assert biased.log_to_mlflow(other.info.run_id, share=5) == other.info.run_id
    shared = mlflow.get_run(other.info.run_id).data.metrics
    assert shared["fairtransport.statistic"] == biased.document(5).statistic


def test_without_mlflow_a_sentence_says_what_to_install(biased, monkeypatch):
    monkeypatch.setitem(sys.modules, "mlflow", None)

    with pytest.raises(FairtransportError, match="needs its package: pip install mlflow-skinny"):
        biased.log_to_mlflow()
