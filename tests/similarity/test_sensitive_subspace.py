"""Directions that tell the sensitive features are found and taken out."""

import numpy as np
import pandas as pd
import pytest
from scipy.linalg import subspace_angles
from scipy.optimize import minimize

import fairtransport as ft
from fairtransport.data import build_space
from fairtransport.similarity import SensitiveSubspace
from fairtransport.similarity.learned import orthogonal_bases


def people(n=400, seed=0):
    """Two features; the group shows in their sum, and nothing else does."""
    rng = np.random.default_rng(seed)
    group = rng.integers(0, 2, n)
    x = rng.normal(size=(n, 2)) + 1.5 * group[:, None]
    return pd.DataFrame({"group": np.where(group, "a", "b"), "x": x[:, 0], "y": x[:, 1]})


def standardised(frame):
    return ((frame - frame.mean()) / frame.std(ddof=0)).to_numpy()


def test_the_projection_is_that_of_a_regression_coded_by_hand():
    frame = people()
    z, sign = standardised(frame[["x", "y"]]), np.where(frame["group"] == "b", 1.0, -1.0)

    def loss(w):
        return np.logaddexp(0, -sign * (z @ w[:2] + w[2])).sum() + 0.5 * 2.0 * (w[:2] ** 2).sum()

    w = minimize(loss, np.zeros(3), tol=1e-12).x[:2]
    w /= np.linalg.norm(w)
    projected = z - np.outer(z @ w, w)
    wanted = ((projected[:, None] - projected[None, :]) ** 2).sum(axis=2)

    similarity = SensitiveSubspace(["group"], penalty=2.0).fit(frame)
    space = build_space(frame, sensitive_features="group")
    everyone = np.arange(space.size)
    costs = similarity.geometry(space).costs(everyone, everyone)
    place = np.argsort(np.lexsort((frame["y"], frame["x"], frame["group"])))
    np.testing.assert_allclose(costs[np.ix_(place, place)], wanted, atol=1e-5)


def test_a_numeric_sensitive_feature_is_told_by_ridge_regression():
    rng = np.random.default_rng(1)
    x = rng.normal(size=(50, 3))
    frame = pd.DataFrame(x, columns=["a", "b", "c"]).assign(age=x @ [1, 2, 0] + rng.normal(size=50))
    z, age = standardised(frame[["a", "b", "c"]]), standardised(frame[["age"]])[:, 0]
    # ridge as least squares with three more rows
    w = np.linalg.lstsq(np.r_[z, np.sqrt(3) * np.eye(3)], np.r_[age, 0, 0, 0], rcond=None)[0]

    found = SensitiveSubspace(["age"], penalty=3).fit(frame).coefficients_["age"]
    np.testing.assert_allclose(found, w[None, :], atol=1e-12)


def planted(rng, n=4000, size=6):
    """Two sensitive features that show in one direction each, in independent noise."""
    group, age = rng.integers(0, 2, n), rng.normal(size=n)
    basis = np.linalg.qr(rng.normal(size=(size, 2)))[0]
    x = rng.normal(size=(n, size)) + np.c_[2.0 * group, 2.0 * age] @ basis.T
    frame = pd.DataFrame(x, columns=[f"x{k}" for k in range(size)])
    return frame.assign(group=group, age=age), basis


@pytest.mark.parametrize("seed", range(5))
def test_a_planted_subspace_is_recovered(seed):
    frame, basis = planted(np.random.default_rng(seed))
    similarity = SensitiveSubspace(["group", "age"]).fit(frame)
    scale = frame.filter(like="x").std(ddof=0).to_numpy()
    # regression finds Σ⁻¹ times the planted directions, which span the same plane: Σ = I + BMB'
    recovered = similarity.directions_ / scale[:, None]

    assert similarity.directions_.shape == (6, 2)
    # over 50 other draws the largest principal angle had median 2.9 and maximum 5.0 degrees
    assert np.degrees(subspace_angles(recovered, basis)).max() < 6


def test_what_is_left_does_not_tell_the_sensitive_feature():
    frame = people(n=5000)
    similarity = SensitiveSubspace(["group"]).fit(frame)
    left = similarity.embed(build_space(frame, sensitive_features="group"))
    group = np.sort(frame["group"].to_numpy())  # points are sorted by group first
    gap = left[group == "a"].mean() - left[group == "b"].mean()

    assert abs(gap) < 0.05
    assert left.std() > 0.5


def test_levels_are_one_direction_less_than_they_are():
    rng = np.random.default_rng(2)
    race = rng.integers(0, 3, 600)
    x = rng.normal(size=(600, 4)) + np.eye(4)[race]
    frame = pd.DataFrame(x, columns=list("abcd")).assign(race=np.array(["x", "y", "z"])[race])

    assert SensitiveSubspace(["race"]).fit(frame).directions_.shape == (4, 2)


def test_mixed_columns_and_twins():
    rng = np.random.default_rng(3)
    frame = people(60).assign(job=rng.choice(["clerk", "cook"], 60), good=1)
    similarity = SensitiveSubspace(["group"]).fit(frame.drop(columns="good"))
    space = build_space(frame, "good", sensitive_features="group", twins=True)
    everyone = np.arange(space.size)
    costs = similarity.geometry(space).costs(everyone, everyone)
    same = space.groups(["x", "y", "job"])

    assert similarity.matrix_.shape == (4, 3)
    assert (costs[same[:, None] == same[None, :]] == 0).all()


