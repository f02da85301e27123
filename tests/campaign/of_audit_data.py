"""The data of audit(): frames, columns, labels, counts, bins, levels, references."""

from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

import fairtransport as ft
from fairtransport import DataError
from tests.campaign.kinds import Kind
from tests.campaign.people import PEOPLE, POINTS, SWAPPED, audit, given, statistic, with_column
from tests.campaign.values import NO_NAMES

INF, NAN = float("inf"), float("nan")
NO_FRAMES = {
    "nothing": None, "a number": 3, "a list of lists": [[1, 2]], "a dictionary": {"race": ["a"]},
    "an array": np.zeros((2, 2)), "a matrix of objects": np.array([["a", 1]], object),
    "a series": pd.Series([1, 2]), "a function": len, "bytes": b"cases.csv", "a set": {1},
}  # fmt: skip
HALF = np.array([20, 20, 20, 20, 30, 30, 40, 40], np.float16)


def by_age(points):
    """Return the model's answers to ages of any spelling."""
    ages = pd.Series(list(points["age"])).astype(str).str.extract(r"(\d+)")[0].astype(float)
    return ((pd.Series(list(points["race"])) == "a") & (ages >= 30)).astype(int).to_numpy()


def of_frame(frame, **changed):
    return statistic(frame, model=by_age, **changed)


def renamed(name, column="age"):
    """Audit with a column under another name."""
    frame = POINTS.rename(columns={column: name})
    return ft.audit(
        frame, "good", model=lambda x: by_age(x.rename(columns={name: column})),
        sensitive_features=["race"], rng=0,
    ).statistic  # fmt: skip


def one_of(values):
    """Return eight values, the first of which is odd."""
    return [values, *[20, 20, 20, 30, 30, 40, 40]]


FRAMES = [
    Kind("audit X", what, lambda v=value: audit(v), "^`X` must be a data frame")
    for what, value in NO_FRAMES.items()
] + [
    Kind("audit X", "no rows", lambda: audit(POINTS[:0]), "^the audit data must have at least",
         DataError),
    Kind("audit X", "no columns", lambda: audit(POINTS[[]]), "^`y` must name columns"),
    Kind("audit X", "numbered columns", lambda: audit(pd.DataFrame(np.zeros((2, 3)))),
         "^`X` must have text as column names"),
    Kind("audit X", "columns of the same name",
         lambda: audit(pd.concat([POINTS, POINTS], axis=1)), "^`X` must have distinct column"),
    Kind("audit X", "columns in levels", lambda: audit(
        POINTS.set_axis(pd.MultiIndex.from_product([["x"], POINTS.columns]), axis=1)),
        "^`X` must have text as column names"),
    Kind("audit X", "an absent file", lambda: audit("absent.csv"), "^there is no .*file .* for `X`"),
    Kind("audit X", "a file of another type", lambda: audit("cases.xlsx"), "^`X` must be a file of"),
    Kind("audit X", "a folder", lambda: audit("."), "^`X` must be files of one type"),
    Kind("audit X", "empty text", lambda: audit(""), "^`X` must be a file of type"),
    Kind("audit X", "text with a zero byte", lambda: audit("a\0.csv"), "^there is no file .* for `X`"),
    Kind("audit X", "polars", lambda: of_frame(pl.from_pandas(POINTS)), right=SWAPPED),
    Kind("audit X", "polars, lazy", lambda: of_frame(pl.from_pandas(POINTS).lazy()), right=SWAPPED),
    Kind("audit X", "pyarrow", lambda: statistic(
        pa.Table.from_pandas(POINTS), model=lambda t: by_age(t.to_pandas())), right=SWAPPED),
    Kind("audit X", "an index with gaps", lambda: statistic(
        POINTS.set_axis([9, 9, 7, 1, 0, 0, 3, 3])), right=SWAPPED),
    Kind("audit X", "an index named as a column", lambda: statistic(
        POINTS.set_axis(pd.Index(range(8), name="age"))), right=SWAPPED),
    Kind("audit X", "rows in another order", lambda: statistic(POINTS[::-1]), right=SWAPPED),
    Kind("audit X", "every row ten times", lambda: statistic(pd.concat([POINTS] * 10)),
         right=SWAPPED),
    Kind("audit X", "one row, of a label that the model never says",
         lambda: audit(POINTS[:1], levels={"race": ["a", "b"]}),
         "^true labels and predictions must have the same values", DataError),
    Kind("audit X", "one row", lambda: statistic(POINTS[6:7], levels={"race": ["a", "b"]}),
         right=0.0),
]  # fmt: skip

