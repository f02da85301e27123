"""Check that the README and the first tutorial work as printed, without the checkout.

Run it with the interpreter of a fresh environment, isolated from the checkout (``python -I``).
"""

import doctest
import os
import re
import subprocess
import sys
from contextlib import chdir
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).resolve().parent.parent
PAGES = ("README.md", "docs/tutorials/compas.md")


def check_demo() -> None:
    """Compare the output of the demo with the README."""
    page = (ROOT / "README.md").read_text("utf-8")
    shown = re.search(r"\$ fairtransport demo\n(.*?)```", page, re.DOTALL)
    done = subprocess.run(
        [Path(sys.executable).with_name("fairtransport"), "demo"],
        capture_output=True, check=True, encoding="utf-8",
        env=os.environ | {"COLUMNS": "100", "PYTHONIOENCODING": "utf-8"},
    )  # fmt: skip
    if shown is None or lines(shown[1]) != lines(done.stdout):
        sys.exit(f"the demo does not print what the README shows:\n{done.stdout}")


def lines(text: str) -> list[str]:
    """Return the lines of a text without trailing blanks."""
    return [line.rstrip() for line in text.strip().splitlines()]


def check_page(name: str) -> int:
    """Run the code that a page shows after ``>>>``, and return its number of lines."""
    text = (ROOT / name).read_text("utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    test = doctest.DocTestParser().get_doctest("\n".join(blocks), {}, name, name, 0)
    failed, tried = doctest.DocTestRunner().run(test)
    if failed or not tried:
        sys.exit(f"{failed} of {tried} lines of {name} print something else")
    return tried


def main() -> None:
    """Fail if the output differs from the page."""
    with TemporaryDirectory() as folder, chdir(folder):
        check_demo()
        tried = {name: check_page(name) for name in PAGES}
    said = ", ".join(f"{count} lines of {name}" for name, count in tried.items())
    print(f"as printed: the demo, {said}")


if __name__ == "__main__":
    main()
