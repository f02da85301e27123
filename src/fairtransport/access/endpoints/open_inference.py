"""The Open Inference Protocol v2, which KServe, MLServer and Triton speak: tensors in and out."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypedDict

import numpy as np

from fairtransport.access.casting import cast, plain_column
from fairtransport.access.endpoints.endpoint import Endpoint
from fairtransport.checks import shown
from fairtransport.errors import ModelError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pandas as pd
    from numpy.typing import NDArray

    from fairtransport.losses import Answer

TYPES = {
    "BOOL": "?", "INT8": "i1", "INT16": "i2", "INT32": "i4", "INT64": "i8", "UINT8": "u1",
    "UINT16": "u2", "UINT32": "u4", "UINT64": "u8", "FP16": "f2", "FP32": "f4", "FP64": "f8",
    "BYTES": "O",
}  # fmt: skip
"""The types of tensors in numpy's words."""
OF_VALUES = {str: "BYTES", bool: "BOOL", int: "INT64", float: "FP64"}
"""The types of columns of which a server says nothing."""
USUAL = {"score": "predict_proba"}
"""The output to ask for where a server does not list any."""


class Tensor(TypedDict, total=False):
    """A tensor as the protocol writes it; what a server tells of its own has no data."""

    name: str
    datatype: str
    shape: list[int]
    parameters: dict[str, str]
    data: list[object]


@dataclass(frozen=True, eq=False)
class OpenInference(Endpoint):
    """A model that speaks the Open Inference Protocol v2.

    Attributes
    ----------
    path
        The model's path, with its version if one was named.
    inputs, outputs
        What the server says of them; empty where it says nothing.
    served
        What the server calls the model, and its versions.
    """

    path: str = ""
    inputs: Sequence[Tensor] = ()
    outputs: Sequence[Tensor] = ()
    served: str = ""
    chosen: Mapping[str, str] = field(default_factory=dict)

    @property
    def protocol(self) -> str:
        """What the endpoint speaks."""
        return "Open Inference v2"

    @property
    def identity(self) -> str:
        """What tells this model from others, as far as the endpoint says."""
        return f"{super().identity} {self.served} {sorted(self.chosen.items())}"

    def ask(self, points: pd.DataFrame, kind: Answer) -> list[object]:
        """Return the answers to one batch.

        Parameters
        ----------
        points
            Sent as one tensor, or as one a column.
        kind
            What the loss needs; it decides which output is asked for.
        """
        document: dict[str, object] = {"inputs": self._table(points) or self._columns(points)}
        if not self.inputs:
            document["parameters"] = {"content_type": "pd"}
        wanted = self._wanted(kind)
        if wanted is not None:
            document["outputs"] = [{"name": wanted}]
        said = self.client.post(f"{self.path}/infer", document)
        outputs = said.get("outputs") if isinstance(said, dict) else None
        if not isinstance(outputs, list) or not all(isinstance(one, dict) for one in outputs):
            raise self.refuse(kind, said)
        return self._answers(_one(outputs, wanted, kind, str(self.client)), len(points), kind)

    @property
    def takes_a_table(self) -> bool:
        """Whether all columns go into one tensor."""
        shapes = [one.get("shape") for one in self.inputs]
        shape = shapes[0] if len(shapes) == 1 else None
        return isinstance(shape, list) and len(shape) == 2 and shape[1] != 1  # noqa: PLR2004

    def _table(self, points: pd.DataFrame) -> list[Tensor]:
        """Return all columns as one tensor; none where the model takes one a column.

        Parameters
        ----------
        points
            The questions, a row each. Values lie row after row, as the protocol flattens tensors.
        """
        if not self.takes_a_table:
            return []
        (tensor,) = self.inputs
        columns = [self._cast(points, name, str(tensor.get("datatype"))) for name in points.columns]
        data = [value for row in zip(*columns, strict=True) for value in row]
        shape = [len(points), len(columns)]
        return [{**_head(tensor["name"], str(tensor.get("datatype")), shape), "data": data}]

    def _columns(self, points: pd.DataFrame) -> list[Tensor]:
        """Return each column as a tensor, of the type that the server tells, or a guessed one.

        Parameters
        ----------
        points
            The questions, a row each.

        Notes
        -----
        Some servers take (n,) tensors and some (n, 1): the length of the shape that the server
        tells of an input decides, and (n, 1) is sent where it tells none.
        """
        told = {str(one.get("name")): one for one in self.inputs}
        made: list[Tensor] = []
        for name in points.columns:
            known = told.get(name, {})
            kind = str(known.get("datatype") or _type_of(plain_column(points, name)))
            flat = len(known.get("shape", (-1, 1))) == 1
            shape = [len(points)] if flat else [len(points), 1]
            made.append({**_head(name, kind, shape), "data": self._cast(points, name, kind)})
        return made

    def _cast(self, points: pd.DataFrame, name: str, kind: str) -> list[object]:
        """Return a column's values in a tensor's type, missing ones as null.

        Parameters
        ----------
        points, name
            The column.
        kind
            The type as the protocol calls it.

        Raises
        ------
        ModelError
            If the type is unknown, or a value does not fit it.
        """
        if kind not in TYPES:
            msg = f"{self.client} must take tensors of {', '.join(TYPES)}, got {shown(kind)}"
            raise ModelError(msg)
        values = cast(plain_column(points, name), np.dtype(TYPES[kind]), str(self.client), name)
        return [None if _is_nan(value) else value for value in values.tolist()]

    def _wanted(self, kind: Answer) -> str | None:
        """Return the output to ask for; None: whatever the server gives.

        Parameters
        ----------
        kind
            What the loss needs. A user's choice comes first, then an output of a fitting type, for
            scores one that is called after probabilities.
        """
        if kind in self.chosen:
            return self.chosen[kind]
        if not self.outputs:
            return USUAL.get(kind)
        fitting = [one for one in self.outputs if _holds(one, kind)] or list(self.outputs)
        likely = [one for one in fitting if "prob" in str(one.get("name")).lower()]
        return str(((likely if kind == "score" else []) or fitting)[0].get("name"))

    def _answers(self, output: Tensor, size: int, kind: Answer) -> list[object]:
        """Return an output's data as one answer a point.

        Parameters
        ----------
        output
            The tensor that came.
        size
            How many points were asked about.
        kind
            What the loss needs.

        Raises
        ------
        ModelError
            If it is of the wrong type or shape.
        """
        data, shape = output.get("data"), output.get("shape")
        if kind == "score" and not str(output.get("datatype")).startswith(("FP", "BF")):
            raise self.refuse(kind, data)
        try:
            array: NDArray[np.object_] = np.array(data, dtype=object).reshape(shape or -1)
        except (TypeError, ValueError):
            raise self.refuse(kind, data) from None
        if array.ndim == 0 or len(array) != size or math.prod(array.shape[1:]) == 0:
            msg = f"{self.client} must give one answer a point ({size}), got shape {array.shape}"
            raise ModelError(msg)
        flat = array.reshape(size) if array.size == size else array
        return list(flat.tolist())


