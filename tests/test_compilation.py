"""Compiled code where neither the package's folder nor a home can be written to."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import fairtransport
from fairtransport._core.compilation import PACKAGES

HOME = Path(fairtransport.__file__).parent

AUDIT = """
import os
import numpy as np
import fairtransport as ft
costs = 1.0 - np.eye(3)
problem = ft.AuditProblem([0, 0.5, 1], costs, budget=0.25)
print(problem.value([0.5, 0.25, 0.25]), os.environ.get("NUMBA_CACHE_DIR"))
"""
FUNCTIONS = """
import fairtransport.transport.kernels, fairtransport.inference.sequential_kernels
import numba
print(numba.config.CACHE_DIR)
"""


@pytest.fixture
def installed(tmp_path):
    """A copy of the package in which nothing can be kept, for root neither."""
    copy = tmp_path / "site" / "fairtransport"
    shutil.copytree(HOME, copy, ignore=shutil.ignore_patterns("__pycache__"))
    for package in PACKAGES:
        (copy / package / "__pycache__").write_text("no folder")
    return copy.parent


def run(installed, code=AUDIT, before=(), **more):
    keep = {key: value for key, value in os.environ.items() if not key.startswith("NUMBA_")}
    environment = keep | {
        "PYTHONPATH": str(installed), "PYTHONDONTWRITEBYTECODE": "1", "HOME": os.devnull,
        "XDG_CACHE_HOME": os.devnull, **more,
    }  # fmt: skip
    return subprocess.run(
        [*before, sys.executable, "-c", code],
        capture_output=True, text=True, check=False, env=environment,
    )  # fmt: skip


@pytest.mark.slow
def test_an_audit_runs_where_nothing_can_be_kept_and_leaves_nothing(installed, tmp_path):
    done = run(installed, TMPDIR=str(tmp_path))

    assert done.stderr.count("set NUMBA_CACHE_DIR to a folder that can be written to.") == 1
    value, folder = done.stdout.split()
    assert float(value) == 0.25
    assert Path(folder).parent == tmp_path
    assert not Path(folder).exists()


@pytest.fixture
def read_only(tmp_path):
    """A copy of the package in folders that nobody may write to."""
    copy = tmp_path / "site" / "fairtransport"
    shutil.copytree(HOME, copy, ignore=shutil.ignore_patterns("__pycache__"))
    folders = [copy.parent, copy, *(path for path in copy.rglob("*") if path.is_dir())]
    for folder in folders:
        folder.chmod(0o555)
    yield copy.parent
    for folder in folders:
        folder.chmod(0o755)


def obedient():
    """Return what begins a command that obeys permissions, which root does not by itself."""
    if os.geteuid() != 0:
        return []
    if shutil.which("setpriv") is None:
        pytest.fail("as root these tests need the program `setpriv` on the PATH, and there is none")
    return ["setpriv", "--bounding-set", "-dac_override,-dac_read_search"]


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="permissions of folders are Linux' here")
def test_an_installation_that_is_read_only_compiles_once_for_a_user(read_only, tmp_path):
    home = tmp_path / "home"
    home.mkdir()

    def audit():
        return run(
            read_only, HOME=str(home), XDG_CACHE_HOME=str(home / ".cache"),
            NUMBA_DEBUG_CACHE="1", before=obedient(),
        )  # fmt: skip

    first, second = audit(), audit()

    assert first.returncode == second.returncode == 0, first.stderr + second.stderr
    assert not list(read_only.rglob("__pycache__"))
    assert list((home / ".cache").rglob("*.nbc"))
    assert "data saved to" in first.stdout
    assert "data loaded from" in second.stdout
    assert "data saved to" not in second.stdout
    assert "NUMBA_CACHE_DIR" not in first.stderr


@pytest.mark.slow
@pytest.mark.parametrize("first", ["", "import numba"], ids=["not loaded", "loaded before"])
@pytest.mark.parametrize("named", [None, "mine"], ids=["no folder named", "a folder named"])
def test_functions_are_defined_with_a_folder_that_numba_is_told_of(
    first, named, installed, tmp_path
):
    folder = {"NUMBA_CACHE_DIR": str(tmp_path / named)} if named else {}
    done = run(installed, f"{first}\n{FUNCTIONS}", TMPDIR=str(tmp_path), **folder)

    assert done.returncode == 0, done.stderr
    kept = Path(done.stdout.strip())
    assert kept.parent == tmp_path
    assert (kept.name == named) == bool(named)


def test_without_any_folder_one_sentence_names_the_variable(installed):
    code = "import tempfile\ntempfile.tempdir = '/dev/null'\nimport fairtransport.transport"
    done = run(installed, code)

    assert done.returncode == 1
    assert re.fullmatch(
        r"fairtransport.errors.FairtransportError: compiled code needs a folder that can be "
        r"written to: set NUMBA_CACHE_DIR to one \(.*\)",
        done.stderr.splitlines()[-1],
    )


def test_compiled_functions_lie_in_the_folders_that_are_looked_at():
    found = {
        path.relative_to(HOME).parent.as_posix()
        for path in HOME.rglob("*.py")
        if "njit" in path.read_text("utf-8")
    }

    assert found == set(PACKAGES)


FIGURES = """
import json
import numpy as np
import fairtransport as ft
from fairtransport.inference import difference_law, rate_law

rng = np.random.default_rng(5)
age, group = rng.integers(0, 3, 90), rng.integers(0, 2, 90)
rates = rate_law(age, group, rng.random(90) < 0.1 + 0.7 * group, orders=2, rng=0)
geometry = ft.Geometry(np.zeros(60, np.int64), ft.Embedding(rng.normal(size=(60, 2))))
old, new = (ft.AuditProblem(rng.random(60) ** power, geometry, budget=0.05) for power in (1, 9))
counts = rng.multinomial(20, np.full(60, 1 / 60))
solution = old.solve(counts / 20)
print(json.dumps([
    rates.lower_bound(), rates.estimate, rates.permutation_pvalue, solution.value, solution.price,
    solution.duality_gap, solution.plan_is_unique,
    difference_law(old, new, counts, rng=0).pvalue(-0.5),
]))
"""


def test_compiled_or_not_the_figures_are_the_same():
    def figures(**environment):
        done = subprocess.run(
            [sys.executable, "-c", FIGURES], capture_output=True, text=True, check=True,
            env=os.environ | environment,
        )  # fmt: skip
        return json.loads(done.stdout)

    interpreted = figures(NUMBA_DISABLE_JIT="1")
    assert figures() == pytest.approx(interpreted, rel=1e-12, abs=1e-15)
    assert all(interpreted[:5])
    assert 0 < interpreted[-1] < 1