NAMES = [
    Kind("audit X", f"a column called {name!r}", lambda n=name: renamed(n), right=SWAPPED)
    for name in (
        "fairtransport_count", "fairtransport_bad", "fairtransport_weight", "count", "counts",
        "literal", "len", "index", "level_0", "0", " ", "", "prediction", "score_0", "label",
        "select", 'a"b', "a'b", "a`b", "ä ö", "😀", "Good", "a.b", "a[0]", "__index_level_0__",
        "x" * 300, "col\nnewline", "*",
    )
] + [
    Kind("audit X", f"a sensitive column called {name!r}", lambda n=name: ft.audit(
        POINTS.rename(columns={"race": n}), "good", sensitive_features=[n], rng=0,
        model=lambda x: by_age(x.rename(columns={n: "race"}))).statistic, right=SWAPPED)
    for name in ("fairtransport_count", "fairtransport_bad", "count", "index", "a.b")
]  # fmt: skip

FEATURE_VALUES = [
    Kind("audit features", what, lambda v=value: of_frame(with_column("age", v)), right=SWAPPED)
    for what, value in {
        "half precision": HALF,
        "single precision": HALF.astype(np.float32),
        "extended precision": HALF.astype(np.longdouble),
        "bytes of one length": HALF.astype(int).astype("S2"),
        "small unsigned integers": HALF.astype(np.uint8),
        "text": HALF.astype(int).astype(str),
        "decimals": [Decimal(int(age)) for age in HALF],
        "nullable integers": pd.array(HALF.astype(int), dtype="Int64"),
        "nullable floats": pd.array(HALF.astype(float), dtype="Float64"),
        "categories": pd.Categorical(HALF.astype(int).astype(str)),
        "ordered categories": pd.Categorical(
            HALF.astype(int).astype(str), categories=["40", "30", "20"], ordered=True),
        "unused categories": pd.Categorical(
            HALF.astype(int).astype(str), categories=["10", "20", "30", "40"]),
        "text of arrow": pd.array(HALF.astype(int).astype(str), dtype="string"),
        "whole numbers and text": ["20", "20", 20, 20, "30", "30", 40, 40],
    }.items()
] + [
    Kind("audit features", what, lambda v=value: audit(with_column("age", one_of(v)), model=by_age),
         says, DataError)
    for what, value, says in (
        ("infinity", INF, "^the column 'age' must hold finite numbers"),
        ("minus infinity", -INF, "^the column 'age' must hold finite numbers"),
        ("NaN", NAN, "^the column 'age' must not have missing values"),
        ("nothing", None, "^the column 'age' must not have missing values"),
        ("pandas' NA", pd.NA, "^the column 'age' must not have missing values"),
        ("a list", [1], "must hold single values"),
        ("a dictionary", {"a": 1}, "must hold single values"),
        ("an array", np.array([1, 2]), "must hold single values"),
        ("a set", {1}, "must hold single values"),
        ("a complex number", 1j, "^the column 'age' must hold"),
    )
] + [
    Kind("audit features", "a date that is no time",
         lambda: audit(with_column("age", one_of(pd.NaT)), model=by_age),
         "^the column 'age' must not have missing", DataError),
    Kind("audit features", "complex numbers",
         lambda: audit(with_column("age", HALF.astype(complex)), model=by_age),
         "^the column 'age' must hold", DataError),
    Kind("audit features", "complex numbers in polars",
         lambda: audit(pl.from_pandas(POINTS).with_columns(
             age=pl.Series([1j] * 8, dtype=pl.Object)), model=by_age),
         "^the column 'age' must hold", DataError),
    Kind("audit features", "lists in polars", lambda: audit(
        pl.from_pandas(POINTS).with_columns(age=pl.Series([[1]] * 8)), model=by_age),
        "^the column 'age' must hold single values", DataError),
    Kind("audit features", "half precision in arrow", lambda: statistic(
        pa.table({"race": list(POINTS["race"]), "age": pa.array(HALF, pa.float16()),
                  "good": list(POINTS["good"])}), model=lambda t: by_age(t.to_pandas())),
        right=SWAPPED),
    Kind("audit features", "bytes in arrow", lambda: statistic(
        pa.table({"race": list(POINTS["race"]), "good": list(POINTS["good"]),
                  "age": pa.array([b"%d" % int(age) for age in HALF])}),
        model=lambda t: by_age(t.to_pandas())), right=SWAPPED),
    Kind("audit features", "infinity in polars", lambda: audit(
        pl.from_pandas(with_column("age", one_of(INF))), model=by_age),
        "^the column 'age' must hold finite numbers", DataError),
    Kind("audit features", "infinity in the last bin", lambda: statistic(
        with_column("age", [20] * 4 + [30, 30, INF, INF]), bins={"age": [25, 35]},
        model=lambda x: (x["race"] == "a").astype(int)), right=0.5),
    Kind("audit features", "integers of any size", lambda: statistic(
        with_column("age", [10**400 + int(age) for age in HALF]),
        model=lambda x: ((x["race"] == "a") & (x["age"] >= 10**400 + 30)).astype(int)),
        right=SWAPPED),
    Kind("audit features", "text of half a character", lambda: audit(
        with_column("age", pd.Series([f"{int(age)}\ud800" for age in HALF], dtype=object))),
        r"^the columns race, age, good must hold valid Unicode text, got '20\\ud800'$", DataError),
    Kind("audit features", "minus zero and zero", lambda: statistic(
        with_column("age", [0.0, -0.0, 0.0, -0.0, 30, 30, 40, 40])), right=SWAPPED),
    Kind("audit features", "missing as a level", lambda: statistic(
        with_column("age", [NAN] * 4 + [30, 30, 40, 40]), missing="level"), right=SWAPPED),
]  # fmt: skip

