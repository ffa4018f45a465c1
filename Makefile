# The one front door: people and CI call the same targets. Each sets up what it needs.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
RUN_STAMP := $(VENV)/.installed-run
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
PYTEST_WORKERS ?= 2

.PHONY: install install-docs constraints lock sbom audit run test check format docs screenshots identities bench figures study clean
.DEFAULT_GOAL := run

install: $(STAMP)

# What `make run` uses, and no more: installing Ray, Playwright and mypy would take longer than playing. The versions of
# constraints.txt are the tested ones. An index without them still gives a working installation.
$(RUN_STAMP): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "showdown needs Python 3.11 or newer; say which with: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(call INSTALL,[digits])
	@touch $@

# And what tests, checks and the other targets need.
$(STAMP): $(RUN_STAMP)
	$(call INSTALL,[dev])
	@$(BIN)/python -m compileall -q -j 0 $(VENV)/lib >/dev/null 2>&1 || true
	@touch $@

# Python compiles what a run imports, a tenth of what is installed. Tests want all of it compiled before (above): their
# workers import the same files at the same time, and treat a warning of the compiler as an error. pip would use one core.
define INSTALL
	$(PIP) --no-compile --constraint constraints.txt --editable '.$(1)' || { \
		echo "constraints.txt cannot be installed here; installing the newest versions that pyproject.toml allows"; \
		$(PIP) --no-compile --editable '.$(1)'; }
endef

# Write down the newest versions that pyproject.toml allows, from a fresh environment; run `make test` afterwards.
constraints:
	$(PYTHON) -m venv --clear .venv-constraints
	.venv-constraints/bin/python -m pip install --quiet --disable-pip-version-check '.[dev,docs,remote]'
	{ echo "# The tested versions (Python 3.11; they also install on 3.12). Written by 'make constraints'."; \
		.venv-constraints/bin/python -m pip freeze --exclude bandit-showdown; } >constraints.txt
	rm -rf .venv-constraints

# What the service installs: every version with its hashes (lock), as a bill of materials (sbom), known holes (audit).
SUPPLY := .venv-supply
SUPPLY_STAMP := $(SUPPLY)/.installed
LOCK := requirements-serve.txt

$(SUPPLY_STAMP):
	$(PYTHON) -m venv $(SUPPLY)
	$(SUPPLY)/bin/python -m pip install --quiet --disable-pip-version-check \
		'cyclonedx-bom>=7,<8' 'pip-audit>=2.7,<3' 'uv>=0.5,<1'
	@touch $@

lock: $(SUPPLY_STAMP)
	{ echo "# The tested versions of bandit-showdown[serve] with the hashes of their files. Written by 'make lock'."; \
		echo "# pip install --require-hashes -r $(LOCK) && pip install --no-deps ."; \
		$(SUPPLY)/bin/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-annotate --no-header \
			--extra serve --constraint constraints.txt pyproject.toml; } >$(LOCK).new
	mv $(LOCK).new $(LOCK)

sbom: $(SUPPLY_STAMP)
	@mkdir -p build
	$(SUPPLY)/bin/cyclonedx-py requirements --pyproject pyproject.toml --output-reproducible --of JSON \
		-o build/sbom.json $(LOCK)

audit: $(SUPPLY_STAMP)
	@$(SUPPLY)/bin/python tools/audit.py $(LOCK)

run: $(RUN_STAMP)
	@$(BIN)/showdown run quick
	@echo "the page of all this: $$($(BIN)/showdown report)"
	@echo "one to try: $(BIN)/showdown recommend examples/customers.csv --label bought --budget 1m"

# A worker that dies is a failure at once: after a restart xdist waits for ever for the tests of the one that died.
test: install
	$(BIN)/python -m pytest -n $(PYTEST_WORKERS) --dist loadgroup --max-worker-restart=0

check: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: install
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# The reference of the command line (a test fails while it is not what the commands say), and all of docs/ as a site in
# build/site, with the page of the stored study in it. The site needs no network when it is read.
SITE := build/site

DOCS_STAMP := $(VENV)/.installed-docs

install-docs: $(DOCS_STAMP)

$(DOCS_STAMP): $(STAMP)
	$(PIP) --constraint constraints.txt --editable '.[docs]' || $(PIP) --editable '.[docs]'
	@touch $@

docs: install-docs
	$(BIN)/python docs/write_commands.py
	$(BIN)/python docs/write_faults.py
	$(BIN)/python docs/write_notebooks.py
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict  # not --quiet, which would hide what is strict about it
	$(BIN)/showdown report docs/results/neural --title "The neural methods" --docs .. --out $(SITE)/study/report.html

# The pictures of the page in docs/pages; needs Chromium.
screenshots: install
	$(BIN)/python docs/pages/screenshots.py

# The identities of cells of new presets, which a test compares; it refuses to change one that is in the file.
identities: install
	$(BIN)/python tests/unit/golden/write_identities.py

bench: install
	$(BIN)/python benchmarks/peers.py
	$(BIN)/python benchmarks/torch_step.py
	$(BIN)/python benchmarks/drift.py
	$(BIN)/python benchmarks/latency.py
	$(BIN)/python benchmarks/serve_load.py
	$(BIN)/python benchmarks/serve_restart.py

# All figures and all eight tables of the paper, small. The regret figure alone is at the paper's horizon.
FIGURES := docs/figures
STUDY := results/figures-study
PAPER_TABLES := main nonlinear-cumulative nonlinear-simple nonlinear-time wheel-cumulative wheel-simple \
	linear-cumulative linear-simple

figures: install
	$(BIN)/showdown data fetch statlog financial
	for name in posterior-feedback posterior-approximations wheel bbb-linear qualitative; do \
		$(BIN)/showdown figure $$name --out $(FIGURES)/$$name.png || exit 1; done
	$(BIN)/showdown figure ranks --published --out $(FIGURES)/ranks.png
	$(BIN)/showdown run quick --problems wheel-0.9 --processes 2 --out $(STUDY)-regret
	$(BIN)/showdown figure regret $(STUDY)-regret --out $(FIGURES)/regret.png
	$(BIN)/showdown run $(FIGURES)/networks.toml --out $(STUDY)
	$(BIN)/showdown run $(FIGURES)/linear-models.toml --out $(STUDY)
	@printf '%s\n' "# The paper's eight tables, small" "" \
		"Made by 'make figures' from 3 trials of 200 steps, to show the form: the numbers mean little." >$(FIGURES)/tables.md
	for name in $(PAPER_TABLES); do \
		{ printf '\n## %s\n\n' $$name; $(BIN)/showdown table $(STUDY) --paper $$name --format markdown; } \
			>>$(FIGURES)/tables.md || exit 1; done

# The tables of docs/study.md and docs/council.md and the study's figures from the stored cells, and build/study.pdf; plays nothing.
study: install
	$(BIN)/python docs/write_study.py

clean:
	rm -rf $(VENV) .venv-bench .venv-torch .venv-s3 .venv-constraints .venv-supply results .pytest_cache .mypy_cache .ruff_cache .import_linter_cache
