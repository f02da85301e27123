"""DeltaFairSearch, faith_scorer, delta_fair_refit: settings and people."""

import numpy as np
import pandas as pd
from sklearn.tree import DecisionTreeClassifier

from fairtransport import InputError
from fairtransport.selection import DeltaFairSearch, delta_fair_refit, faith_scorer
from tests.campaign.kinds import Kind
from tests.campaign.values import NO_NUMBERS, NO_WHOLE_NUMBERS

RNG = np.random.default_rng(0)
PEOPLE = pd.DataFrame({"race": RNG.integers(2, size=60), "age": RNG.integers(4, size=60)})
HIRED = (PEOPLE["age"] > 1).astype(int)
GRID = {"max_depth": [1, 2]}


def search(X=PEOPLE, y=HIRED, estimator=None, grid=GRID, **changed):  # noqa: N803
    asked = {"sensitive_features": "race", "delta": 0.5, "random_state": 0} | changed
    tree = DecisionTreeClassifier(random_state=0) if estimator is None else estimator
    return DeltaFairSearch(tree, grid, **asked).fit(X, y)


def failing(*_):
    raise ZeroDivisionError


NUMBERS = [
    Kind(f"DeltaFairSearch {name}", what, lambda n=name, v=given: search(**{n: v}),
         f"^`{name}` must be")
    for name, more in (
        ("delta", {"negative": -1, "nothing": None, "percent": 5}),
        ("alpha", {"zero": 0, "one half": 0.5, "negative": -1, "nothing": None}),
        ("budget", {"negative": -1, "nothing": None}),
    )
    for what, given in (NO_NUMBERS | more).items()
] + [
    Kind(f"DeltaFairSearch {name}", what, lambda n=name, v=given: search(**{n: v}),
         f"^`{name}` must")
    for name in ("validation", "final")
    for what, given in (NO_NUMBERS | {"zero": 0, "one": 1, "negative": -1, "a triple": (1, 2, 3),
                                      "a ragged pair": (PEOPLE, [[1], [1, 2]]),
                                      "unequal lengths": (PEOPLE, [1, 0])}).items()
] + [
    Kind("DeltaFairSearch n_resamples", what, lambda v=given: search(n_resamples=v, method="efron"),
         "^`n_resamples` must be")
    for what, given in (NO_WHOLE_NUMBERS | {"a billion": 10**9}).items()
] + [
    Kind("DeltaFairSearch random_state", what, lambda v=given: search(random_state=v),
         "^`random_state` must be")
    for what, given in {"text": "1", "negative": -1, "a fraction": 1.5, "a truth value": True,
                        "a generator": np.random.default_rng(0), "unbounded": 10**400}.items()
] + [
    Kind(f"DeltaFairSearch {name}", what, lambda n=name, v=given: search(**{n: v}), says)
    for name, what, given, says in (
        ("rule", "text", "best", "^`rule` must be one of"),
        ("rule", "nothing", None, "^`rule` must be one of"),
        ("method", "text", "magic", "^`method` must be one of"),
        ("loss", "text", "pain", "^`loss` must be one of"),
        ("similarity", "text", "near", "^`similarity` must be one of"),
        ("refit", "text", "yes", "^`refit` must be True or False"),
        ("refit", "nothing", None, "^`refit` must be True or False"),
        ("audit_options", "a list", ["bins"], "^`audit_options` may only"),
        ("audit_options", "unknown", {"bin": 1}, "^`audit_options` may only"),
        ("sensitive_features", "unknown", "height", "^`sensitive_features` must hold names"),
        ("sensitive_features", "beyond the last", 7, "^`sensitive_features` must hold names"),
        ("sensitive_features", "nothing", None, "^`sensitive_features` must"),
        ("sensitive_features", "a fraction", 1.5, "^`sensitive_features` must"),
        ("sensitive_features", "none", [], "^`sensitive_features` must name at least"),
        ("levels", "a list", [0, 1], "^`levels` must map"),
        ("levels", "unknown", {"height": [1]}, "^`levels` must hold names"),
        ("levels", "NaN", {"race": [0, 1, float("nan")]}, r"^`levels\['race'\]` must not hold"),
        ("levels", "lists", {"race": [[0], [1]]}, r"^`levels\['race'\]` must list"),
        ("scoring", "text", "bestness", "^`scoring` must"),
        ("scoring", "a number", 3, "^`scoring` must"),
        ("scoring", "fails", failing, "^`scoring` failed: ZeroDivisionError"),
        ("scoring", "gives text", lambda *_: "good", "^`scoring` must be"),
        ("scoring", "gives NaN", lambda *_: np.nan, "^`scoring` must be"),
        ("scoring", "gives complex numbers", lambda *_: 1j, "^`scoring` must be"),
    )
] + [
    Kind("DeltaFairSearch", what, lambda g=given: search(grid=g), "^`param_grid` must")
    for what, given in {
        "a grid that is a number": 3, "a grid that is text": "x", "an empty list": [],
        "an unknown parameter": {"depth": [1]}, "a value that is no list": {"max_depth": 1},
        "no values": {"max_depth": []}, "nothing for a grid": None,
    }.items()
] + [
    Kind("DeltaFairSearch", what, call, says, error)
    for what, call, says, error in (
        ("an estimator that is none", lambda: search(estimator=3), "^`estimator` must", InputError),
        ("a class for an estimator", lambda: search(estimator=DecisionTreeClassifier),
         "^`estimator` must", InputError),
        ("no labels", lambda: search(y=None), "^`y` must be given", InputError),
        ("a candidate that cannot be fitted", lambda: search(grid={"max_depth": [-3]}),
         "^`estimator` failed with .'max_depth': -3.: InvalidParameterError", InputError),
        ("people of infinity", lambda: search(PEOPLE.assign(age=np.inf)),
         "^`estimator` failed with .*infinity", InputError),
        ("labels that are missing", lambda: search(y=[np.nan, *HIRED[1:]]),
         "^`estimator` failed with .*NaN", InputError),
    )
] + [
    Kind("faith_scorer", what, call, says)
    for what, call, says in (
        ("another figure", lambda: faith_scorer(sensitive_features="race", figure="p"), "^`figure`"),
        ("alpha of 2", lambda: faith_scorer(sensitive_features="race", alpha=2), "^`alpha` must be"),
        ("another loss", lambda: faith_scorer(sensitive_features="race", loss="x"), "^`loss` must"),
        ("a budget of text", lambda: faith_scorer(sensitive_features="race", budget="1"),
         "^`budget` must be"),
        ("a seed of text", lambda: faith_scorer(sensitive_features="race", random_state="1"),
         "^`random_state` must be"),
        ("another metric", lambda: delta_fair_refit(0.1)({"params": [], "mean_test_x": []}),
         "^`score` must be a metric"),
    )
] + [
    Kind("delta_fair_refit", what, lambda v=given: delta_fair_refit(v), "^`delta` must be")
    for what, given in (NO_NUMBERS | {"negative": -1}).items()
] + [
    Kind("DeltaFairSearch", what, lambda c=changed: search(**c).best_params_["max_depth"], right=1)
    for what, changed in {
        "a seed of numpy": {"random_state": np.int64(0)},
        "a place for a name": {"sensitive_features": 0},
        "labels in a list": {"y": list(HIRED)},
        "a list of grids": {"grid": [{"max_depth": [1]}, {"max_depth": [2]}]},
        "half precision": {"X": PEOPLE.astype(np.float16)},
        "an array": {"X": PEOPLE.to_numpy(), "sensitive_features": 0},
    }.items()
]  # fmt: skip

KINDS = [*NUMBERS]
