# Everything a fresh machine with Python ≥ 3.11 needs: `make demo`, `make test`.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.PHONY: demo test bench coverage docs lint format clean

demo: $(VENV)/.text
	$(BIN)/gnomon demo --out demo

test: $(VENV)/.dev
	$(BIN)/python -m pytest $(ARGS)

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(VENV)/.dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# Ratios against peers and floors, all in one run (docs/performance.md).
bench: $(VENV)/.dev
	$(BIN)/python -m benchmarks

# How often the intervals cover (docs/coverage.md); about half an hour on two cores.
coverage: $(VENV)/.dev
	$(BIN)/python -m benchmarks.coverage

# The parts of docs/ that are made from the program itself.
docs: $(VENV)/.dev
	$(BIN)/python scripts/make_docs.py

clean:
	rm -rf $(VENV) demo build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.text: $(VENV)/bin/python pyproject.toml
	$(BIN)/python -m pip install --quiet --editable ".[text]"
	touch $@

$(VENV)/.dev: $(VENV)/bin/python pyproject.toml
	$(BIN)/python -m pip install --quiet --editable ".[dev]"
	touch $@ $(VENV)/.text