CHOSEN = [
    Kind(f"audit {name}", what, lambda n=name, v=value: audit(**{n: v}), f"^`{name}` must")
    for name in ("features", "sensitive_features")
    for what, value in NO_NAMES.items()
] + [
    Kind("audit features", "none", lambda: audit(features=[]), "^`features` must name at least"),
    Kind("audit features", "the label", lambda: audit(features=["race", "good"]),
         "^`features` and .* must not name the same column"),
    Kind("audit features", "without a sensitive one", lambda: statistic(
        features=["age"], model=lambda x: (x["age"] >= 30).astype(int)), right=0.0),
    Kind("audit sensitive_features", "none", lambda: audit(sensitive_features=[]),
         "^`sensitive_features` must name at least"),
    Kind("audit sensitive_features", "nothing", lambda: audit(sensitive_features=None),
         "^`sensitive_features` must be column names"),
    Kind("audit sensitive_features", "the label", lambda: audit(sensitive_features=["good"]),
         "^`sensitive_features` and .* must not name the same column"),
    Kind("audit sensitive_features", "the predictions",
         lambda: given(sensitive_features=["guess"]), "^`sensitive_features` and .* must not name the same column"),
    Kind("audit sensitive_features", "the counts",
         lambda: audit(PEOPLE[["race", "age", "good", "people"]], counts="people",
                       sensitive_features=["people"]),
         "^`sensitive_features` and .* must not name the same column"),
    Kind("audit sensitive_features", "a frame that is too short",
         lambda: audit(POINTS[["age", "good"]], sensitive_features=POINTS[["race"]][:3]),
         "^`sensitive_features` must have one value per row"),
    Kind("audit sensitive_features", "a frame with a column of the data",
         lambda: statistic(sensitive_features=POINTS[["race"]]), right=SWAPPED),
    Kind("audit sensitive_features", "a frame with another column of a name of the data",
         lambda: audit(sensitive_features=POINTS[["race"]][::-1].reset_index(drop=True)),
         "^`sensitive_features` has the name 'race'"),
    Kind("audit sensitive_features", "a lazy frame",
         lambda: audit(POINTS[["age", "good"]], sensitive_features=pl.LazyFrame({"race": ["a"]})),
         "^`sensitive_features` must be column names"),
    Kind("audit sensitive_features", "a frame without columns",
         lambda: audit(POINTS[["age", "good"]], sensitive_features=POINTS[[]]),
         "^`sensitive_features` must name at least"),
    Kind("audit sensitive_features", "infinite values", lambda: audit(
        with_column("race", [INF, 0, 1, 0, 1, 0, 1, 0]), model=lambda x: np.zeros(len(x), int)),
        "^the column 'race' must hold finite numbers", DataError),
    Kind("audit sensitive_features", "values that are missing", lambda: audit(
        with_column("race", [None, *"bababab"])), "^the column 'race' must not have missing",
        DataError),
    Kind("audit sensitive_features", "a name alone", lambda: statistic(sensitive_features="race"),
         right=SWAPPED),
    Kind("audit sensitive_features", "a tuple", lambda: statistic(sensitive_features=("race",)),
         right=SWAPPED),
    Kind("audit sensitive_features", "an array of names, or of values",
         lambda: audit(sensitive_features=np.array(["race"])),
         "^`sensitive_features` must be column names, or a data frame"),
    Kind("audit sensitive_features", "truth values", lambda: statistic(
        POINTS.assign(race=POINTS["race"] == "a"),
        model=lambda x: (x["race"] & (x["age"] >= 30)).astype(int)), right=SWAPPED),
    Kind("audit sensitive_features", "a constant", lambda: statistic(
        POINTS.assign(race="a")), right=0.0),
]  # fmt: skip