def test_rows_are_placed_as_points_are():
    frame = people(50)
    similarity = SensitiveSubspace(["group"]).fit(people())
    space = build_space(frame, sensitive_features="group")
    order = np.lexsort((frame["y"], frame["x"], frame["group"]))

    np.testing.assert_array_equal(similarity.transform(frame)[order], similarity.embed(space))


def test_the_statistic_does_not_change_when_the_embedding_is_turned():
    frame = people(80).assign(good=1)
    frame["guess"] = (frame["x"] > 0.5).astype(int)
    similarity = SensitiveSubspace(["group"]).fit(people(300, seed=9))
    wide = SensitiveSubspace(["group"], features=["x", "y"]).fit(people(300, seed=9))
    # another basis of what is left, in three dimensions
    turn = np.linalg.qr(np.random.default_rng(0).normal(size=(3, 3)))[0][:1]
    wide.matrix_ = similarity.matrix_ @ turn

    def statistic(similarity, budget):
        return ft.audit(
            frame, "good", y_pred="guess", sensitive_features="group", budget=budget,
            features=["x", "y", "group"], similarity=similarity,
        ).statistic  # fmt: skip

    for budget in (0.0, 0.01, 0.1):
        assert statistic(similarity, budget) == pytest.approx(statistic(wide, budget), abs=1e-7)
    assert statistic(similarity, 0.1) > statistic(similarity, 0.01) > 0


def test_the_audit_warns_of_a_similarity_that_was_fitted_on_its_data():
    frame = people(100)
    similarity = SensitiveSubspace(["group"]).fit(frame)
    options = dict(y_pred=[1] * 100, sensitive_features="group", similarity=similarity)
    good = np.arange(100) % 2

    same = ft.audit(frame.sample(frac=1, random_state=1), good, **options)
    other = ft.audit(people(100, seed=5), good, **options)
    assert "fitted on all" in same.warnings[0]
    assert not any("fitted on" in text for text in other.warnings)
    assert same.target_scope == "observed"


def test_nothing_left_is_free_everywhere():
    frame = people()[["group", "x"]]
    space = build_space(frame, sensitive_features="group")

    assert not SensitiveSubspace(["group"]).fit(frame).embed(space).any()


def test_directions_without_length_are_none():
    taken, left = orthogonal_bases(np.array([[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]]), 2)

    assert (taken.shape, left.shape) == ((2, 1), (2, 1))
    np.testing.assert_allclose(np.c_[taken, left].T @ np.c_[taken, left], np.eye(2), atol=1e-12)
    assert orthogonal_bases(np.zeros((1, 3)), 3)[0].shape == (3, 0)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: SensitiveSubspace(3), "`sensitive_features` must be distinct column names"),
        (lambda: SensitiveSubspace(["g"], ["g"]), "`features` must not hold sensitive features"),
        (lambda: SensitiveSubspace(["g"], penalty=0), "`penalty` must be a number above 0"),
        (lambda: SensitiveSubspace().fit(people()), "must name at least one column, got none"),
        (lambda: SensitiveSubspace(["race"]).fit(people()), "`X` must have the column 'race'"),
        (
            lambda: SensitiveSubspace(["group"]).fit(people()[["group"]]),
            "`features` must name at least one column",
        ),
        (
            lambda: SensitiveSubspace(["group"]).fit(people().assign(group="a")),
            "must vary in the data of `fit`, but 'group' does not",
        ),
    ],
)
def test_fits_that_make_no_sense_are_refused(make, message):
    with pytest.raises(ft.InputError, match=message):
        make()


@pytest.mark.parametrize(
    ("change", "sensitive", "message"),
    [
        (lambda f: f, ["group", "y"], "fitted with the sensitive features group, .* has 'y' too"),
        (lambda f: f.drop(columns="y"), ["group"], "fitted on the column 'y', which is not among"),
        (lambda f: f.assign(z=1), ["group"], "but 'z' was not in the data of `fit`"),
    ],
)
def test_audits_of_other_columns_are_refused(change, sensitive, message):
    similarity = SensitiveSubspace(["group"]).fit(people())
    space = build_space(change(people()), sensitive_features=sensitive)

    with pytest.raises(ft.InputError, match=message):
        similarity.geometry(space)


def test_an_audit_needs_a_fit():
    similarity = SensitiveSubspace(["group"])

    with pytest.raises(ft.InputError, match="'sensitive-subspace' must be fitted first"):
        similarity.geometry(build_space(people(), sensitive_features="group"))
    assert "not yet fitted" in similarity.describe()


def test_it_says_what_was_fitted():
    similarity = SensitiveSubspace(["group"]).fit(people())

    assert "the 1 of 2 directions that best predict group" in similarity.describe()
    fitted = similarity.to_json()["fitted"]
    assert set(fitted) == {"encoding", "matrix", "data_sha256", "directions"}
