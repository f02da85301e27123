"""load(): models from paths or addresses, by the kinds registered here."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TypeAlias

from fairtransport._core.validation import short_repr
from fairtransport.access.black_box import BlackBox
from fairtransport.access.endpoints import open_address
from fairtransport.access.mlflow_folders import is_mlflow_folder, read_mlflow_folder
from fairtransport.access.model_files import Permissions, read_pickle, read_skops
from fairtransport.access.onnx_files import read_onnx
from fairtransport.access.query_log import read_query_log
from fairtransport.errors import InputError, param

Open: TypeAlias = Callable[[str, Permissions], BlackBox]
"""Opens the black box at a path or address, with its user's permissions."""

PLACES: dict[str, Open] = {
    ".skops": read_skops,
    ".onnx": read_onnx,
    ".pkl": read_pickle,
    ".pickle": read_pickle,
    ".joblib": read_pickle,
    ".sqlite": read_query_log,
    "http:": open_address,
    "https:": open_address,
}
"""Openers of models, by file ending (".skops") or scheme of an address ("http:")."""


def load(
    path: str | Path, *, allow_pickle: bool = False, trusted: Iterable[str] = (),
    max_unpacked: int | None = None,
) -> BlackBox:  # fmt: skip
    """Read a model from a file or a folder, or connect to the one at an address.

    Parameters
    ----------
    path
        A skops file (.skops), an ONNX file (.onnx), a pickle (.pkl, .pickle, .joblib), an MLflow
        folder (one with a file MLmodel in it), a query log (.sqlite), which replays recorded
        answers, or an address (http:, https:), for which `connect` has more settings.
    allow_pickle
        Whether pickles may be read. A pickle can run any code: allow it only for files of authors
        that you trust like those of a program.
    trusted
        Full names of types beyond scikit-learn's own that a skops file may hold.
    max_unpacked
        Maximum unpacked size of a skops file in bytes, each array counted as often as the model
        holds it; default: 1 GiB, or ten times the file's size if that is more.

    Returns
    -------
    BlackBox
        The ``model`` for `audit`; its ``sha256`` and ``description`` go into reports.

    Raises
    ------
    InputError
        If the file does not exist, its kind is unknown, or it is a pickle that was not allowed.
    ModelError
        If the file cannot be read, holds no model, or holds untrusted types.

    Examples
    --------
    >>> import tempfile
    >>> import skops.io
    >>> import fairtransport as ft
    >>> from sklearn.linear_model import LogisticRegression
    >>> model = LogisticRegression().fit([[0], [1], [2], [3]], [0, 0, 1, 1])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     skops.io.dump(model, f"{folder}/model.skops")
    ...     box = ft.access.load(f"{folder}/model.skops")
    >>> box.name, len(box.sha256)
    ('LogisticRegression', 64)
    """
    open_model = _place(path)
    names = [trusted] if isinstance(trusted, str) else list(trusted)
    for name in names:
        if not isinstance(name, str) or "." not in name:
            msg = (
                f"{param('trusted')} must hold full names of types like 'package.Class', got "
                f"{short_repr(name)}"
            )
            raise InputError(msg)
    return open_model(str(path), Permissions(allow_pickle, tuple(names), max_unpacked))


def _place(path: object) -> Open:
    """Return the opener of a path or an address."""
    if not isinstance(path, str | Path):
        msg = f"{param('path')} must be the path of a model file, got {short_repr(path)}"
        raise InputError(msg)
    ending, word = Path(path).suffix.lower(), str(path).lower()
    for place, open_model in PLACES.items():
        if word.startswith(place) if place.endswith(":") else ending == place:
            return open_model
    if is_mlflow_folder(path):
        return read_mlflow_folder
    kinds = ", ".join(PLACES)
    msg = (
        f"{param('path')} must be an MLflow folder or one of {kinds}, got "
        f"{short_repr(Path(path).name)}"
    )
    raise InputError(msg)
