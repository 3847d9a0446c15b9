# Two commands do everything: `make report` and `make test`.
PYTHON ?= $(shell for name in python3 python3.14 python3.13 python3.12 python3.11; do \
	$$name -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$name && break; done)
VENV := .venv
# A Python named on the command line gets an environment of its own: make test PYTHON=python3.13
ifeq ($(origin PYTHON),command line)
VENV := .venv-$(shell $(PYTHON) -c 'import sys; print("%d.%d" % sys.version_info[:2])')
endif
BIN := $(VENV)/bin
# Two processes test at once: linear algebra with threads of its own would only get in their way.
ONE_THREAD := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1

.PHONY: report test test-all lint types contracts docs wheel clean

report: $(VENV)/installed  ## Install, report on coding agents and on agents whose true order is known
	@$(BIN)/examiner report swebench-verified --output report.html
	@$(BIN)/examiner report atari-anchors --output report-anchors.html

test: $(VENV)/developing  ## Everything but the slow tests
	$(ONE_THREAD) $(BIN)/pytest -q -n 2 -m "not slow"

test-all: $(VENV)/developing  ## The slow tests too, and four times the examples: kills, clusters, coverage studies
	$(ONE_THREAD) HYPOTHESIS_PROFILE=usual $(BIN)/pytest -q -n 2

lint: $(VENV)/developing
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/developing
	$(BIN)/mypy

contracts: $(VENV)/developing
	$(BIN)/lint-imports

docs: $(VENV)/developing
	$(BIN)/zensical build --clean --strict

wheel: $(VENV)/developing  ## Build the wheel and run a command from it outside the checkout
	rm -rf dist && $(BIN)/python -m build --outdir dist .

clean:
	rm -rf .venv .venv-* dist site build

$(VENV)/bin/python:
	@test -n "$(PYTHON)" || { echo "examiner needs Python 3.11 or newer; set PYTHON=/path/to/python3"; exit 1; }
	@$(PYTHON) -m venv $(VENV)

$(VENV)/installed: $(VENV)/bin/python pyproject.toml
	@echo "Installing examiner into $(VENV) …"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	@touch $@

$(VENV)/developing: $(VENV)/installed
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@
