# Two commands do everything: `make report` and `make test`.
PYTHON ?= $(shell for name in python3 python3.14 python3.13 python3.12 python3.11; do \
	$$name -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$name && break; done)
BIN := .venv/bin

.PHONY: report test test-all lint types contracts docs wheel clean

report: .venv/installed  ## Install, examine the bundled agents, leave report.html
	@$(BIN)/examiner report atari-arena --success 0.05 --output report.html

test: .venv/developing  ## Everything but the slow tests
	$(BIN)/pytest -q -n 2 -m "not slow"

test-all: .venv/developing  ## The slow tests too: kills, clusters, coverage studies
	$(BIN)/pytest -q -n 2

lint: .venv/developing
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: .venv/developing
	$(BIN)/mypy

contracts: .venv/developing
	$(BIN)/lint-imports

docs: .venv/developing
	$(BIN)/mkdocs build --strict --site-dir site

wheel: .venv/developing  ## Build the wheel and run a command from it outside the checkout
	rm -rf dist && $(BIN)/python -m build --outdir dist .

clean:
	rm -rf .venv dist site build

.venv/bin/python:
	@test -n "$(PYTHON)" || { echo "examiner needs Python 3.11 or newer; set PYTHON=/path/to/python3"; exit 1; }
	@$(PYTHON) -m venv .venv

.venv/installed: .venv/bin/python pyproject.toml
	@echo "Installing examiner into .venv …"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	@touch $@

.venv/developing: .venv/installed
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@
