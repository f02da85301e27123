"""Models from skops files and pickles; reading, hashing and casting that all model files share."""

from __future__ import annotations

import json
import math
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING
from zipfile import ZipFile, is_zipfile

import numpy as np

from fairtransport._core import files
from fairtransport._core.validation import check_integer, describe_error, short_repr
from fairtransport.access.black_box import Estimator
from fairtransport.errors import InputError, ModelError, param

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pandas as pd

    from fairtransport._core.validation import Values
    from fairtransport.data.columns import Value


PIECE = 1 << 20


@dataclass(frozen=True)
class Permissions:
    """A user's permissions for opening a model; see `load`."""

    allow_pickle: bool = False
    trusted: tuple[str, ...] = ()
    max_unpacked: int | None = None


def existing_file(path: str, what: str = "file") -> Path:
    """Return the path of an existing file."""
    files.check_file("path", Path(path), what)
    return Path(path)


def existing_model(path: str) -> Path:
    """Return the path of an existing file with a model."""
    return existing_file(path, "model file")


@contextmanager
def reading(file: Path) -> Iterator[None]:
    """Raise errors of a file's reader as a `ModelError`."""
    try:
        yield
    except ModuleNotFoundError as error:
        msg = f"the model in {file.name!r} needs the package {error.name!r}, which is not installed"
        raise ModelError(msg) from error
    except (ModelError, KeyboardInterrupt):
        raise
    except BaseException as error:  # a pickle can raise even SystemExit
        msg = f"{file.name!r} could not be read as a model ({describe_error(error)})"
        raise ModelError(msg) from error


def bytes_of(file: Path) -> bytes:
    """Return the content of a file."""
    try:
        return file.read_bytes()
    except OSError as error:
        msg = f"{file.name!r} could not be read: {error.strerror or error}"
        raise ModelError(msg) from error


def hash_of(file: Path) -> str:
    """Return the SHA-256 of a file, read in pieces."""
    digest = sha256()
    with file.open("rb") as stream:
        while piece := stream.read(PIECE):
            digest.update(piece)
    return digest.hexdigest()


REVIEWED = frozenset(
    {
        "numpy.dtype",
        "sklearn.calibration._CalibratedClassifier",
        "sklearn.calibration._SigmoidCalibration",
        "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor",
        "sklearn.feature_selection._univariate_selection.chi2",
        "sklearn.feature_selection._univariate_selection.f_classif",
        "sklearn.feature_selection._univariate_selection.f_regression",
        "sklearn.gaussian_process._gpc._BinaryGaussianProcessClassifierLaplace",
        "sklearn.gaussian_process.kernels.ConstantKernel",
        "sklearn.gaussian_process.kernels.Product",
        "sklearn.gaussian_process.kernels.RBF",
        "sklearn.metrics._dist_metrics.EuclideanDistance64",
        "sklearn.metrics._scorer._PassthroughScorer",
        "sklearn.model_selection._split.KFold",
        "sklearn.model_selection._split.StratifiedKFold",
        "sklearn.multiclass._ConstantPredictor",
        "sklearn.neighbors._ball_tree.BallTree",
        "sklearn.neighbors._kd_tree.KDTree",
        "sklearn.neural_network._stochastic_optimizers.AdamOptimizer",
        "sklearn.neural_network._stochastic_optimizers.SGDOptimizer",
        "sklearn.tree._tree.Tree",
        "sklearn.utils._bunch.Bunch",
    }
)
"""Parts of ordinary scikit-learn models that skops does not trust by default.

In scikit-learn 1.9, constructing each was reviewed: it copies numbers, names or other parts, and
calls nothing that the file chose. Indices inside trees are not checked against their bounds, so a
forged tree can read foreign memory or end the process.
"""


@dataclass(frozen=True, eq=False)
class FileModel(Estimator):
    """An estimator read from a file, whose path is not stored.

    Attributes
    ----------
    sha256
        SHA-256 of the file, in hexadecimal digits.

    Examples
    --------
    >>> import tempfile
    >>> import skops.io
    >>> from sklearn.linear_model import LogisticRegression
    >>> import fairtransport as ft
    >>> model = LogisticRegression().fit([[0], [1], [2], [3]], [0, 0, 1, 1])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     skops.io.dump(model, f"{folder}/model.skops")
    ...     box = ft.access.load(f"{folder}/model.skops")
    >>> isinstance(box, ft.access.FileModel), box.name
    (True, 'LogisticRegression')
    """

    sha256: str = ""

    @property
    def description(self) -> str:
        """The model's class and the file's hash."""
        return f"{super().description}; file with SHA-256 {self.sha256}"

    @property
    def identity(self) -> str:
        """Identity of the model."""
        return f"file {self.sha256}"


def read_skops(path: str, allowed: Permissions) -> FileModel:
    """Return the model in a skops file."""
    file = existing_model(path)
    return _as_model(_from_skops(file, allowed), file)


def read_pickle(path: str, allowed: Permissions) -> FileModel:
    """Return the model in a pickle, where pickles are allowed."""
    file = existing_model(path)
    if not allowed.allow_pickle:
        msg = (
            f"{file.name!r} was not read: it is a pickle, which runs any code that its author put "
            f"in. Set {param('allow_pickle')} if you trust the author, or save the model with skops"
        )
        raise InputError(msg)
    import joblib

    with reading(file):
        model = joblib.load(file)
    return _as_model(model, file)


