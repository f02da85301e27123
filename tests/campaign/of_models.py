"""Models that misbehave: shapes, types, exceptions, moods; and black boxes that misdescribe."""

import itertools
import time

import numpy as np
import pandas as pd
import polars as pl
from sklearn.tree import DecisionTreeClassifier

from fairtransport import DataError, InputError, ModelError
from fairtransport.access import BlackBox, Function, connect, load, prompt
from tests.campaign.kinds import Kind
from tests.campaign.people import POINTS, SWAPPED, audit, model, scores, statistic


def raising(error):
    def fails(_):
        raise error

    return fails


def recursing(points):
    return recursing(points)


class Estimator:
    """An estimator with attributes of any kind."""

    def __init__(self, predict=model, **attributes):
        self.predict = predict
        for name, value in attributes.items():
            setattr(self, name, value)


class Box(BlackBox):
    """A black box that says anything of itself."""

    def __init__(self, **attributes):
        self.name, self.library, self.features, self.classes = "box", "pandas", None, None
        for name, value in attributes.items():
            setattr(self, name, value)

    def answer(self, points, _):
        return model(pd.DataFrame(points))


class Moody:
    """Gives another number of answers every other time."""

    def __init__(self):
        self.asked = itertools.count()

    def __call__(self, points):
        return np.zeros(len(points) + next(self.asked) % 2 + 1, int)


def broken_repr(points):
    class Odd:
        def __repr__(self):
            raise RuntimeError

    return [Odd()] * len(points)


