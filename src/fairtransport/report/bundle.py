"""The charts' JavaScript, from the wheel or built once into the user's cache.

Building a wheel imports this module, so it needs only vl-convert.
"""

from __future__ import annotations

import hashlib
from contextlib import suppress
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from fairtransport._core.files import user_cache_folder, write_text
from fairtransport.errors import FairtransportError

if TYPE_CHECKING:
    from pathlib import Path

PLACE = "charts.js"
"""The file of this package in a wheel; a checkout has none."""


@cache
def javascript_bundle() -> str:
    """Return Vega, Vega-Lite and Vega-Embed as one script.

    An installation has it as a file. A checkout builds it, which takes seconds, once per version of
    vl-convert. A cached file that is unreadable, incomplete or changed is rebuilt; without a
    writable cache every process builds the script.
    """
    with suppress(FileNotFoundError):
        return files(__package__).joinpath(PLACE).read_text("utf-8")
    # the script includes our notice, so the file depends on its version, too
    notice = hashlib.sha256(_notice().encode()).hexdigest()[:8]
    made_by = converter_version("The charts of a checkout")
    name = f"charts-{made_by}-{notice}.js"
    place = user_cache_folder("fairtransport") / name
    script = _read_cached(place)
    if script is None:
        script = build_bundle()
        _write_cached(place, script)
    return script


def converter_version(purpose: str) -> str:
    """Return the version of vl-convert, of the extra ``images``, without loading it."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("vl-convert-python")
    except PackageNotFoundError:
        msg = f"{purpose} need the package vl-convert-python: pip install 'fairtransport[images]'"
        raise FairtransportError(msg) from None


def build_bundle() -> str:
    """Return the script, built anew: the same for the same version of vl-convert."""
    import vl_convert

    bundle: str = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;")
    # inside a script element these would end or hide it
    bundle = bundle.replace("</script", "<\\/script").replace("<!--", "<\\!--")
    return f"/*!\n{_notice()}*/\n" + bundle.replace("\r\n", "\n")


def _notice() -> str:
    """Return the licences of the script's parts, which are distributed with it."""
    return files(__package__).joinpath("templates", "charts_licence.txt").read_text("utf-8")


def _read_cached(place: Path) -> str | None:
    """Return the script in a file that begins with its hash; None for other files."""
    try:
        digest, _, script = place.read_bytes().partition(b"\n")
    except OSError:
        return None
    # a cached file may be incomplete or changed by others: without its hash it is rebuilt
    whole = hashlib.sha256(script).hexdigest().encode() == digest
    return script.decode("utf-8") if whole else None


def _write_cached(place: Path, script: str) -> None:
    """Cache the script for later processes, if possible."""
    digest = hashlib.sha256(script.encode()).hexdigest()
    with suppress(OSError, FairtransportError):
        place.parent.mkdir(parents=True, exist_ok=True)
        write_text(place, f"{digest}\n{script}")
