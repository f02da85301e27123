"""Forms with files: nothing is held in memory, nothing too large is kept."""

import asyncio
import tempfile
from pathlib import Path

import duckdb
import pytest
from starlette.datastructures import Headers

from fairtransport.app import uploads
from fairtransport.app.form import Table
from fairtransport.app.uploads import read_form
from fairtransport.data.database import Database
from fairtransport.errors import DataError, InputError
from tests.app.conftest import BOUNDARY, multipart

FORM = f"multipart/form-data; boundary={BOUNDARY}"


class Arriving:
    """A request whose body comes in pieces."""

    def __init__(self, body, size=7, announced=None, kind=FORM):
        self.body, self.size = body, size
        length = str(announced or len(body))
        self.headers = Headers({"content-type": kind, "content-length": length})

    async def stream(self):
        for at in range(0, len(self.body), self.size):
            yield self.body[at : at + self.size]


def read(request, folder):
    return asyncio.run(read_form(request, folder, ["file", "f"]))


@pytest.mark.parametrize("size", [1, 7, 100_000])
def test_words_and_files_arrive_whole_however_they_are_cut(tmp_path, size):
    data = bytes(range(256)) * 20 + b"\r\n--almost"
    body = multipart({"a": "one\r\ntwo", "b": "名"}, [("file", "x.CSV", data), ("none", "", b"")])

    typed = read(Arriving(body, size), tmp_path)

    assert typed.words == {"a": "one\r\ntwo", "b": "名", "none": ""}
    assert typed.files["file"].shown == "x.CSV"
    assert typed.files["file"].path.read_bytes() == data
    assert typed.files["file"].path.suffix == ".CSV"


@pytest.mark.parametrize(
    "shown",
    ["../../a.csv", "C:\\\\secret\\\\a.csv", "/etc/a.csv", "a/../../b.csv", ".csv/.."],
)
def test_a_file_stays_in_its_folder_whatever_it_is_called(tmp_path, shown):
    typed = read(Arriving(multipart({}, [("file", shown, b"x")])), tmp_path)

    assert [path.parent for path in tmp_path.rglob("*")] == [tmp_path]
    assert "/" not in typed.files["file"].shown
    assert "\\" not in typed.files["file"].shown


def test_a_file_that_grows_too_large_is_thrown_away(tmp_path, monkeypatch):
    monkeypatch.setattr(uploads, "MAX_UPLOAD_BYTES", 1000)
    monkeypatch.setattr(uploads, "MAX_FIELD_BYTES", 100)

    body = multipart({"a": "b"}, [("file", "x.csv", b"y" * 5000)])

    typed = read(Arriving(body, announced=1), tmp_path)

    assert typed.too_large
    assert typed.words == {"a": "b"}
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_is_announced_as_too_large_is_not_begun(tmp_path):
    body = multipart({}, [("file", "x.csv", b"y" * 50)])

    typed = read(Arriving(body, announced=2_000_000_000), tmp_path)

    assert typed.too_large
    assert list(tmp_path.iterdir()) == []
    said = uploads.too_large_sentence(2_000_000_000)
    assert said.endswith("got 2.0 GB; give its path instead")