LABELS = [
    Kind("audit model", what, lambda m=made: audit(model=m), says, ModelError)
    for what, made, says in (
        ("gives nothing", lambda x: None, "^the model <lambda> must give one (label|number) per row"),
        ("gives one number", lambda x: 1, "^the model <lambda> must give one (label|number) per row"),
        ("gives too few", lambda x: [1], "^the model <lambda> must give one (label|number) per row"),
        ("gives too many", lambda x: [1] * (len(x) + 1), "^the model <lambda> must give one label"),
        ("gives none", lambda x: [], "^the model <lambda> must give one (label|number) per row"),
        ("gives two columns", lambda x: np.zeros((len(x), 2)), "^the model <lambda> must give one"),
        ("gives a row", lambda x: np.zeros((1, len(x)), int), "^the model <lambda> must give one"),
        ("gives a cube", lambda x: np.zeros((len(x), 1, 1)), "^the model <lambda> must give one"),
        ("gives ragged lists", lambda x: [[1], [1, 2], *[[0]] * (len(x) - 2)],
         "^the model <lambda> (failed|must give)"),
        ("gives NaN", lambda x: np.full(len(x), np.nan), "gave the unknown label nan"),
        ("gives one NaN", lambda x: np.r_[np.nan, np.zeros(len(x) - 1)], "unknown label nan"),
        ("gives infinity", lambda x: np.full(len(x), np.inf), "gave the unknown label inf"),
        ("gives nothing to some", lambda x: [None, *[1] * (len(x) - 1)], "unknown label None"),
        ("gives scores", scores, "^the model scores gave the unknown label 0.25"),
        ("gives text", lambda x: ["1"] * len(x), "gave the unknown label '1'"),
        ("gives bytes", lambda x: [b"1"] * len(x), "gave the unknown label b'1'"),
        ("gives complex numbers", lambda x: np.ones(len(x)) + 1j, "unknown label .1.1j."),
        ("gives another label", lambda x: np.full(len(x), 7), "gave the unknown label 7"),
        ("gives lists", lambda x: pd.Series([[1]] * len(x)), "unknown label"),
        ("gives dictionaries", lambda x: [{}] * len(x), "gave the unknown label {}"),
        ("gives a dictionary", lambda x: {"labels": [1]}, "must give one (label|number) per row"),
        ("gives a generator", lambda x: (1 for _ in range(len(x))), "must give one (label|number) per row"),
        ("gives text alone", lambda x: "1", "^the model <lambda> must give one (label|number) per row"),
        ("gives a function", lambda x: len, "^the model <lambda> must give one (label|number) per row"),
        ("gives a frame of two columns", lambda x: pd.DataFrame({"a": model(x), "b": 1}),
         "^the model <lambda> must give one label"),
        ("gives what cannot be shown", broken_repr, "^the model broken_repr gave the unknown label"),
        ("gives dates", lambda x: pd.Series(pd.to_datetime(["2020"] * len(x))), "unknown label"),
        ("gives masked labels", lambda x: np.ma.masked_equal(np.asarray(model(x)), 1),
         "must not (have|give) masked"),
        ("changes its mind on how many there are", Moody(), "must give one (label|number) per row"),
        ("raises", raising(ValueError("no")), "^the model fails failed on 6 rows: ValueError: no$"),
        ("raises without words", raising(ValueError()),
         "^the model fails failed on 6 rows: ValueError: no reason given$"),
        ("raises at length", raising(ValueError("x" * 10_000)), "ValueError: x+…$"),
        ("raises several lines", raising(KeyError("a\nb")), "failed on 6 rows: KeyError"),
        ("raises a lone surrogate", raising(ValueError("\ud800")), "failed on 6 rows: ValueError"),
        ("runs out of memory", raising(MemoryError("much")), "failed on 6 rows: MemoryError"),
        ("stops an iteration", raising(StopIteration()), "failed on 6 rows: StopIteration"),
        ("recurses", recursing, "failed .*RecursionError"),
        ("divides by zero", lambda x: 1 / 0, "failed on 6 rows: ZeroDivisionError"),
        ("asks for an absent column", lambda x: x["height"], "failed on 6 rows: KeyError"),
        ("takes no argument", lambda: 1, "failed on 6 rows: TypeError"),
    )
] + [
    Kind("audit model", what, lambda v=value: audit(model=v), says)
    for what, value, says in (
        ("a number", 3, "^`model` must have `predict` or be callable"),
        ("text", "model.skops", "^`model` must have `predict` or be callable"),
        ("a class", Estimator, "^`model` must be a fitted estimator or a callable, got the class"),
        ("a list", [model], "^`model` must have `predict` or be callable"),
        ("a dictionary", {"predict": model}, "^`model` must have `predict` or be callable"),
        ("an array", np.zeros(8), "^`model` must have `predict` or be callable"),
    )
] + [
    Kind("audit model", what, lambda m=make: statistic(model=lambda x: m(np.asarray(model(x)))),
         right=SWAPPED)
    for what, make in {
        "gives whole floats": lambda y: y.astype(float),
        "gives half precision": lambda y: y.astype(np.float16),
        "gives truth values": lambda y: y == 1,
        "gives a list": list,
        "gives a tuple": tuple,
        "gives a column": lambda y: y[:, None],
        "gives a series": pd.Series,
        "gives a shuffled series": lambda y: pd.Series(y)[::-1],
        "gives a series of polars": pl.Series,
        "gives objects": lambda y: y.astype(object),
        "gives a frame of one column": pd.DataFrame,
        "gives small integers": lambda y: y.astype(np.int8),
        "gives a masked array without a mask": np.ma.array,
        "gives Python's integers": lambda y: [int(one) for one in y],
        "gives nullable integers": lambda y: pd.array(y, dtype="Int64"),
        "gives categories": pd.Categorical,
        "is slow": lambda y: (time.sleep(0.05), y)[1],
        "gives a read-only array": lambda y: np.broadcast_to(y, y.shape),
    }.items()
] + [
    Kind("audit model", "writes into its points",
         lambda: statistic(model=lambda x: model(x.assign(age=x.pop("age")))), right=SWAPPED),
    Kind("audit model", "answers only while it is asked once",
         lambda: statistic(model=lambda x, seen=[]: (seen.append(1), model(x))[len(seen) == 1]
                           if len(seen) < 2 else None), "got shape", ModelError),
    Kind("audit model", "a method", lambda: statistic(model=Estimator().predict), right=SWAPPED),
]  # fmt: skip

