"""MLflow model folders, read without MLflow: the model, its columns and their types."""

from __future__ import annotations

import json
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

from fairtransport._core.files import is_file
from fairtransport._core.validation import short_repr
from fairtransport.access.black_box import Wrapper
from fairtransport.access.model_files import (
    Permissions,
    bytes_of,
    cast,
    existing_file,
    plain_column,
    read_pickle,
    read_skops,
    reading,
)
from fairtransport.access.onnx_files import open_onnx
from fairtransport.errors import InputError, ModelError, param

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    import pandas as pd

    from fairtransport.access.black_box import BlackBox
    from fairtransport.losses import Answer

T = TypeVar("T")
DESCRIPTION = "MLmodel"
"""The file that describes a folder."""
MAX_DESCRIPTION_BYTES = 1 << 20
"""Maximum size of this file in bytes; thousands of columns take some hundred thousand."""
MAX_DESCRIPTION_EVENTS, MAX_DESCRIPTION_DEPTH = 10_000, 50
"""Maximum number of values and brackets in it, and of nesting levels, as YAML is slow."""
TYPES = {
    "boolean": "?", "integer": "i4", "long": "i8", "float": "f4", "double": "f8", "string": "O",
}  # fmt: skip
"""NumPy dtypes of MLflow's column types."""


class Description(NamedTuple):
    """The content of a folder's MLmodel file: flavours and signature."""

    flavours: dict[str, object]
    signature: object


@dataclass(frozen=True, eq=False)
class FolderModel(Wrapper):
    """The model of an MLflow folder; its columns are cast to the types of the signature."""

    types: Mapping[str, np.dtype[np.generic]] | None
    signature: str

    @property
    def description(self) -> str:
        """Description of the model, and its source."""
        return f"{self.box.description}; in an MLflow folder"

    @property
    def identity(self) -> str:
        """Identity of the model."""
        return f"mlflow folder {self.signature} {self.box.identity}"

    @property
    def library(self) -> str:
        """Data frame library of the points it receives."""
        return "pandas"

    @property
    def features(self) -> tuple[str, ...] | None:
        """Columns of the signature, or of the model itself."""
        return self.box.features if self.types is None else tuple(self.types)

    def answer(self, points: pd.DataFrame, kind: Answer) -> object:
        """Return the model's answers to points cast to the signature's types."""
        return self.box.answer(self._cast_columns(points), kind)

    def stream_answers(
        self, points: pd.DataFrame, kind: Answer, check: Callable[[Any, int], T]
    ) -> Iterator[tuple[Sequence[int], T]]:
        """Yield the model's answers to points cast to the signature's types."""
        return self.box.stream_answers(self._cast_columns(points), kind, check)

    def _cast_columns(self, points: pd.DataFrame) -> pd.DataFrame:
        """Return points in the signature's types, as MLflow would pass them."""
        if self.types is None:
            return points
        import pandas as pd

        who = f"the model {self.name}"
        columns = {}
        for name, dtype in self.types.items():
            values = cast(plain_column(points, name), dtype, who, name)
            # keep text as it is: the frame may have its own type for it
            columns[name] = points[name] if dtype.kind == "O" else values
        return pd.DataFrame(columns, index=points.index)


def is_mlflow_folder(path: str | Path) -> bool:
    """Return whether a path is an MLflow folder, or its MLmodel file."""
    place = Path(path)
    return place.name == DESCRIPTION or is_file(place / DESCRIPTION)


def read_mlflow_folder(path: str, allowed: Permissions) -> FolderModel:
    """Return the model of an MLflow folder.

    The scikit-learn flavour (a skops file, or a pickle if allowed) or the ONNX flavour is read.
    Types that the folder itself calls trusted are not trusted for that.
    """
    folder = Path(path)
    folder = folder.parent if folder.name == DESCRIPTION else folder
    description = _description(existing_file(str(folder / DESCRIPTION)))
    types = _signature(description)
    box = _model(folder, description, allowed, None if types is None else tuple(types))
    digest = sha256(json.dumps(_signature_text(description)).encode()).hexdigest()
    return FolderModel(box, types, digest)


