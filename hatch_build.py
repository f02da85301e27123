"""Puts the charts' JavaScript into the wheel, so that no run has to build it."""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class ChartsHook(BuildHookInterface):
    """Builds the script with the package's own code; a checkout builds it when needed."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add the file to a wheel, unless it is a link to a checkout."""
        if version == "editable":
            return
        sys.path.insert(0, str(Path(self.root, "src")))
        try:
            from fairtransport.report.bundle import PLACE, build_bundle
        finally:
            sys.path.pop(0)
        self._folder = TemporaryDirectory(prefix="fairtransport-build-")
        script = Path(self._folder.name, PLACE)
        script.write_text(build_bundle(), encoding="utf-8", newline="")
        build_data["force_include"][str(script)] = f"fairtransport/report/{PLACE}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:  # noqa: ARG002
        """Remove the files built beside the wheel."""
        if version != "editable":
            self._folder.cleanup()