SCORES = [
    Kind("audit model scores", what,
         lambda m=make: audit(model=lambda x: m(scores(x)), loss="brier"), says, ModelError)
    for what, make, says in (
        ("above 1", lambda p: p + 1, "must give probabilities in"),
        ("below 0", lambda p: -p, "must give probabilities in"),
        ("NaN", lambda p: p * np.nan, "must give finite numbers"),
        ("infinity", lambda p: p * np.inf, "must give finite numbers"),
        ("text", lambda p: p.astype(str), "must give numbers for this loss"),
        ("complex numbers", lambda p: p + 0j, "must give numbers for this loss"),
        ("nothing", lambda p: None, "must give"),
        ("one number", lambda p: 0.5, "must give"),
        ("three columns", lambda p: np.c_[p, 1 - p, 0 * p], "rows of 2 probabilities"),
        ("a frame with other names", lambda p: pd.DataFrame({"no": 1 - p, "yes": p}),
         "must name the columns of its class probabilities as the classes"),
        ("columns that do not sum to 1", lambda p: np.c_[p, p], "class probabilities that sum to 1"),
        ("rows and columns exchanged", lambda p: np.c_[p, 1 - p].T, "rows of 2 probabilities"),
        ("dates", lambda p: p.astype("M8[s]"), "must give numbers for this loss"),
        ("log odds", lambda p: np.log(p / (1 - p)), "must give probabilities in"),
        ("percent", lambda p: 100 * p, "must give probabilities in"),
        ("masked", lambda p: np.ma.masked_less(p, 0.5), "must not (have|give) masked"),
        ("objects without numbers", lambda p: [object()] * len(p), "must give numbers"),
        ("unbounded integers", lambda p: [10**400] * len(p), "must give numbers|finite"),
    )
] + [
    Kind("audit model scores", what,
         lambda m=make: statistic(model=lambda x: m(scores(x)), loss="brier"),
         right=2 / 8 * (0.75**2 - 0.25**2))
    for what, make in {
        "one column": lambda p: p[:, None],
        "two columns": lambda p: np.c_[1 - p, p],
        "half precision": lambda p: np.c_[1 - p, p].astype(np.float16),
        "text of a number type": lambda p: p.astype(object),
        "a frame": lambda p: pd.DataFrame({1: p, 0: 1 - p}),
        "a list of lists": lambda p: np.c_[1 - p, p].tolist(),
    }.items()
] + [
    Kind("audit model values", what,
         lambda m=make: audit(model=lambda x: m(scores(x)), loss="squared", loss_range=(0, 1)),
         says, ModelError)
    for what, make, says in (
        ("NaN", lambda p: p * np.nan, "must give finite numbers"),
        ("text", lambda p: p.astype(str), "must give numbers for this loss"),
        ("complex numbers", lambda p: p + 1j, "must give numbers for this loss"),
        ("two columns", lambda p: np.c_[p, p], "must give one (label|number) per row"),
        ("unbounded integers", lambda p: [10**400] * len(p), "must give numbers for this loss"),
        ("nothing to some", lambda p: [None, *p[1:]], "must give finite numbers"),
    )
] + [
    Kind("audit model values", "right ones", lambda: statistic(
        model=scores, loss="squared", loss_range=(0, 1)), right=2 / 8 * (0.75**2 - 0.25**2)),
    Kind("audit model scores", "an estimator without them",
         lambda: audit(model=Estimator(), loss="log"), "has no `predict_proba`", ModelError),
]  # fmt: skip

