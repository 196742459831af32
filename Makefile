# What a developer does, and what CI calls. A step is redone only when what it was made from has changed.
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
MAKEFLAGS += --no-builtin-rules --no-print-directory
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

bin := .venv/bin
step := scripts/step.sh

# rustup's programs and the mosquitto broker are often outside a person's path.
export PATH := $(PATH):$(HOME)/.cargo/bin:/usr/local/sbin:/usr/sbin
export PYO3_PYTHON := $(CURDIR)/$(bin)/python
export VIRTUAL_ENV := $(CURDIR)/.venv
unexport CONDA_PREFIX

# What `make bench` runs when nothing is chosen.
benches := start table setups broker latency requests requests_pairs requests_memory priority connections fairness access rights growth durability journal_spark samples_spark lake_lag lake_files lake_query history console console_pages journal_remote replay export

# What this run asks of the machine: see scripts/system-needs.sh.
asked = $(filter $(1),$(MAKECMDGOALS))
needs := python cc cargo \
  $(if $(call asked,setup lint lint-rust format),rust-lint) \
  $(if $(call asked,fuzz),cxx) \
  $(if $(call asked,setup demo compile test test-python bench),java) \
  $(if $(call asked,setup compile test test-python bench),chromium mosquitto nats openssl systemd man)

# Folders are inputs too: their time changes when a file is removed.
rust_inputs := Cargo.toml Cargo.lock pyproject.toml \
  $(shell find crates -type d -o -name '*.rs' -o -name Cargo.toml)
python_inputs := $(shell find python -name '*.py')
web_inputs := $(shell find web -mindepth 1 -name node_modules -prune -o -print 2>/dev/null)

# What was made and has been removed is made again.
absent = $(if $(wildcard $(1)),,absent)

# A stamp carries the time its step began, so that an edit made meanwhile is not missed.
begin = @mkdir -p .build && touch $@.begun
finish = @mv $@.begun $@

.PHONY: help
help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' Makefile

.PHONY: setup
setup: .build/native .build/web .build/bytecode .build/outside/stamp ## Install and build everything a developer needs

.PHONY: demo
demo: .build/native .build/web .build/bytecode ## Run a broker with a simulated aircraft, the lake and the console
	@exec $(bin)/python scripts/foreground.py $(bin)/slipring demo $(ARGS)

.PHONY: test
test: setup ## Run every test: Rust, console, then pytest
	@status=0; for part in test-rust test-web test-python; do $(MAKE) needs= $$part || status=1; done; exit $$status

.PHONY: compile
compile: setup wheel sdist deb compile-rust ## Build all that the tests run: CI does it beside the checks

.PHONY: compile-rust
compile-rust: $(bin)/uv
	@$(step) "tests of the crates" cargo test --quiet --workspace --locked --no-run

.PHONY: test-rust
test-rust: $(bin)/uv ## Run the tests of the crates
	@$(step) "cargo test" cargo test --quiet --workspace --locked

.PHONY: test-web
test-web: .build/node-modules ## Run the tests of the console's front end
	@$(step) "console tests" scripts/npm.sh run --silent test

.PHONY: wheel
wheel: .build/wheel/stamp ## Build the wheel into .build/wheel, with the page and without debug information

.PHONY: sdist
sdist: .build/sdist/stamp ## Pack the sources into .build/sdist, with the page, for who builds the wheel elsewhere

