"""Models from files: skops files, and pickles where the user vouches for them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from io import BytesIO
from typing import TYPE_CHECKING
from zipfile import ZipFile

from fairtransport.access.boxes import Estimator
from fairtransport.access.opening import Permissions, bytes_of, existing_file, hash_of, reading
from fairtransport.archives import TooLargeError, in_words, most_unpacked, unpacked_sizes
from fairtransport.checks import whole
from fairtransport.errors import InputError, ModelError

if TYPE_CHECKING:
    from pathlib import Path

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
"""Parts of ordinary scikit-learn models that skops leaves to its user to trust.

How scikit-learn 1.9 makes each one was read: it takes over numbers, names or other parts, and
calls nothing that the file chose. Scikit-learn does not check the indices inside trees against
their bounds, so asking a forged one can read foreign memory or end the process.
"""


@dataclass(frozen=True, eq=False)
class FileModel(Estimator):
    """An estimator that was read from a file; where the file lay is not remembered.

    Attributes
    ----------
    sha256
        The hash of the file's bytes, in hexadecimal digits.

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
        """The model's class and the file's hash.

        Returns
        -------
        str

        Examples
        --------
        >>> box.description == f"LogisticRegression; file with SHA-256 {box.sha256}"
        True
        """
        return f"{super().description}; file with SHA-256 {self.sha256}"

    @property
    def identity(self) -> str:
        """What tells this model from others.

        Returns
        -------
        str

        Examples
        --------
        >>> box.identity == f"file {box.sha256}"
        True
        """
        return f"file {self.sha256}"


def read_skops(path: str, allowed: Permissions) -> FileModel:
    """Return the model in a skops file.

    Parameters
    ----------
    path
        The file.
    allowed
        Which types beyond the reviewed ones are trusted, and how much may be unpacked.
    """
    file = existing_file(path)
    return _as_model(_from_skops(file, allowed), file)


def read_pickle(path: str, allowed: Permissions) -> FileModel:
    """Return the model in a pickle, where pickles are allowed.

    Parameters
    ----------
    path
        The file.
    allowed
        Whether its author is trusted to run code here.

    Raises
    ------
    InputError
        If pickles are not allowed; the file is not opened then.
    """
    file = existing_file(path)
    if not allowed.allow_pickle:
        msg = (
            f"`allow_pickle` must be set to read {file.name!r}: a pickle runs any code that its "
            "author put in, so allow it only for files you trust, or save the model with skops"
        )
        raise InputError(msg)
    import joblib

    with reading(file):
        model = joblib.load(file)
    return _as_model(model, file)


def _as_model(model: object, file: Path) -> FileModel:
    """Return what a file held as a box, if it can predict."""
    if isinstance(model, type) or not hasattr(model, "predict"):
        msg = f"the model in {file.name!r} must have `predict`, got {_kind(model)}"
        raise ModelError(msg)
    return FileModel(model, sha256=hash_of(file))


def _from_skops(file: Path, allowed: Permissions) -> object:
    """Return what a skops file holds: first its size is looked at, then its types, then it is made.

    Parameters
    ----------
    file, allowed
        As in `read_skops`.

    Raises
    ------
    ModelError
        If it is too large, holds types nobody vouched for, or cannot be read.
    """
    try:
        from skops import io
    except ImportError as error:
        msg = "skops files need the package skops: pip install 'fairtransport[skops]'"
        raise ModelError(msg) from error
    data = bytes_of(file)
    most = most_unpacked(len(data))
    if allowed.max_unpacked is not None:
        most = whole("max_unpacked", allowed.max_unpacked)
    with reading(file):
        if not _fits(data, most):
            msg = f"{file.name!r} {in_words(most)}"
            raise ModelError(msg)
        found = io.get_untrusted_types(data=data)
    unknown = sorted(set(found).difference(REVIEWED, allowed.trusted))
    if unknown:
        msg = (
            f"{file.name!r} holds types that nobody has vouched for: {', '.join(unknown)}; name "
            "them in `trusted` if you know what they do"
        )
        raise ModelError(msg)
    with reading(file):
        return io.loads(data, trusted=found)


def _fits(data: bytes, most: int) -> bool:
    """Say whether a skops file stays within a limit: also a small array can be named often.

    Parameters
    ----------
    data
        The file's bytes.
    most
        How many bytes the model may have.

    Notes
    -----
    The schema is walked as the loader will walk it: each mention of a file counts with its size.
    """
    try:
        sizes = unpacked_sizes(BytesIO(data), most)
    except TooLargeError:
        return False
    with ZipFile(BytesIO(data)) as archive:
        parts = [json.loads(archive.read("schema.json"))]
    total = sum(sizes.values())
    while parts and total <= most:
        part = parts.pop()
        if isinstance(part, dict):
            named = part.get("file")
            total += sizes.get(named, 0) if isinstance(named, str) else 0
            parts += part.values()
        elif isinstance(part, list):
            parts += part
    return total <= most


def _kind(model: object) -> str:
    """Return what something is, in words.

    Examples
    --------
    >>> _kind(3), _kind(int)
    ('an object of type int', 'the class int')
    """
    what = model if isinstance(model, type) else type(model)
    return f"{'the class' if isinstance(model, type) else 'an object of type'} {what.__name__}"
