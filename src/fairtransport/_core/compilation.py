"""A folder for compiled code if numba finds none; import it before any compiled function.

Numba keeps compiled code beside the source or in the user's cache. Where neither is writable (a
system-wide installation, no home), it refuses to define functions. Code then lasts as long as the
process, and a warning names ``NUMBA_CACHE_DIR``, the variable for a lasting folder.
"""

from __future__ import annotations

import atexit
import os
import shutil
import sys
import warnings
from pathlib import Path
from tempfile import mkdtemp

from fairtransport._core.files import user_cache_folder
from fairtransport.errors import FairtransportError

PACKAGES = ("inference", "inference/finite", "inference/rates", "transport")
"""The folders of compiled functions."""
NOT_KEPT = (
    "Compiled code cannot be kept, neither beside the package nor in the user's cache, so that "
    "each process compiles anew, for some seconds: set NUMBA_CACHE_DIR to a folder that can be "
    "written to."
)


def _can_be_written(folder: Path) -> bool:
    """Return whether files can be created in a folder, which may not exist yet."""
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    return folder.is_dir() and os.access(folder, os.W_OK | os.X_OK)


def _is_kept() -> bool:
    """Return whether one of numba's own cache folders can be used."""
    folder = os.environ.get("NUMBA_CACHE_DIR")
    places = [Path(folder)] if folder else []
    here = Path(__file__).parent.parent
    beside = all(_can_be_written(here / package / "__pycache__") for package in PACKAGES)
    return beside or any(map(_can_be_written, [*places, user_cache_folder("numba")]))


def _remove(folder: str, owner: int) -> None:
    """Remove the folder of compiled code when its process ends."""
    if os.getpid() == owner:  # a forked child must not remove its parent's folder
        shutil.rmtree(folder, ignore_errors=True)


def _keep_for_this_process() -> None:
    """Create a folder for compiled code that lasts as long as the process."""
    try:
        folder = mkdtemp(prefix="fairtransport-compiled-")
    except OSError as error:
        msg = (
            "compiled code needs a folder that can be written to: "
            f"set NUMBA_CACHE_DIR to one ({error})"
        )
        raise FairtransportError(msg) from error
    atexit.register(_remove, folder, os.getpid())
    warnings.warn(NOT_KEPT, stacklevel=2)
    os.environ["NUMBA_CACHE_DIR"] = folder  # numba reads it on import, also in workers
    if "numba" in sys.modules:
        sys.modules["numba"].config.CACHE_DIR = folder


if not _is_kept():
    _keep_for_this_process()
