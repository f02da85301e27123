"""Files are written whole or not at all."""

import os
from pathlib import Path

import pytest

from fairtransport.errors import FairtransportError
from fairtransport.files import write_text


def test_a_failed_write_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "state"
    write_text(path, "old")
    monkeypatch.setattr(Path, "replace", lambda *_: (_ for _ in ()).throw(OSError("no")))
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
