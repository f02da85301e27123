"""Variables of the environment that packages we load read."""

from __future__ import annotations

import os


def check_environment() -> None:
    """Check the variable that a part of NumPy reads as a number, or fails, when it is loaded."""
    epoch = os.environ.get("SOURCE_DATE_EPOCH", "0")
    try:
        int(epoch)
    except ValueError:
        from fairtransport.errors import InputError

        msg = f"the variable SOURCE_DATE_EPOCH must be a whole number, got {epoch[:60]!r}"
        raise InputError(msg) from None
