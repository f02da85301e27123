"""Forms of the app: their fields, and their files on the disk, in the app's own folder."""

from __future__ import annotations

import shutil
from dataclasses import dataclass, field
from pathlib import PurePosixPath, PureWindowsPath
from secrets import token_hex
from typing import TYPE_CHECKING

from starlette.concurrency import run_in_threadpool
from starlette.formparsers import MultiPartException, MultiPartParser

from fairtransport.errors import InputError, param

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Collection
    from pathlib import Path

    from starlette.datastructures import FormData, UploadFile
    from starlette.requests import Request

MAX_UPLOAD_BYTES = 1 << 30
"""Maximum size of an uploaded file; larger ones are given by their path."""
MAX_FIELD_BYTES = 1 << 22
MAX_FIELDS = 20_000
"""Maximum number of fields of a form: a table's columns have one each."""
MAX_FILES = 10
GIGABYTE = 1e9


@dataclass(frozen=True)
class Upload:
    """An uploaded file: its path, and its name on the user's machine."""

    path: Path
    shown: str


@dataclass
class Form:
    """A submitted form: its texts and files by field."""

    words: dict[str, str] = field(default_factory=dict)
    files: dict[str, Upload] = field(default_factory=dict)
    too_large: bool = False

    def discard(self) -> None:
        """Remove the files."""
        for upload in self.files.values():
            upload.path.unlink(missing_ok=True)


class _TooLargeError(Exception):
    """The body of a request exceeds the limit."""


async def read_form(request: Request, folder: Path, names: Collection[str]) -> Form:
    """Read a form and store the last file of each of some names.

    A form that is too large is read to its end and discarded: a browser shows an answer only after
    it has sent everything.
    """
    if not request.headers.get("content-type", "").startswith("multipart/form-data"):
        msg = f"{param('form')} must be multipart/form-data"
        raise InputError(msg)
    stream = request.stream()
    parser = MultiPartParser(
        request.headers, _limit(stream, int(request.headers.get("content-length") or 0)),
        max_files=MAX_FILES, max_fields=MAX_FIELDS, max_part_size=MAX_FIELD_BYTES,
    )  # fmt: skip
    try:
        data = await parser.parse()
    except _TooLargeError:
        async for _ in stream:
            pass
        words = {name: value for name, value in parser.items if isinstance(value, str)}
        return Form(words, too_large=True)
    except MultiPartException as error:
        msg = f"{param('form')} could not be read: {error}"
        raise InputError(msg) from None
    return await _store(data, folder, names)


def too_large_sentence(announced: int) -> str:
    """Return why a file was rejected."""
    return (
        f"{param('X')} must have at most {MAX_UPLOAD_BYTES / GIGABYTE:.1f} GB to be uploaded here, "
        f"got {announced / GIGABYTE:.1f} GB; give its path instead"
    )


async def _limit(
    stream: AsyncGenerator[bytes, None], announced: int
) -> AsyncGenerator[bytes, None]:  # fmt: skip
    """Yield the pieces of a body, up to the maximum size of a file and the fields."""
    size, limit = 0, MAX_UPLOAD_BYTES + MAX_FIELD_BYTES
    if announced > limit:
        raise _TooLargeError
    async for piece in stream:
        size += len(piece)
        if size > limit:
            raise _TooLargeError
        yield piece


async def _store(data: FormData, folder: Path, names: Collection[str]) -> Form:
    """Move the files of a form from the parser's unnamed temporary files to the folder."""
    form = Form()
    try:
        for name, value in dict(data.multi_items()).items():
            if isinstance(value, str):
                form.words[name] = value
            elif not value.filename:  # browsers send this if no file was chosen
                form.words[name] = ""
            elif name in names:
                form.files[name] = upload = _place(value.filename, folder)
                await run_in_threadpool(_copy, value, upload.path)
    except BaseException:
        form.discard()
        raise
    finally:
        await data.close()
    return form


def _place(filename: str, folder: Path) -> Upload:
    """Return a path for a file, with its own ending and a name of ours."""
    name = base_name(filename)
    ending = "".join(sign for sign in PurePosixPath(name).suffix if sign.isalnum() or sign == ".")
    return Upload(folder / f"{token_hex(8)}{ending[:12]}", name)


def _copy(upload: UploadFile, path: Path) -> None:
    with path.open("xb") as target:
        shutil.copyfileobj(upload.file, target)


def base_name(filename: str) -> str:
    r"""Return a file's name without folders of any system."""
    return PureWindowsPath(PurePosixPath(filename).name).name or "file"
