"""Similarities: what they are made of, what they are fitted on, what they do in an audit."""

import io
import zipfile

import numpy as np
import pandas as pd
from scipy.sparse import csr_array, save_npz

from fairtransport import DataError, InputError
from fairtransport.similarity import (
    ComparableGroups,
    ComparablePairs,
    Custom,
    IgnoreSensitive,
    MixedTabular,
    Precomputed,
    SensitiveSubspace,
    load_precomputed,
    similarity_from_settings,
)
from tests.campaign.kinds import Kind, folder
from tests.campaign.people import POINTS, SWAPPED, audit, statistic
from tests.campaign.values import NO_NUMBERS, NO_WHOLE_NUMBERS

INF, NAN = float("inf"), float("nan")
RNG = np.random.default_rng(0)
HISTORY = pd.DataFrame({
    "race": ["a", "b"] * 20, "age": RNG.integers(20, 60, 40), "pay": RNG.normal(size=40),
})  # fmt: skip


def compared(similarity, **changed):
    return audit(similarity=similarity, **changed)


def custom(function, **settings):
    return audit(similarity=Custom(function, **settings)).statistic


def same_age(first, second):
    """Nobody is comparable with people of another age."""
    return np.where(np.asarray(first["age"]) == np.asarray(second["age"]), 0.0, np.inf)


def matrix_of(costs, points=None, **changed):
    frame = POINTS[["age"]].drop_duplicates() if points is None else points
    return audit(similarity=Precomputed(costs, frame), **changed).statistic


def npz(name, content=None, **arrays):
    """Write a file of arrays, or of whatever bytes, and load it."""
    path = folder() / f"{name}.npz"
    if content is None:
        np.savez(path, **arrays)
    else:
        path.write_bytes(content)
    return load_precomputed(path, arrays.get("points"))


def halved():
    """Return half an archive."""
    buffer = io.BytesIO()
    np.savez(buffer, matrix=np.zeros((3, 3)))
    return buffer.getvalue()[:100]


def zip_of(**files):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in files.items():
            archive.writestr(f"{name}.npy", content)
    return buffer.getvalue()


def half_sparse():
    """Return a sparse archive without its indices."""
    buffer = io.BytesIO()
    np.savez(buffer, format=np.array(b"csr"), shape=np.array([3, 3]), data=np.zeros(3))
    return buffer.getvalue()


def edges(name, text):
    path = folder() / f"{name}.csv"
    path.write_text(text)
    return load_precomputed(path)


MADE = [
    Kind("IgnoreSensitive", f"tolerance: {what}",
         lambda v=given: IgnoreSensitive(tolerance={"age": v}), r"^`tolerance\['age'\]` must be")
    for what, given in (NO_NUMBERS | {"negative": -1, "nothing": None}).items()
] + [
    Kind("MixedTabular", f"{name}: {what}",
         lambda n=name, v=given: MixedTabular(**{n: {"age": v}}), rf"^`{name}\['age'\]` must be")
    for name in ("scales", "mismatch")
    for what, given in (NO_NUMBERS | {"negative": -1, "nothing": None}).items()
] + [
    Kind("MixedTabular", f"{name}: {what}", lambda n=name, v=given: MixedTabular(**{n: v}),
         f"^`{name}` must be")
    for name in ("default_scale", "default_mismatch")
    for what, given in (NO_NUMBERS | {"negative": -1}).items()
] + [
    Kind(made.__name__, f"penalty: {what}", lambda m=made, v=given: m(penalty=v),
         "^`penalty` must be")
    for made in (SensitiveSubspace, ComparablePairs)
    for what, given in (NO_NUMBERS | {"negative": -1, "nothing": None}).items()
] + [
    Kind("ComparableGroups", f"dimensions: {what}", lambda v=given: ComparableGroups(v),
         "^`dimensions` must be")
    for what, given in NO_WHOLE_NUMBERS.items()
] + [
    Kind(made.__name__, f"{name}: {what}", lambda m=made, n=name, v=given: m(**{n: v}),
         f"^`{name}` must")
    for made, name in (
        (IgnoreSensitive, "exact"), (MixedTabular, "exact"), (SensitiveSubspace, "features"),
        (SensitiveSubspace, "sensitive_features"), (ComparableGroups, "features"),
        (ComparablePairs, "features"), (IgnoreSensitive, "tolerance"), (MixedTabular, "scales"),
        (MixedTabular, "mismatch"),
    )
    for what, given in {
        "a number": 3, "a nested list": [["a"]], "a list with a number": ["a", 3],
        "twice the same": ["a", "a"],
    }.items()
] + [
    Kind("Custom", f"function: {what}", lambda v=given: Custom(v), "^`function` must be callable")
    for what, given in {"a number": 3, "text": "x", "nothing": None}.items()
] + [
    Kind("Custom", "takes something else", lambda: Custom(len, takes="pairs"), "^`takes` must be"),
    Kind("similarity", "a class", lambda: compared(IgnoreSensitive), "^`similarity` must be one"),
    Kind("similarity", "settings nobody knows",
         lambda: similarity_from_settings("ignore-sensitive", {"tolerence": 1}),
         "^`tolerence` must be a setting"),
    Kind("similarity", "one that is not fitted", lambda: compared(ComparableGroups()),
         "must be fitted first"),
    Kind("similarity", "a parameter that is none",
         lambda: IgnoreSensitive().set_params(exakt=["race"]), "^`exakt` must be a parameter"),
]  # fmt: skip

