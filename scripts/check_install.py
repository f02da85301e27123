"""Check an installation without extras: its size, the import of all modules, and the demo.

Run it with the interpreter of a fresh environment, isolated from the checkout (``python -I``).
"""

import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from tempfile import TemporaryDirectory

import fairtransport

CHECKOUT = Path(__file__).resolve().parent.parent / "src"
OF_THE_APP = ("starlette", "uvicorn", "python_multipart")
"""Packages of the extra `app`, without which its pages cannot be imported."""
MAX_INSTALLED_MB = 560
"""Limit on the files of the environment; larger dependencies belong to an extra."""


def modules() -> list[str]:
    """Return the names of all modules of the installed package, imported."""
    found = [found.name for found in walk_packages(fairtransport.__path__, "fairtransport.")]
    # only pytest loads its plugin
    names = [name for name in found if not name.endswith(("__main__", "pytest_plugin"))]
    for name in names:
        try:
            import_module(name)
        except ModuleNotFoundError as error:
            if not (
                name.startswith("fairtransport.app.")
                and str(error.name).split(".")[0] in OF_THE_APP
            ):
                raise
    return names


def installed_mb() -> float:
    """Return the disk space of the environment's packages, without pip's own."""
    folder = Path(fairtransport.__file__).resolve().parents[1]
    files = (
        path for path in folder.rglob("*")
        if path.relative_to(folder).parts[0].split("-")[0] not in {"pip", "setuptools"}
        and path.suffix != ".pyc"
    )  # fmt: skip
    return sum(path.stat().st_blocks for path in files if path.is_file()) * 512 / 2**20


def main() -> None:
    """Fail if something is missing or the size is above the limit."""
    home = Path(fairtransport.__file__).resolve()
    if home.is_relative_to(CHECKOUT):
        sys.exit(f"{home} is the checkout, not an installation")
    size = installed_mb()
    if size > MAX_INSTALLED_MB:
        sys.exit(f"an installation takes {size:.0f} MB, more than {MAX_INSTALLED_MB}")
    names = modules()
    script = Path(sys.executable).with_name("fairtransport")
    with TemporaryDirectory() as folder:
        kept = Path(folder, "cache")
        for arguments in (["--version"], ["demo"]):
            subprocess.run(
                [script, *arguments], cwd=folder, check=True, stdout=subprocess.PIPE,
                env=os.environ | {"XDG_CACHE_HOME": str(kept)},
            )  # fmt: skip
        report = Path(folder, "report.html").read_text("utf-8")
        made = [path.name for path in kept.rglob("charts*")]
    if "</html>" not in report:
        sys.exit("the demo's report is not whole")
    if made:
        sys.exit(f"the charts' script was made, and is no file of the package: {made}")
    print(f"{len(names)} modules load, {size:.0f} MB, and the demo runs from {home.parent}")


if __name__ == "__main__":
    main()
