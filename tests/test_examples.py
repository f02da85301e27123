"""The examples run as they are, and find what they say."""

import json
import os
import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"


@pytest.mark.slow
def test_continuous_features_are_audited_and_drawn(tmp_path):
    run = subprocess.run(
        [sys.executable, str(EXAMPLES / "continuous_features.py"), str(tmp_path / "new")],
        capture_output=True, check=True, encoding="utf-8",
        env={**os.environ, "PYTHONIOENCODING": "utf-8", "PYTHONWARNINGS": "error"},
    )  # fmt: skip
    values = [float(value) for value in re.findall(r"ψ = (\d\.\d+)", run.stdout)]

    # the group alone shows nothing; the learned similarity does
    assert values[0] == 0
    assert values[1] > 0.2
    assert values[2] < 0.1
    assert "fairness: rejected" in run.stdout
    assert run.stdout.count("rejected") == 1
    for name in ("budget_curve.png", "moves.png"):
        content = (tmp_path / "new" / name).read_bytes()
        assert content.startswith(b"\x89PNG")
        assert len(content) > 20_000


@pytest.mark.slow
def test_a_hiring_prompt_is_audited_against_llama(tmp_path):
    run = subprocess.run(
        [sys.executable, str(EXAMPLES / "hiring_prompt.py")],
        capture_output=True, check=True, encoding="utf-8", cwd=tmp_path,
        env={**os.environ, "PYTHONIOENCODING": "utf-8", "PYTHONWARNINGS": "error"},
    )  # fmt: skip
    value, least = map(float, re.search(r"ψ = (\S+), at least (\S+):", run.stdout).groups())

    # answers at random differ between names
    assert value > least > 0.05
    assert "rejected" in run.stdout
    assert re.search(r"Shall we invite \w+\?", run.stdout)
    assert "language model tiny-llama at http://127.0.0.1:" in run.stdout
    assert "temperature 0, seed 0" in run.stdout
    assert os.listdir(tmp_path) == []  # noqa: PTH208


@pytest.mark.slow
def test_the_notebook_runs_and_draws():
    stored = json.loads((EXAMPLES / "compas.ipynb").read_text("utf-8"))
    assert not any(cell.get("outputs") for cell in stored["cells"])  # the site makes its own

    page = runpy.run_path(str(EXAMPLES.parent / "docs" / "_ext" / "notebook.py"))
    cells = page["run_notebook"](EXAMPLES / "compas.ipynb").cells
    text = "\n".join(map(page["format_cell"], cells))

    assert "134 are worse off as recorded: they get “1”, and would then get “0”" in text
    assert text.count('role="img"') == text.count("<svg") == 3
    assert text.count("<table") == 3
    assert "<script" not in text


@pytest.mark.slow
def test_the_reports_of_the_gallery_are_written(tmp_path):
    subprocess.run([sys.executable, str(EXAMPLES / "reports.py"), str(tmp_path)], check=True)
    words = {
        "compas": "143 of 1,584 people",
        "loans": "Declined, among people with equal income",
        "prompt": "78 of 400 people",
    }

    assert {path.stem for path in tmp_path.iterdir()} == words.keys()
    for name, sentence in words.items():
        page = (tmp_path / f"{name}.html").read_text("utf-8")
        assert "Over the limit" in page
        assert sentence in page
