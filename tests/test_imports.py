"""Importing is fast because heavy libraries load only when they are used."""

import json
import subprocess
import sys

import pytest

import fairtransport as ft
from fairtransport.report.bundle import javascript_bundle

HEAVY = [
    "altair", "duckdb", "numba", "onnxruntime", "pandas", "scipy.optimize", "sklearn", "starlette",
    "urllib3", "uvicorn",
]  # fmt: skip

AUDITING = ("duckdb", "jinja2", "numpy", "scipy", "sqlite3", "zipfile")
COMMANDS = {
    "--version": ((), 20),
    "--help": ((), 20),
    **dict.fromkeys(("audit --help", "compare --help", "monitor --help"), ((), 20)),
    "{audit}": ((*AUDITING, "numba", "tomllib"), 170),
    "{audit} --targets cases.csv": (AUDITING, 170),
    "demo --quiet": (
        ("jinja2", "joblib", "narwhals", "numpy", "pandas", "pyarrow", "scipy", "scipy.optimize",
         "scipy.stats", "sklearn", "sqlite3", "ssl", "zipfile"), 170,
    ),
}  # fmt: skip
"""By command: which of what takes time to load it may load, and at most how many modules of ours.

A report's charts need no Altair and, where their script is there, no vl-convert; only rates are
computed by compiled loops; scikit-learn, which loads much, is the demo's model.
"""
SLOW = {
    "altair", "duckdb", "jinja2", "joblib", "narwhals", "numba", "numpy", "onnxruntime", "pandas",
    "polars", "pyarrow", "rich.markdown", "scipy", "scipy.optimize", "scipy.stats", "sklearn",
    "sqlite3", "ssl", "tomllib", "urllib3", "vl_convert", "zipfile",
}  # fmt: skip
CASES = "group,age,good,guess\n" + "a,1,1,1\na,2,0,1\nb,1,1,0\nb,2,0,0\n" * 5
AUDIT = (
    "audit cases.csv --label good --sensitive group --prediction guess --delta 0.1 --seed 0 "
    "--fail-on never --quiet --report report.html --json audit.json"
)

MOST_MODULES = 20
"""Of ours, for a line that needs no audit."""
LIGHT = [*HEAVY, "narwhals", "numpy", "rich.markdown", "scipy", "ssl"]

ZERO_COST_AUDIT = """
import polars as pl
import fairtransport as ft
frame = pl.DataFrame({"g": ["a", "b"], "good": [1, 1], "guess": [1, 0]})
result = ft.audit(frame, "good", y_pred="guess", sensitive_features="g")
assert result.statistic == 0.5
"""
COMMAND = """
from fairtransport.cli import main
try:
    main([{!r}])
except SystemExit as stop:
    assert not stop.code
"""


def loaded_by(code, folder=None):
    """Return the names of all modules that the code has loaded in a fresh interpreter."""
    # what measures coverage loads some before it
    program = (
        f"import sys\nbefore = {{*sys.modules}}\n{code}\nimport json\n"
        "print(); print(json.dumps([*sys.modules.keys() - before]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=folder
    )
    return set(json.loads(done.stdout.splitlines()[-1]))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("code", "absent"),
    [
        ("import fairtransport", [*HEAVY, "numpy", "narwhals"]),
        (COMMAND.format("--help"), LIGHT),
        (COMMAND.format("--version"), LIGHT),
        (ZERO_COST_AUDIT, HEAVY),
    ],
    ids=["import fairtransport", "fairtransport --help", "fairtransport --version",
         "a zero-cost audit"],
)  # fmt: skip
def test_heavy_libraries_are_not_loaded(code, absent):
    loaded = loaded_by(code)

    assert "fairtransport" in loaded
    assert sorted(loaded.intersection(absent)) == []


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_loads_what_it_needs_and_no_more(command, tmp_path):
    may, most = COMMANDS[command]
    (tmp_path / "cases.csv").write_text(CASES)
    javascript_bundle()  # kept from now on
    line = command.format(audit=AUDIT).split()
    code = f"from fairtransport.cli import main\nassert main({line!r}) == 0"

    loaded = loaded_by(code, tmp_path)

    assert sorted(loaded & SLOW - {*may}) == []
    assert sum(name.startswith("fairtransport") for name in loaded) < most
    assert (tmp_path / "report.html").exists() == ("{audit}" in command or "demo" in command)


def command_modules():
    """Return the modules that hold commands."""
    from fairtransport.cli.entry_point import COMMANDS

    return {f"fairtransport.cli.{one.place.partition(':')[0]}" for one in COMMANDS.values()}


@pytest.mark.parametrize("flag", ["--help", "--version"])
def test_a_line_without_a_command_loads_none(flag):
    ours = {name for name in loaded_by(COMMAND.format(flag)) if name.startswith("fairtransport")}

    assert "fairtransport.cli.entry_point" in ours
    assert [name for name in sorted(ours) if name in command_modules()] == []
    assert len(ours) < MOST_MODULES


def test_the_module_behind_a_function_can_still_be_imported_from():
    from fairtransport.audits import AuditResult, audit

    assert ft.audit is audit
    assert ft.AuditResult is AuditResult


def test_every_public_name_is_listed_and_resolves():
    assert dir(ft) == sorted([*ft.__all__, "__version__"])
    for name in dir(ft):
        assert getattr(ft, name) is not None


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="No fairtransport attribute adit"):
        _ = ft.adit
