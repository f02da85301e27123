"""Blocks, costs inside them, forbidden moves and targets."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import coo_array, csr_array, csr_matrix

from fairtransport import AuditProblem, Embedding, Geometry, InputError
from fairtransport.geometry import CostFunction, CostMatrix, WithinTolerance, ZeroCost, as_geometry

INF = np.inf
EVERYONE = np.arange(4)
DENSE = np.array([[0.0, 1, INF, 2], [1, 0, 3, INF], [INF, 0.5, 0, 4], [2, INF, 0, 0]], dtype=float)


def sparse_of(dense):
    """Absent where the dense matrix is infinite, explicit zeros kept."""
    rows, cols = np.nonzero(np.isfinite(dense))
    return csr_array((dense[rows, cols], (rows, cols)), shape=dense.shape)


def all_costs(geometry):
    everyone = np.arange(geometry.size)
    return geometry.costs(everyone, everyone)


def test_moves_between_blocks_are_forbidden_and_free_inside():
    costs = all_costs(Geometry(np.array([0, 1, 0])))

    np.testing.assert_array_equal(costs, [[0, INF, 0], [INF, 0, INF], [0, INF, 0]])


def test_members_list_the_points_of_each_block_in_order():
    members = Geometry(np.array([5, 1, 5, 1])).members

    assert [part.tolist() for part in members] == [[1, 3], [0, 2]]
    assert Geometry(np.array([], int)).members == []


def test_an_embedding_costs_the_squared_euclidean_distance():
    rng = np.random.default_rng(3)
    places = rng.normal(size=(5, 3))
    places[4] = places[0]
    costs = all_costs(Geometry(np.zeros(5), Embedding(places)))
    expected = ((places[:, None] - places[None]) ** 2).sum(axis=2)

    np.testing.assert_allclose(costs, expected, atol=1e-15)
    assert costs[0, 4] == 0


@pytest.mark.parametrize("form", [sparse_of, lambda d: coo_array(sparse_of(d)),
                                  lambda d: csr_matrix(sparse_of(d)), np.array])  # fmt: skip
def test_dense_and_sparse_matrices_mean_the_same(form):
    geometry = as_geometry(form(DENSE), 4)

    np.testing.assert_array_equal(all_costs(geometry), DENSE)
    assert (geometry.cost.sparse_moves is not None) == (form is not np.array)


def test_staying_put_is_free_where_a_sparse_diagonal_is_absent():
    geometry = as_geometry(csr_array(([3.0], ([0], [1])), shape=(2, 2)), 2)

    np.testing.assert_array_equal(all_costs(geometry), [[0, 3], [INF, 0]])


@pytest.mark.parametrize("rows", [[2, 0], [1], []])
@pytest.mark.parametrize("cols", [[3, 1, 2], [0], []])
@pytest.mark.parametrize("form", [sparse_of, np.array])
def test_a_part_of_the_costs_is_that_part_of_all_costs(rows, cols, form):
    geometry = Geometry(np.array([0, 0, 1, 0]), CostMatrix(form(DENSE)))
    rows, cols = np.array(rows, int), np.array(cols, int)

    np.testing.assert_array_equal(
        geometry.costs(rows, cols), all_costs(geometry)[np.ix_(rows, cols)]
    )


def test_a_callable_gives_costs_for_rows_and_columns():
    geometry = as_geometry(lambda rows, cols: abs(rows[:, None] - cols[None, :]), 3)

    np.testing.assert_array_equal(all_costs(geometry), [[0, 1, 2], [1, 0, 1], [2, 1, 0]])


FORBIDDEN = np.array([[0, 1, 0], [0, 0, 0], [1, 0, 0]])


@pytest.mark.parametrize("form", [np.array, csr_array, lambda d: d.astype(bool), np.ndarray.tolist])
def test_forbidden_moves_are_laid_over_the_costs(form):
    geometry = Geometry(np.zeros(3, int), ZeroCost(), form(FORBIDDEN))

    np.testing.assert_array_equal(all_costs(geometry), np.where(FORBIDDEN, INF, 0))
    assert not geometry.is_free


@pytest.mark.parametrize("first", [None, np.array, csr_array])
@pytest.mark.parametrize("second", [np.array, csr_array])
def test_forbidden_moves_of_a_problem_add_to_those_of_its_geometry(first, second):
    own = np.array([[0, 0, 1], [0, 0, 0], [0, 0, 0]])
    targets, profiles = [True, True, True], [[0], [1], [2]]
    geometry = Geometry(
        np.zeros(3), forbidden=None if first is None else first(own), targets=targets,
        profiles=profiles,
    )  # fmt: skip
    both = as_geometry(geometry, 3, second(FORBIDDEN))
    expected = FORBIDDEN if first is None else FORBIDDEN | own

    np.testing.assert_array_equal(all_costs(both), np.where(expected, INF, 0))
    np.testing.assert_array_equal(both.profiles, profiles)
    np.testing.assert_array_equal(both.targets, targets)


def test_an_explicit_zero_in_a_sparse_mask_forbids_nothing():
    mask = csr_array(([0, 1], ([0, 1], [1, 0])), shape=(2, 2))
    costs = all_costs(Geometry(np.zeros(2), forbidden=mask))

    np.testing.assert_array_equal(costs, [[0, 0], [INF, 0]])


@pytest.mark.parametrize("targets", [[False, True, True], [0, 1, 1], np.array([0, 1, 1])])
def test_mass_arrives_at_targets_only_but_may_stay(targets):
    geometry = Geometry(np.zeros(3, int), targets=targets)

    np.testing.assert_array_equal(all_costs(geometry), [[0, 0, 0], [INF, 0, 0], [INF, 0, 0]])
    assert geometry.targets_in(np.array([0, 2])).tolist() == [2]
    assert Geometry(np.zeros(3)).targets_in(np.array([0, 2])).tolist() == [0, 2]


def test_large_block_numbers_are_kept_apart():
    geometry = Geometry(np.array([2**60, 2**60 + 1]))

    assert len(geometry.members) == 2


@given(st.lists(st.integers(0, 2), min_size=1, max_size=6), st.randoms(use_true_random=False))
def test_renaming_blocks_changes_nothing(blocks, random):
    names = random.sample(range(-50, 50), 3)
    renamed = [names[block] for block in blocks]

    np.testing.assert_array_equal(
        all_costs(Geometry(np.array(blocks))), all_costs(Geometry(np.array(renamed)))
    )


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: CostMatrix([[0, -1], [1, 0]]), r"`costs` must be >= 0 .*, got -1"),
        (lambda: CostMatrix([[0, np.nan], [1, 0]]), r"`costs` must be >= 0 .*, got nan"),
        (lambda: CostMatrix([[0, 1], [1, 2.0]]), r"`costs` must be 0 on the diag.* 2 at \[1, 1\]"),
        (lambda: CostMatrix([[0, 1, 2]]), r"`costs` must be square, got shape \(1, 3\)"),
        (lambda: CostMatrix([0, 1]), r"`costs` must have shape \(any, any\), got \(2,\)"),
        (lambda: CostMatrix("near"), "`costs` must be numeric, got 'near'"),
        (lambda: CostMatrix(csr_array([[0, -1.0], [0, 0]])), r"`costs` must be >= 0 .*, got -1"),
        (lambda: CostMatrix(csr_array([[3.0, 0], [0, 0]])), r"0 on the diagonal, got 3 at \[0, 0"),
        (lambda: CostMatrix(csr_array((2, 3))), r"`costs` must be square, got shape \(2, 3\)"),
        (lambda: Embedding([[0.0], [np.inf]]), r"`coordinates` must be finite, got inf at \[1, 0"),
        (lambda: Embedding([0.0]), r"`coordinates` must have shape \(any, any\), got \(1,\)"),
        (lambda: Geometry([0, 0], Embedding([[1.0]])), "`cost` must be over the 2 points .* got 1"),
        (lambda: Geometry([0], CostMatrix(DENSE)), "`cost` must be over the 1 points .* got 4"),
        (lambda: Geometry([0.5, 1]), "`blocks` must be whole numbers, got 0.5"),
        (lambda: Geometry([0, np.nan]), "`blocks` must be whole numbers, got nan"),
        (lambda: Geometry([[0, 1]]), r"`blocks` must have shape \(any\), got \(1, 2\)"),
        (lambda: Geometry([0, 0], targets=[True]), r"`targets` must have shape \(2,\), got \(1,\)"),
        (lambda: Geometry([0, 0], targets=[0, 2]), "`targets` must hold only 0 and 1, got 2"),
        (lambda: Geometry([0, 0], profiles=[[0]]), r"`profiles` must have shape \(2, any\)"),
        (lambda: Geometry([0, 0], forbidden=[[0, 2], [0, 0]]), "`forbidden` .* 0 and 1, got 2"),
        (lambda: Geometry([0, 0], forbidden=[[0]]), r"`forbidden` must have shape \(2, 2\)"),
        (lambda: Geometry([0], forbidden=csr_array((2, 2))), r"`forbidden` .* \(1, 1\), got \(2"),
        (lambda: as_geometry(DENSE, 3), "`costs` must be over the 3 points of `losses`, got 4"),
        (lambda: as_geometry(Geometry([0]), 2), "`costs` must be over the 2 points .* got 1"),
    ],
)  # fmt: skip
def test_a_geometry_that_cannot_be_used_is_refused(make, message):
    with pytest.raises(InputError, match=message):
        make()


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (lambda rows, cols: np.zeros(3), r"`costs\(rows, cols\)` must have shape \(4, 4\)"),
        (lambda rows, cols: np.full((4, 4), -1), r"`costs\(rows, cols\)` must be >= 0 .* got -1"),
    ],
)
def test_a_callable_that_answers_wrongly_is_refused(answer, message):
    with pytest.raises(InputError, match=message):
        Geometry(EVERYONE * 0, CostFunction(answer)).costs(EVERYONE, EVERYONE)


def test_an_integer_mask_of_targets_means_what_a_boolean_one_does():
    losses, f = [0.0, 1.0, 2.0], [1.0, 0.0, 0.0]

    assert AuditProblem(losses, Geometry([0, 0, 0], targets=[1, 1, 0])).value(f) == 1


def test_a_sparse_matrix_that_points_outside_of_itself_is_refused():
    matrix = csr_array(np.array([[0.0, 1.0], [1.0, 0.0]]))
    matrix.indices = np.array([5, 0], matrix.indices.dtype)

    with pytest.raises(InputError, match=r"^`costs` must be a well-formed sparse matrix"):
        AuditProblem([0.0, 1.0], matrix)


def test_parts_of_a_sparse_entry_add_up_and_the_callers_matrix_stays():
    parts = csr_array((np.array([1.0, 0.5]), np.array([1, 1]), np.array([0, 2, 2])))
    geometry = as_geometry(parts, 2)

    np.testing.assert_array_equal(all_costs(geometry), [[0, 1.5], [INF, 0]])
    assert parts.nnz == 2


@pytest.mark.parametrize(
    ("places", "message"),
    [
        ([[0.0], [1e100]], "squared distances of at most 1e.200, got 1e.100"),
        ([[0.0], [1e-110]], "squared distances of at least 1e-200, got numbers that are 1e-110"),
    ],
)
def test_distances_that_cannot_be_computed_with_are_refused(places, message):
    with pytest.raises(InputError, match=f"^`coordinates` must (be equal or )?make {message}"):
        Embedding(places)


@pytest.mark.parametrize("cost", [1e201, 1e-201, 5e-324])
def test_costs_that_cannot_be_computed_with_are_refused(cost):
    with pytest.raises(InputError, match=r"^`costs` must be 0, infinity or between"):
        CostMatrix([[0.0, cost], [1.0, 0.0]])


@pytest.mark.parametrize(
    "cost",
    [
        ZeroCost(),
        Embedding([[0.0], [1.0], [3.0], [3.0]]),
        WithinTolerance([[0.0], [1.0], [3.0], [3.5]], [1.0]),
        CostMatrix(DENSE),
        CostMatrix(sparse_of(DENSE)),
        CostFunction(lambda rows, cols: DENSE[np.ix_(rows, cols)]),
    ],
)
@pytest.mark.parametrize("sparse", [True, False])
def test_some_points_keep_their_costs_blocks_targets_and_forbidden_moves(cost, sparse):
    forbidden = np.zeros((4, 4), bool)
    forbidden[1, 0] = forbidden[2, 3] = True
    whole = Geometry(
        [0, 0, 0, 1], cost, csr_array(forbidden) if sparse else forbidden,
        targets=[True, False, True, True], profiles=[[0, 1], [1, 0], [2, 2], [3, 1]],
    )  # fmt: skip
    for points in ([2, 0, 1], [3], [1, 3]):
        part = whole.at(np.array(points))

        np.testing.assert_array_equal(
            all_costs(part), whole.costs(np.array(points), np.array(points))
        )
        assert part.profiles.tolist() == whole.profiles[points].tolist()


def test_the_problem_of_some_points_is_that_of_a_space_without_the_others():
    problem = AuditProblem([0.0, 1.0, 0.5, 0.2], DENSE, budget=0.3)
    points = np.array([3, 0, 1])
    alone = AuditProblem([0.2, 0.0, 1.0], DENSE[np.ix_(points, points)], budget=0.3)

    f = [0.5, 0.3, 0.2]
    assert problem.at(points).value(f) == alone.value(f) > 0
