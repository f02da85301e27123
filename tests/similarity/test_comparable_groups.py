"""What varies inside groups of comparable people is found and taken out."""

import numpy as np
import pandas as pd
import pytest
from scipy.linalg import subspace_angles

import fairtransport as ft
from fairtransport.data import build_space
from fairtransport.similarity import ComparableGroups

SMALL = pd.DataFrame(
    {"x": [0.0, 2.0, 5.0, 7.0, 9.0], "y": [0.0, 1.0, 5.0, 6.5, 7.0], "z": [1.0, 1.2, 0.0, 3.0, 2.0]}
)
GROUPS = ["p", "p", "q", "q", "q"]


def test_directions_are_the_top_singular_vectors_inside_groups():
    z = ((SMALL - SMALL.mean()) / SMALL.std(ddof=0)).to_numpy()
    centred = np.r_[z[:2] - z[:2].mean(axis=0), z[2:] - z[2:].mean(axis=0)]
    values, vectors = np.linalg.eigh(centred.T @ centred)  # another way to the same vectors
    top = vectors[:, [2, 1]]
    projected = z @ (np.eye(3) - top @ top.T)
    wanted = ((projected[:, None] - projected[None, :]) ** 2).sum(axis=2)

    similarity = ComparableGroups(dimensions=2).fit(SMALL, GROUPS)
    space = build_space(SMALL.assign(g="a"), sensitive_features="g")
    everyone = np.arange(5)
    costs = similarity.geometry(space).costs(everyone, everyone)
    np.testing.assert_allclose(costs, wanted, atol=1e-9)
    np.testing.assert_allclose(similarity.explained_, values[::-1] / values.sum(), atol=1e-12)


def test_groups_come_as_a_column_too():
    by_name = ComparableGroups().fit(SMALL.assign(case=GROUPS), "case")
    by_list = ComparableGroups().fit(SMALL, GROUPS)

    assert by_name.encoding_.columns == ("x", "y", "z")
    np.testing.assert_array_equal(by_name.matrix_, by_list.matrix_)


@pytest.mark.parametrize("seed", range(5))
def test_a_planted_subspace_is_recovered(seed):
    rng = np.random.default_rng(seed)
    # 200 groups of 5; what is relevant is shared, the sensitive factor is not
    loadings = np.linalg.qr(rng.normal(size=(8, 2)))[0]
    relevant = np.repeat(rng.normal(size=(200, 8)), 5, axis=0)
    x = relevant + 2 * rng.normal(size=(1000, 2)) @ loadings.T + 0.3 * rng.normal(size=(1000, 8))
    frame = pd.DataFrame(x, columns=[f"x{k}" for k in range(8)])
    similarity = ComparableGroups(dimensions=2).fit(frame, np.repeat(np.arange(200), 5))
    # in standardised coordinates, in which the directions are taken out
    planted = loadings / frame.std(ddof=0).to_numpy()[:, None]

    # over 100 other draws the largest principal angle had median 1.2 and maximum 2.1 degrees
    assert np.degrees(subspace_angles(similarity.directions_, planted)).max() < 3
    assert similarity.explained_[1] > 5 * similarity.explained_[2]


def test_an_audit_runs_on_it():
    rng = np.random.default_rng(9)
    frame = pd.DataFrame(rng.normal(size=(40, 3)), columns=list("xyz"))
    similarity = ComparableGroups().fit(SMALL, GROUPS)
    people = frame.assign(g=rng.choice(["a", "b"], 40))
    result = ft.audit(
        people, loss="outcome", pos_label=1, sensitive_features="g", similarity=similarity,
        budget=0.02,
        model=lambda x: (x["x"] > 0.5).astype(int), rng=0,
    )  # fmt: skip
    assert result.statistic > 0
    assert result.target_scope == "observed"


@pytest.mark.parametrize(
    ("fit", "error", "message"),
    [
        (lambda: ComparableGroups(0), ft.InputError, "`dimensions` must be a whole number of"),
        (lambda: ComparableGroups(1.5), ft.InputError, "`dimensions` must be a whole number"),
        (lambda: ComparableGroups(features=3), ft.InputError, "`features` must be distinct"),
        (
            lambda: ComparableGroups(features=[]).fit(SMALL, GROUPS),
            ft.InputError,
            "`features` must name at least one column",
        ),
        (
            lambda: ComparableGroups(3).fit(SMALL[:4], ["p", "p", "q", "q"]),
            ft.DataError,
            "`dimensions` must be at most 2, the number of directions in which .*, got 3",
        ),
        (
            lambda: ComparableGroups().fit(SMALL, range(5)),
            ft.DataError,
            "`dimensions` must be at most 0",
        ),
        (lambda: ComparableGroups().fit(SMALL, [1]), ft.InputError, "one group per row, 5 in all"),
        (
            lambda: ComparableGroups().fit(SMALL, [1, 1, 2, 2, None]),
            ft.DataError,
            "`y` must not have missing groups",
        ),
    ],
)
def test_groups_that_make_no_sense_are_refused(fit, error, message):
    with pytest.raises(error, match=message):
        fit()


def test_it_says_what_was_fitted():
    assert "not yet fitted" in ComparableGroups().describe()
    assert "fitted" not in ComparableGroups().to_json()
    similarity = ComparableGroups().fit(SMALL, GROUPS)
    assert "of the variance inside groups" in similarity.describe()
    assert set(similarity.to_json()["fitted"]) >= {"directions", "explained", "encoding"}
