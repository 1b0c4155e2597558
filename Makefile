# Two commands, no other set-up: `make accept` judges the reference stack, `make test` judges the harness as well.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
RUN ?= run

.PHONY: accept accept-docker test lint types selftest clean
.DEFAULT_GOAL := accept

$(VENV)/installed: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --editable .
	@touch $@

$(VENV)/installed-dev: $(VENV)/installed
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	@touch $@

accept: $(VENV)/installed
	$(BIN)/loudgate $(RUN)

# Where no Docker engine answers this says so and ends well; LOUDGATE_REQUIRE_DOCKER=1 makes that an error.
accept-docker: $(VENV)/installed
	$(BIN)/loudgate $(RUN) --engine docker --when-available

test: lint types selftest accept accept-docker

lint: $(VENV)/installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/installed-dev
	$(BIN)/mypy

selftest: $(VENV)/installed-dev
	$(BIN)/python -m pytest harness/selftest -q -n 2

clean:
	rm -rf $(VENV) build dist *.egg-info
