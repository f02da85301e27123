# The project's tasks. Everything runs in .venv, which the first task creates.
PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt

.PHONY: demo test slow lint types contracts check bench validity clean

demo: .venv/installed
	$(BIN)/fairtransport demo

test: .venv/installed-dev
	NUMBA_NUM_THREADS=1 $(BIN)/python -m pytest -n auto -m "not slow" --cov --cov-report=term

slow: .venv/installed-dev
	NUMBA_NUM_THREADS=1 $(BIN)/python -m pytest -n auto -m slow

lint: .venv/installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: .venv/installed-dev
	$(BIN)/mypy

contracts: .venv/installed-dev
	$(BIN)/lint-imports

check: lint types contracts test slow

bench: .venv/installed-bench
	$(BIN)/python benchmarks/run.py

validity: .venv/installed-dev
	PYTHONPATH=. $(BIN)/python tests/validity/run.py

clean:
	rm -rf .venv

.venv/created:
	$(PYTHON) -m venv .venv
	touch $@

.venv/installed: .venv/created pyproject.toml constraints.txt
	$(PIP) --editable .
	touch $@

.venv/installed-dev: .venv/created pyproject.toml constraints.txt
	$(PIP) --editable '.[dev]'
	touch .venv/installed $@

.venv/installed-bench: .venv/created pyproject.toml constraints.txt
	$(PIP) --editable '.[bench]'
	touch .venv/installed $@