LABELS = [
    Kind("audit y", what, lambda v=value: audit(POINTS[["race", "age"]], v), says, error)
    for what, value, says, error in (
        ("an unknown name", "bad", "^`y` must name columns", ft.InputError),
        ("a number", 3, "^`y` must have one value per row", ft.InputError),
        ("too few", [1, 0], "^`y` must have one value per row", ft.InputError),
        ("two columns", np.zeros((8, 2)), "^`y` must have one value per row", ft.InputError),
        ("a dictionary", {"a": 1}, "^`y` must have one value per row", ft.InputError),
        ("a ragged list", [[1], [1, 2]] + [0] * 6, "^`y` must", ft.InputError),
        ("NaN", [NAN, 1, 0, 0, 1, 1, 0, 0], "^the column 'label' must not have missing", DataError),
        ("nothing", [None, 1, 0, 0, 1, 1, 0, 0], "^the column 'label' must not have mis", DataError),
        ("infinity", [INF, 1, 0, 0, 1, 1, 0, 0], "^the column 'label' must hold finite", DataError),
        ("text and numbers", ["1", 1, 0, 0, 1, 1, 0, 0], "^the column 'label' must be all te", DataError),
        ("complex numbers", np.array([1, 1, 0, 0, 1, 1, 0, 0]) + 0j,
         "^the column 'label' must hold text or real", DataError),
        ("lists", pd.Series([[1]] * 8), "must hold single values", DataError),
        ("masked", np.ma.array([1, 1, 0, 0, 1, 1, 0, 0], mask=[1] + [0] * 7),
         "^`y` must not have masked entries, got 1", ft.InputError),
    )
] + [
    Kind("audit y", "labels the model never says", lambda: audit(
        POINTS.assign(good=list("yynnyynn"))), "unknown label", ft.ModelError),
    Kind("audit y", "a series with the name of a column", lambda: audit(y=1 - POINTS["good"]),
         "^`y` has the name 'good' of a column of the data, but different values"),
    Kind("audit y", "mixed in a column", lambda: audit(
        with_column("good", ["1", 1, 0, 0, 1, 1, 0, 0])),
        "^the column 'good' must be all text or all numbers, got '1' and 0", DataError),
    Kind("audit y", "of a lazy frame", lambda: audit(pl.from_pandas(POINTS).lazy(), [1] * 8),
         "^`y` must be a column's name when the data frame is lazy"),
    Kind("audit y", "text for a loss on numbers", lambda: audit(
        with_column("good", list("yynnyynn")), loss="squared", loss_range=(0, 1)),
        "^`y` must be numeric for the loss", DataError),
    Kind("audit y", "beyond floats for a loss on numbers", lambda: audit(
        with_column("good", [10**400, 1, 0, 0, 1, 1, 0, 0]), loss="squared", loss_range=(0, 1)),
        "^`y` must be numeric for the loss", DataError),
] + [
    Kind("audit y", what, lambda v=value: statistic(POINTS[["race", "age"]], v), right=SWAPPED)
    for what, value in {
        "a list": [1, 1, 0, 0, 1, 1, 0, 0],
        "a tuple": (1, 1, 0, 0, 1, 1, 0, 0),
        "truth values": [True, True, False, False, True, True, False, False],
        "whole floats": [1.0, 1.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0],
        "half precision": np.array([1, 1, 0, 0, 1, 1, 0, 0], np.float16),
        "whole numbers and whole floats": [1, 1.0, 0, 0.0, 1, 1.0, 0, 0],
        "a series without a name": pd.Series([1, 1, 0, 0, 1, 1, 0, 0]),
        "a series of polars": pl.Series([1, 1, 0, 0, 1, 1, 0, 0]),
        "an array of arrow": pa.array([1, 1, 0, 0, 1, 1, 0, 0]),
        "masked, but nothing hidden": np.ma.array([1, 1, 0, 0, 1, 1, 0, 0]),
        "objects": np.array([1, 1, 0, 0, 1, 1, 0, 0], object),
    }.items()
]  # fmt: skip

