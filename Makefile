# Two commands, no other set-up: `make accept` judges the reference stack, `make test` judges the harness as well.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAGE := .ci/stage

.PHONY: accept accept-all accept-docker accept-mariadb mutate mutate-docker test lint types selftest clean
.DEFAULT_GOAL := accept

$(VENV)/installed: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(STAGE) install 600 $(BIN)/python -m pip install --quiet --editable .
	@touch $@

$(VENV)/installed-dev: $(VENV)/installed
	$(STAGE) install-dev 600 $(BIN)/python -m pip install --quiet --editable '.[dev]'
	@touch $@

# The core on the local capture path: every row, shape and profile. `make test` plays both paths and the large matrices too.
accept: $(VENV)/installed
	$(STAGE) accept 600 $(BIN)/loudgate run --core --path local

accept-all: $(VENV)/installed
	$(STAGE) accept-all 900 $(BIN)/loudgate run

# Every check taken away, one at a time, and seen: what an earlier campaign found out about the same content is not tried again.
mutate: $(VENV)/installed-dev
	$(STAGE) mutate 900 $(BIN)/loudgate mutate

mutate-docker: $(VENV)/installed-dev
	$(STAGE) mutate-docker 900 $(BIN)/loudgate mutate --engine docker --when-available

# Where no Docker engine answers this says so and ends well; LOUDGATE_REQUIRE_DOCKER=1 makes that an error.
accept-docker: $(VENV)/installed
	$(STAGE) accept-docker 1200 $(BIN)/loudgate run --engine docker --when-available

# The core again over the other database: every row, on both paths and profiles.
accept-mariadb: $(VENV)/installed
	$(STAGE) accept-mariadb 900 $(BIN)/loudgate run --engine docker --store mariadb --core --when-available

test: lint types selftest accept-all accept-docker accept-mariadb mutate mutate-docker

lint: $(VENV)/installed-dev
	$(STAGE) lint 60 $(BIN)/ruff check .
	$(STAGE) format 60 $(BIN)/ruff format --check .

types: $(VENV)/installed-dev
	$(STAGE) types 300 $(BIN)/mypy

selftest: $(VENV)/installed-dev
	$(STAGE) selftest 600 $(BIN)/python -m pytest harness/selftest -q -n 2

clean:
	rm -rf $(VENV) build dist *.egg-info
