"""Compiled loops in several threads and in forked processes, and that none is left unguarded."""

import ast
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import fairtransport

SOURCES = sorted(Path(fairtransport.__file__).parent.rglob("*.py"))

AUDIT = """
import hashlib, json, multiprocessing, sys
from concurrent.futures import ThreadPoolExecutor
import numpy as np
import fairtransport as ft

rng = np.random.default_rng(0)
places, losses = rng.random((300, 2)), rng.random(300)
costs = ((places[:, None] - places) ** 2).sum(2)
shares = rng.dirichlet(np.ones(300), size=4000)

def found(_=None):
    problem = ft.AuditProblem(losses, costs, budget=0.05)
    values = [problem.values(shares) for _ in range(3)]
    law = ft.inference.sampling_law(problem, np.ones(300, int), loss_range=(0, 1), rng=0)
    return hashlib.sha256(np.array([*np.ravel(values), law.lower_bound(0.05)])).hexdigest()
"""
THREADS = """
sys.setswitchinterval(1e-5)  # threads change places in the middle of everything
with ThreadPoolExecutor(4) as pool:
    print(json.dumps([*pool.map(found, range(6)), found()]))
"""
FORKS = """
alone = found()
with multiprocessing.get_context("fork").Pool(2) as pool:
    print(json.dumps([alone, *pool.map(found, range(2)), found()]))
"""
JOBLIB = """
from joblib import Parallel, delayed
print(json.dumps([found(), *Parallel(n_jobs=2, backend={backend!r})([delayed(found)()] * 3)]))
"""


def printed_by(code, layer, threads):
    environment = os.environ | {"NUMBA_THREADING_LAYER": layer, "NUMBA_NUM_THREADS": str(threads)}
    done = subprocess.run(
        [sys.executable, "-c", AUDIT + code], capture_output=True, text=True, check=False,
        env=environment, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def alone():
    (value,) = printed_by("print(json.dumps([found()]))", "workqueue", 1)
    return value


@pytest.mark.versions
@pytest.mark.slow
@pytest.mark.parametrize("layer", ["workqueue", "omp"])
@pytest.mark.parametrize("code", [THREADS, FORKS], ids=["threads", "forked processes"])
def test_audits_at_the_same_time_find_what_one_alone_finds(code, layer, alone):
    assert set(printed_by(code, layer, 2)) == {alone}


@pytest.mark.slow
@pytest.mark.parametrize("layer", ["workqueue", "omp"])
@pytest.mark.parametrize("backend", ["loky", "threading", "multiprocessing"])
def test_jobs_of_joblib_find_what_one_alone_finds(backend, layer, alone):
    assert set(printed_by(JOBLIB.format(backend=backend), layer, 2)) == {alone}


def is_parallel(node):
    """Say whether a function's decorators compile its loops for several threads."""
    return isinstance(node, ast.FunctionDef) and any(
        keyword.arg == "parallel"
        for decorator in node.decorator_list
        if isinstance(decorator, ast.Call)
        for keyword in decorator.keywords
    )


def calls(tree, *, guarded=False):
    """Yield the names of all functions that are called, and whether under ``threads_for``."""
    for node in ast.iter_child_nodes(tree):
        inside = guarded or (
            isinstance(node, ast.With) and ast.unparse(node.items[0]).startswith("threads_for(")
        )
        if isinstance(node, ast.Call):
            yield getattr(node.func, "attr", getattr(node.func, "id", None)), inside
        yield from calls(node, guarded=inside)


@pytest.mark.slow
def test_parallel_loops_are_called_under_their_guard_alone():
    trees = [ast.parse(path.read_text("utf-8")) for path in SOURCES]
    kernels = {node.name for tree in trees for node in ast.walk(tree) if is_parallel(node)}
    called = {call for tree in trees for call in calls(tree) if call[0] in kernels}

    assert {name for name, _ in called} == kernels
    assert not {name for name, guarded in called if not guarded}


def passed_on(tree):
    """Yield functions to which the number of a parallel round is handed as it is."""
    for loop in ast.walk(tree):
        if not isinstance(loop, ast.For) or not isinstance(loop.iter, ast.Call):
            continue
        if getattr(loop.iter.func, "id", None) != "prange":
            continue
        for call in (node for part in loop.body for node in ast.walk(part)):
            handed = call.args if isinstance(call, ast.Call) else []
            if any(isinstance(one, ast.Name) and one.id == loop.target.id for one in handed):
                yield ast.unparse(call.func)


def test_what_parallel_rounds_call_is_compiled_once():
    """Numba numbers them unsigned, and would compile what is called for both kinds of numbers."""
    found = {name for path in SOURCES for name in passed_on(ast.parse(path.read_text("utf-8")))}

    assert found == {"np.int64"}
