"""Models in ONNX files, run by onnxruntime once their contents are checked.

The file is a Protocol Buffers message. The few fields needed are parsed here; nothing is allocated
that the file merely claims.
"""

from __future__ import annotations

import math
import struct
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import numpy as np

from fairtransport._core.files import (
    MAX_UNPACKED_BYTES,
    describe_unpacked_limit,
    max_unpacked_bytes,
)
from fairtransport._core.validation import check_integer, list_values
from fairtransport.access.black_box import BlackBox
from fairtransport.access.model_files import (
    Permissions,
    bytes_of,
    cast,
    existing_model,
    plain_column,
    reading,
)
from fairtransport.errors import ModelError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    import pandas as pd
    from numpy.typing import NDArray
    from onnxruntime import RunOptions, SessionOptions

    from fairtransport._core.validation import Values
    from fairtransport.data.columns import Value
    from fairtransport.losses import Answer


TYPES = {
    "tensor(float16)": "f2", "tensor(float)": "f4", "tensor(double)": "f8", "tensor(bool)": "?",
    "tensor(int8)": "i1", "tensor(int16)": "i2", "tensor(int32)": "i4", "tensor(int64)": "i8",
    "tensor(uint8)": "u1", "tensor(uint16)": "u2", "tensor(uint32)": "u4", "tensor(uint64)": "u8",
    "tensor(string)": "O",
}  # fmt: skip
"""NumPy dtypes of ONNX's column types."""
FRACTIONS = frozenset({"tensor(float16)", "tensor(float)", "tensor(double)"})
SILENT = 4
"""Minimum severity that onnxruntime logs, as we report its errors."""
IN_SINGLE_PRECISION = (
    "The ONNX file computes in single precision, so that its scores, and labels near a threshold, "
    "can differ from those of the model that it was converted from; the audit is about the file."
)


class End(Protocol):
    """An input or output of a session."""

    name: str
    type: str
    shape: Sequence[int | str | None]


class Session(Protocol):
    """The part of onnxruntime's session that is used."""

    def get_inputs(self) -> Sequence[End]:
        """Return the inputs."""
        ...

    def get_outputs(self) -> Sequence[End]:
        """Return the outputs."""
        ...

    def run(
        self, names: Sequence[str], inputs: Mapping[str, Values], how: RunOptions
    ) -> Sequence[Values | list[Values | dict[Value, float]]]:
        """Return the outputs of these names."""
        ...