GIVEN = [
    Kind("audit y_pred", what, lambda v=value: given(y_pred=v), says, error)
    for what, value, says, error in (
        ("an unknown name", "nothing", "^`y_pred` must name columns", ft.InputError),
        ("the labels' column", "good", "^`y_pred` must not be the column of the true labels",
         ft.InputError),
        ("too few", [1, 0], "^`y_pred` must have one value per row", ft.InputError),
        ("a number", 3, "^`y_pred` must have one value per row", ft.InputError),
        ("NaN", [NAN] + [1] * 7, "^the column 'prediction' must not have missing", DataError),
        ("infinity", [INF] + [1] * 7, "^the column 'prediction' must hold finite", DataError),
        ("complex numbers", [1j] + [1] * 7, "^the column 'prediction' must hold text or real",
         DataError),
        ("text and numbers", ["1"] + [1] * 7, "^the column 'prediction' must be all text", DataError),
        ("labels and a score", [0.3] + [1] * 7, "^`y_pred` must hold labels", DataError),
        ("masked", np.ma.array([1] * 8, mask=[1] + [0] * 7), "^`y_pred` must not have masked",
         ft.InputError),
        ("text for numbers", list("yynnyynn"), "^true labels and predictions must have the same values",
         DataError),
        ("scores", [0.3] * 8, "^`y_pred` must hold labels", DataError),
        ("two columns", ["guess", "score"], "^`y_pred` must be one column", ft.InputError),
        ("a ragged list", [[1], [1, 2]] + [0] * 6, "^`y_pred` must", ft.InputError),
        ("a dictionary", {"a": 1}, "^`y_pred` must", ft.InputError),
        ("a set", {1, 0}, "^`y_pred` must", ft.InputError),
    )
] + [
    Kind("audit y_score", what, lambda v=value: given(y_pred=None, y_score=v, loss="brier"),
         says, error)
    for what, value, says, error in (
        ("above 1", [1.5] + [0.5] * 7, "^`y_score` must give probabilities in", ft.ModelError),
        ("below 0", [-0.5] + [0.5] * 7, "^`y_score` must give probabilities in", ft.ModelError),
        ("NaN", [NAN] + [0.5] * 7, "must not have missing", DataError),
        ("infinity", [INF] + [0.5] * 7, "must hold finite", DataError),
        ("text", ["high"] * 8, "^`y_score` must", ft.InputError),
        ("three columns", np.full((8, 3), 1 / 3), "^`y_score` must give 8 rows|rows of 2 class",
         ft.ModelError),
        ("columns that do not sum to 1", np.full((8, 2), 0.3), "sum to 1", ft.ModelError),
        ("complex numbers", np.full(8, 0.5 + 0j), "must hold text or real numbers", DataError),
        ("too few", [0.5], "^`y_score` must have one value per row", ft.InputError),
        ("a cube", np.zeros((8, 2, 2)), "^`y_score` must have one value per row", ft.InputError),
        ("text where scores are wanted", ["1"] * 8, "^`y_score` must", ft.InputError),
        ("masked", np.ma.array([0.5] * 8, mask=[1] + [0] * 7), "^`y_score` must not have masked",
         ft.InputError),
    )
] + [
    Kind("audit y_score", "for a loss on labels", lambda: given(y_pred=None, y_score="score"),
         "^the loss 'zero-one' needs labels"),
    Kind("audit y_pred", "an array", lambda: given(y_pred=PEOPLE["guess"].to_numpy()),
         right=SWAPPED),
    Kind("audit y_pred", "a column of one", lambda: given(y_pred=["guess"]), right=SWAPPED),
    Kind("audit y_pred", "whole floats", lambda: given(y_pred=PEOPLE["guess"].to_numpy(float)),
         right=SWAPPED),
    Kind("audit y_pred", "half precision",
         lambda: given(y_pred=PEOPLE["guess"].to_numpy(np.float16)), right=SWAPPED),
    Kind("audit y_score", "a column",
         lambda: given(y_pred=None, y_score="score", loss="brier"),
         right=((0.8**2 - 0.1**2) + (0.7**2 - 0.3**2)) / 8),
    Kind("audit y_score", "two columns", lambda: given(
        y_pred=None, loss="brier", y_score=np.c_[1 - PEOPLE["score"], PEOPLE["score"]]),
        right=((0.8**2 - 0.1**2) + (0.7**2 - 0.3**2)) / 8),
]  # fmt: skip

