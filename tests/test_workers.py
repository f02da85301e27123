"""Row blocks and resamples through joblib's backends: the same bits as in this process."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import joblib
import numpy as np
import pytest

from fairtransport import AuditProblem, Embedding, Geometry
from fairtransport._core.parallel import count_workers
from fairtransport.inference import resampling
from fairtransport.transport import frontiers as embedded
from fairtransport.transport.frontiers import build_frontiers

FIELDS = ("base_target", "base_gain", "row", "target", "cost", "gain", "far_cost", "slope")


def people(size=3_000):
    rng = np.random.default_rng(size)
    return rng.random(size), Geometry(np.zeros(size), Embedding(rng.normal(size=(size, 5))))


def resampled(problem):
    people = 4 * problem.size
    counts = np.random.default_rng(1).multinomial(people, np.ones(problem.size) / problem.size)
    draw = resampling.draw_with_replacement(counts, people)
    return resampling.compute_resampled_values(problem, draw, 40, np.random.default_rng(2), people)


def results(size=3_000):
    """Return frontiers and values of resamples in several blocks, as bytes."""
    losses, geometry = people(size)
    problem = AuditProblem(losses, geometry, budget=0.01)
    bits = [getattr(problem.frontiers, name).tobytes() for name in FIELDS]
    return [*bits, resampled(problem).tobytes()]


@pytest.fixture(autouse=True)
def several_blocks(monkeypatch):
    monkeypatch.setattr(resampling, "BLOCK_ENTRIES", 3_000 * 8)


def test_nothing_is_spread_unless_a_backend_is_active(monkeypatch):
    def refuse(*_):
        raise AssertionError

    monkeypatch.setattr(embedded, "spread", refuse)
    monkeypatch.setattr(resampling, "spread", refuse)
    assert count_workers() == 1
    assert len(results()) == len(FIELDS) + 1
    with joblib.parallel_config(backend="threading", n_jobs=2), pytest.raises(AssertionError):
        build_frontiers(*people())


def test_joblib_threads_give_the_same_bits():
    expected = results()
    with joblib.parallel_config(backend="threading", n_jobs=2):
        assert count_workers() == 2
        assert results() == expected


def test_pairs_looked_at_are_the_same_wherever():
    losses, geometry = people()
    arguments = losses, geometry, geometry.searchable, np.empty((len(losses), 0), np.int64)
    alone = sum(part.pairs for part in embedded.corners_of_embedding(*arguments))
    with joblib.parallel_config(backend="threading", n_jobs=3):
        assert sum(part.pairs for part in embedded.corners_of_embedding(*arguments)) == alone


@pytest.mark.slow
def test_joblib_processes_give_the_same_bits():
    expected = results()
    with joblib.parallel_config(backend="loky", n_jobs=2):
        assert results() == expected


@pytest.mark.slow
def test_two_threads_give_the_same_bits():
    # in a process of its own: this one may have been told to start one thread only
    code = (
        "import numba; from tests.test_workers import results; numba.set_num_threads(1); "
        "expected = results(); numba.set_num_threads(2); assert results() == expected"
    )
    subprocess.run(
        [sys.executable, "-c", code], check=True, cwd=Path(__file__).parents[1],
        env=os.environ | {"NUMBA_NUM_THREADS": "2"},
    )  # fmt: skip


@pytest.fixture
def cluster():
    from distributed import Client, LocalCluster

    with LocalCluster(
        n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address=None
    ) as workers, Client(workers) as client:  # fmt: skip
        yield client


def _end_when_busy(client, pid, address, ended):
    """Kill a worker as soon as it has something to do."""
    while not client.processing().get(address):
        time.sleep(0.005)
    os.kill(pid, signal.SIGKILL)
    ended.set()


@pytest.mark.slow
def test_a_dask_cluster_gives_the_same_bits_with_a_worker_killed_in_the_middle(cluster):
    expected, larger = results(), results(20_000)
    with joblib.parallel_config(backend="dask"):
        assert count_workers() == 2
        assert results() == expected

        address, doomed = next(iter(cluster.run(os.getpid).items()))
        ended = threading.Event()
        killer = threading.Thread(target=_end_when_busy, args=(cluster, doomed, address, ended))
        killer.start()
        found = results(20_000)
        assert ended.is_set()
        killer.join()
        assert doomed not in cluster.run(os.getpid).values()
        assert found == larger
