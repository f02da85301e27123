"""Real servers on loopback, started by tests in environments of their own and ended by their id."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from urllib.request import Request, urlopen

ROOT = Path(__file__).parents[2]
KEY = "sk-the-key-of-the-tiny-llama"


def python_of(kind):
    """Return the Python of an environment that `make servers` makes."""
    return ROOT / f".venv-{kind}" / "bin" / "python"


def missing(kind):
    """Say whether an environment is not there; in CI it has to be."""
    return not (ROOT / f".venv-{kind}" / "installed").exists() and "CI" not in os.environ


def free_port():
    with socket.socket() as opened:
        opened.bind(("127.0.0.1", 0))
        return opened.getsockname()[1]


@contextmanager
def running(command, url, log, seconds=120, **environment):
    """Run a server until the block ends; it is there when something answers at the address."""
    with Path(log).open("wb") as output:
        process = subprocess.Popen(
            [str(word) for word in command], stdout=output, stderr=output, start_new_session=True,
            env={**os.environ, "NO_PROXY": "127.0.0.1", **environment},
        )  # fmt: skip
        try:
            _wait(process, url, log, seconds)
            yield process.pid
        finally:
            # the session that was made for it, workers included
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def _wait(process, url, log, seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if process.poll() is not None:
            break
        try:
            with urlopen(Request(url), timeout=2) as reply:  # noqa: S310
                if reply.status == 200:
                    return
        except OSError:
            time.sleep(0.2)
    msg = f"{url} did not come up: {Path(log).read_text(errors='replace')[-2000:]}"
    raise AssertionError(msg)


def run_in(kind, code, *arguments):
    """Run some Python in an environment, which finds the tests' modules."""
    subprocess.run(
        [str(python_of(kind)), "-c", code, *map(str, arguments)], check=True, cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "ignore"},
    )  # fmt: skip


SAVE_MLFLOW = """
import sys, mlflow
from mlflow.models import infer_signature
from tests.access.models_of_people import FEATURES, fitted, people
model, frame = fitted(), people()[FEATURES]
for kind in ("predict", "predict_proba"):
    mlflow.sklearn.save_model(
        model, f"{sys.argv[1]}/{kind}", serialization_format="skops", pyfunc_predict_fn=kind,
        signature=infer_signature(frame, getattr(model, kind)(frame)),
        pip_requirements=["scikit-learn"])
"""
SAVE_JOBLIB = """
import sys, joblib
from tests.access.models_of_people import fitted
joblib.dump(fitted(), sys.argv[1])
"""


@contextmanager
def mlflow(folder, log):
    """Serve an MLflow folder with MLflow."""
    port = free_port()
    binaries = python_of("mlflow").parent
    command = [binaries / "mlflow", "models", "serve", "-m", folder, "--env-manager", "local",
               "--host", "127.0.0.1", "--port", port]  # fmt: skip
    url = f"http://127.0.0.1:{port}"
    path = f"{binaries}{os.pathsep}{os.environ['PATH']}"
    with running(command, f"{url}/ping", log, PATH=path) as pid:
        yield url, pid


@contextmanager
def mlserver(folder):
    """Serve a pipeline in a joblib file with MLServer, as the model "people"."""
    port = free_port()
    run_in("mlserver", SAVE_JOBLIB, folder / "model.joblib")
    model = {"name": "people", "implementation": "mlserver_sklearn.SKLearnModel",
             "parameters": {"uri": "./model.joblib", "version": "v1"}}  # fmt: skip
    settings = {"host": "127.0.0.1", "http_port": port, "grpc_port": free_port(),
                "metrics_port": free_port(), "parallel_workers": 0}  # fmt: skip
    (folder / "model-settings.json").write_text(json.dumps(model))
    (folder / "settings.json").write_text(json.dumps(settings))
    command = [python_of("mlserver").parent / "mlserver", "start", folder]
    url = f"http://127.0.0.1:{port}"
    with running(command, f"{url}/v2/models/people/ready", folder / "server.log") as pid:
        yield url, pid


@contextmanager
def llama(folder):
    """Serve the tiny language model of the examples with llama.cpp, behind a key."""
    port = free_port()
    command = [sys.executable, ROOT / "examples" / "tiny_llama.py", port, folder]
    url = f"http://127.0.0.1:{port}"
    with running(command, f"{url}/health", folder / "llama.log", TINY_LLAMA_KEY=KEY) as pid:
        yield url, pid
