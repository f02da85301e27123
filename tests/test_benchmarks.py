"""The benchmarks run as a whole, at sizes so small that nothing of it is a measurement."""

import json
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PARTS = {
    "starting": ("commands", "bare_python"),
    "lp": ("ours", "peers", "compile_seconds"),
    "nearest": ("pot",),
    "frontiers": ("embedding", "sparse"),
    "growth": ("growths",),
    "spreading": ("sizes",),
    "afterwards": ("audits", "exponents"),
    "counting": ("files", "verdicts"),
    "million": ("audits",),
    "monitor": ("in_batches", "one_by_one"),
    "questions": ("model", "seconds", "ratio"),
}


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    lacking = [name for name in ("cvxpy", "highspy", "ortools", "ot") if find_spec(name) is None]
    if lacking:
        pytest.fail(f"this test needs the extra `bench`, of which {', '.join(lacking)} is lacking")
    folder = tmp_path_factory.mktemp("results")
    done = subprocess.run(
        [sys.executable, str(ROOT / "benchmarks" / "run.py"), "--quick", "--into", str(folder)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return {path.stem: json.loads(path.read_text("utf-8")) for path in folder.iterdir()}


@pytest.mark.slow
def test_every_part_is_measured(results):
    assert set(PARTS) <= set(results)
    for part, names in PARTS.items():
        assert set(names) <= set(results[part]), part


@pytest.mark.slow
def test_every_peer_finds_our_values(results):
    peers = results["lp"]["peers"]
    assert {row["peer"] for row in peers} == {
        "NumPy, the dual in ten lines", "scipy linprog (HiGHS)", "highspy, warm start",
        "OR-tools GLOP", "OR-tools PDLP", "cvxpy + Clarabel",
    }  # fmt: skip
    assert all(row["largest_difference"] <= row["tolerance"] for row in peers)
    assert all(row["difference"] <= 1e-9 for row in results["nearest"]["pot"])
