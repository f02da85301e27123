"""The lowest versions that are tested are those that the package says it works with."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]


def normal(name):
    return name.lower().replace("_", "-")


def test_the_lowest_constraints_are_the_lower_limits_of_the_project():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = project["optional-dependencies"]
    used = [name for one in ("app", "http", "mlflow", "onnx", "skops") for name in extras[one]]
    wanted = [*project["dependencies"], *extras["test"], *used]
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