@dataclass(frozen=True, eq=False)
class OnnxModel(BlackBox):
    """A model in an ONNX file, whose path is not stored."""

    session: Session
    contents: Contents
    sha256: str
    columns: tuple[str, ...] | None = None

    name = "ONNX"
    library = "pandas"

    @property
    def description(self) -> str:
        """The kind of file and its hash."""
        return f"ONNX model; file with SHA-256 {self.sha256}"

    @property
    def identity(self) -> str:
        """Identity of the model."""
        return f"onnx {self.sha256}"

    def notes_on(self, _: Values, __: Sequence[Value]) -> tuple[str, ...]:
        """Return notes for readers of the answers."""
        return (IN_SINGLE_PRECISION,) if self._is_single else ()

    @property
    def features(self) -> tuple[str, ...] | None:
        """Names of its inputs; None if it takes a table with unnamed columns."""
        if self._takes_a_table:
            return self.columns
        return tuple(end.name for end in self.session.get_inputs())

    @property
    def classes(self) -> Sequence[Value] | None:
        """The class labels that the file names."""
        return self.contents.classes or None

    def answer(self, points: pd.DataFrame, kind: Answer) -> object:
        """Return labels, class scores or numbers, one per row."""
        output = self._output(kind)
        from onnxruntime import RunOptions

        options = RunOptions()
        options.log_severity_level = SILENT
        (result,) = self.session.run([output.name], self._inputs(points), options)
        if isinstance(result, list):
            maps = [row for row in result if isinstance(row, dict)]
            return self._from_maps(maps) if maps else result
        return result

    def _inputs(self, points: pd.DataFrame) -> dict[str, Values]:
        """Return the session's inputs in the declared types: a table, or one array per column."""
        inputs = self.session.get_inputs()
        names = list(points.columns)
        who = f"the model {self.name}"
        if self._takes_a_table:
            dtype = _type(inputs[0])
            width = inputs[0].shape[1]
            if isinstance(width, int) and width != len(names):
                msg = f"{who} takes {width} columns, got {len(names)}: {list_values(names)}"
                raise ModelError(msg)
            table = [cast(plain_column(points, name), dtype, who, name) for name in names]
            return {inputs[0].name: np.column_stack(table)}
        arrays = {}
        for end in inputs:
            column = cast(plain_column(points, end.name), _type(end), who, end.name)
            arrays[end.name] = column if len(end.shape) == 1 else column[:, None]
        return arrays

    def _output(self, kind: Answer) -> End:
        """Return the output that holds the requested kind of answer."""
        outputs = self.session.get_outputs()
        maps = [end for end in outputs if end.type.startswith("seq(map(")]
        fractions = [end for end in outputs if end.type in FRACTIONS]
        labels = [end for end in outputs if end.type in TYPES and end not in fractions]
        scores = maps or (fractions if labels or kind == "score" else [])
        candidates = scores if kind == "score" else labels or fractions
        if kind == "label" and not labels:
            candidates = []
        if not candidates:
            got = ", ".join(f"{end.name} ({end.type})" for end in outputs)
            msg = f"the model {self.name} has no output that holds {kind}s, got {got}"
            raise ModelError(msg)
        # among several float outputs some are raw margins, not scores
        likely = [end for end in candidates if "prob" in end.name.lower()]
        return (likely or candidates)[0] if kind == "score" else candidates[0]

    def _from_maps(self, maps: Sequence[Mapping[Any, float]]) -> NDArray[np.float64]:
        """Return scores in the order of classes from one map of scores per point."""
        classes = list(self.classes or sorted(maps[0]))
        if any(set(scores) != set(classes) for scores in maps):
            msg = f"the model {self.name} must give a probability to each of {list_values(classes)}"
            raise ModelError(msg)
        return np.array([[scores[label] for label in classes] for scores in maps])

    @property
    def _takes_a_table(self) -> bool:
        """Whether all columns go into one input."""
        inputs = self.session.get_inputs()
        return len(inputs) == 1 and len(inputs[0].shape) > 1 and inputs[0].shape[1] != 1

    @property
    def _is_single(self) -> bool:
        """Whether anything is computed in single or half precision."""
        ends = [*self.session.get_inputs(), *self.session.get_outputs()]
        return self.contents.single or any("float" in end.type for end in ends)


def read_onnx(path: str, allowed: Permissions) -> OnnxModel:
    """Return the model in an ONNX file."""
    return open_onnx(existing_model(path), allowed)


def open_onnx(
    file: Path, allowed: Permissions, columns: tuple[str, ...] | None = None
) -> OnnxModel:
    """Return the model in an ONNX file, with column names from elsewhere if it has none."""
    try:
        import onnxruntime
    except ImportError as error:
        msg = "ONNX files need the package onnxruntime: pip install 'fairtransport[onnx]'"
        raise ModelError(msg) from error
    limit = (
        None
        if allowed.max_unpacked is None
        else check_integer("max_unpacked", allowed.max_unpacked)
    )
    data = bytes_of(file)
    with reading(file):
        contents = contents_of(data, file, limit)
        _limit_memory()
        session = onnxruntime.InferenceSession(
            data, _options(file), providers=["CPUExecutionProvider"]
        )
        _check_ends(session, file)
    digest = sha256(data)
    # weights beside the file are part of the model, and so of its identity
    for location in sorted(contents.outside):
        digest.update(bytes_of(contents.outside[location]))
    return OnnxModel(session, contents, digest.hexdigest(), columns)


def _options(file: Path) -> SessionOptions:
    """Return a session's options: quiet, one thread, data from the model's own folder."""
    from onnxruntime import SessionOptions

    options = SessionOptions()
    options.log_severity_level = SILENT
    # with one thread, sums are the same on every machine
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.add_session_config_entry("session.use_env_allocators", "1")
    options.add_session_config_entry(
        "session.model_external_initializers_file_folder_path", str(file.parent.resolve())
    )
    return options


