"""Files are written whole or not at all."""

import fcntl
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from fairtransport._core import files as filesystem
from fairtransport._core.files import write_text
from fairtransport.errors import FairtransportError


@pytest.fixture(params=["without a name", "with a name"], autouse=True)
def drafts(request, monkeypatch):
    """Write as on file systems that have files without a name, and as on those that have not."""
    if request.param == "with a name":
        monkeypatch.delattr(os, "O_TMPFILE", raising=False)
    elif not hasattr(os, "O_TMPFILE"):
        pytest.skip("this system has no files without a name")
    return request.param


def names(folder):
    return sorted(entry.name for entry in folder.iterdir())


def test_a_failed_write_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "state"
    write_text(path, "old")

    def full(*_):
        raise OSError(28, "no")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(FairtransportError, match=r"`state` could not be written to .*: no"):
        write_text(path, "new", "state")

    assert path.read_text() == "old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["state"]


def test_a_file_gets_the_rights_of_any_new_file(tmp_path):
    path, other = tmp_path / "one", tmp_path / "other"
    write_text(path, "text\n")
    other.write_text("")

    assert path.stat().st_mode == other.stat().st_mode
    assert path.read_bytes() == b"text\n"


@pytest.mark.parametrize("kind", ["folder", "nowhere"])
def test_what_cannot_be_written_is_told(tmp_path, kind):
    path = tmp_path / "folder" if kind == "folder" else tmp_path / "nowhere" / "file"
    (tmp_path / "folder").mkdir()
    with pytest.raises(FairtransportError, match="`path` could not be written to"):
        write_text(path, "")
    assert os.listdir(tmp_path) == ["folder"]  # noqa: PTH208


def test_a_path_with_a_null_byte_is_told(tmp_path):
    with pytest.raises(
        FairtransportError, match=r"`path` could not be written to .*null (byte|character)"
    ):
        write_text(tmp_path / "a\0b", "")


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o755])
def test_a_file_keeps_its_mode(mode, tmp_path):
    path = tmp_path / "state"
    path.write_text("old")
    path.chmod(mode)

    write_text(path, "new")

    assert (path.read_text(), path.stat().st_mode & 0o777) == ("new", mode)


def test_a_link_stays_and_its_target_is_replaced(tmp_path):
    (tmp_path / "there").mkdir()
    target, link, far = tmp_path / "there" / "file", tmp_path / "link", tmp_path / "far"
    target.write_text("old")
    link.symlink_to("there/file")
    far.symlink_to(link)

    write_text(far, "new")

    assert far.is_symlink()
    assert link.is_symlink()
    assert not target.is_symlink()
    assert target.read_text() == "new"
    assert (names(tmp_path), names(tmp_path / "there")) == (["far", "link", "there"], ["file"])


def test_a_link_to_nothing_gets_its_target(tmp_path):
    link = tmp_path / "link"
    link.symlink_to("file")

    write_text(link, "new")

    assert link.is_symlink()
    assert (tmp_path / "file").read_text() == "new"


def test_links_in_a_circle_are_told(tmp_path):
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    with pytest.raises(FairtransportError, match=r"could not be written to .*symbolic links"):
        write_text(tmp_path / "a", "new")
    assert names(tmp_path) == ["a", "b"]


def test_a_pipe_is_written_to(tmp_path):
    path, read = tmp_path / "pipe", []
    os.mkfifo(path)
    reader = threading.Thread(target=lambda: read.append(path.read_text()))
    reader.start()

    write_text(path, "text" * 100_000)

    reader.join()
    assert read == ["text" * 100_000]
    assert path.is_fifo()


def test_devices_are_written_to_and_sockets_refused(tmp_path):
    import socket

    write_text(Path(os.devnull), "text")
    assert Path(os.devnull).is_char_device()

    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "socket"))
        with pytest.raises(
            FairtransportError, match=r"`path` could not be written to .*No such device"
        ):
            write_text(tmp_path / "socket", "text")
    assert names(tmp_path) == ["socket"]


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no full device")  # noqa: PTH110
def test_a_full_device_is_told():
    with pytest.raises(FairtransportError, match="No space left on device"):
        write_text(Path("/dev/full"), "text")


TO_STDOUT = """
import sys
from pathlib import Path
from fairtransport._core.files import write_text
print("before")
write_text(Path(sys.argv[1]), "text\\n")
print("after")
"""


@pytest.mark.skipif(not os.path.exists("/dev/stdout"), reason="no such device")  # noqa: PTH110
@pytest.mark.parametrize("name", ["/dev/stdout", "out"])
def test_what_is_written_to_standard_output_stands_between_the_rest(name, tmp_path):
    with (tmp_path / "out").open("w") as out:
        subprocess.run(
            [sys.executable, "-c", TO_STDOUT, name], stdout=out, check=True, cwd=tmp_path
        )
    assert (tmp_path / "out").read_text() == "before\ntext\nafter\n"
    assert names(tmp_path) == ["out"]


def test_a_read_only_file_stays(tmp_path, monkeypatch):
    path = tmp_path / "file"
    path.write_text("old")
    # to root nothing is read-only, whatever the mode
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(FairtransportError, match="the file is read-only"):
        write_text(path, "new")
    assert path.read_text() == "old"


def test_a_draft_that_a_killed_process_left_goes_with_the_next_write(drafts, tmp_path):
    path = tmp_path / "file"
    path.write_text("old")
    ends = {"without a name": [""], "with a name": ["", "-0123abcd"]}
    for end in ends[drafts]:
        (tmp_path / f"{filesystem._draft('file')}{end}{filesystem.ENDING}").write_text("half")

    write_text(path, "new")

    assert path.read_text() == "new"
    assert names(tmp_path) == ["file"]


def test_the_draft_of_another_process_is_left_alone(tmp_path):
    draft = tmp_path / f"{filesystem._draft('file')}-0123abcd{filesystem.ENDING}"
    with draft.open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        write_text(tmp_path / "file", "new")
    assert names(tmp_path) == [draft.name, "file"]


def test_a_name_may_be_as_long_as_the_system_allows(tmp_path):
    path = tmp_path / ("é" * 127)
    write_text(path, "old")
    write_text(path, "new")
    assert path.read_text() == "new"
    assert names(tmp_path) == [path.name]


def test_several_writers_leave_one_of_their_texts(tmp_path):
    path = tmp_path / "file"
    texts = [str(number) * 10_000 for number in range(8)]
    writers = [
        threading.Thread(target=lambda text=text: [write_text(path, text) for _ in range(20)])
        for text in texts
    ]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert path.read_text() in texts
    assert names(tmp_path) == ["file"]


def test_half_a_character_is_written_as_its_escape(tmp_path):
    write_text(tmp_path / "file", "a\udc80b")
    assert (tmp_path / "file").read_bytes() == b"a\\udc80b"