ASKED = [
    Kind("IgnoreSensitive", what, lambda s=made: compared(s()), says)
    for what, made, says in (
        ("exact in an unknown column", lambda: IgnoreSensitive(exact=["height"]), "^`exact` must n"),
        ("a tolerance of text", lambda: IgnoreSensitive(tolerance={"race": 1}), "^`tolerance` must"),
        ("a tolerance of the label", lambda: IgnoreSensitive(tolerance={"good": 1}), "^`tolerance`"),
    )
] + [
    Kind("MixedTabular", what, lambda s=made: compared(s()), says)
    for what, made, says in (
        ("a column without a price", MixedTabular, r"^`scales\['age'\]` must be given"),
        ("a scale of text", lambda: MixedTabular(scales={"age": 1, "race": 1}), r"^`scales\["),
        ("an unknown column", lambda: MixedTabular(scales={"height": 1}), "^`scales` must name"),
        ("a column twice", lambda: MixedTabular(scales={"age": 1}, exact=["age"]), "must name a col"),
        ("a scale that makes people equal", lambda: MixedTabular(scales={"age": 1e150}),
         r"^`scales\['age'\]` must"),
        ("a scale that makes people endlessly far",
         lambda: MixedTabular(scales={"age": 1e-150}), r"^`scales\['age'\]` must"),
    )
] + [
    Kind("MixedTabular", "twenty thousand levels at a price", lambda: audit(
        pd.DataFrame({"race": ["a", "b"] * 10_000, "good": 1,
                      "zip": [f"z{at}" for at in range(20_000)]}),
        model=lambda x: (x["race"] == "a").astype(int), levels={"race": ["a", "b"]},
        similarity=MixedTabular(mismatch={"zip": 1})),
        "^the column 'zip' has 20,000 values in 40,000 different rows, more than", DataError),
    Kind("MixedTabular", "far apart", lambda: statistic(
        similarity=MixedTabular(scales={"age": 1e-90})), right=SWAPPED),
    Kind("MixedTabular", "close together", lambda: statistic(
        similarity=MixedTabular(scales={"age": 1e90})), right=SWAPPED),
    Kind("MixedTabular", "half of the people from 20 to 30", lambda: statistic(
        similarity=MixedTabular(scales={"age": 10}), budget=0.25 * 1.0,
        model=lambda x: ((x["race"] == "a") & (x["age"] == 40)).astype(int)),
        right=0.125 + 0.25 / 4),
    Kind("MixedTabular", "an exact column", lambda: statistic(
        similarity=MixedTabular(exact=["age"])), right=SWAPPED),
    Kind("IgnoreSensitive", "exact in all", lambda: statistic(
        similarity=IgnoreSensitive(exact=["race"])), right=0.0),
    Kind("IgnoreSensitive", "a tolerance of everything", lambda: statistic(
        similarity=IgnoreSensitive(tolerance={"age": 1e300})), right=4 / 8),
]  # fmt: skip