@cache
def _limit_memory() -> None:
    """Limit onnxruntime's memory: a small file can ask for any amount."""
    import onnxruntime as ort

    place = ort.OrtMemoryInfo(
        "Cpu", ort.OrtAllocatorType.ORT_ARENA_ALLOCATOR, 0, ort.OrtMemType.DEFAULT
    )
    with suppress(Exception):  # the host program has set its own limit
        ort.create_and_register_allocator(
            place, ort.OrtArenaCfg({"max_mem": 4 * MAX_UNPACKED_BYTES})
        )


def _check_ends(session: Session, file: Path) -> None:
    """Check that a model's inputs are columns."""
    for end in session.get_inputs():
        if end.type not in TYPES or len(end.shape) not in {1, 2}:
            msg = (
                f"{file.name!r} must take columns of text, numbers or truth values, got the input "
                f"{end.name!r} of type {end.type} and shape {end.shape}"
            )
            raise ModelError(msg)
    if len(session.get_inputs()) > 1 and any(
        len(end.shape) > 1 and end.shape[1] not in {1, None} for end in session.get_inputs()
    ):
        msg = f"{file.name!r} must take one table or one input a column, got several tables"
        raise ModelError(msg)


def _type(end: End) -> np.dtype[np.generic]:
    """Return an input's type as a NumPy dtype."""
    return np.dtype(TYPES[end.type])


Field: TypeAlias = tuple[int, int | memoryview]
"""A field of a message: its number, and a whole number or the bytes it holds."""


PARTS = {
    "model": {7: "graph", 20: "training", 25: "function"},
    "training": {1: "graph", 2: "graph"},
    "graph": {1: "node", 5: "tensor", 15: "sparse"},
    "function": {7: "node", 11: "attribute"},
    "node": {5: "attribute"},
    "attribute": {
        5: "tensor", 6: "graph", 10: "tensor", 11: "graph", 22: "sparse", 23: "sparse",
    },
}  # fmt: skip
"""Fields that lead to tensors, by message and number in onnx.proto."""


SINGLE = frozenset({1, 10, 16})
"""The types of single and half precision."""
LABELS = ("classlabels_ints", "classlabels_int64s", "classlabels_strings")
"""Attributes that name the classes in the order of scores."""
MAX_NUMBERS_PER_BYTE = 4
"""Numbers of the smallest type that share a byte."""
MAX_NUMBER_BYTES = 16
"""Bytes of the largest number."""
VARINT, EIGHT_BYTES, BYTES, FOUR_BYTES = 0, 1, 2, 5


@dataclass
class Contents:
    """What an ONNX file holds."""

    outside: dict[str, Path] = field(default_factory=dict)
    classes: list[int | str] = field(default_factory=list)
    single: bool = False


def contents_of(data: bytes, file: Path, max_bytes: int | None = None) -> Contents:
    """Return the contents of a model; raise if tensors exceed the file or leave its folder."""
    contents = Contents()
    limit = max_unpacked_bytes(len(data)) if max_bytes is None else max_bytes
    # no recursion: a file may nest deeper than Python's stack
    messages: list[tuple[str, memoryview]] = [("model", memoryview(data))]
    while messages:
        kind, message = messages.pop()
        if kind == "tensor":
            _check_tensor(contents, message, file)
        elif kind == "sparse":
            messages += _sparse_parts(message, file, limit)
        else:
            if kind == "attribute":
                _read_attribute(contents, message)
            parts = PARTS[kind]
            messages += [
                (parts[number], value)
                for number, value in fields(message)
                if number in parts and isinstance(value, memoryview)
            ]
    return contents


def fields(message: memoryview) -> Iterator[Field]:
    """Yield the fields of a message; raise if it is truncated."""
    position = 0
    while position < len(message):
        key, position = _varint(message, position)
        number, kind = key >> 3, key & 7
        if kind == VARINT:
            value, position = _varint(message, position)
            yield number, value
            continue
        if kind == BYTES:
            size, position = _varint(message, position)
        else:
            size = {EIGHT_BYTES: 8, FOUR_BYTES: 4}.get(kind, -1)
        if size < 0 or position + size > len(message):
            msg = "it is no ONNX model, or not all of one"
            raise ValueError(msg)
        yield number, message[position : position + size]
        position += size


