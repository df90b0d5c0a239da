PYTHON ?= python3
VENV := .venv

.PHONY: run test lint benchmark clean

run: $(VENV)/.installed
	@$(VENV)/bin/healthbench

test: $(VENV)/.installed-dev lint
	@$(VENV)/bin/python -m pytest

lint: $(VENV)/.installed-dev
	@$(VENV)/bin/ruff check .
	@$(VENV)/bin/ruff format --check .
	@$(VENV)/bin/mypy

benchmark: $(VENV)/.installed-dev
	@$(VENV)/bin/python -m pytest -m benchmark -s tests/benchmarks

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis

$(VENV)/.installed: pyproject.toml constraints.txt
	@$(PYTHON) .ci/check_python.py
	@test -x $(VENV)/bin/python || $(PYTHON) -m venv $(VENV) || { echo "Python's venv module is missing: install it (Debian and Ubuntu: apt-get install python3-venv) and run make again." >&2; exit 1; }
	@$(VENV)/bin/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e . || { echo "The packages could not be installed: check the network connection (or your pip index) and run make again." >&2; exit 1; }
	@touch $@

$(VENV)/.installed-dev: $(VENV)/.installed
	@$(VENV)/bin/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]' || { echo "The development tools could not be installed: check the network connection (or your pip index) and run make again." >&2; exit 1; }
	@touch $@