def _as_model(model: object, file: Path) -> FileModel:
    """Return the content of a file as a black box, if it can predict."""
    if isinstance(model, type) or not hasattr(model, "predict"):
        msg = (
            f"{file.name!r} must hold a model with `predict`, got {_kind(model)}; save the model "
            "itself"
        )
        raise ModelError(msg)
    return FileModel(model, sha256=hash_of(file))


MAX_SKOPS_MEMBERS = 20_000
"""Limit on the files in a skops file; a forest of a thousand trees has some thousands."""

MAX_SCHEMA_BYTES = 16 << 20
"""Limit on the schema of a skops file, unless the file is larger."""


def _from_skops(file: Path, allowed: Permissions) -> object:
    """Return the object in a skops file, after checking its size and its types."""
    try:
        from skops import io
    except ImportError as error:
        msg = "skops files need the package skops: pip install 'fairtransport[skops]'"
        raise ModelError(msg) from error
    data = bytes_of(file)
    limit = files.max_unpacked_bytes(len(data))
    if allowed.max_unpacked is not None:
        limit = check_integer("max_unpacked", allowed.max_unpacked)
    with reading(file):
        if not is_zipfile(BytesIO(data)):
            msg = (
                f"{file.name!r} is no skops file, or is damaged; save the model with "
                f"skops.io.dump(model, {file.name!r})"
            )
            raise ModelError(msg)
        with ZipFile(BytesIO(data)) as archive:
            count = len(archive.infolist())
            schema_size = archive.getinfo("schema.json").file_size
        if count > MAX_SKOPS_MEMBERS:
            msg = f"{file.name!r} must have at most {MAX_SKOPS_MEMBERS:,} parts, got {count:,}"
            raise ModelError(msg)
        if schema_size > max(MAX_SCHEMA_BYTES, len(data)):
            msg = (
                f"{file.name!r} must have a schema of at most {MAX_SCHEMA_BYTES >> 20} MiB, got "
                f"{schema_size:,} bytes"
            )
            raise ModelError(msg)
        if not _fits(data, limit):
            msg = f"{file.name!r} {files.describe_unpacked_limit(limit)}"
            raise ModelError(msg)
        types = io.get_untrusted_types(data=data)
    unknown = sorted(set(types).difference(REVIEWED, allowed.trusted))
    if unknown:
        msg = (
            f"{file.name!r} holds types that are not known to be safe: {', '.join(unknown)}; name "
            f"them in {param('trusted')} if you know what they do"
        )
        raise ModelError(msg)
    with reading(file):
        return io.loads(data, trusted=types)


def _fits(data: bytes, limit: int) -> bool:
    """Return whether a skops file unpacks within a limit.

    The schema is walked like by the loader: each mention of a file counts with its size.
    """
    try:
        sizes = files.unpacked_sizes(BytesIO(data), limit)
    except files.TooLargeError:
        return False
    with ZipFile(BytesIO(data)) as archive:
        parts = [json.loads(archive.read("schema.json"))]
    total = sum(sizes.values())
    while parts and total <= limit:
        part = parts.pop()
        if isinstance(part, dict):
            name = part.get("file")
            total += sizes.get(name, 0) if isinstance(name, str) else 0
            parts += part.values()
        elif isinstance(part, list):
            parts += part
    return total <= limit


def _kind(model: object) -> str:
    """Return the type of an object as text."""
    what = model if isinstance(model, type) else type(model)
    return f"{'the class' if isinstance(model, type) else 'an object of type'} {what.__name__}"


VALUE_WORDS = {"O": "text", "b": "truth values", "i": "whole numbers", "u": "whole numbers",
          "f": "numbers"}  # fmt: skip
"""Names of the values of a NumPy kind."""


def plain_column(points: pd.DataFrame, name: str) -> list[Value]:
    """Return the values of a column of a pandas frame as plain Python objects, missing as None."""
    values = points[name].tolist()
    return [None if _is_missing(value) else value for value in values]


def cast(values: Sequence[object], dtype: np.dtype[np.generic], who: str, name: str) -> Values:
    """Return values in a type; raise for those that it cannot hold exactly.

    Bools convert to 0 and 1 and back. Missing values become NaN in floats and are errors elsewhere.
    Numbers are rounded to the precision of the type.
    """
    result = np.empty(len(values), object if dtype.kind == "O" else dtype)
    for row, value in enumerate(values):
        if not _fits_dtype(value, dtype):
            msg = (
                f"{who} takes {VALUE_WORDS[dtype.kind]} in the column {name!r}, got "
                f"{short_repr(value)}"
            )
            raise ModelError(msg)
        result[row] = math.nan if value is None else value
    return result


def _fits_dtype(value: object, dtype: np.dtype[np.generic]) -> bool:
    """Return whether a type can hold a value."""
    if dtype.kind == "O":
        return isinstance(value, str)
    if value is None:
        return dtype.kind == "f"
    if not isinstance(value, int | float):
        return False
    if dtype.kind == "b":
        return value in {0, 1}
    if dtype.kind == "f":
        return True
    limits = np.iinfo(dtype.str)
    return math.isfinite(value) and value == int(value) and limits.min <= value <= limits.max


def _is_missing(value: object) -> bool:
    """Return whether a value is None, NaN, NaT or pandas' NA."""
    if value is None:
        return True
    try:
        return bool(value != value)  # noqa: PLR0124 - NaN and NaT differ from themselves
    except (TypeError, ValueError):  # pandas.NA raises
        return True