def _varint(message: memoryview, position: int) -> tuple[int, int]:
    """Return a variable-length integer, and the position after it."""
    value = 0
    # 64 bits take at most ten bytes
    for shift in range(0, 70, 7):
        if position >= len(message):
            break
        byte = message[position]
        value |= (byte & 0x7F) << shift
        position += 1
        if byte < 0x80:  # noqa: PLR2004
            return value, position
    msg = "it is no ONNX model, or not all of one"
    raise ValueError(msg)


def whole_numbers(value: int | memoryview) -> Iterator[int]:
    """Yield the integers of a field, one or many packed together."""
    if isinstance(value, int):
        yield value
        return
    position = 0
    while position < len(value):
        number, position = _varint(value, position)
        yield number


def _check_tensor(contents: Contents, message: memoryview, file: Path) -> None:
    """Check that a tensor claims no more numbers than its bytes hold."""
    size, is_outside = 1, False
    outside: dict[str, str] = {}
    for number, value in fields(message):
        if number == 1:
            size *= math.prod(whole_numbers(value))
        elif number == 2:  # noqa: PLR2004
            contents.single |= value in SINGLE
        elif number == 13 and isinstance(value, memoryview):  # noqa: PLR2004
            outside.update([_entry(value)])
        elif number == 14:  # noqa: PLR2004
            is_outside = value == 1
    if is_outside or outside:
        _check_outside(contents, outside, file)
    # onnxruntime would allocate a tensor that is claimed but missing: a few bytes could request all
    # memory
    elif size > MAX_NUMBERS_PER_BYTE * len(message):
        msg = f"{file.name!r} must hold its tensors, got one of {size:,} numbers that it does not"
        raise ModelError(msg)


def _sparse_parts(
    message: memoryview, file: Path, limit: int
) -> Iterator[tuple[str, memoryview]]:  # fmt: skip
    """Yield the parts of a sparse tensor, which must not exceed a limit."""
    size = 1
    for number, value in fields(message):
        if number == 3:  # noqa: PLR2004
            size *= math.prod(whole_numbers(value))
        elif isinstance(value, memoryview):
            yield "tensor", value
    if size * MAX_NUMBER_BYTES > limit:
        msg = f"{file.name!r} {describe_unpacked_limit(limit)}"
        raise ModelError(msg)


def _check_outside(contents: Contents, entries: dict[str, str], file: Path) -> None:
    """Check that data outside the file lies in its folder and is long enough."""
    location = entries.get("location", "")
    folder = file.parent.resolve()
    try:
        # resolved first, so that neither ".." nor a link leads out of the folder
        beside = (folder / location).resolve()
        is_inside = location != "" and beside.is_relative_to(folder) and beside.is_file()
        end = int(entries.get("offset", "0")) + int(entries.get("length", "0"))
        fits = is_inside and 0 <= end <= beside.stat().st_size
    except (OSError, ValueError):
        fits = False
    if not fits:
        msg = (
            f"{file.name!r} must keep its data in files of its own folder, got {location[:60]!r}, "
            "which is outside, absent or too short"
        )
        raise ModelError(msg)
    contents.outside[location] = beside


def _entry(message: memoryview) -> tuple[str, str]:
    """Return the key and value of a message."""
    values = {number: value for number, value in fields(message) if isinstance(value, memoryview)}
    key, value = (bytes(values.get(number, b"")).decode(errors="replace") for number in (1, 2))
    return key, value


def _read_attribute(contents: Contents, message: memoryview) -> None:
    """Store class labels and single precision if an attribute has them."""
    name, numbers, texts = "", [], []
    for number, value in fields(message):
        if number == 1 and isinstance(value, memoryview):
            name = bytes(value).decode(errors="replace")
        elif number == 7:  # noqa: PLR2004
            contents.single = True
        elif number == 8:  # noqa: PLR2004
            numbers += [_signed(label) for label in whole_numbers(value)]
        elif number == 9 and isinstance(value, memoryview):  # noqa: PLR2004
            texts.append(bytes(value).decode(errors="replace"))
    if name in LABELS and (numbers or texts):
        contents.classes = [*numbers, *texts]


def _signed(value: int) -> int:
    """Return 64 unsigned bits as a signed integer."""
    return int(struct.unpack("<q", struct.pack("<Q", value & (2**64 - 1)))[0])
