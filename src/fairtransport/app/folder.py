"""A folder for what is handed over, which is removed however the server ends.

A process of its own waits until the server is gone, killed or not, and then removes the folder:
nothing else could after a kill.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

PREFIX = "fairtransport-app-"
PATIENCE = 10
"""Seconds that a removal may take."""

_WATCH = """
import pathlib, shutil, signal, sys, time
for one in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    signal.signal(one, signal.SIG_IGN)
folder = pathlib.Path(sys.argv[1])
print("ready", flush=True)
sys.stdin.read()
for _ in range(50):
    shutil.rmtree(folder, ignore_errors=True)
    if not folder.exists():
        break
    time.sleep(0.1)
"""


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """Make a folder that only its owner can read, and remove it with all that is in it."""
    folder = Path(tempfile.mkdtemp(prefix=PREFIX))
    watcher = subprocess.Popen(  # noqa: S603 - our own program
        [sys.executable, "-I", "-c", _WATCH, str(folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    assert watcher.stdin is not None  # noqa: S101 - it was asked for
    assert watcher.stdout is not None  # noqa: S101
    watcher.stdout.readline()
    before = tempfile.tempdir, os.environ.get("TMPDIR")
    # what this process and its audits put down for a while, rows of a database too, goes with it
    tempfile.tempdir = os.environ["TMPDIR"] = str(folder)
    try:
        yield folder
    finally:
        tempfile.tempdir = before[0]
        os.environ.pop("TMPDIR") if before[1] is None else os.environ.update(TMPDIR=before[1])
        watcher.stdin.close()  # as the system does when this process ends
        watcher.stdout.close()
        watcher.wait(PATIENCE)
