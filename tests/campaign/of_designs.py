"""Clusters, weights, controls, counterparts, sets of columns, orders of labels and prompts."""

from decimal import Decimal
from functools import partial

import numpy as np
import pandas as pd

import fairtransport as ft
from fairtransport import Clusters, Controls, DataError, Weights
from fairtransport.access import prompt
from fairtransport.similarity import Counterparts
from tests.campaign.kinds import Kind
from tests.campaign.people import SWAPPED, audit, given
from tests.campaign.values import NO_NUMBERS, NO_WHOLE_NUMBERS

DESIGN = pd.DataFrame({
    "race": ["a", "b"] * 4, "age": [20, 20, 20, 20, 30, 30, 40, 40],
    "day": ["mo", "tu"] * 2 + ["tu", "mo"] * 2, "good": [1, 1, 0, 0, 1, 1, 0, 0],
    "house": [1, 1, 2, 2, 3, 3, 4, 4], "weight": [1.0, 2.0] * 4, "gap": [None, *"bcdefgh"],
})  # fmt: skip
FEATURES = ["race", "age", "day"]
NO_COLUMN = "must be a column's name or an ft."
NOT_FREE = "must not name the same column"


def designed(**changed):
    """Audit people with houses, weights and days."""
    replaced = {name: changed.pop(name) for name in [*changed] if name in DESIGN}
    frame = DESIGN.assign(**{name: pd.Series(values) for name, values in replaced.items()})
    frame = pd.concat([frame] * changed.pop("times", 1), ignore_index=True)
    return audit(frame, **{"features": FEATURES, "delta": 0.05} | changed)


def objects(*values):
    """Return eight values of any types."""
    return pd.Series([*values, *[1.0] * (8 - len(values))], dtype=object)


def kinds(entry, rows):
    """Return the kinds of an entry, each from its changes and its sentence."""
    return [
        Kind(entry, what, partial(designed, **changes), says, *error)
        for what, (changes, says, *error) in rows.items()
    ]


def weighted(*values, **changes):
    return {"weight": objects(*values), "sample_weight": "weight", **changes}