BOXES = [
    Kind("audit black box", f"{name}: {what}", lambda n=name, v=value: audit(model=Box(**{n: v})),
         says, error)
    for name, what, value, says, error in (
        ("features", "unknown", ("height",), "^the model was fitted on the column 'height'", InputError),
        ("features", "text", "race", "^the model .* must have distinct column names, got", ModelError),
        ("features", "a number", 3, "^the model .* must have distinct column names, got", ModelError),
        ("features", "numbers", (0, 1), "^the model .* must have distinct column names, got", ModelError),
        ("features", "none at all", (), "^the model box must have distinct column names", ModelError),
        ("features", "twice the same", ("race", "race"), "^the model .* must have distinct column names, got", ModelError),
        ("features", "a list of lists", [["race"]], "^the model .* must have distinct column names, got", ModelError),
        ("features", "the label", ("race", "good"), "^`features` and .* must not name the same column", InputError),
        ("classes", "a number", 3, "^the model .* must have distinct classes", ModelError),
        ("classes", "text", "01", "^the model .* must have distinct classes", ModelError),
        ("classes", "none at all", [], "^the model .* must have distinct classes", ModelError),
        ("classes", "twice the same", [0, 1, 1], "^the model .* must have distinct classes", ModelError),
        ("classes", "lists", [[0], [1]], "^the model .* must have distinct classes", ModelError),
        ("classes", "NaN", [0, 1, float("nan")], "^the model .* must have distinct classes", ModelError),
        ("classes", "other types", ["no", "yes"], "must have the same values", DataError),
        ("classes", "text and numbers", ["0", 1], "^the model .* must have distinct classes", ModelError),
        ("library", "unknown", "excel", "^the model box must have one of pandas, .* as its library", ModelError),
        ("library", "a module", pd, "^the model box must have one of pandas, .* as its library", ModelError),
        ("library", "a number", 3, "^the model box must have one of pandas, .* as its library", ModelError),
        ("library", "one without frames of its own", "dask", "^the model box must have one of pandas, .* as its library", ModelError),
        ("name", "a number", 3, "^the model must have text as its name", ModelError),
    )
] + [
    Kind("audit black box", f"{name}: {what}",
         lambda n=name, v=value: statistic(model=Box(**{n: v})), right=SWAPPED)
    for name, what, value in (
        ("features", "a list", ["age", "race"]), ("features", "in another order", ("age", "race")),
        ("classes", "a tuple", (0, 1)), ("classes", "an array", np.array([0, 1])),
        ("classes", "one more", [0, 1, 2]), ("library", "nothing", None),
    )
] + [
    Kind("audit black box", "a function for polars", lambda: statistic(model=Function(
        lambda x: model(x.to_pandas()), library="polars")), right=SWAPPED),
    Kind("audit black box", "a function with wrong classes", lambda: audit(
        model=Function(model, classes="01")), "^the model .* must have distinct classes", ModelError),
    Kind("audit estimator", "features that are numbers", lambda: audit(
        model=Estimator(feature_names_in_=3)), "^the model .* must have distinct column names, got", ModelError),
    Kind("audit estimator", "features in a table", lambda: audit(
        model=Estimator(feature_names_in_=np.array([["race", "age"]]))),
        "^the model .* must have distinct column names, got", ModelError),
    Kind("audit estimator", "classes of two outputs", lambda: audit(
        model=Estimator(classes_=[[0, 1], [0, 1]])), "^the model .* must have distinct classes", ModelError),
    Kind("audit estimator", "classes that are ragged", lambda: audit(
        model=Estimator(classes_=[[0], [0, 1]])), "^the model .* must have distinct classes", ModelError),
    Kind("audit estimator", "steps that are none", lambda: audit(
        model=Estimator(steps=3, feature_names_in_=["race", "age"])).model == "Estimator", right=True),
    Kind("audit estimator", "not yet fitted", lambda: audit(
        model=DecisionTreeClassifier()),
        "^the model DecisionTreeClassifier failed", ModelError),
    Kind("audit estimator", "fitted on other columns", lambda: audit(
        model=DecisionTreeClassifier().fit(
            POINTS[["age"]].rename(columns={"age": "years"}), POINTS["good"])),
        "^the model was fitted on the column 'years'"),
] + [
    Kind("access.load", what, lambda v=value: load(v), says)
    for what, value, says in (
        ("a number", 3, "^`path` must be the path"), ("nothing", None, "^`path` must be the path"),
        ("an address with a password", "http://me:pass@host/model", "^`url` must not hold a user name"),
        ("an address with a key", "http://host/model?key=3", "^`url` must have no parameters but"),
        ("an address of a language model", "http://127.0.0.1:1/v1/chat/completions", "use `prompt`$"),
        ("another ending", "model.txt", "^`path` must be an MLflow folder or one of"),
        ("an absent file", "absent.skops", "^there is no .*file .* for `path`"),
        ("bytes", b"model.skops", "^`path` must be the path"), ("a folder", ".", "^`path` must be an MLflow folder or one"),
        ("a zero byte", "a\0.skops", "^there is no .*file .* for `path`"),
        ("an absent ONNX file", "absent.onnx", "^there is no .*file .* for `path`"),
        ("a description without a folder", "no/MLmodel", "^there is no .*file .* for `path`"),
        ("a pickle", __file__.replace(".py", ".pkl"), "^there is no .*file .* for `path`"),
    )
]  # fmt: skip