def test_what_is_no_form_is_refused(tmp_path, monkeypatch):
    with pytest.raises(InputError, match="must be multipart/form-data"):
        read(Arriving(b"a=b", kind="application/x-www-form-urlencoded"), tmp_path)
    with pytest.raises(InputError, match="could not be read"):
        read(Arriving(b"no form at all, whatever its heading says"), tmp_path)
    monkeypatch.setattr(uploads, "MAX_FIELD_BYTES", 1 << 10)
    with pytest.raises(InputError, match="could not be read: Part exceeded maximum size of 1KB"):
        read(Arriving(multipart({"a": "b" * 2000})), tmp_path)
    monkeypatch.setattr(uploads, "MAX_FIELDS", 3)
    with pytest.raises(InputError, match="could not be read: Too many fields"):
        read(Arriving(multipart(dict.fromkeys("abcd", ""))), tmp_path)
    monkeypatch.setattr(uploads, "MAX_FILES", 1)
    with pytest.raises(InputError, match="could not be read: Too many files"):
        read(Arriving(multipart({}, [("f", "x.csv", b"x"), ("g", "y.csv", b"y")])), tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.odd
@pytest.mark.parametrize("boundary", ["b" * 257, "b" * 5000])
def test_odd_boundaries_are_refused(tmp_path, boundary):
    body = multipart({"a": "b"}).replace(BOUNDARY.encode(), boundary.encode("latin-1"))
    request = Arriving(body, 1000, kind=f"multipart/form-data; boundary={boundary}")
    with pytest.raises(InputError, match="could not be read"):
        read(request, tmp_path)


def test_many_parts_of_a_refused_form_leave_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    handles = len(list(Path("/proc/self/fd").iterdir()))
    with pytest.raises(InputError, match="Too many files"):
        read(Arriving(multipart({}, [("f", "x.csv", b"x")] * 20_000), 1 << 16), tmp_path)

    assert list(tmp_path.iterdir()) == []
    assert len(list(Path("/proc/self/fd").iterdir())) == handles


def test_only_files_that_a_form_has_fields_for_are_stored_once(tmp_path):
    files = [("f", "x.csv", b"first"), ("other", "y.csv", b"y"), ("f", "z.csv", b"last")]
    typed = read(Arriving(multipart({}, files)), tmp_path)

    assert [path.read_bytes() for path in tmp_path.iterdir()] == [b"last"]
    assert {name: upload.shown for name, upload in typed.files.items()} == {"f": "z.csv"}


def test_a_browser_that_goes_away_leaves_nothing(tmp_path):
    class Gone(Arriving):
        async def stream(self):
            yield self.body[:300]
            raise ConnectionResetError

    with pytest.raises(ConnectionResetError):
        read(Gone(multipart({}, [("file", "x.csv", b"y" * 5000)])), tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_two_gigabytes_without_scripting_are_refused_and_never_held(own_app):
    import http.client

    size, piece = 2_000_000_000, b"y" * (1 << 20)
    head = multipart({"way": "file"}, [("file", "large.csv", b"")])[: -len(BOUNDARY) - 10]
    line = http.client.HTTPConnection(*own_app.host.split(":"), timeout=120)
    line.putrequest("POST", "/tables", skip_host=True)
    for name, value in {
        "Host": own_app.host, "Origin": f"http://{own_app.host}", "Cookie": own_app.cookie,
        "Content-Type": f"multipart/form-data; boundary={BOUNDARY}", "Content-Length": str(size),
    }.items():  # fmt: skip
        line.putheader(name, value)
    line.endheaders(head)
    left = size - len(head)
    while left:
        line.send(piece[:left])
        left -= min(len(piece), left)
    answer = line.getresponse()
    said = answer.read().decode()
    line.close()
    status = Path(f"/proc/{own_app.process.pid}/status").read_text("utf-8")
    most = int(status.split("VmHWM:")[1].split()[0])

    assert answer.status == 413
    assert "got 2.0 GB; give its path instead" in said
    assert most < 600_000  # kilobytes
    assert list(own_app.folder.glob("*/*")) == []


def test_a_file_that_cannot_be_read_leaves_no_database_open(tmp_path, monkeypatch):
    spilled = tmp_path / "temporary"
    spilled.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(spilled))
    closed = []
    close = Database.close
    monkeypatch.setattr(Database, "close", lambda base: closed.append(base) or close(base))
    (tmp_path / "bad.csv").write_text("a,b\n1\n")
    (tmp_path / "good.csv").write_text("a,b\n1,2\n")

    # the error is kept, with the frames that it went through
    with pytest.raises(DataError) as error:
        _ = Table(tmp_path / "bad.csv", "bad.csv").overview
    assert Table(tmp_path / "good.csv", "good.csv").overview.rows == 1

    assert error.value
    assert not [*spilled.iterdir()]
    for database in closed:
        with pytest.raises(duckdb.ConnectionException):
            database.run("SELECT 1")
    assert len(closed) == 2