WEIGHED = PEOPLE[["race", "age", "good", "people"]]


def weighed(values, **changed):
    frame = POINTS.assign(people=values)
    return statistic(frame, counts="people", **changed)


COUNTS = [
    Kind("audit counts", what, lambda v=value: weighed(v), "^the counts in 'people' must be whole",
         DataError)
    for what, value in {
        "negative": [-1] + [1] * 7, "fractions": [0.5] * 8, "NaN": [NAN] + [1.0] * 7,
        "infinity": [INF] + [1.0] * 7, "text": ["1"] * 8, "nothing": [None] + [1] * 7,
        "beyond floats": [2**53 + 1] + [1] * 7, "truth values": [True] * 8,
        "unbounded integers": [10**400] + [1] * 7, "complex numbers": [1j] * 8,
        "dates": pd.to_datetime(["2020-01-01"] * 8), "lists": [[1]] * 8,
    }.items()
] + [
    Kind("audit counts", "all zero", lambda: weighed([0] * 8), "^the audit data must have at least",
         DataError),
    Kind("audit counts", "an unknown name", lambda: audit(counts="n"), "^`counts` must name column"),
    Kind("audit counts", "an array", lambda: audit(counts=[1] * 8), "^`counts` must name columns"),
    Kind("audit counts", "a number", lambda: audit(counts=3), "^`counts` must name columns"),
    Kind("audit counts", "the label", lambda: audit(counts="good"),
         "^`counts` must not be the column of (the )?label"),
    Kind("audit counts", "the predictions", lambda: given(counts="guess"),
         "^`counts` must not be the column of"),
    Kind("audit counts", "a feature", lambda: audit(counts="age", features=["race", "age"]),
         "^`features` and .* must not name the same column"),
    Kind("audit counts", "too many together", lambda: weighed([2**53] * 8),
         "^the counts in 'people' must", DataError),
    Kind("audit counts", "whole floats", lambda: weighed([1.0] * 8), right=SWAPPED),
    Kind("audit counts", "unsigned", lambda: weighed(np.ones(8, np.uint8)), right=SWAPPED),
    Kind("audit counts", "small numbers whose sum is large",
         lambda: weighed(np.full(8, 200, np.uint8)), right=SWAPPED),
    Kind("audit counts", "half precision", lambda: weighed(np.ones(8, np.float16)), right=SWAPPED),
    Kind("audit counts", "nullable", lambda: weighed(pd.array([1] * 8, dtype="Int64")),
         right=SWAPPED),
    Kind("audit counts", "some zero", lambda: weighed([1, 1, 1, 1, 1, 1, 0, 0]), right=1 / 6),
    Kind("audit counts", "very many", lambda: weighed([10**15] * 8), right=SWAPPED),
]  # fmt: skip

