# The one front door: people and CI call the same targets. Each sets up what it needs.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
PYTEST_WORKERS ?= 2

.PHONY: install run test check format bench figures clean
.DEFAULT_GOAL := run

install: $(STAMP)

$(STAMP): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "showdown needs Python 3.11 or newer; say which with: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@

run: install
	$(BIN)/showdown run quick
	@$(BIN)/showdown table --sort rank
	@$(BIN)/showdown report

test: install
	$(BIN)/python -m pytest -n $(PYTEST_WORKERS) --dist loadgroup

check: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: install
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: install
	$(BIN)/python benchmarks/peers.py
	$(BIN)/python benchmarks/drift.py

figures: install
	for name in posterior-feedback posterior-approximations wheel bbb-linear qualitative; do \
		$(BIN)/showdown figure $$name --out docs/figures/$$name.png || exit 1; done
	$(BIN)/showdown figure ranks --published --out docs/figures/ranks.png
	$(BIN)/showdown run wheel-linear --trials 5 --horizon 2000 --out results/reduced
	$(BIN)/showdown figure regret results/reduced --problem wheel-0.9 --out docs/figures/regret.png

clean:
	rm -rf $(VENV) .venv-bench results .pytest_cache .mypy_cache .ruff_cache .import_linter_cache