CLUSTERS = kinds("audit clusters", {
    "a number": ({"clusters": 3}, f"^`clusters` {NO_COLUMN}Clusters, got 3"),
    "a list": ({"clusters": ["house"]}, f"^`clusters` {NO_COLUMN}Clusters"),
    "an array": ({"clusters": np.array(["house"])}, f"^`clusters` {NO_COLUMN}Clusters"),
    "bytes": ({"clusters": b"house"}, f"^`clusters` {NO_COLUMN}Clusters"),
    "weights": ({"clusters": Weights("weight")}, f"^`clusters` {NO_COLUMN}Clusters, got Weights"),
    "no name": ({"clusters": ""}, "^`clusters` must be a column's name, got ''"),
    "a table without a column": ({"clusters": {"largest": 3}}, "must be a column's name, got None"),
    "a table with more": ({"clusters": {"column": "house", "x": 1}}, "^`clusters` must be one of"),
    "an unknown column": ({"clusters": "home"}, "^`clusters` must name columns of the data"),
    "the label": ({"clusters": "good"}, f"^`clusters` and `y` {NOT_FREE}, got 'good'"),
    "a sensitive feature": ({"clusters": "race"}, f"^`sensitive_features` and `clusters` {NOT_FREE}"),
    "a feature": ({"clusters": "age"}, f"^`features` and `clusters` {NOT_FREE}, got 'age'"),
    "a column with gaps": ({"clusters": "gap"}, "^`clusters` must name .* without missing", DataError),
    "one cluster": ({"clusters": "house", "house": [1] * 8}, "^`clusters` .* two values", DataError),
    "lists": ({"clusters": "house", "house": [[1]] * 8}, "must hold single values", DataError),
    "signalling NaN": ({"clusters": "house", "house": objects(Decimal("sNaN"))},
                       "must have types that pandas can group by", DataError),
    "another method": ({"clusters": "house", "method": "efron"}, "^`clusters` must not be given with"),
    "with draws": ({"clusters": "house", "queries": ft.Queries(draws=2)}, "^`clusters` must not be"),
    "that are the weights": ({"clusters": "weight", "sample_weight": "weight"},
                             "^`sample_weight` and `clusters` must not name the same column"),
    "a target that is none": ({"clusters": {"column": "house", "target": "rows"}},
                              "^`clusters.target` must be one of"),
    "smaller than they are": ({"clusters": Clusters("house", largest=1)},
                              "^`clusters.largest` must be at least the size", DataError),
}) + [
    Kind("Clusters largest", what, partial(Clusters, "house", value), "^`clusters.largest` must be a")
    for what, value in (NO_WHOLE_NUMBERS | {"endless": 10**400}).items() if value is not None
] + [
    Kind("audit clusters", "of one person each",
         lambda: designed(clusters="house", house=range(8)).statistic, right=SWAPPED),
    Kind("audit clusters", "of values of several types",
         lambda: designed(clusters="house", house=objects("1", 1, not 0)).statistic, right=SWAPPED),
    Kind("audit clusters", "with a lone surrogate",
         lambda: designed(clusters="house", house=objects("\ud800", "x")).statistic, right=SWAPPED),
    Kind("audit clusters", "endless by declaration",
         lambda: designed(clusters=Clusters("house", largest=10**15)).statistic, right=SWAPPED),
    Kind("audit clusters", "shared", lambda: designed(clusters="house").document(share=5),
         "^`share` is for independent people"),
    Kind("audit clusters", "as a pilot", lambda: designed(clusters="house").as_pilot(),
         "^`pilot` must be an audit of independent people"),
]  # fmt: skip
WEIGHTS = kinds("audit sample_weight", {
    "an array": ({"sample_weight": np.ones(8)}, f"^`sample_weight` {NO_COLUMN}Weights"),
    "a table without a column": ({"sample_weight": {"largest": 3}}, "must be a column's name, got N"),
    "an unknown column": ({"sample_weight": "mass"}, "^`sample_weight` must name columns"),
    "the label": ({"sample_weight": "good"}, f"^`sample_weight` and `y` {NOT_FREE}"),
    "zero": (weighted(0.0), "^`sample_weight` must be finite numbers above 0", DataError),
    "negative": (weighted(-1.0), "^`sample_weight` must be finite numbers above 0", DataError),
    "NaN": (weighted(np.nan), "^`sample_weight` must be finite numbers above 0", DataError),
    "infinite": (weighted(np.inf), "^`sample_weight` must be finite numbers above 0", DataError),
    "nothing": (weighted(None), "^`sample_weight` must be finite numbers above 0", DataError),
    "1e300": (weighted(1e300), "from 1e-50 to 1e.50; 1 rows of 'weight' break", DataError),
    "1e-300": (weighted(1e-300), "from 1e-50 to 1e.50; 1 rows of 'weight' break", DataError),
    "text": (weighted("2"), "^`sample_weight` must name a column of numbers .* holds '2'", DataError),
    "a decimal": (weighted(Decimal(2)), "must name a column of numbers .* holds Dec", DataError),
    "a truth value": (weighted(not 0), "^`sample_weight` must name a column of numbers", DataError),
    "a complex number": (weighted(1j), "^`sample_weight` must name a column of numbers", DataError),
    "an unbounded integer": (weighted(10**400), "must name a column of numbers", DataError),
    "signalling NaN": (weighted(Decimal("sNaN")), "must have types that pandas can", DataError),
    "larger than declared": ({"sample_weight": Weights("weight", largest=1.5)},
                             "^`sample_weight.largest` must be at least every weight", DataError),
    "with counterparts": ({"sample_weight": "weight", "similarity": "counterparts"},
                          "^`sample_weight` must be left out with the similarity"),
}) + [
    Kind("Weights largest", what, partial(Weights, "weight", value), "^`sample_weight.largest` must")
    for what, value in (NO_NUMBERS | {"zero": 0, "negative": -1, "1e308": 1e308}).items()
] + [
    Kind("audit sample_weight", what, lambda c=changes: designed(**c).statistic, right=right)
    for what, changes, right in (
        # of the two people who can be swapped into an error one has each weight
        ("from 1 to 2", {"sample_weight": "weight"}, 3 / 12),
        ("from 1e-40 to 1e40", {"sample_weight": "weight", "weight": [1e-40, 1e40] * 4}, 1 / 4),
        ("whole numbers", {"sample_weight": "weight", "weight": [1, 2] * 4}, 3 / 12),
    )
]  # fmt: skip
CONTROLS = kinds("audit controls", {
    "a number": ({"controls": 3}, "^`controls` must list columns or be an ft.Controls, got 3"),
    "bytes": ({"controls": b"day"}, "^`controls` must list columns or be"),
    "a set": ({"controls": {"day"}}, "^`controls` must list columns or be"),
    "a table": ({"controls": {"columns": ["day"]}}, "^`controls` must list columns or be"),
    "an iterator": ({"controls": iter(["day"])}, "^`controls` must list columns or be"),
    "none": ({"controls": []}, "^`controls` must list names of columns, each once"),
    "nothing in a list": ({"controls": [None]}, "^`controls` must list names of columns, each"),
    "names twice": ({"controls": ["day", "day"]}, "^`controls` must list names of columns, each"),
    "a nested list": ({"controls": [["day"]]}, "^`controls` must list names of columns, each"),
    "an unknown column": ({"controls": ["week"]}, "^`controls` must name columns that the model"),
    "the label": ({"controls": ["good"]}, "^`controls` must name columns that the model"),
    "a sensitive feature": ({"controls": ["race"]}, "^`controls` must not hold sensitive"),
    "a column of a set": ({"controls": ["day"], "together": [["race", "day"]]},
                          "^`controls` must not hold sensitive"),
    "one value": ({"controls": ["day"], "day": ["mo"] * 8}, "of two values or more", DataError),
    "with draws": ({"controls": ["day"], "queries": ft.Queries(draws=2)},
                   "^`controls` must not be given with"),
    "with weights as given": ({"controls": ["day"], "sample_weight": "weight"},
                              "^`controls` needs sizes of `clusters` and weights with a declared"),
}) + [
    Kind("Controls margin", what, partial(Controls, ["day"], value), "^`controls.margin` must be a")
    for what, value in (NO_NUMBERS | {"negative": -0.1, "nothing": None}).items()
] + [
    Kind("audit controls", "without a model",
         lambda: given(controls=["age"], delta=0.1), "^`controls` needs a `model` to query"),
    Kind("audit controls", "by a name", lambda: designed(controls="day").statistic, right=SWAPPED),
    Kind("audit controls", "more than can be",
         lambda: designed(controls=Controls(["day"], margin=5)).statistic, right=SWAPPED),
    Kind("audit controls", "without a limit",
         lambda: designed(controls=["day"], delta=None).statistic, right=SWAPPED),
]  # fmt: skip
COUNTERPARTS = [
    Kind("Counterparts", what,
         lambda c=changes, t=10 if changes else 1: designed(similarity=Counterparts(**c), times=t),
         says)
    for what, changes, says in (
        ("an unknown column", {"legitimate": ["x"]}, "^`legitimate` must name columns"),
        ("a sensitive one", {"legitimate": ["race"]}, "^`legitimate` must not hold sensitive"),
        ("a number", {"legitimate": 3}, "^`legitimate` must be distinct column names, got 3"),
        ("names twice", {"legitimate": ["age", "age"]}, "^`legitimate` must be distinct column"),
        ("all columns", {"legitimate": ["age", "day"]}, "^`legitimate` must leave columns that"),
        ("nobody to fit on", {"fit_share": 0}, "^`fit_share` must be a number above 0 and below 1"),
        ("nobody to audit", {"fit_share": 1}, "^`fit_share` must be a number above 0 and below 1"),
        ("a share that is text", {"fit_share": "0.5"}, "^`fit_share` must be a number above 0"),
        ("eight people", {}, "^`fit_share` must leave at least 20 people"),
    )
] + kinds("audit counterparts", {
    what: ({"similarity": "counterparts", **changes}, says)
    for what, changes, says in (
        ("a budget", {"budget": 0.1}, "^`budget` must be 0 with the similarity"),
        ("levels", {"levels": {"race": ["a", "b"]}}, "^`levels` must be left out"),
        ("targets", {"targets": DESIGN}, "^`targets` must be left out"),
        ("sets of columns", {"together": [["race", "day"]]}, "^`together` must be left out"),
        ("one group", {"race": ["a"] * 8, "times": 10}, "^`sensitive_features` must have two groups or more"),
    )
})  # fmt: skip
ONE_HOT = pd.DataFrame({
    "race_a": [1, 0] * 4, "race_b": [0, 1] * 4, "age": DESIGN["age"], "good": DESIGN["good"]
})  # fmt: skip


