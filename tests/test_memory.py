"""Amounts of memory are understood, parts fit into them, and what cannot fit is refused."""

import duckdb
import numpy as np
import pytest

import fairtransport as ft
from fairtransport import AuditProblem, Embedding, Geometry
from fairtransport.errors import InputError
from fairtransport.memory import (
    entries_at_a_time,
    expect,
    for_duckdb,
    in_words,
    memory_size,
    resident,
    working_within,
)
from fairtransport.transport import frontiers


@pytest.mark.parametrize(
    ("written", "size"),
    [("2GB", 2 * 10**9), ("500 MB", 5 * 10**8), ("1.5gib", 3 * 2**29), (".5g", 5 * 10**8),
     ("123", 123), ("7k", 7000), (10**9, 10**9)],
)  # fmt: skip
def test_amounts_are_read(written, size):
    assert memory_size("memory", written) == size


@pytest.mark.parametrize("written", ["", "much", "2 parsecs", "-1GB", "0GB", 0, -5, True, 2.5, "B"])
def test_other_amounts_are_refused(written):
    with pytest.raises(InputError, match=r'`memory` must be an amount of memory such as "2GB"'):
        memory_size("memory", written)


def test_amounts_in_words_are_read_again():
    for amount in (1e6, 4.56e8, 1e9, 1.23e9, 7.77e10):
        assert memory_size("memory", in_words(amount, up=True)) >= amount
        assert memory_size("memory", in_words(amount)) == pytest.approx(amount, rel=0.05)


def test_blocks_are_cut_to_fit():
    assert entries_at_a_time(1000, 8) == 1000
    with working_within(16 * 800):
        assert entries_at_a_time(1000, 8) == 100
        assert entries_at_a_time(10, 8) == 10
    assert entries_at_a_time(1000, 8) == 1000


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
    with working_within(16 * 24 * 300 * 20):
        parts = AuditProblem(losses, costs, budget=0.1, forbidden=forbidden)
        assert parts.value(f) == value
    assert max(sizes[1:]) == 20


def test_duckdb_is_told_of_the_limit():
    assert for_duckdb() == {}
    with (
        working_within(2 * 10**9),
        duckdb.connect(config=for_duckdb()) as connection,
    ):
        told = connection.execute("SELECT current_setting('memory_limit')").fetchone()[0]
    assert told == "953.6 MiB"  # 10⁹ bytes


def test_work_that_cannot_fit_is_refused():
    expect(1e18, "anything")  # without a limit
    with working_within(resident() + 10**9):
        expect(10**7, "little")
        with pytest.raises(InputError, match=r"`memory` must be at least .* GB for much, got"):
            expect(10**10, "much")


def test_frontiers_that_cannot_fit_are_refused_before_they_are_built(monkeypatch):
    rng = np.random.default_rng(1)
    geometry = Geometry(np.zeros(2000), Embedding(rng.normal(size=(2000, 2))))
    problem = AuditProblem(rng.random(2000), geometry, budget=0.1)
    from fairtransport.transport import embedded

    monkeypatch.setattr(embedded, "CORNER_SIZE", 10**9)
    with (
        working_within(resident() + 10**9),
        pytest.raises(InputError, match=r"frontiers of about \d+ corners .* \(`time_limit`\)"),
    ):
        problem.value(np.full(2000, 1 / 2000))


@pytest.mark.parametrize("memory", [10**30, "10TB"])
def test_more_than_any_machine_has_is_no_limit(memory, tmp_path):
    path = tmp_path / "cases.csv"
    path.write_text("g,x,y,p\n" + "m,1,0,1\nf,2,1,1\n" * 30)
    found = ft.audit(path, "y", y_pred="p", sensitive_features="g", rng=0, memory=memory)

    assert found.n == 60


def test_an_amount_is_said_as_it_was_given(tmp_path):
    path = tmp_path / "cases.csv"
    path.write_text("g,x,y,p\n" + "m,1,0,1\nf,2,1,1\n" * 30)
    with pytest.raises(ft.InputError, match=r"got 10 B$"):
        ft.audit(path, "y", y_pred="p", sensitive_features="g", rng=0, memory="10")
