"""MLflow model folders, read without MLflow: the model, its columns and their types."""

from __future__ import annotations

import json
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fairtransport.access.boxes import identity_of, notes_on
from fairtransport.access.casting import cast, plain_column
from fairtransport.access.model_files import read_pickle, read_skops
from fairtransport.access.onnx_files import open_onnx
from fairtransport.access.opening import Permissions, bytes_of, existing_file, reading
from fairtransport.checks import shown
from fairtransport.errors import InputError, ModelError
from fairtransport.filesystem import is_file

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pandas as pd

    from fairtransport.access.boxes import BlackBox
    from fairtransport.losses import Answer
    from fairtransport.space.columns import Value, Values

DESCRIPTION = "MLmodel"
"""The file of a folder that says what is in it."""
LARGEST = 10 << 20
"""Bytes that this file may have."""
TYPES = {
    "boolean": "?", "integer": "i4", "long": "i8", "float": "f4", "double": "f8", "string": "O",
}  # fmt: skip
"""The types of columns in numpy's words."""


class Description(NamedTuple):
    """What a folder says of its model: the ways to read it, and its columns.

    Attributes
    ----------
    flavours
        By library: which file, and in which form.
    signature
        MLflow's description of inputs and outputs; it may be absent or of any shape.
    """

    flavours: dict[str, object]
    signature: object


@dataclass(frozen=True, eq=False)
class FolderModel:
    """The model of an MLflow folder, which receives columns in the types of its signature.

    Attributes
    ----------
    box
        The model.
    types
        The columns and their types, in the model's order; None where there is no signature.
    signature
        The hash of the signature, in hexadecimal digits.
    """

    box: BlackBox
    types: Mapping[str, np.dtype[np.generic]] | None
    signature: str

    @property
    def name(self) -> str:
        """The model's name."""
        return self.box.name

    @property
    def description(self) -> str:
        """What the model says of itself, and where it comes from."""
        return f"{getattr(self.box, 'description', self.box.name)}; in an MLflow folder"

    @property
    def identity(self) -> str:
        """What tells this model from others."""
        return f"mlflow folder {self.signature} {identity_of(self.box)}"

    def notes_on(self, predictions: Values, classes: Sequence[Value]) -> tuple[str, ...]:
        """Return what readers of the answers should know.

        Parameters
        ----------
        predictions, classes
            What it answered, and the labels that can occur.
        """
        return notes_on(self.box, predictions, classes)

    @property
    def library(self) -> str:
        """The data frame library it wants its points in."""
        return "pandas"

    @property
    def features(self) -> tuple[str, ...] | None:
        """The columns of the signature, or those that the model itself remembers."""
        return self.box.features if self.types is None else tuple(self.types)

    @property
    def classes(self) -> Sequence[Value] | None:
        """The labels it knows."""
        return self.box.classes

    def answer(self, points: pd.DataFrame, kind: Answer) -> object:
        """Return what the model answers to points whose columns have the signature's types.

        Parameters
        ----------
        points, kind
            As in `BlackBox.answer`.
        """
        return self.box.answer(self._typed(points), kind)

    def _typed(self, points: pd.DataFrame) -> pd.DataFrame:
        """Return points with the signature's types, as MLflow would hand them over.

        Parameters
        ----------
        points
            The questions, in whatever types a frame has them.

        Raises
        ------
        ModelError
            If a value does not fit its column's type: rounding it would ask another question.
        """
        if self.types is None:
            return points
        import pandas as pd

        who = f"the model {self.name}"
        made = {}
        for name, wanted in self.types.items():
            values = cast(plain_column(points, name), wanted, who, name)
            # text stays what it is in the frame, which may have a type of its own for it
            made[name] = points[name] if wanted.kind == "O" else values
        return pd.DataFrame(made, index=points.index)


def is_mlflow_folder(path: str | Path) -> bool:
    """Say whether a path leads to an MLflow folder, or to the file that describes it.

    Parameters
    ----------
    path
        A folder or a file.
    """
    place = Path(path)
    return place.name == DESCRIPTION or is_file(place / DESCRIPTION)