def coded(points):
    """Say yes to group a from 30 on, from 0/1 columns."""
    return ((points["race_a"] == 1) & (points["age"] >= 30)).astype(int)


def one_hot(**changed):
    replaced = {name: changed.pop(name) for name in [*changed] if name in ONE_HOT}
    settings = {"model": coded, "features": ["race_a", "race_b", "age"],
                "sensitive_features": ["race_a"], **changed}  # fmt: skip
    return audit(ONE_HOT.assign(**replaced), **settings)


SETS = [
    Kind("one-hot columns", what, lambda c=changes: one_hot(**c), says, *error)
    for what, changes, says, *error in (
        ("by the name of their feature", {"sensitive_features": "race"},
         "^`sensitive_features` must name columns"),
        ("with a gap", {"race_a": [np.nan, 0] * 4}, "must not have missing values", DataError),
        ("levels of one", {"levels": {"race_a": [0, 1]}}, "^`levels` must name sensitive"),
        ("half of them in a set", {"together": [["race_a", "age"]]},
         "^`together` must name all one-hot columns"),
    )
] + [
    Kind("one-hot columns", what, lambda c=changes: one_hot(**c).statistic, right=SWAPPED)
    for what, changes in {
        "plain": {}, "all named": {"sensitive_features": ["race_a", "race_b"]},
        "as floats": {"race_a": [1.0, 0.0] * 4}, "as truth values": {"race_a": [True, False] * 4},
    }.items()
] + kinds("audit together", {
    what: ({"together": value}, says)
    for what, value, says in (
        ("text", "race", "^`together` must list sets of columns"),
        ("a list of names", ["race", "day"], "^`together` must list sets of columns"),
        ("an empty set", [[]], "^`together` must list sets of columns"),
        ("nothing in a list", [None], "^`together` must list sets of columns"),
        ("numbers", [[1, 2]], "^`together` must list sets of columns"),
        ("an unknown column", [["race", "x"]], "^`together` must name columns of the data"),
        ("the label", [["race", "good"]], "^`together` must name columns of the data"),
        ("a column twice", [["race", "day"], ["race", "age"]], "^`together` must name each column"),
        ("no sensitive feature", [["age", "day"]], "^`together` must have a sensitive feature"),
        ("combinations of one", {("race", "day"): [("a",)]}, "must list combinations of 2 values"),
        ("combinations of nobody", {("race", "day"): [("x", "y")]}, "at least one combination that"),
        ("no combinations", {("race", "day"): []}, "must list at least one combination"),
        ("NaN", {("race", "day"): [(np.nan, "mo")]}, "must not hold NaN or infinity"),
    )
}) + [
    Kind("audit together", "a set of one",
         lambda: designed(together=[["race"]]).statistic, right=SWAPPED),
]  # fmt: skip
DECLARED = kinds("audit deterministic", {
    what: ({"deterministic": value}, "^`deterministic` must be True or False")
    for what, value in {"text": "yes", "one": 1, "zero": 0, "nothing": None, "a list": [True]}.items()
}) + [
    Kind("audit deterministic", "of a model that is asked", lambda: designed(deterministic=True),
         "^`deterministic` is for given predictions"),
    Kind("audit deterministic", "of answers that differ",
         lambda: given(deterministic=True, features=["race"]),
         "^`deterministic` must not be declared where equal people have"),
    Kind("audit deterministic", "a truth value of numpy",
         lambda: given(deterministic=np.bool_(1), features=["race", "age", "score"]),
         right=0.0),
] + kinds("audit favourable", {
    what: ({"favourable": value}, says)
    for what, value, says in (
        ("no labels", [], "^`favourable` must be a label, or all labels from worst to best"),
        ("a label twice", [1, 1], "^`favourable` must be .* each once, got"),
        ("a label too many", [0, 1, 2], "^`favourable` must be one of"),
        ("nothing in a list", [None, 1], "^`favourable` must be one of"),
        ("a nested list", [[0], [1]], "^`favourable` must be one of"),
        ("a set", {0, 1}, "^`favourable` must be one of"),
        ("a table", {0: 1}, "^`favourable` must be one of"),
        ("NaN", float("nan"), "^`favourable` must be one of"),
        ("signalling NaN", Decimal("sNaN"), "^`favourable` must be one of"),
        ("bytes", b"1", "^`favourable` must be one of"),
        ("a lone surrogate", "\ud800", "^`favourable` must be one of"),
        ("a series", pd.Series([0, 1]), "^`favourable` must be one of"),
    )
}) + [
    Kind("audit favourable", what, lambda v=value: designed(favourable=v).statistic, right=SWAPPED)
    for what, value in {"a tuple": (0, 1), "floats": [0.0, 1.0], "a number of numpy": np.int64(1),
                        "a truth value": True}.items()
]  # fmt: skip


