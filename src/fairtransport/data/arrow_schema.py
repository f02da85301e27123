"""The Arrow schema in the metadata of Parquet files."""

from __future__ import annotations

from base64 import b64decode
from struct import error as StructError  # noqa: N812
from struct import unpack_from

CONTINUATION = b"\xff\xff\xff\xff"
DURATION = 18
"""Arrow's type number of durations, which Parquet stores as integers."""


def find_durations(encoded: bytes) -> set[str]:
    """Return the columns of durations in an encoded schema, as in a file's ARROW:schema.

    It is a FlatBuffer (``Message.fbs`` and ``Schema.fbs`` of Arrow): a table begins with the offset
    of its vtable, which holds the offset of each field.
    """
    try:
        content = b64decode(encoded)
        message = content[8 if content.startswith(CONTINUATION) else 4 :]
        schema = _follow(message, _find_slot(message, _follow(message, 0), 2))
        fields = _follow(message, _find_slot(message, schema, 1))
        tables = [
            _follow(message, fields + 4 + 4 * at) for at in range(_number("<I", message, fields))
        ]
        return {
            _text(message, _follow(message, _find_slot(message, table, 0)))
            for table in tables
            if message[_find_slot(message, table, 2)] == DURATION
        }
    except (ValueError, StructError, IndexError):
        return set()  # not in Arrow's format


def _number(kind: str, content: bytes, place: int) -> int:
    return int(unpack_from(kind, content, place)[0])


def _follow(content: bytes, place: int) -> int:
    """Return the position that an offset points to."""
    return place + _number("<I", content, place)


def _find_slot(content: bytes, table: int, slot: int) -> int:
    """Return the position of a field of a table."""
    slots = table - _number("<i", content, table)
    distance = _number("<H", content, slots + 4 + 2 * slot)
    if 4 + 2 * slot >= _number("<H", content, slots) or not distance:
        msg = f"the table has no field in slot {slot}"
        raise ValueError(msg)
    return table + distance


def _text(content: bytes, place: int) -> str:
    start = place + 4
    return content[start : start + _number("<I", content, place)].decode()