def _head(name: str, kind: str, shape: list[int]) -> Tensor:
    """Return a tensor without its data; text says that it is.

    Examples
    --------
    >>> _head("age", "INT64", [2])
    {'name': 'age', 'datatype': 'INT64', 'shape': [2]}
    >>> _head("sex", "BYTES", [2, 1])["parameters"]
    {'content_type': 'str'}
    """
    head: Tensor = {"name": name, "datatype": kind, "shape": shape}
    if kind == "BYTES":
        head["parameters"] = {"content_type": "str"}
    return head


def _type_of(values: Sequence[object]) -> str:
    """Return the type of a column by its values; a missing one makes numbers fractions.

    Parameters
    ----------
    values
        Plain values, None where one is missing.

    Examples
    --------
    >>> _type_of([1, 2]), _type_of([1, None]), _type_of(["a"])
    ('INT64', 'FP64', 'BYTES')
    """
    kinds = {float if value is None else type(value) for value in values}
    for kind in (str, float, int, bool):
        if kind in kinds:
            return OF_VALUES[kind]
    return "FP64"


def _is_nan(value: object) -> bool:
    """Say whether a value is NaN."""
    return isinstance(value, float) and math.isnan(value)


def _holds(output: Tensor, kind: Answer) -> bool:
    """Say whether an output's type is one for labels, scores or numbers."""
    has_fractions = str(output.get("datatype")).startswith(("FP", "BF"))
    return has_fractions if kind == "score" else not has_fractions or kind == "value"


def _one(outputs: Sequence[Tensor], wanted: str | None, kind: Answer, who: str) -> Tensor:
    """Return the output that was asked for, or the only one.

    Parameters
    ----------
    outputs
        What came.
    wanted
        Its name, None: any.
    kind, who
        What was asked for and who answers, for the message.

    Raises
    ------
    ModelError
        If there is not exactly one.
    """
    found = [one for one in outputs if wanted in {None, one.get("name")}]
    if len(found) != 1:
        names = ", ".join(str(one.get("name")) for one in outputs) or "none"
        msg = f"{who} must give one output for {kind}s (name it in `outputs`), got {shown(names)}"
        raise ModelError(msg)
    return found[0]