def _description(file: Path) -> Description:
    """Return the content of the file MLmodel, by YAML's safe loader."""
    try:
        import yaml
    except ImportError as error:
        msg = "MLflow folders need the package PyYAML: pip install 'fairtransport[mlflow]'"
        raise ModelError(msg) from error
    if file.stat().st_size > MAX_DESCRIPTION_BYTES:
        size = file.stat().st_size
        msg = (
            f"{file.name!r} must have at most {MAX_DESCRIPTION_BYTES >> 20} MiB, got {size:,} bytes"
        )
        raise ModelError(msg)
    with reading(file):
        content = bytes_of(file)
        depth = 0
        for at, event in enumerate(yaml.parse(content, yaml.SafeLoader)):
            # a few nested aliases stand for any number of values
            if isinstance(event, yaml.AliasEvent):
                msg = f"{file.name!r} must not have YAML aliases, got some"
                raise ModelError(msg)
            depth += isinstance(event, yaml.CollectionStartEvent)
            depth -= isinstance(event, yaml.CollectionEndEvent)
            if at > MAX_DESCRIPTION_EVENTS or depth > MAX_DESCRIPTION_DEPTH:
                msg = (
                    f"{file.name!r} must have at most {MAX_DESCRIPTION_EVENTS:,} values, nested at "
                    f"most {MAX_DESCRIPTION_DEPTH} deep, got more"
                )
                raise ModelError(msg)
        document = yaml.safe_load(content)
    if not isinstance(document, dict) or not isinstance(document.get("flavors"), dict):
        msg = f"{file.name!r} must name the flavours of a model, got {short_repr(document)}"
        raise ModelError(msg)
    return Description(document["flavors"], document.get("signature"))


def _model(
    folder: Path, description: Description, allowed: Permissions, columns: tuple[str, ...] | None
) -> BlackBox:
    """Return the model of a folder by the first flavour that can be read."""
    flavour = description.flavours.get("onnx")
    if isinstance(flavour, dict):
        data = flavour.get("data", "model.onnx")
        return open_onnx(_inside(folder, data), allowed, columns)
    flavour = description.flavours.get("sklearn")
    if isinstance(flavour, dict):
        file = _inside(folder, flavour.get("pickled_model", "model.pkl"))
        read_file = read_skops if flavour.get("serialization_format") == "skops" else read_pickle
        return read_file(str(file), allowed)
    got = ", ".join(map(str, description.flavours)) or "none"
    msg = (
        f"{param('path')} must be a folder with a scikit-learn or ONNX flavour, got "
        f"{short_repr(got)}; serve the model with `mlflow models serve` and give the URL instead"
    )
    raise InputError(msg)


def _inside(folder: Path, name: object) -> Path:
    """Return the path of a file, which must lie in the folder."""
    try:
        place = (folder / str(name)).resolve()
        is_inside = place.is_relative_to(folder.resolve()) and place.is_file()
    except (OSError, ValueError):
        is_inside = False
    if not is_inside:
        msg = f"{DESCRIPTION!r} must name a file of its own folder, got {short_repr(name)}"
        raise ModelError(msg)
    return place


def _signature_text(description: Description) -> str:
    """Return the signature's inputs as JSON text; empty if there are none."""
    inputs = (
        description.signature.get("inputs") if isinstance(description.signature, dict) else None
    )
    return inputs if isinstance(inputs, str) else ""


def _signature(description: Description) -> dict[str, np.dtype[np.generic]] | None:
    """Return the columns and their types; None without a signature, or without names in it."""
    text = _signature_text(description)
    if not text:
        return None
    try:
        columns = json.loads(text)
        if any(column["type"] == "tensor" for column in columns):
            return None
        return {str(column["name"]): np.dtype(TYPES[column["type"]]) for column in columns}
    except (ValueError, KeyError, TypeError, RecursionError):
        names = ", ".join(TYPES)
        msg = (
            f"the signature of {DESCRIPTION!r} must name columns of {names}, got {short_repr(text)}"
        )
        raise ModelError(msg) from None
