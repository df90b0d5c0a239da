PYTHON ?= python3
VENV := .venv

.PHONY: run test lint benchmark clean

run: $(VENV)/.installed
	@$(VENV)/bin/healthbench

test: $(VENV)/.installed-dev lint
	@$(VENV)/bin/python -m pytest -n auto --dist loadfile --ignore tests/e2e
	@$(VENV)/bin/python -m pytest -n auto --dist loadfile tests/e2e

lint: $(VENV)/.installed-dev
	@$(VENV)/bin/ruff check .
	@$(VENV)/bin/ruff format --check .
	@$(VENV)/bin/mypy

benchmark: $(VENV)/.installed-dev
	@$(VENV)/bin/python -m pytest -m benchmark -s tests/benchmarks

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis

# pip's own words go to a log: a failure is one sentence.
INSTALL = $(VENV)/bin/python -m pip install --quiet --disable-pip-version-check --retries 2 --timeout 20 -c constraints.txt
FAILED = { echo "The packages could not be installed: check the network connection (or your pip index) and run make again; pip's words are in $(VENV)/pip.log." >&2; exit 1; }

$(VENV)/.installed: pyproject.toml constraints.txt
	@$(PYTHON) .ci/check_python.py
	@test -x $(VENV)/bin/python || $(PYTHON) -m venv $(VENV)
	@echo "Installing into $(VENV) (a minute or two the first time) ..."
	@$(INSTALL) -e . >$(VENV)/pip.log 2>&1 || $(FAILED)
	@touch $@

$(VENV)/.installed-dev: $(VENV)/.installed
	@echo "Installing the development tools into $(VENV) ..."
	@$(INSTALL) -e '.[dev]' >$(VENV)/pip.log 2>&1 || $(FAILED)
	@touch $@
