"""Work that cannot fit into the machine's memory is refused, and large parts are cut."""

import numpy as np
import pytest

from fairtransport import AuditProblem, Embedding, Geometry
from fairtransport._core import parallel
from fairtransport.errors import DataError
from fairtransport.transport import frontiers
from fairtransport.transport import frontiers as nearest


@pytest.mark.parametrize(
    ("amount", "rounded", "up"),
    [(2.04e9, "2.0 GB", "2.1 GB"), (1.5e9, "1.5 GB", "1.5 GB"), (4.564e8, "456 MB", "457 MB"),
     (1e6, "1 MB", "1 MB"), (10, "0 MB", "1 MB")],
)  # fmt: skip
def test_amounts_are_rounded(amount, rounded, up):
    assert parallel.format_bytes(amount) == rounded
    assert parallel.format_bytes(amount, up=True) == up


def test_frontiers_are_the_same_in_small_parts(monkeypatch):
    rng = np.random.default_rng(0)
    place, losses = rng.normal(size=(300, 2)), rng.random(300)
    sizes = []
    kernel = frontiers._corners_of_piece
    monkeypatch.setattr(
        frontiers, "_corners_of_piece", lambda *said: sizes.append(len(said[3])) or kernel(*said)
    )
    costs = np.square(place[:, None] - place[None]).sum(axis=2)
    # a matrix alone is read where it stands
    forbidden = np.zeros((300, 300), bool)
    forbidden[0, 1] = True
    whole = AuditProblem(losses, costs, budget=0.1, forbidden=forbidden)
    f = np.full(300, 1 / 300)
    value = whole.value(f)
    assert sizes == [300]
    monkeypatch.setattr(frontiers, "CHUNK_ENTRIES", 300 * 20)
    parts = AuditProblem(losses, costs, budget=0.1, forbidden=forbidden)
    assert parts.value(f) == value
    assert max(sizes[1:]) == 20


def test_a_machine_has_the_memory_that_a_container_allows(monkeypatch, tmp_path):
    monkeypatch.setattr(parallel, "CONTAINER_LIMITS", ())
    physical = parallel.machine_memory()
    assert physical is None or physical > parallel.resident()
    files = [tmp_path / "memory.max", tmp_path / "absent", tmp_path / "limit_in_bytes"]
    monkeypatch.setattr(parallel, "CONTAINER_LIMITS", files)
    files[0].write_text("max\n")
    assert parallel.machine_memory() == physical
    files[2].write_text("5000000\n")
    assert parallel.machine_memory() == 5_000_000
    monkeypatch.delattr(parallel.os, "sysconf")
    files[2].unlink()
    assert parallel.machine_memory() is None


def test_work_that_cannot_fit_is_refused(monkeypatch):
    monkeypatch.setattr(parallel, "resident", lambda: 10**9)
    monkeypatch.setattr(parallel, "machine_memory", lambda: 2 * 10**9)
    assert parallel.check_fits(10**7, "few points") == 1_010_000_000
    with pytest.raises(
        DataError,
        match=r"^many points need about 11\.0 GB of memory, and this machine has 2\.0 GB; audit a",
    ):
        parallel.check_fits(10**10, "many points")
    monkeypatch.setattr(parallel, "machine_memory", lambda: None)
    assert parallel.check_fits(1e18, "anything") > 1e18


def test_frontiers_that_cannot_fit_are_refused_before_they_are_built(monkeypatch):
    rng = np.random.default_rng(1)
    geometry = Geometry(np.zeros(2000), Embedding(rng.normal(size=(2000, 2))))
    problem = AuditProblem(rng.random(2000), geometry, budget=0.1)
    monkeypatch.setattr(nearest, "CORNER_BYTES", 10**15)
    with pytest.raises(
        DataError, match=r"^2,000 different rows with about \d+ comparisons each need about "
    ):
        problem.value(np.full(2000, 1 / 2000))