def read_mlflow_folder(path: str, allowed: Permissions) -> FolderModel:
    """Return the model of an MLflow folder.

    It is read by its scikit-learn flavour (a skops file, or a pickle where these are allowed) or
    its ONNX flavour. Types that the folder itself calls trusted are not trusted for that.

    Parameters
    ----------
    path
        The folder, or its file MLmodel.
    allowed
        Whether pickles may be read, which types are trusted, and how much may be unpacked.

    Raises
    ------
    InputError
        If it has no flavour that can be read.
    ModelError
        If the folder is damaged, or names files outside of it.
    """
    folder = Path(path)
    folder = folder.parent if folder.name == DESCRIPTION else folder
    told = _description(existing_file(str(folder / DESCRIPTION)))
    types = _signature(told)
    box = _model(folder, told, allowed, None if types is None else tuple(types))
    digest = sha256(json.dumps(_signature_text(told)).encode()).hexdigest()
    return FolderModel(box, types, digest)


def _description(file: Path) -> Description:
    """Return what the file MLmodel says, by YAML's safe loader.

    Raises
    ------
    ModelError
        If it is too large, cannot be read, or names no flavours.
    """
    try:
        import yaml
    except ImportError as error:
        msg = "MLflow folders need the package PyYAML: pip install 'fairtransport[mlflow]'"
        raise ModelError(msg) from error
    if file.stat().st_size > LARGEST:
        size = file.stat().st_size
        msg = f"{file.name!r} must have at most {LARGEST >> 20} MiB, got {size:,} bytes"
        raise ModelError(msg)
    with reading(file):
        told = yaml.safe_load(bytes_of(file))
    if not isinstance(told, dict) or not isinstance(told.get("flavors"), dict):
        msg = f"{file.name!r} must name the flavours of a model, got {shown(told)}"
        raise ModelError(msg)
    return Description(told["flavors"], told.get("signature"))


def _model(
    folder: Path, told: Description, allowed: Permissions, columns: tuple[str, ...] | None
) -> BlackBox:
    """Return the model of a folder by the first flavour that can be read.

    Parameters
    ----------
    folder, told
        The folder and what it says.
    allowed
        What its user allows.
    columns
        The signature's columns, for ONNX models that take a table without names.
    """
    flavour = told.flavours.get("onnx")
    if isinstance(flavour, dict):
        data = flavour.get("data", "model.onnx")
        return open_onnx(_inside(folder, data), allowed, columns)
    flavour = told.flavours.get("sklearn")
    if isinstance(flavour, dict):
        file = _inside(folder, flavour.get("pickled_model", "model.pkl"))
        read = read_skops if flavour.get("serialization_format") == "skops" else read_pickle
        return read(str(file), allowed)
    got = ", ".join(map(str, told.flavours)) or "none"
    msg = (
        f"`path` must be a folder with a scikit-learn or ONNX flavour, got {shown(got)}; serve the "
        "model with `mlflow models serve` and give the address instead"
    )
    raise InputError(msg)


def _inside(folder: Path, name: object) -> Path:
    """Return the path of a file that lies in the folder, wherever its name leads.

    Parameters
    ----------
    folder
        The folder.
    name
        What it names; links and ".." are followed before it is judged.

    Raises
    ------
    ModelError
        If it leads out of the folder, or to no file.
    """
    try:
        place = (folder / str(name)).resolve()
        is_inside = place.is_relative_to(folder.resolve()) and place.is_file()
    except (OSError, ValueError):
        is_inside = False
    if not is_inside:
        msg = f"{DESCRIPTION!r} must name a file of its own folder, got {shown(name)}"
        raise ModelError(msg)
    return place


def _signature_text(told: Description) -> str:
    """Return the signature's inputs as the JSON text that they are kept in, or nothing."""
    inputs = told.signature.get("inputs") if isinstance(told.signature, dict) else None
    return inputs if isinstance(inputs, str) else ""


def _signature(told: Description) -> dict[str, np.dtype[np.generic]] | None:
    """Return the columns and their types; None without a signature, or where it names none.

    Parameters
    ----------
    told
        What the folder says.

    Raises
    ------
    ModelError
        If it has types that are no columns of a table.
    """
    text = _signature_text(told)
    if not text:
        return None
    try:
        columns = json.loads(text)
        if any(one["type"] == "tensor" for one in columns):
            return None
        return {str(one["name"]): np.dtype(TYPES[one["type"]]) for one in columns}
    except (ValueError, KeyError, TypeError, RecursionError):
        known = ", ".join(TYPES)
        msg = f"the signature of {DESCRIPTION!r} must name columns of {known}, got {shown(text)}"
        raise ModelError(msg) from None