BINS = [
    Kind("audit bins", what, lambda v=value: audit(bins=v), says, error)
    for what, value, says, error in (
        ("a list", [25], "^`bins` must map columns", ft.InputError),
        ("a number", 3, "^`bins` must map columns", ft.InputError),
        ("text", "age", "^`bins` must map columns", ft.InputError),
        ("an unknown column", {"height": [1]}, "^`bins` must name audited columns", ft.InputError),
        ("the label", {"good": [1]}, "^`bins` must name audited columns", ft.InputError),
        ("a number as a column", {3: [1]}, "^`bins` must name audited columns", ft.InputError),
        ("no edges", {"age": []}, r"^`bins\['age'\]` must be one or more", ft.InputError),
        ("falling", {"age": [45, 25]}, r"^`bins\['age'\]` must be one or more", ft.InputError),
        ("twice the same", {"age": [25, 25]}, r"^`bins\['age'\]` must be one or more", ft.InputError),
        ("NaN", {"age": [NAN]}, r"^`bins\['age'\]` must be finite", ft.InputError),
        ("infinity", {"age": [INF]}, r"^`bins\['age'\]` must be finite", ft.InputError),
        ("one number", {"age": 25}, r"^`bins\['age'\]` must have shape", ft.InputError),
        ("text edges", {"age": ["25"]}, r"^`bins\['age'\]` must be numeric", ft.InputError),
        ("complex", {"age": [1j]}, r"^`bins\['age'\]` must be numeric", ft.InputError),
        ("nothing", {"age": None}, r"^`bins\['age'\]` must", ft.InputError),
        ("unbounded", {"age": [10**400]}, r"^`bins\['age'\]` must be numeric", ft.InputError),
        ("of text", {"race": [1]}, r"^`bins\['race'\]` needs a column of numbers", DataError),
        ("nested", {"age": [[25]]}, r"^`bins\['age'\]` must have shape", ft.InputError),
    )
] + [
    Kind("audit bins", "a model that does not know their names", lambda: audit(bins={"age": [25]}),
         "^the model .* failed .* names of the bins of age", ft.ModelError),
    Kind("audit bins", "all in one", lambda: statistic(
        bins={"age": [100]}, model=lambda x: (x["race"] == "a").astype(int)), right=0.5),
    Kind("audit bins", "an array of integers", lambda: statistic(
        bins={"age": np.array([25, 35])}, model=lambda x: (x["race"] == "a").astype(int)),
        right=0.5),
]  # fmt: skip

LEVELS = [
    Kind("audit levels", what, lambda v=value: audit(levels=v), says)
    for what, value, says in (
        ("a list", ["a", "b"], "^`levels` must map"),
        ("text", "race", "^`levels` must map"),
        ("another column", {"age": [20]}, "^`levels` must name sensitive"),
        ("text for a list", {"race": "ab"}, r"^`levels\['race'\]` must list"),
        ("a number", {"race": 3}, r"^`levels\['race'\]` must list"),
        ("nothing", {"race": None}, r"^`levels\['race'\]` must list"),
        ("values of nobody", {"race": ["z"]}, r"^`levels\['race'\]` must hold at least one value"),
        ("NaN", {"race": ["a", "b", NAN]}, r"^`levels\['race'\]` must not hold NaN"),
        ("infinity", {"race": ["a", "b", INF]}, r"^`levels\['race'\]` must not hold"),
        ("lists", {"race": ["a", "b", ["c"]]}, r"^`levels\['race'\]` must (list|hold)"),
        ("dictionaries", {"race": ["a", "b", {}]}, r"^`levels\['race'\]` must (list|hold)"),
        ("arrays", {"race": ["a", "b", np.zeros(2)]}, r"^`levels\['race'\]` must (list|hold)"),
        ("a set", {"race": {"a", "b"}}, r"^`levels\['race'\]` must list"),
        ("masked", {"race": np.ma.array(["a", "b"], mask=[0, 1])},
         r"^`levels\['race'\]` must not have masked"),
        ("none", {"race": []}, r"^`levels\['race'\]` must hold at least one value"),
        ("two dimensions", {"race": [["a", "b"]]}, r"^`levels\['race'\]` must list"),
    )
] + [
    Kind("audit levels", "without a model", lambda: given(levels={"race": ["a", "b"]}),
         "^`levels` needs `model`"),
    Kind("audit levels", "a level more", lambda: statistic(levels={"race": ["a", "b", "c"]}),
         right=SWAPPED),
    Kind("audit levels", "a number beside text", lambda: statistic(
        levels={"race": ["a", "b", 3]}), right=SWAPPED),
    Kind("audit levels", "an array", lambda: statistic(levels={"race": np.array(["b", "a"])}),
         right=SWAPPED),
    Kind("audit levels", "twice the same", lambda: statistic(levels={"race": ["a", "a", "b"]}),
         right=SWAPPED),
    Kind("audit levels", "a tuple", lambda: statistic(levels={"race": ("a", "b")}), right=SWAPPED),
    Kind("audit levels", "a missing one", lambda: statistic(
        levels={"race": ["a", "b", None]}, missing="level"), right=SWAPPED),
]  # fmt: skip

