"""What the page on continuous integration shows, in a real pytest and on the command line."""

import os
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path
from xml.etree import ElementTree as ET

import numpy as np
import pandas as pd
import pytest
import skops.io
import yaml
from sklearn.linear_model import LogisticRegression

from fairtransport.cli import main
from tests.pages import BLOCK

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "how-to" / "continuous-integration.md"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("delta", "verdict", "family"),
    [
        ("0.1", "certified", "xunit2"),
        ("0.02", "rejected", "xunit2"),
        ("0.1", "certified", "xunit1"),
    ],
)
def test_what_an_audit_found_stands_in_the_file_of_pytest(tmp_path, delta, verdict, family):
    page = PAGE.read_text("utf-8")
    (suite,) = (block[3] for block in BLOCK.finditer(page) if block[2] == "test_bias.py")
    assert "delta=0.1" in suite
    (tmp_path / "test_bias.py").write_text(suite.replace("delta=0.1", f"delta={delta}"), "utf-8")
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "fairtransport.pytest_plugin", "--junitxml=out.xml",
         "-o", f"junit_family={family}", "-W", "error", "-p", "no:cacheprovider", "test_bias.py"],
        cwd=tmp_path, capture_output=True, encoding="utf-8", check=False,
        env=os.environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_ADDOPTS": ""},
    )  # fmt: skip

    assert run.returncode == (verdict == "rejected"), run.stdout + run.stderr
    assert "warning" not in run.stdout + run.stderr
    (test,) = ET.parse(tmp_path / "out.xml").iter("testcase")
    found = {one.get("name"): one.get("value") for one in test.iter("property")}
    assert found["fairtransport.verdict"] == verdict
    assert found["fairtransport.delta"] == delta
    assert (test.find("failure") is None) == (verdict == "certified")
    # what the page shows of the file
    section = page.partition("## As a pytest test")[2]
    shown = re.search(r'name="fairtransport.statistic" value="([\d.]+)…"', section)[1]
    assert found["fairtransport.statistic"].startswith(shown)


@pytest.mark.parametrize("service", ["GitHub Actions", "GitLab"])
def test_the_lines_for_build_servers_run(tmp_path, monkeypatch, service):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    people = pd.DataFrame({
        "sex": rng.integers(2, size=400), "race": rng.integers(3, size=400),
        "income": rng.integers(9, size=400),
    })  # fmt: skip
    repaid = (people["income"] + 3 * people["sex"] > 5).astype(int)
    skops.io.dump(LogisticRegression().fit(people, repaid), "model.skops")
    people.assign(repaid=repaid).to_parquet("cases.parquet")

    section = PAGE.read_text("utf-8").partition(f"## {service}\n")[2]
    block = next(block for block in BLOCK.finditer(section) if block[1] == "yaml")
    asked = yaml.safe_load(block[3])
    lines = [step.get("run", "") for step in asked] if service == "GitHub Actions" else (
        asked["audit"]["script"])  # fmt: skip
    (line,) = (line for line in lines if line.startswith("fairtransport "))

    assert main(shlex.split(line)[1:]) == 3
    (suite,) = ET.parse("audit.xml").getroot()
    assert suite.find("testcase/failure").get("type") == "rejected"
    assert float(suite.get("time")) > 0
    # what the page shows of the file
    page, (name, value) = PAGE.read_text("utf-8"), ("fairtransport.statistic", "0.37")
    assert f'<testsuite name="{suite.get("name")}"' in page
    assert f'name="{suite.find("testcase").get("name")}" time=' in page
    assert f'<property name="{name}" value="{value}…" />' in page
    assert suite.find(f"properties/property[@name='{name}']").get("value").startswith(value)
    assert Path("audit.html").exists()
    assert Path("audit.json").exists()


def test_pytest_finds_the_plugin_where_the_package_is_installed():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]

    assert project["entry-points"]["pytest11"] == {"fairtransport": "fairtransport.pytest_plugin"}
