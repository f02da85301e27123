"""What an ONNX file holds, found out before anybody runs it: sizes, outside data, class labels.

The file is a Protocol Buffers message, of which the few fields that matter here are read as they
stand; nothing is allocated that the file merely claims.
"""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from fairtransport.archives import in_words, most_unpacked
from fairtransport.errors import ModelError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

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
"""Which fields of which messages lead to tensors, by their numbers in onnx.proto."""

SINGLE = frozenset({1, 10, 16})
"""The types of single and half precision."""
LABELS = ("classlabels_ints", "classlabels_int64s", "classlabels_strings")
"""Attributes that name the classes in the order of scores."""
MOST_IN_A_BYTE = 4
"""Numbers of the smallest type that share a byte."""
LARGEST = 16
"""Bytes of the largest number."""
VARINT, EIGHT_BYTES, BYTES, FOUR_BYTES = 0, 1, 2, 5


@dataclass
class Contents:
    """What an ONNX file holds.

    Attributes
    ----------
    outside
        The files beside it that hold data of its own.
    classes
        The class labels, in the order of scores; empty where no part names them.
    single
        Whether any part of it is a number in single or half precision.
    """

    outside: dict[str, Path] = field(default_factory=dict)
    classes: list[int | str] = field(default_factory=list)
    single: bool = False


def contents_of(data: bytes, file: Path, most: int | None = None) -> Contents:
    """Walk through a model and refuse what is larger than the file or lies outside its folder.

    Parameters
    ----------
    data
        The model.
    file
        Where it lies.
    most
        How many bytes a tensor may have that is stored in fewer; default: as for archives.

    Returns
    -------
    Contents
        What is known of it without running it.

    Raises
    ------
    ModelError
        If a tensor claims more than is there, or data lies elsewhere.
    ValueError
        If it is no message of this kind.
    """
    found = Contents()
    limit = most_unpacked(len(data)) if most is None else most
    left: list[tuple[str, memoryview]] = [("model", memoryview(data))]
    while left:
        kind, message = left.pop()
        if kind == "tensor":
            _check_tensor(found, message, file)
        elif kind == "sparse":
            left += _sparse_parts(message, file, limit)
        else:
            if kind == "attribute":
                _read_attribute(found, message)
            parts = PARTS[kind]
            left += [
                (parts[number], value)
                for number, value in fields(message)
                if number in parts and isinstance(value, memoryview)
            ]
    return found


def fields(message: memoryview) -> Iterator[Field]:
    r"""Yield the fields of a message; one that ends before its fields do is no message.

    Parameters
    ----------
    message
        Its bytes, looked at in place.

    Raises
    ------
    ValueError
        If it is damaged.

    Examples
    --------
    Field 1 holds the number 150, as in the documentation of Protocol Buffers.

    >>> list(fields(memoryview(b"\x08\x96\x01")))
    [(1, 150)]
    """
    at = 0
    while at < len(message):
        key, at = _varint(message, at)
        number, kind = key >> 3, key & 7
        if kind == VARINT:
            value, at = _varint(message, at)
            yield number, value
            continue
        if kind == BYTES:
            size, at = _varint(message, at)
        else:
            size = {EIGHT_BYTES: 8, FOUR_BYTES: 4}.get(kind, -1)
        if size < 0 or at + size > len(message):
            msg = "it is no ONNX model, or not all of one"
            raise ValueError(msg)
        yield number, message[at : at + size]
        at += size


def _varint(message: memoryview, at: int) -> tuple[int, int]:
    """Return a whole number of seven bits a byte, and where the next field begins.

    Raises
    ------
    ValueError
        If it does not end, or is longer than any number can be.

    Examples
    --------
    300 is 0b10_0101100: the low seven bits come first, and their byte says that another follows.

    >>> _varint(memoryview(bytes([0xAC, 0x02, 0x07])), 0)
    (300, 2)
    """
    value = 0
    for shift in range(0, 70, 7):
        if at >= len(message):
            break
        byte = message[at]
        value |= (byte & 0x7F) << shift
        at += 1
        if byte < 0x80:  # noqa: PLR2004
            return value, at
    msg = "it is no ONNX model, or not all of one"
    raise ValueError(msg)