TARGETS = [
    Kind("audit targets", what, lambda v=value: audit(targets=v), "^`targets` must be a da")
    for what, value in NO_FRAMES.items()
    if what != "nothing"
] + [
    Kind("overlap", what, lambda v=value: audit().overlap(v), "^`train` must be a da")
    for what, value in NO_FRAMES.items()
    if what != "nothing"
] + [
    Kind("audit targets", "no rows", lambda: audit(targets=POINTS[:0]), "must have at least one row",
         DataError),
    Kind("audit targets", "columns lacking", lambda: audit(targets=POINTS[["race"]]),
         "^`targets` must have all audited columns, but lacks"),
    Kind("audit targets", "an absent file", lambda: audit(targets="no.csv"),
         "^there is no .*file .* for `targets`"),
    Kind("audit targets", "missing values", lambda: audit(
        targets=with_column("age", [NAN] + [20] * 7)), "^the column 'age' must not have missing",
        DataError),
    Kind("audit targets", "infinite values", lambda: audit(
        targets=with_column("age", [INF] + [20] * 7)), "^the column 'age' must hold finite",
        DataError),
    Kind("audit targets", "text for numbers", lambda: audit(
        targets=with_column("age", list("abcdefgh"))), "^the column 'age' must be", DataError),
    Kind("overlap", "columns lacking", lambda: audit().overlap(POINTS[["race"]]), "^`train` must"),
    Kind("overlap", "an absent file", lambda: audit().overlap("no.csv"), "^there is no file .* for `train`"),
    Kind("audit targets", "of another library", lambda: statistic(targets=pl.from_pandas(POINTS)),
         right=SWAPPED),
    Kind("audit targets", "with further columns", lambda: statistic(
        targets=POINTS.assign(more=1)), right=SWAPPED),
    Kind("audit targets", "other number types", lambda: statistic(
        targets=POINTS.astype({"age": float, "good": np.int8})), right=SWAPPED),
]  # fmt: skip

MANY = [
    Kind("audit X", "twenty thousand levels of a feature", lambda: statistic(
        pd.DataFrame({"race": ["a", "b"] * 10_000, "age": np.arange(20_000) // 2, "good": 1}),
        model=lambda x: (x["race"] == "a").astype(int), levels={"race": ["a", "b"]}), right=0.5),
    Kind("audit sensitive_features", "more twins than can be asked about", lambda: audit(
        pd.DataFrame({f"s{at}": 7 * np.arange(60) for at in range(5)} | {"good": [0, 1] * 30}),
        sensitive_features=[f"s{at}" for at in range(5)],
        model=lambda x: np.zeros(len(x), int)), "^`sensitive_features` have"),
]  # fmt: skip

RARE = {
    "string views": pa.array(list("abcdefgh")).cast(pa.string_view()),
    "binary views": pa.array([b"a", b"b"] * 4).cast(pa.binary_view()),
    "run ends": pa.RunEndEncodedArray.from_arrays([4, 8], [1, 2]),
    "uuids": pa.ExtensionArray.from_storage(pa.uuid(), pa.array([b"0" * 16] * 8, pa.binary(16))),
}
RARE_TYPES = [
    Kind("audit X", f"Arrow {what}", lambda v=value: audit(
        pa.Table.from_pandas(POINTS, preserve_index=False).append_column("more", v)),
        "must have types that pyarrow can group by", DataError)
    for what, value in RARE.items()
] + [
    Kind("audit X", "integers of 128 bits", lambda: audit(
        pl.from_pandas(POINTS).with_columns(more=pl.Series([1, 2**100] * 4, dtype=pl.Int128))),
        "must have types that polars can group by", DataError),
    Kind("audit X", "a signalling NaN", lambda: audit(
        with_column("more", [Decimal("sNaN"), Decimal(1)] * 4)),
        "must have types that pandas can group by", DataError),
    Kind("audit bins", "a million edges", lambda: audit(
        bins={"age": np.linspace(0, 100, 10**6)}), "must have at most 1,000 edges"),
]  # fmt: skip

KINDS = [*RARE_TYPES, *FRAMES, *NAMES, *FEATURE_VALUES, *CHOSEN, *LABELS, *GIVEN, *COUNTS, *BINS, *LEVELS,
         *TARGETS, *MANY]  # fmt: skip
