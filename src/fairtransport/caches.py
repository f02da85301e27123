"""Where a user's programs keep what they can make again."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def users_cache(owner: str) -> Path:
    """Return the folder in which a program keeps such files of this user; it may not be there.

    Parameters
    ----------
    owner
        The program's name.

    Returns
    -------
    Path
        By the system's custom: ``~/.cache`` or ``XDG_CACHE_HOME``, ``~/Library/Caches``, or the
        local application data.
    """
    home = Path(os.path.expanduser("~"))  # noqa: PTH111 - Path.expanduser fails without a home
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", home), owner, "Cache")
    if sys.platform == "darwin":
        return home / "Library" / "Caches" / owner
    return Path(os.environ.get("XDG_CACHE_HOME", home / ".cache"), owner)
