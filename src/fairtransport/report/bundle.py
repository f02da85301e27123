"""The charts' JavaScript: made once for a version of its library and kept in the user's cache."""

from __future__ import annotations

import hashlib
from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING

from fairtransport.caches import users_cache
from fairtransport.errors import FairtransportError
from fairtransport.filesystem import write_text

if TYPE_CHECKING:
    from pathlib import Path


@cache
def javascript_bundle() -> str:
    """Return Vega, Vega-Lite and Vega-Embed as one script.

    Making it takes seconds. A file that cannot be read, is not whole or was changed is made anew;
    where none can be written the script is made for each process.

    Returns
    -------
    str
        Safe inside a script element; the same for a version of its library, so that a page's
        policy can allow it by its hash.
    """
    from importlib.metadata import version

    place = users_cache("fairtransport") / f"charts-{version('vl-convert-python')}.js"
    script = _kept(place)
    if script is None:
        script = _made()
        _keep(place, script)
    return script


def _made() -> str:
    """Return the script, made anew."""
    import vl_convert

    bundle: str = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;")
    # inside a script element these would end or hide it
    return bundle.replace("</script", "<\\/script").replace("<!--", "<\\!--").replace("\r\n", "\n")


def _kept(place: Path) -> str | None:
    """Return the script in a file, whose first line is the hash of the rest; None if it is not.

    Parameters
    ----------
    place
        Where it would be. A file that somebody changed must not run in people's reports.
    """
    try:
        digest, _, script = place.read_bytes().partition(b"\n")
    except OSError:
        return None
    # a cache is a file that others may have written half of, or changed: what does not fit is made
    # anew
    whole = hashlib.sha256(script).hexdigest().encode() == digest
    return script.decode("utf-8") if whole else None


def _keep(place: Path, script: str) -> None:
    """Write the script down for later processes, if that is possible."""
    digest = hashlib.sha256(script.encode()).hexdigest()
    with suppress(OSError, FairtransportError):
        place.parent.mkdir(parents=True, exist_ok=True)
        write_text(place, f"{digest}\n{script}")
