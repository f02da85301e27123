"""People with mixed columns, a pipeline fitted on them, and that pipeline as a file of any kind."""

import numpy as np
import pandas as pd

FEATURES = ["race", "age", "income", "member"]


def people(size=300, seed=0):
    """Return cases with text, whole numbers, fractions and truth values."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({
        "race": rng.choice(["a", "b"], size),
        "age": rng.integers(18, 80, size),
        "income": rng.normal(3, 1, size).round(2),
        "member": rng.random(size) < 0.5,
    })  # fmt: skip
    chance = 0.2 + 0.4 * (frame["age"] > 40) + 0.3 * (frame["race"] == "a")
    frame["good"] = (rng.random(size) < chance).astype(int)
    return frame


def fitted(last=None, seed=7):
    """Return a pipeline on the mixed columns that ends in a classifier."""
    from sklearn.compose import make_column_transformer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    columns = make_column_transformer(
        (OneHotEncoder(), ["race"]), (StandardScaler(), ["age", "income"]),
        ("passthrough", ["member"]),
    )  # fmt: skip
    train = people(seed=seed)
    model = make_pipeline(columns, LogisticRegression() if last is None else last)
    return model.fit(train[FEATURES], train["good"])


def as_onnx(model, *, maps=True):
    """Return the pipeline as an ONNX model, its scores as maps or as arrays."""
    from skl2onnx import to_onnx
    from skl2onnx.common import data_types as types

    columns = {"race": types.StringTensorType, "age": types.Int64TensorType,
               "income": types.FloatTensorType, "member": types.BooleanTensorType}  # fmt: skip
    taken = [(name, kind([None, 1])) for name, kind in columns.items()]
    return to_onnx(model, initial_types=taken, options={"zipmap": maps})
