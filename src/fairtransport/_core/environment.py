"""Variables of the environment that packages we load read."""

from __future__ import annotations

import os
import time


def check_environment() -> None:
    """Check the variable that a part of NumPy reads as a date, or fails, when it is loaded."""
    epoch = os.environ.get("SOURCE_DATE_EPOCH", "0")
    try:
        time.gmtime(int(epoch))
    except (ValueError, OverflowError, OSError):
        from fairtransport.errors import InputError

        msg = (
            "the variable SOURCE_DATE_EPOCH must be the whole number of seconds from 1970 to a "
            f"date, got {epoch[:60]!r}"
        )
        raise InputError(msg) from None
