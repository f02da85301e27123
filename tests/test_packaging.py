"""What is built and what it says of itself: the wheel's contents, the lowest versions."""

import re
import subprocess
import sys
import tomllib
import zipfile
from itertools import chain
from pathlib import Path

import pytest

from fairtransport.report.bundle import PLACE, build_bundle

ROOT = Path(__file__).parents[1]


def normal(name):
    return name.lower().replace("_", "-")


def test_the_lowest_constraints_are_the_lower_limits_of_the_project():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = project["optional-dependencies"]
    used = (extras[one] for one in ("app", "http", "images", "mlflow", "onnx", "skops"))
    wanted = [*project["dependencies"], *extras["test"], *chain(*used)]
    limits = dict(limit.split(">=") for limit in wanted if not limit.startswith("fairtransport["))
    pinned = dict(
        re.findall(
            r"^([\w-]+)==([\w.]+)$", (ROOT / "constraints-lowest.txt").read_text(), re.MULTILINE
        )
    )

    assert {normal(name) for name in pinned} == {normal(name) for name in limits}
    for name, version in pinned.items():
        limit = next(low for known, low in limits.items() if normal(known) == normal(name))
        assert re.fullmatch(re.escape(limit) + r"(\.0)*", version), f"{name}: {version}, {limit}"


@pytest.fixture(scope="module")
def wheels(tmp_path_factory):
    """The wheel, built twice."""
    folders = [tmp_path_factory.mktemp("wheel") for _ in range(2)]
    for folder in folders:
        command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
        subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    return [next(folder.iterdir()) for folder in folders]


@pytest.mark.slow
def test_a_wheel_has_the_charts_script_and_its_licences(wheels):
    with zipfile.ZipFile(wheels[0]) as wheel:
        script = wheel.read(f"fairtransport/report/{PLACE}").decode("utf-8")
        notices = [name for name in wheel.namelist() if name.endswith("charts_licence.txt")]
        sources = [name for name in wheel.namelist() if name.endswith("hatch_build.py")]

    assert script == build_bundle()
    assert len(notices) == 2  # beside the templates, and among the licences of the wheel
    assert sources == []


@pytest.mark.slow
def test_a_wheel_built_again_is_the_same(wheels):
    first, second = (wheel.read_bytes() for wheel in wheels)
    assert first == second