HERE = "http://127.0.0.1:1/invocations"
CHAT = {"answers": ["yes", "no"], "model": "toy"}
ADDRESSES = [
    Kind("access.connect", what, lambda u=url, o=options: connect(u, **o), says)
    for what, url, options, says in (
        ("a number", 3, {}, "^`url` must be a URL like"),
        ("nothing", None, {}, "^`url` must be a URL like"),
        ("a path", "model.skops", {}, "^`url` must be a URL like"),
        ("another scheme", "ftp://host/x", {}, "^`url` must be a URL like"),
        ("no host", "http:///x", {}, "^`url` must be a URL like"),
        ("half an address of version 6", "http://[::1/x", {}, "^`url` must be a URL like"),
        ("a port that is none", "http://host:x/y", {}, "^`url` must be a URL like"),
        ("a line break", "http://host/a\nb", {}, "^`url` must be a URL like"),
        ("a user name", "http://me@host/x", {}, "^`url` must not hold a user name"),
        ("a fragment", "http://host/x#y", {}, "^`url` must have no parameters but"),
        ("an unknown protocol", HERE, {"protocol": "grpc"}, "^`protocol` must be one of"),
        ("no points a request", HERE, {"batch_size": 0}, "^`batch_size` must be a whole number"),
        ("half a request at a time", HERE, {"at_a_time": 0.5}, "^`at_a_time` must be a whole number"),
        ("no time", HERE, {"timeout": 0}, "^`timeout` must be a number above 0"),
        ("endless time", HERE, {"timeout": float("inf")}, "^`timeout` must be a finite number"),
        ("fewer than no retries", HERE, {"retries": -1}, "^`retries` must be a whole number of at least 0"),
        ("no bytes", HERE, {"max_answer": 0}, "^`max_answer` must be a whole number"),
        ("a variable that is not set", HERE, {"token_variable": "NO_SUCH"}, "^`token_variable` must be"),
        ("a variable that is a number", HERE, {"token_variable": 3}, "^`token_variable` must be"),
        ("features that are text", HERE, {"features": "race"}, "^`features` must be a list of column"),
    )
] + [
    Kind("access.connect", "nobody there", lambda: connect(HERE, retries=0).answer(POINTS, "label"),
         "did not answer in 1 try", ModelError),
    Kind("access.connect", "nobody to recognise", lambda: connect("http://127.0.0.1:1", retries=0),
         "did not answer in 1 try", ModelError),
] + [
    Kind("access.prompt", what,
         lambda t=template, o=options: prompt(t, "http://127.0.0.1:1", **CHAT | o), says)
    for what, template, options, says in (
        ("no text", 3, {}, "^`template` must be a text"),
        ("no column", "hello", {}, "^`template` must be a text with columns"),
        ("an open brace", "{age", {}, "^`template` must have columns in braces"),
        ("empty braces", "{} {age}", {}, "^`template` must name a column"),
        ("a conversion", "{age!s}", {}, "^`template` must be a text with columns"),
        ("one answer", "{age}", {"answers": ["yes"]}, "^`answers` must be two or more"),
        ("answers that differ in case", "{age}", {"answers": ["a", "A"]}, "^`answers` must be two or"),
        ("empty answers", "{age}", {"answers": ["", " "]}, "^`answers` must be two or more"),
        ("a refusal that is an answer", "{age}", {"refusal": "no"}, "^`refusal` must be none of"),
        ("an unknown constraint", "{age}", {"constrain": "x"}, "^`constrain` must be one of"),
        ("a temperature below zero", "{age}", {"temperature": -1}, "^`temperature` must be"),
        ("a seed with a fraction", "{age}", {"seed": 0.5}, "^`seed` must be a whole number"),
        ("wording of another column", "{age}", {"wording": {"sex": {}}}, "^`wording` must be about"),
        ("wording that is text", "{age}", {"wording": "x"}, "^`wording` must map columns"),
        ("stand-ins that are no table", "{age}", {"stand_ins": [1]}, "^`stand_ins` must be a table"),
    )
]  # fmt: skip

KINDS = [*LABELS, *SCORES, *BOXES, *ADDRESSES]
