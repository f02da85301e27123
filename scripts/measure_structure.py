"""Count how the package is built: modules, lines, parameters, importers, calls between rooms.

`python scripts/measure_structure.py [src/fairtransport]` prints a table. What runs is counted while
commands are carried out, each in a process of its own: a room is a folder of the package, or a
module beside the folders, and a call from one room into another is counted once for each pair of
functions.
"""

from __future__ import annotations

import ast
import os
import sys
import tempfile
from collections import defaultdict
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import CodeType, FrameType

PACKAGE = Path(__file__).parents[1] / "src" / "fairtransport"
MANY = 8
"""Parameters beyond which a function has many."""
LONG = 400
"""Lines beyond which a module is long."""
CASES = (
    "cases.csv", "--label", "two_year_recid", "--sensitive", "race,sex", "--prediction",
    "high_risk", "--fail-on", "never", "--quiet",
)  # fmt: skip
COMMANDS = {
    "audit": ("audit", *CASES, "--seed", "0"),
    "audit with report": ("audit", *CASES, "--seed", "0", "--report", "report.html"),
    "monitor": ("monitor", *CASES, "--state", "audit.state", "--delta", "0.05"),
}


@dataclass
class Counted:
    """What the source says."""

    lines: int = 0
    documented: int = 0
    commented: int = 0
    blank: int = 0
    anys: int = 0
    long: int = 0
    many_parameters: list[str] = field(default_factory=list)
    importers: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    modules: dict[str, Path] = field(default_factory=dict)

    @property
    def code(self) -> int:
        """Lines without docstrings, comments and blanks."""
        return self.lines - self.documented - self.commented - self.blank

    @property
    def with_one_importer(self) -> int:
        """Modules that one other module imports."""
        return sum(len(self.importers[name]) == 1 for name in self.modules)


def count(package: Path) -> Counted:
    """Read all modules of a package."""
    found = Counted()
    for path in sorted(package.rglob("*.py")):
        parts = path.relative_to(package.parent).with_suffix("").parts
        found.modules[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    for name, path in found.modules.items():
        source = path.read_text("utf-8")
        tree, lines = ast.parse(source), source.splitlines()
        documented = set(_docstrings(tree))
        rest = [line.strip() for at, line in enumerate(lines, 1) if at not in documented]
        found.lines += len(lines)
        found.long += len(lines) > LONG
        found.documented += len(documented)
        found.blank += rest.count("")
        found.commented += sum(line.startswith("#") for line in rest)
        for node in ast.walk(tree):
            _count_node(found, name, node)
    return found


def _docstrings(tree: ast.AST) -> Iterator[int]:
    """Yield the numbers of all lines of docstrings."""
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    for node in ast.walk(tree):
        if isinstance(node, documented) and ast.get_docstring(node) is not None:
            first = node.body[0]
            yield from range(first.lineno, (first.end_lineno or first.lineno) + 1)


def _count_node(found: Counted, module: str, node: ast.AST) -> None:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        taken = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
        own = sum(one.arg not in {"self", "cls"} for one in taken)
        if own > MANY:
            found.many_parameters.append(f"{module}.{node.name} ({own})")
    elif isinstance(node, ast.Name) and node.id == "Any":
        found.anys += 1
    elif isinstance(node, ast.ImportFrom) and node.module:
        for one in node.names:
            whole = f"{node.module}.{one.name}"
            imported = whole if whole in found.modules else node.module
            if imported in found.modules and imported != module:
                found.importers[imported].add(module)


class Calls:
    """Which functions call which, while a command runs."""

    def __init__(self, package: Path) -> None:
        self.package = str(package) + "/"
        self.modules: set[str] = set()
        self.between: set[tuple[CodeType, CodeType]] = set()

    def __call__(self, frame: FrameType, event: str, _: Any) -> None:
        """Note a call, as `sys.setprofile` tells it."""
        if event != "call" or not (to := self._room(frame)):
            return
        self.modules.add(frame.f_code.co_filename)
        caller = frame.f_back
        if caller is not None and (from_ := self._room(caller)) and from_ != to:
            self.between.add((caller.f_code, frame.f_code))

    def _room(self, frame: FrameType) -> str | None:
        name = frame.f_code.co_filename
        return (
            name.removeprefix(self.package).split("/")[0] if name.startswith(self.package) else None
        )


def trace(arguments: tuple[str, ...], folder: str) -> tuple[int, int]:
    """Carry out a command; return how many modules ran, and the calls between rooms."""
    from fairtransport.cli import main

    os.chdir(folder)
    calls = Calls(PACKAGE)
    sys.setprofile(calls)
    try:
        with suppress(SystemExit):
            main(list(arguments))
    finally:
        sys.setprofile(None)
    return len(calls.modules), len(calls.between)


def traced() -> dict[str, tuple[int, int]]:
    """Carry out every command, each in a process that has loaded nothing."""
    from fairtransport.datasets.compas import load_compas

    cases = load_compas()
    spawned = get_context("spawn")
    with (
        tempfile.TemporaryDirectory() as folder,
        ProcessPoolExecutor(1, mp_context=spawned, max_tasks_per_child=1) as pool,
    ):
        people = cases.loc[cases.index.repeat(cases["count"])].drop(columns="count")
        people.to_csv(Path(folder) / "cases.csv", index=False)
        return {
            name: pool.submit(trace, arguments, folder).result()
            for name, arguments in COMMANDS.items()
        }


def main() -> None:
    """Print the table."""
    package = Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else PACKAGE
    found = count(package)
    table = Table("what", "how many", title="How the package is built")
    for name, number in {
        "modules": len(found.modules), f"of more than {LONG} lines": found.long,
        "with one importer": found.with_one_importer, "lines": found.lines,
        "of code": found.code, "of docstrings": found.documented, "of comments": found.commented,
        "`Any`": found.anys,
        f"functions with more than {MANY} parameters": len(found.many_parameters),
    }.items():  # fmt: skip
        table.add_row(name, f"{number:,}")
    if package == PACKAGE:
        for name, (modules, between) in traced().items():
            table.add_row(f"{name}: modules that run", str(modules))
            table.add_row(f"{name}: calls between rooms", str(between))
    Console(width=100).print(table, *found.many_parameters, sep="\n")


if __name__ == "__main__":
    main()
