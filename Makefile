# The project's tasks. Everything runs in .venv, which the first task creates.
PYTHON ?= python3
# The newest Python that is there; pyenv hides those that nobody asked for.
NEWEST_PYTHON ?= $(firstword $(foreach version, 3.14 3.13 3.12 3.11, $(shell \
  PYENV_VERSION=$$(pyenv latest $(version) 2>/dev/null) \
  python$(version) -c 'import sys; print(sys.executable)' 2>/dev/null)) $(PYTHON))
BIN := .venv/bin
# Processes that the tests start would compile the whole package again, each of them.
unexport PYTHONDONTWRITEBYTECODE
# In an environment: a worker a core, and compiled loops kept where no other version looks.
pytest = NUMBA_NUM_THREADS=1 NUMBA_CACHE_DIR=$(CURDIR)/$(1)/compiled \
  $(1)/bin/python -m pytest -n auto --dist worksteal
# What is installed is compiled when it is first imported, which most of it never is.
pip = $(1)/bin/python -m pip install --quiet --disable-pip-version-check --no-compile
PIP := $(call pip,.venv) --constraint constraints.txt

.PHONY: demo test coverage test-lowest test-newest test-install servers environments slow docs lint types \
  contracts check bench validity clean

demo: .venv/installed
	$(BIN)/fairtransport demo

test: .venv/installed-dev
	$(call pytest,.venv) -m "not slow"

# The same tests, and which lines they run; watching every line takes half as long again.
coverage: .venv/installed-dev
	$(call pytest,.venv) -m "not slow" --cov --cov-report=term

# The two ends of what pyproject.toml allows: all fast tests but those of the extra `reproduce`,
# which `make test` runs; torch is large, and nothing but the reproduction of the paper uses it.
ENDS := (not slow or versions) and not reproduce

test-lowest: .venv-lowest/installed
	$(call pytest,.venv-lowest) -m "$(ENDS) and not odd"

test-newest: .venv-newest/installed
	$(call pytest,.venv-newest) -m "$(ENDS)"

# What a user installs: no checkout, no extras. The wheel that pip makes of the sdist, then ours.
test-install: .venv/installed-dev
	rm -rf dist
	$(BIN)/python -m hatchling build
	$(PYTHON) -m venv --clear .venv-install
	for file in dist/*.tar.gz dist/*.whl; do \
	  $(call pip,.venv-install) --constraint constraints.txt $$file && \
	  .venv-install/bin/python -I scripts/check_install.py && \
	  .venv-install/bin/python -I scripts/check_first_steps.py && \
	  .venv-install/bin/python -m pip uninstall --quiet --yes fairtransport || exit 1; \
	done

# Real servers for the slow tests, whose dependencies clash with ours: an environment each.
servers: .venv-mlflow/installed .venv-mlserver/installed

slow: .venv/installed-dev servers
	$(call pytest,.venv) -m slow

# The site, into docs/_build/html; it opens from the disk.
docs: .venv/installed-dev
	$(BIN)/python -m sphinx --fail-on-warning --keep-going --quiet docs docs/_build/html

lint: .venv/installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: .venv/installed-dev
	$(BIN)/mypy

contracts: .venv/installed-dev
	$(BIN)/lint-imports

check: lint types contracts coverage slow

bench: .venv/installed-bench
	$(BIN)/python benchmarks/run.py

validity: .venv/installed-dev
	PYTHONPATH=. $(BIN)/python tests/validity/run.py

clean:
	rm -rf .venv .venv-lowest .venv-newest .venv-install .venv-mlflow .venv-mlserver dist

.venv/created:
	$(PYTHON) -m venv .venv
	touch $@

.venv/installed: .venv/created pyproject.toml constraints.txt
	$(PIP) --editable '.[images]'
	touch $@

.venv/installed-dev: .venv/created pyproject.toml constraints.txt
	$(PIP) --editable '.[dev]'
	touch .venv/installed $@

.venv/installed-bench: .venv/created pyproject.toml constraints.txt
	$(PIP) --editable '.[bench]'
	touch .venv/installed $@

.venv-newest/installed: pyproject.toml
	$(NEWEST_PYTHON) -m venv --clear .venv-newest
	$(call pip,.venv-newest) --editable '.[test]'
	touch $@

# What takes minutes to install and little work: beside other tasks.
environments: servers .venv-lowest/installed .venv-newest/installed

.venv-lowest/installed: pyproject.toml constraints-lowest.txt
	$(PYTHON) -m venv --clear .venv-lowest
	$(call pip,.venv-lowest) --constraint constraints-lowest.txt --editable '.[test]'
	touch $@

# the numbers must be computed by the same versions to be equal to the last digit
SAME := $(shell grep -E '^(numpy|scipy|scikit-learn|skops|joblib)==' constraints.txt)

.venv-mlflow/installed: constraints.txt
	$(PYTHON) -m venv --clear .venv-mlflow
	$(call pip,.venv-mlflow) mlflow==3.17.2 $(SAME)
	touch $@

.venv-mlserver/installed: constraints.txt
	$(PYTHON) -m venv --clear .venv-mlserver
	$(call pip,.venv-mlserver) mlserver==1.7.1 mlserver-sklearn==1.7.1 $(SAME)
	touch $@