CUSTOM = [
    Kind("Custom", what, lambda f=function: custom(f), says)
    for what, function, says in (
        ("raises", lambda a, b: 1 / 0, r"^`function\(first, second\)` failed: ZeroDivisionError"),
        ("raises at length", lambda a, b: a["x" * 5000], r"^`function\(first, second\)` failed"),
        ("gives NaN", lambda a, b: np.full(len(a), NAN), "must be >= 0"),
        ("gives negative costs", lambda a, b: np.full(len(a), -1.0), "must be >= 0"),
        ("gives text", lambda a, b: ["1"] * len(a), "must be numeric"),
        ("gives complex numbers", lambda a, b: np.full(len(a), 1j), "must be numeric"),
        ("gives nothing", lambda a, b: None, "must have shape|must be numeric"),
        ("gives one number", lambda a, b: 1.0, "must have shape"),
        ("gives a table", lambda a, b: np.zeros((len(a), 2)), "must have shape"),
        ("gives ragged lists", lambda a, b: [[1], [1, 2]] * (len(a) // 2), "must be numeric"),
        ("gives masked numbers", lambda a, b: np.ma.masked_equal(np.zeros(len(a)), 0), "masked"),
        ("gives too large numbers", lambda a, b: np.full(len(a), 1e250), "between"),
        ("takes one argument", lambda a: a, r"^`function\(first, second\)` failed: TypeError"),
    )
] + [
    Kind("Custom", f"of rows, {what}", lambda f=function: custom(f, takes="rows"), says)
    for what, function, says in (
        ("raises", lambda a, b: 1 / 0, r"^`function\(first, second\)` failed: ZeroDivisionError"),
        ("gives text", lambda a, b: "1", "must be numeric"),
        ("gives nothing", lambda a, b: None, "must be >= 0|must be numeric"),
        ("gives a list", lambda a, b: [1.0], "must have shape"),
        ("gives complex numbers", lambda a, b: 1j, "must be numeric"),
        ("asks for an absent column", lambda a, b: a["x"], r"second\)` failed: KeyError"),
    )
] + [
    Kind("Custom", "frames", lambda: custom(same_age), right=SWAPPED),
    Kind("Custom", "truth values", lambda: custom(
        lambda a, b: np.asarray(a["age"]) != np.asarray(b["age"])), right=SWAPPED),
    Kind("Custom", "rows", lambda: custom(
        lambda a, b: 0 if a["age"] == b["age"] else np.inf, takes="rows"), right=SWAPPED),
]  # fmt: skip


def fitted(made, *data):
    return made().fit(*data)


FITS = [
    Kind(f"{name} fit", what, lambda m=made, d=data: fitted(m, *d), says, error)
    for name, made, more in (
        ("SensitiveSubspace", lambda: SensitiveSubspace(["race"]), ()),
        ("ComparableGroups", ComparableGroups, ([0, 1] * 20,)),
    )
    for what, data, says, error in (
        ("a number", (3, *more), "^`X` must be an eager data frame", InputError),
        ("an array", (np.zeros((4, 2)), *more), "^`X` must be an eager data frame", InputError),
        ("an absent file", ("no.csv", *more), "^there is no .*file .* for `X`", InputError),
        ("no rows", (HISTORY[:0], *((more[0][:0],) if more else ())), "must have at least one row",
         DataError),
        ("NaN", (HISTORY.assign(pay=[NAN, *HISTORY["pay"][1:]]), *more),
         "^the column 'pay' must not have missing", DataError),
        ("infinity", (HISTORY.assign(pay=[INF, *HISTORY["pay"][1:]]), *more),
         "^the column 'pay' must hold finite", DataError),
        ("complex numbers", (HISTORY.assign(pay=HISTORY["pay"] + 0j), *more),
         "^the column 'pay' must hold", DataError),
        ("lists", (HISTORY.assign(pay=[[1]] * 40), *more), "^the column 'pay' must hold single",
         DataError),
    )
] + [
    Kind("SensitiveSubspace fit", what, lambda m=made, d=data: fitted(m, d), says)
    for what, made, data, says in (
        ("an unknown sensitive column", lambda: SensitiveSubspace(["sex"]), HISTORY, "^`X` must hav"),
        ("an unknown feature", lambda: SensitiveSubspace(["race"], ["x"]), HISTORY, "^`X` must hav"),
        ("no sensitive column", SensitiveSubspace, HISTORY, "^`sensitive_features` must"),
        ("nothing but it", lambda: SensitiveSubspace(["race"]), HISTORY[["race"]], "^`features` mus"),
        ("a constant", lambda: SensitiveSubspace(["race"]), HISTORY.assign(race="a"),
         "^`sensitive_features` must vary"),
    )
] + [
    Kind(f"{name} fit", f"numbers times {factor:g}", lambda m=made, f=factor, d=more: np.linalg.norm(
        fitted(m, HISTORY.assign(pay=HISTORY["pay"] * f), *d).directions_
        - fitted(m, HISTORY, *d).directions_), right=0.0)
    for name, made, more in (
        ("SensitiveSubspace", lambda: SensitiveSubspace(["race"]), ()),
        ("ComparableGroups", ComparableGroups, ([0, 1] * 20,)),
    )
    for factor in (2.0**600, 2.0**-600)
] + [
    Kind("SensitiveSubspace fit", "infinity in the sensitive column", lambda: SensitiveSubspace(
        ["pay"]).fit(HISTORY.assign(pay=[INF, *HISTORY["pay"][1:]])),
        "^the column 'pay' must hold finite", DataError),
] + [
    Kind("ComparableGroups fit", f"groups: {what}", lambda v=given: ComparableGroups().fit(
        HISTORY, v), says, error)
    for what, given, says, error in (
        ("too few", [0, 1], "^`y` must have one group per row", InputError),
        ("a number", 3, "^`y` must have one group per row", InputError),
        ("unknown", "club", "^`X` must have the column 'club'", InputError),
        ("NaN", [NAN] * 40, "^`y` must not have missing groups", DataError),
        ("nothing", [None] * 40, "^`y` must not have missing groups", DataError),
        ("ragged", [[1], [1, 2]] * 20, "^`y` must", InputError),
        ("lists", pd.Series([[1]] * 40), "^`y` must", InputError),
        ("masked", np.ma.array([0] * 40, mask=True), "^`y` must not have masked", InputError),
        ("one for each", list(range(40)), "^`dimensions` must be at most 0", DataError),
    )
] + [
    Kind("ComparablePairs fit", what, lambda x=pairs, y=judged: ComparablePairs().fit(x, y), says,
         error)
    for what, pairs, judged, says, error in (
        ("one frame", HISTORY, [1] * 40, "^`X` must be two data frames", InputError),
        ("three frames", (HISTORY,) * 3, [1] * 40, "^`X` must be two data frames", InputError),
        ("unequal lengths", (HISTORY, HISTORY[:3]), [1] * 40, "^`X` must be two data frames of eq",
         InputError),
        ("twos", (HISTORY, HISTORY[::-1]), [2] * 40, "^`y` must be 0 or 1", InputError),
        ("too few", (HISTORY, HISTORY[::-1]), [1], "^`y` must be 0 or 1", InputError),
        ("NaN", (HISTORY, HISTORY[::-1]), [NAN] * 40, "^`y` must be 0 or 1", InputError),
        ("ragged", (HISTORY, HISTORY[::-1]), [[1], [1, 0]] * 20, "^`y` must be 0 or 1", InputError),
        ("masked", (HISTORY, HISTORY[::-1]), np.ma.array([1] * 40, mask=True),
         "^`y` must not have masked", InputError),
        ("text", (HISTORY, HISTORY[::-1]), ["1"] * 40, "^`y` must be 0 or 1", InputError),
        ("equal but apart", (HISTORY, HISTORY), [0] * 40, "^pairs of equal people must", DataError),
        ("infinity", (HISTORY, HISTORY.assign(pay=INF)), [1] * 40, "^the column 'pay' must hold fin",
         DataError),
        ("NaN in one", (HISTORY, HISTORY.assign(pay=NAN)), [1] * 40,
         "^the column 'pay' must not have missing", DataError),
        ("a number for a frame", (HISTORY, 3), [1] * 40, "^`X` must be an eager", InputError),
        ("other columns", (HISTORY, HISTORY[["age"]]), [1] * 40, "^`X` must have the column",
         InputError),
    )
]  # fmt: skip

THREE = 1.0 - np.eye(3)
MATRICES = [
    Kind("Precomputed", what, lambda v=given: matrix_of(v), says)
    for what, given, says in (
        ("text", [["0"]], "^`costs` must be numeric"), ("a number", 3, "^`costs` must have shape"),
        ("NaN", THREE * NAN, "^`costs` must be >= 0"), ("negative", -THREE, "^`costs` must be >= 0"),
        ("not square", THREE[:2], "^`costs` must be square"),
        ("complex", THREE * 1j, "^`costs` must be numeric"), ("nothing", None, "^`costs` must"),
        ("a diagonal", np.ones((3, 3)), "^`costs` must be 0 on the diagonal"),
        ("masked", np.ma.masked_equal(THREE, 1), "^`costs` must not have masked"),
    )
] + [
    Kind("Precomputed", what, lambda v=given: matrix_of(THREE, v), says, error)
    for what, given, says, error in (
        ("points that are none", 3, "^`points` must be an eager data frame", InputError),
        ("too few points", POINTS[["age"]][:1], "^`points` must", InputError),
        ("points twice", POINTS[["age"]][:3], "^`points` must have each row once", InputError),
        ("points of other columns", pd.DataFrame({"height": [1, 2, 3]}), "^`points` must",
         InputError),
        ("points that lack people", pd.DataFrame({"age": [1, 2, 3]}), "^the matrix lacks 8 of",
         DataError),
        ("points of lists", pd.DataFrame({"age": [[1], [2], [3]]}), "must hold single values",
         DataError),
        ("points without columns", pd.DataFrame(index=range(3)), "^`points` must", InputError),
    )
] + [
    Kind("Precomputed", "dense", lambda: matrix_of(THREE), right=SWAPPED),
    Kind("Precomputed", "sparse", lambda: matrix_of(csr_array((3, 3))), right=SWAPPED),
    Kind("Precomputed", "infinite", lambda: matrix_of(
        np.where(np.eye(3) == 1, 0, INF)), right=SWAPPED),
] + [
    Kind("load_precomputed", what, call, says, error)
    for what, call, says, error in (
        ("an absent file", lambda: load_precomputed("no.npz"), "^there is no file .* for `path`",
         InputError),
        ("a number", lambda: load_precomputed(3), "^`path` must be", InputError),
        ("nothing", lambda: load_precomputed(None), "^`path` must be", InputError),
        ("a folder", lambda: load_precomputed("."), "^`path` must be", InputError),
        ("no archive", lambda: npz("none", b"no archive"), "^the file 'none.npz' could not be read",
         DataError),
        ("an empty file", lambda: npz("empty", b""), "^the file 'empty.npz' could not be", DataError),
        ("half an archive", lambda: npz("half", halved()), "^the file 'half.npz' could not be",
         DataError),
        ("an archive of text", lambda: npz("text", zip_of(matrix="no")),
         "^the array 'matrix' of 'text.npz' must be numeric", DataError),
        ("an archive of nothing", lambda: npz("nought", zip_of()),
         "^'nought.npz' must hold the array 'matrix'", DataError),
        ("objects", lambda: npz("objects", matrix=np.array([[None]])),
         "^the file 'objects.npz' could not be read", DataError),
        ("no matrix", lambda: npz("other", costs=THREE), "^'other.npz' must hold the array",
         DataError),
        ("nobody", lambda: npz("nobody", matrix=THREE), "^`points` must be given", InputError),
        ("too few people", lambda: npz("few", matrix=THREE, age=np.arange(2)),
         "^'age' must have one value", DataError),
        ("half a sparse matrix", lambda: npz("sparse", half_sparse()),
         "^the file 'sparse.npz' could not be read", DataError),
        ("a single array", lambda: (np.save(folder() / "one.npy", THREE),
                                    load_precomputed(folder() / "one.npy")), "^`path` must be",
         InputError),
        ("edges without a cost", lambda: edges("e1", "age_from,age_to\n1,2\n"),
         "^'e1.csv' must have the column cost", DataError),
        ("edges one way", lambda: edges("e2", "age_from,cost\n1,2\n"), "^'e2.csv' must have the co",
         DataError),
        ("edges twice", lambda: edges("e3", "age_from,age_to,cost\n1,2,1\n1,2,3\n"),
         "^'e3.csv' must list an edge once", DataError),
        ("edges at a price of text", lambda: edges("e4", "age_from,age_to,cost\n1,2,cheap\n"),
         "cost", DataError),
        ("edges without any", lambda: edges("e5", "age_from,age_to,cost\n"), "at least one row",
         DataError),
        ("edges at no price", lambda: edges("e6", "age_from,age_to,cost\n1,2,\n3,4,1\n"), "cost",
         DataError),
    )
] + [
    Kind("load_precomputed", "its own sparse matrix", lambda: (
        save_npz(folder() / "own.npz", csr_array(THREE)),
        load_precomputed(folder() / "own.npz", POINTS[["age"]].drop_duplicates()).matrix.sum())[1],
        right=6.0),
]  # fmt: skip

KINDS = [*MADE, *ASKED, *CUSTOM, *FITS, *MATRICES]
