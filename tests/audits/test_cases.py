"""One case of an audit, beside those with whom it is compared."""

import numpy as np
import pandas as pd
import pytest

import fairtransport as ft
from fairtransport.audits.what_if import MAX_LISTED_TWINS, find_case, point_of
from fairtransport.data.files import FileSource
from fairtransport.data.preview import fetch_row, preview_file
from fairtransport.errors import InputError


@pytest.fixture(scope="module")
def people():
    rng = np.random.default_rng(5)
    frame = pd.DataFrame({
        "sex": rng.choice(["f", "m"], 200), "age": rng.integers(18, 70, 200),
        "member": rng.choice([True, False], 200), "note": rng.choice(["a", None], 200),
    })  # fmt: skip
    frame["good"] = (frame["age"] > 40).astype(int)
    frame["guess"] = (frame["age"] + 5 * (frame["sex"] == "m") > 40).astype(int)
    return frame


def model(points):
    return (points["age"] + 5 * (points["sex"] == "m") > 40).astype(int)


@pytest.fixture(scope="module")
def result(people):
    return ft.audit(
        people, "good", model=model, sensitive_features="sex", missing="level", rng=0,
        features=["sex", "age", "member", "note"],
    )  # fmt: skip


def test_a_case_has_its_twin_the_answers_and_the_swap(result, people):
    row = people[(people["sex"] == "f") & people["age"].between(36, 40)].iloc[0]
    found = find_case(result, point_of(result.space, {**row, "note": _plain(row["note"])}))
    (twin,) = found.twins

    assert (found.profile["sex"], found.prediction, found.loss, found.comparable) == ("f", 0, 0, 1)
    assert twin.changed == ("sex",)
    assert (twin.profile["sex"], twin.prediction, twin.loss) == ("m", 1, 1)
    assert twin.cost == 0
    assert twin.swapped == found.people


def _plain(value):
    return None if pd.isna(value) else value


def test_all_swaps_of_all_cases_are_the_moves(result):
    cases = [find_case(result, int(point)) for point in np.unique(result.moved.sources)]

    assert sum(twin.swapped for case in cases for twin in case.twins) == result.moved.total
    gained = sum(twin.swapped * (twin.loss - case.loss) for case in cases for twin in case.twins)
    assert gained / result.n == pytest.approx(result.statistic)


def test_of_many_comparable_people_the_ends_are_told(people):
    similarity = ft.similarity.MixedTabular(scales={"age": 5})
    found = ft.audit(
        people[["sex", "age", "good"]], "good", model=model, sensitive_features="sex", rng=0,
        similarity=similarity, budget=0.5,
    )  # fmt: skip
    point = int(np.argmax(found.space.values("age") == 38))
    blocks = found.problem.geometry.blocks
    losses = found.problem.losses[blocks == blocks[point]]
    case = find_case(found, point)
    told = [twin.loss for twin in case.twins]

    assert case.comparable > MAX_LISTED_TWINS >= len(case.twins)
    assert (max(told), min(told)) == (losses.max(), losses.min()) == (1, 0)


@pytest.mark.parametrize("bins", [None, {"age": [30, 50]}])
def test_every_row_of_a_file_is_found_again(people, tmp_path, bins):
    path = tmp_path / "people.csv"
    people.to_csv(path, index=False)
    found = ft.audit(
        path, "good", y_pred="guess", sensitive_features="sex", missing="level", bins=bins, rng=0
    )
    source = FileSource(path)
    rows = preview_file(source).rows
    points = [point_of(found.space, fetch_row(source, at + 1, rows)) for at in range(rows)]

    np.testing.assert_array_equal(np.bincount(points, minlength=found.points), found.space.counts)
    for at in (0, 57, 199):
        case = find_case(found, points[at])
        assert case.profile["sex"] == people["sex"][at]
        assert case.profile["member"] == people["member"][at]
        assert case.label == people["good"][at]
        assert case.prediction == people["guess"][at]


@pytest.mark.parametrize("number", [0, -1, 201])
def test_a_row_that_is_not_there_is_refused(people, tmp_path, number):
    path = tmp_path / "people.csv"
    people.to_csv(path, index=False)

    with pytest.raises(InputError, match=r"`row` must be a whole number"):
        fetch_row(FileSource(path), number, 200)


def test_a_case_that_was_not_audited_is_refused(result, people):
    row = {**people.iloc[0].to_dict(), "note": "a", "age": 999}

    with pytest.raises(InputError, match="one of the audited people"):
        point_of(result.space, row)
    with pytest.raises(InputError, match="must have the column 'sex'"):
        point_of(result.space, {"age": 1})
    with pytest.raises(InputError, match="`point` must be a number from 0 to"):
        find_case(result, result.points)
