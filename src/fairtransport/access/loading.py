"""load(): the model at a path or an address, by the kinds of places that are registered here."""

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
"""Makes a black box of a place, as it was typed, with what its user allows."""

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
"""How models are opened, by how a file ends (".skops") or an address begins ("http:")."""


def load(
    path: str | Path, *, allow_pickle: bool = False, trusted: Iterable[str] = (),
    max_unpacked: int | None = None,
) -> BlackBox:  # fmt: skip
    """Read a model from a file or a folder, or connect to the one at an address.

    Parameters
    ----------
    path
        A skops file (.skops), an ONNX file (.onnx), a pickle (.pkl, .pickle, .joblib), an MLflow
        folder (one with a file MLmodel in it), a query log (.sqlite), whose answers stand for the
        system that gave them, or an address (http:, https:), for which `connect` has more
        settings.
    allow_pickle
        Whether pickles may be read. Reading one runs whatever code its author put in: allow it
        for files that you made or whose author you trust as you trust a program.
    trusted
        Types beyond scikit-learn's own that a skops file may hold, by their full names.
    max_unpacked
        How many bytes a skops file may unpack to, each array counted as often as the model
        holds it; default: 1 GiB, or ten times the file's size where that is more.

    Returns
    -------
    BlackBox
        What `audit` takes as its ``model``; its ``sha256`` and ``description`` go into reports.

    Raises
    ------
    InputError
        If there is no such file, its kind is unknown, or it is a pickle that was not allowed.
    ModelError
        If the file cannot be read, holds no model, or holds types that nobody vouched for.

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
    """Return how this kind of place is opened."""
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
