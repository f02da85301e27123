"""Forms as they arrive: words are kept, files go straight to the disk, a piece at a time."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import PurePosixPath, PureWindowsPath
from secrets import token_hex
from typing import IO, TYPE_CHECKING

from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header

from fairtransport.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

    from python_multipart.multipart import MultipartCallbacks
    from starlette.requests import Request

LARGEST = 1 << 30
"""The most bytes of a file that is handed over; a larger one is read where it lies."""
MOST_WORDS = 1 << 22
"""The most bytes of all that is typed into a form."""
GIGABYTE = 1e9


@dataclass(frozen=True)
class Upload:
    """A file that was handed over: where it is kept, and what its owner calls it."""

    path: Path
    shown: str


@dataclass
class Typed:
    """What a form holds: its words by field, and its files."""

    words: dict[str, str] = field(default_factory=dict)
    files: dict[str, Upload] = field(default_factory=dict)
    too_large: bool = False


async def read_form(request: Request, folder: Path) -> Typed:
    """Read a form; what is too large is read to its end and thrown away.

    A browser shows an answer only after it has sent everything.
    """
    kind, options = parse_options_header(request.headers.get("content-type"))
    if kind != b"multipart/form-data" or b"boundary" not in options:
        msg = "`form` must be multipart/form-data"
        raise InputError(msg)
    announced = int(request.headers.get("content-length") or 0)
    reader = _Reader(folder, refused=announced > LARGEST + MOST_WORDS)
    parser = MultipartParser(options[b"boundary"], reader.callbacks())
    try:
        async for piece in request.stream():
            if not reader.typed.too_large:
                parser.write(piece)
    except FormParserError as error:
        reader.discard()
        msg = f"`form` could not be read: {error}"
        raise InputError(msg) from None
    except BaseException:  # the browser went away
        reader.discard()
        raise
    return reader.typed


def too_large_sentence(announced: int) -> str:
    """Return why a file was refused."""
    return (
        f"`X` must have at most {LARGEST / GIGABYTE:.1f} GB to be handed over in the page, got "
        f"{announced / GIGABYTE:.1f} GB; give its path instead, and it is read where it lies"
    )


class _Reader:
    """Takes the parts of a form as the parser finds them."""

    def __init__(self, folder: Path, *, refused: bool) -> None:
        self.folder, self.typed = folder, Typed(too_large=refused)
        self._name, self._heading, self._value = b"", b"", b""
        self._headers: dict[bytes, bytes] = {}
        self._words, self._kept, self._size = bytearray(), 0, 0
        self._file: IO[bytes] | None = None
        self._upload: Upload | None = None

    def callbacks(self) -> MultipartCallbacks:
        """Return what the parser is to call."""
        return {
            "on_part_begin": self._begin,
            "on_header_field": self._add_heading,
            "on_header_value": self._add_value,
            "on_header_end": self._end_header,
            "on_headers_finished": self._open,
            "on_part_data": self._take,
            "on_part_end": self._end,
        }

    def _begin(self) -> None:
        self._headers, self._words = {}, bytearray()
        self._upload, self._file, self._size = None, None, 0

    def _add_heading(self, data: bytes, start: int, end: int) -> None:
        self._heading += data[start:end]

    def _add_value(self, data: bytes, start: int, end: int) -> None:
        self._value += data[start:end]

    def _end_header(self) -> None:
        self._headers[self._heading.lower()] = self._value
        self._heading, self._value = b"", b""

    def _open(self) -> None:
        _, options = parse_options_header(self._headers.get(b"content-disposition"))
        self._name = options.get(b"name", b"")
        shown = options.get(b"filename", b"").decode("utf-8", "replace")
        if shown:
            self._upload = Upload(self._place(shown), base_name(shown))
            self._file = self._upload.path.open("xb")

    def _place(self, shown: str) -> Path:
        """Return where a file is kept: its ending is its own, its name is ours."""
        ending = "".join(
            sign for sign in PurePosixPath(base_name(shown)).suffix if sign.isalnum() or sign == "."
        )
        return self.folder / f"{token_hex(8)}{ending[:12]}"

    def _take(self, data: bytes, start: int, end: int) -> None:
        size = end - start
        if self._file is not None:
            self._size += size
            if self._size > LARGEST:
                self.typed.too_large = True
                self.discard()
                return
            self._file.write(data[start:end])
            return
        self._kept += size
        if self._kept > MOST_WORDS:
            msg = f"`form` must have at most {MOST_WORDS} bytes of words, got more"
            raise InputError(msg)
        self._words += data[start:end]

    def _end(self) -> None:
        name = self._name.decode("utf-8", "replace")
        if self._file is not None and self._upload is not None:
            self._file.close()
            self.typed.files[name] = self._upload
            self._file = None
        elif self._upload is None:
            self.typed.words[name] = self._words.decode("utf-8", "replace")

    def discard(self) -> None:
        """Remove what has come of a file."""
        if self._file is not None and self._upload is not None:
            self._file.close()
            self._upload.path.unlink(missing_ok=True)
            self._file = None


def base_name(shown: str) -> str:
    r"""Return a file's name without folders, whichever system it comes from.

    Examples
    --------
    >>> base_name("../../etc/passwd"), base_name("C:\\\\people.csv")
    ('passwd', 'people.csv')
    """
    return PureWindowsPath(PurePosixPath(shown).name).name or "file"