def asked(template="{race}, {age}: yes or no?", url="http://127.0.0.1:1/v1", **changed):
    """Make a box of a prompt; nothing is asked."""
    return prompt(template, url, **{"answers": {"yes": 1, "no": 0}, "model": "m", **changed})


PROMPTS = [
    Kind("prompt", what, partial(asked, **changes), says)
    for what, changes, says in (
        ("no text", {"template": ""}, "^`template` must"),
        ("a number", {"template": 3}, "^`template` must"),
        ("no columns", {"template": "yes or no?"}, "^`template` must"),
        ("an open brace", {"template": "{race"}, "^`template` must"),
        ("a file as address", {"url": "file:///etc/passwd"}, "^`url` must"),
        ("no address", {"url": ""}, "^`url` must"),
        ("a password", {"url": "http://me:word@host/v1"}, "^`url` must"),
        ("no answers", {"answers": []}, "^`answers` must"),
        ("one answer", {"answers": ["yes"]}, "^`answers` must"),
        ("answers twice", {"answers": ["yes", "Yes"]}, "^`answers` must"),
        ("an empty answer", {"answers": ["yes", ""]}, "^`answers` must"),
        ("text for answers", {"answers": "yes"}, "^`answers` must"),
        ("a negative temperature", {"temperature": -1}, "^`temperature` must"),
        ("NaN as temperature", {"temperature": float("nan")}, "^`temperature` must"),
        ("no tokens", {"max_tokens": 0}, "^`max_tokens` must"),
        ("a seed that is text", {"seed": "1"}, "^`seed` must"),
        ("no timeout", {"timeout": 0}, "^`timeout` must"),
        ("a wording of another column", {"wording": {"sex": {"f": "she"}}}, "^`wording` must"),
        ("a wording that is text", {"wording": "she"}, "^`wording` must"),
        ("options that are text", {"options": "x"}, "^`options` must"),
        ("options of its own settings", {"options": {"messages": []}}, "^`options` must"),
        ("a constraint that is none", {"constrain": "magic"}, "^`constrain` must"),
    )
]  # fmt: skip

KINDS = [
    *CLUSTERS, *WEIGHTS, *CONTROLS, *COUNTERPARTS, *SETS, *DECLARED, *PROMPTS,
]  # fmt: skip