# With a target folder of its own: in a shared one cargo would take what was built here for what the sdist has.
# Everything is compiled again, so no test does it.
.PHONY: sdist-wheel
sdist-wheel: .build/sdist/stamp ## Build a wheel from the sdist into .build/sdist-wheel, as pip does (minutes)
	@rm -rf .build/sdist-wheel
	@$(step) "wheel from the sdist" env PATH="$(CURDIR)/$(bin):$(PATH)" $(bin)/python -m pip wheel --quiet \
	  --no-deps --no-build-isolation --disable-pip-version-check --wheel-dir .build/sdist-wheel .build/sdist/*.tar.gz

.PHONY: deb
deb: .build/deb/stamp ## Build the Debian package into .build/deb, with the Python packages that were tested

.PHONY: test-python
test-python: setup wheel sdist deb ## Run pytest in several processes; ARGS="-k words" runs some, in one
	@echo "==> pytest"
	@$(bin)/pytest --ignore=tests/tidy $(or $(ARGS),-n auto)

.PHONY: lint
lint: lint-python lint-types lint-imports lint-rust lint-web lint-stub lint-tidy ## Run every check that is not a test

.PHONY: lint-python
lint-python: .build/packages ## Check the style of the Python code
	@$(step) "ruff format" $(bin)/ruff format --check --quiet --diff
	@$(step) "ruff check" $(bin)/ruff check --quiet

.PHONY: lint-types
lint-types: .build/packages ## Check the types of the Python code
	@$(step) "mypy" $(bin)/mypy --no-error-summary
	@$(step) --quiet "pyright, every public type" scripts/public-types.sh

.PHONY: lint-imports
lint-imports: .build/packages ## Check that imports go down only
	@$(step) --quiet "import-linter" env PYTHONPATH=python $(bin)/lint-imports --no-logo

.PHONY: lint-rust
lint-rust: $(bin)/uv ## Check the format of the crates, and clippy
	@$(step) "cargo fmt" cargo fmt --all --check
	@$(step) "clippy" cargo clippy --quiet --workspace --all-targets --locked -- -D warnings

.PHONY: lint-web
lint-web: .build/node-modules ## Check the types of the console's front end
	@$(step) "tsc" scripts/npm.sh run --silent check

.PHONY: lint-stub
lint-stub: .build/native ## Check the type stub against the built module
	@$(step) --quiet "stubtest" $(bin)/python -m mypy.stubtest slipring._native --mypy-config-file pyproject.toml

.PHONY: lint-tidy
lint-tidy: .build/packages ## Check sizes, names, links and the direction of the crates
	@$(step) --quiet "tidy" $(bin)/pytest --quiet tests/tidy

.PHONY: format
format: .build/packages ## Format the code, and repair what can be repaired by itself
	@$(step) "ruff format" $(bin)/ruff format
	@$(step) "ruff check" $(bin)/ruff check --fix
	@$(step) "cargo fmt" cargo fmt --all

.PHONY: bench
bench: setup ## Run the benchmarks, and record them in benches/RESULTS.md; ARGS="broker latency" chooses
	@for program in $(or $(ARGS),$(benches)); do $(step) "benches/$$program.py" $(bin)/python -m benches.$$program; done

.PHONY: conformance
conformance: .build/packages ## Write docs/conformance.md from the tables of the conformance tests
	@$(step) "docs/conformance.md" $(bin)/python -m scripts.conformance

.PHONY: docs
docs: .build/native ## Build the pages as a site in .build/docs, which works from the disk and loads nothing from elsewhere
	@$(step) "site" $(bin)/python -m scripts.docs_site .build/docs

.PHONY: screenshots
screenshots: .build/native .build/web ## Take the pictures of docs/figures from a flight of the demo; ARGS="overview alarms" some
	@$(bin)/python -m scripts.screenshots $(ARGS)

.PHONY: reference
reference: .build/native ## Write the page's types, the docs' tables and their list of keys from the code
	@$(step) "reference" $(bin)/python -m scripts.reference
	@$(step) "docs/requirements.md" $(bin)/python -m scripts.requirement_page

# bash counts its own SECONDS, so the number goes in as an argument and not through the environment.
unexport SECONDS
.PHONY: simulate
simulate: $(bin)/uv ## Play histories of crashes on a simulated disk (ARGS=--histories=N)
	@cargo run --quiet --release --locked -p slipring-simulation -- $(ARGS)

.PHONY: fuzz
fuzz: $(bin)/uv ## Fuzz every decoder, 20 s each; SECONDS=600 for longer, ARGS="wire topics" for some
	@$(step) "fuzz" scripts/fuzz.sh $(if $(filter command line environment,$(origin SECONDS)),$(SECONDS),20) $(ARGS)

.PHONY: lock
lock: .build/packages ## Regenerate the lock files; UPGRADE=1 takes the newest versions
	@$(step) "lock files" scripts/lock.sh

.PHONY: clean
clean: ## Remove everything that was installed or built here
	@rm -rf .build .venv target web/node_modules python/slipring/console/static python/slipring/_native*.so
	@rm -rf .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	@find python tests scripts benches -name __pycache__ -prune -exec rm -rf {} +

.PHONY: needs
needs:
	@scripts/system-needs.sh $(needs)

.PHONY: absent
absent:

$(bin)/uv: requirements-uv.lock | needs
	@$(step) --quiet "virtual environment" scripts/create-venv.sh

.build/packages: requirements.lock $(bin)/uv
	$(begin)
	@$(step) --quiet "Python packages" $(bin)/uv pip sync --require-hashes --compile-bytecode requirements.lock
	$(finish)

# Offline: all that the package depends on is in the lock file, or this fails.
.build/native: $(rust_inputs) .build/packages $(call absent,python/slipring/_native*.so)
	$(begin)
	@$(step) --quiet "native module (a minute when it is new)" env UV_OFFLINE=1 $(bin)/maturin develop --release --locked --uv
	$(finish)

.build/bytecode: $(python_inputs) .build/packages
	$(begin)
	@$(bin)/python -m compileall -q python
	$(finish)

.build/node-modules: web/package.json web/package-lock.json .build/packages $(call absent,web/node_modules)
	$(begin)
	@$(step) --quiet "npm packages" scripts/npm.sh ci --no-audit --no-fund
	$(finish)

# Nothing is compiled for it: the module is the one in the package.
.build/wheel/stamp: .build/native .build/web $(python_inputs) README.md
	@rm -rf .build/wheel && mkdir -p .build/wheel && touch $@.begun
	@$(step) --quiet "wheel" $(bin)/maturin build --release --locked --out .build/wheel
	$(finish)

.build/sdist/stamp: $(rust_inputs) .build/web $(python_inputs) README.md LICENSE
	@rm -rf .build/sdist && mkdir -p .build/sdist && touch $@.begun
	@$(step) --quiet "sdist" $(bin)/maturin sdist --out .build/sdist
	$(finish)

# Nothing is compiled for it either.
.build/deb/stamp: .build/wheel/stamp requirements.lock LICENSE CHANGELOG.md $(wildcard scripts/deb/*) \
  scripts/deb.sh scripts/needed_lock.py scripts/man_pages.py
	@rm -rf .build/deb && mkdir -p .build/deb && touch $@.begun
	@$(step) --quiet "Debian package" scripts/deb.sh .build/wheel/*.whl .build/deb
	$(finish)

# Suites that others wrote: tests/outside/README.md.
.build/outside/stamp: scripts/outside-suites.sh | needs
	@$(step) --quiet "outside test suites" scripts/outside-suites.sh .build/outside
	@touch $@

.build/web: $(web_inputs) .build/node-modules $(call absent,python/slipring/console/static/index.html)
	$(begin)
	@$(step) --quiet "console front end" scripts/npm.sh run build
	$(finish)