def whole_numbers(value: int | memoryview) -> Iterator[int]:
    """Yield whole numbers, of which there is one or many packed together.

    Parameters
    ----------
    value
        A field's value.

    Examples
    --------
    >>> list(whole_numbers(memoryview(bytes([0x01, 0xAC, 0x02])))), list(whole_numbers(5))
    ([1, 300], [5])
    """
    if isinstance(value, int):
        yield value
        return
    at = 0
    while at < len(value):
        one, at = _varint(value, at)
        yield one


def _check_tensor(found: Contents, message: memoryview, file: Path) -> None:
    """Refuse a tensor that claims more numbers than its bytes can hold, or data that is elsewhere.

    Parameters
    ----------
    found
        Changed in place: outside files and precision.
    message
        The tensor.
    file
        The model's file.
    """
    size, is_outside = 1, False
    outside: dict[str, str] = {}
    for number, value in fields(message):
        if number == 1:
            size *= math.prod(whole_numbers(value))
        elif number == 2:  # noqa: PLR2004
            found.single |= value in SINGLE
        elif number == 13 and isinstance(value, memoryview):  # noqa: PLR2004
            outside.update([_entry(value)])
        elif number == 14:  # noqa: PLR2004
            is_outside = value == 1
    if is_outside or outside:
        _check_outside(found, outside, file)
    elif size > MOST_IN_A_BYTE * len(message):
        msg = f"{file.name!r} must hold its tensors, got one of {size:,} numbers that it does not"
        raise ModelError(msg)


def _sparse_parts(
    message: memoryview, file: Path, most: int
) -> Iterator[tuple[str, memoryview]]:  # fmt: skip
    """Refuse a sparse tensor that would fill more than it may, and yield its parts.

    Parameters
    ----------
    message
        The tensor.
    file
        The model's file, for messages.
    most
        How many bytes it may fill when it is made dense.
    """
    size = 1
    for number, value in fields(message):
        if number == 3:  # noqa: PLR2004
            size *= math.prod(whole_numbers(value))
        elif isinstance(value, memoryview):
            yield "tensor", value
    if size * LARGEST > most:
        msg = f"{file.name!r} {in_words(most)}"
        raise ModelError(msg)


def _check_outside(found: Contents, told: dict[str, str], file: Path) -> None:
    """Refuse data in a file that does not lie in the model's folder or is shorter than told.

    Parameters
    ----------
    found
        Its ``outside`` is added to.
    told
        Location, offset and length, as the tensor tells them.
    file
        The model's file.
    """
    location = told.get("location", "")
    folder = file.parent.resolve()
    try:
        beside = (folder / location).resolve()
        is_inside = location != "" and beside.is_relative_to(folder) and beside.is_file()
        end = int(told.get("offset", "0")) + int(told.get("length", "0"))
        fits = is_inside and 0 <= end <= beside.stat().st_size
    except (OSError, ValueError):
        fits = False
    if not fits:
        msg = (
            f"{file.name!r} must keep its data in files of its own folder, got {location[:60]!r}, "
            "which is outside, absent or too short"
        )
        raise ModelError(msg)
    found.outside[location] = beside


def _entry(message: memoryview) -> tuple[str, str]:
    """Return a key and its text from a message of pairs."""
    known = {number: value for number, value in fields(message) if isinstance(value, memoryview)}
    key, value = (bytes(known.get(number, b"")).decode(errors="replace") for number in (1, 2))
    return key, value


def _read_attribute(found: Contents, message: memoryview) -> None:
    """Note class labels and single precision where an attribute has them.

    Parameters
    ----------
    found
        Changed in place.
    message
        The attribute.
    """
    name, numbers, texts = "", [], []
    for number, value in fields(message):
        if number == 1 and isinstance(value, memoryview):
            name = bytes(value).decode(errors="replace")
        elif number == 7:  # noqa: PLR2004
            found.single = True
        elif number == 8:  # noqa: PLR2004
            numbers += [_signed(one) for one in whole_numbers(value)]
        elif number == 9 and isinstance(value, memoryview):  # noqa: PLR2004
            texts.append(bytes(value).decode(errors="replace"))
    if name in LABELS and (numbers or texts):
        found.classes = [*numbers, *texts]


def _signed(value: int) -> int:
    """Return the signed number that 64 unsigned bits stand for.

    Examples
    --------
    >>> _signed(2**64 - 1), _signed(7)
    (-1, 7)
    """
    return int(struct.unpack("<q", struct.pack("<Q", value & (2**64 - 1)))[0])
