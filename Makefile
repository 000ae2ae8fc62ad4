# Everything a newcomer needs is `make up`; everything a contributor needs is `make help`.

PYTHON ?=
VENV := .venv
BIN := $(VENV)/bin
BASE := $(VENV)/.base
DEV := $(VENV)/.dev
# Errors are always shown; what pip says about its indexes and its own age is not.
PIP := $(BIN)/python -m pip --disable-pip-version-check -qq
# The lists are complete. With dependencies pip would ask for the newest version of a package that another
# one names with extras, and then refuse it, because it is not in the list.
COMPLETE := --no-deps
# No address of an index and no path of this machine gets into the lock files.
COMPILE := $(BIN)/pip-compile --quiet --strip-extras --no-header --annotation-style line \
	--no-emit-index-url --no-emit-find-links --no-emit-trusted-host --no-emit-options \
	--generate-hashes --allow-unsafe
COMPILE_OURS := $(COMPILE) --build-deps-for editable

# Processes that compile all modules anew take three times as long to start.
unexport PYTHONDONTWRITEBYTECODE

QUICK_TESTS := $(addprefix tests/,model catalog formats store engine house \
	test_house.py test_docs.py)

# Install commands this machine lacks, each given as command:package, where that can be done.
define obtain
missing=""; \
for one in $(1); do \
	command -v "$${one%%:*}" >/dev/null 2>&1 || missing="$$missing $${one##*:}"; \
done; \
if [ -n "$$missing" ] && [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then \
	echo "Installing$$missing …"; \
	{ apt-get update -qq && DEBIAN_FRONTEND=noninteractive \
		apt-get install -y -qq --no-install-recommends $$missing; } >/dev/null 2>&1 \
		&& missing=""; \
fi; \
if [ -n "$$missing" ]; then echo "Not installed:$$missing. Tests that need it are skipped."; fi
endef

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help install up quick test test-long tools chromium pgbouncer bench lint types format lock ui ui-check clean

help: ## Show this
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-10s %s\n", $$1, $$2}' Makefile

install: $(BASE) ## Make .venv with Penstock in it

up: $(BASE) ## Run Penstock on this machine; Ctrl-C stops it
	@PENSTOCK_DATA_DIR="$${PENSTOCK_DATA_DIR:-$(CURDIR)/.penstock}" \
		PENSTOCK_TEST_PIPELINES="$${PENSTOCK_TEST_PIPELINES:-1}" \
		PENSTOCK_PROVIDER_ALLOW="$${PENSTOCK_PROVIDER_ALLOW-127.0.0.1:8700}" exec $(BIN)/penstock up

quick: $(DEV) ## What one runs while editing: under a minute, no browser, no server starts
	@$(BIN)/pytest -n auto --dist worksteal -m "not long and not slow" $(QUICK_TESTS)

test: $(DEV) chromium pgbouncer ## All checks and all tests but the long ones
	@$(BIN)/python -m tests.everything

test-long: $(DEV) tools chromium ## Soaks and chaos: all, or ONLY=tests/chaos/test_kills.py
	@echo "== Long tests (pytest, file by file)"
	@$(BIN)/python -m tests.long $(ONLY)

chromium: ## What browser tests need of this machine; without it they are skipped
	@$(call obtain,chromium:chromium)

pgbouncer: ## What tests of poolers need of this machine; without it they are skipped
	@$(call obtain,pgbouncer:pgbouncer)

tools: ## What some long tests need of this machine; without it they are skipped
	@$(call obtain,strace:strace faketime:faketime ip:iproute2)

bench: $(DEV) ## Measure: all, or ONLY=name; QUICK=1 small, RECORD=1 writes docs/benchmarks.md
	@$(BIN)/python -m benchmarks $(if $(QUICK),--quick) $(if $(RECORD),--record) \
		$(foreach name,$(ONLY),--only $(name))

lint: $(DEV) ## Style and import rules
	@echo "== Style (ruff)"
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@echo "== Import rules (import-linter)"
	@$(BIN)/lint-imports --no-logo

types: $(DEV) ## Types
	@echo "== Types (mypy)"
	@$(BIN)/mypy

format: $(DEV) ## Format the code
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

lock: $(DEV) ## Pin what pyproject.toml asks for; UPGRADE=1 takes the newest
	@echo "Resolving …"
	@$(COMPILE_OURS) $(if $(UPGRADE),--upgrade) -o requirements/base.txt pyproject.toml
	@$(COMPILE_OURS) $(if $(UPGRADE),--upgrade) --extra dev -c requirements/base.txt \
		-o requirements/dev.txt pyproject.toml
	@$(COMPILE) $(if $(UPGRADE),--upgrade) -o benchmarks/peers/requirements.txt \
		benchmarks/peers/requirements.in

ui: $(DEV) ## Build the web UI into src/penstock/web/dist (needs Node 20 or newer)
	@command -v npm >/dev/null || { echo "Building the UI needs Node 20 or newer, with npm." >&2; exit 1; }
	@cd frontend && npm ci --no-audit --no-fund --loglevel=error
	@$(BIN)/python frontend/scripts/openapi.py > frontend/openapi.json
	@cd frontend && npm run -s types && npm run -s check && npm run -s build

ui-check: ui ## The same, and fail where what is committed differs
	@git diff --exit-code --stat -- frontend src/penstock/web/dist

clean: ## Remove .venv and caches; the data folder stays
	@rm -rf $(VENV) .venv-peers .pytest_cache .mypy_cache .ruff_cache .import_linter_cache \
		.hypothesis build dist frontend/node_modules frontend/openapi.json
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(BIN)/python:
	@found=""; \
	for one in $(PYTHON) $(if $(PYTHON),,python3 python3.13 python3.12 python3.11 python); do \
		if "$$one" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then \
			found="$$one"; break; \
		fi; \
	done; \
	if [ -z "$$found" ]; then \
		echo "Penstock needs Python 3.11 or newer$(if $(PYTHON),: $(PYTHON) is not)." \
			"Install it, or name it: make up PYTHON=/path/to/python3" >&2; \
		exit 1; \
	fi; \
	echo "Creating the environment (once, about a minute) …"; \
	"$$found" -m venv $(VENV) || { rm -rf $(VENV); exit 1; }

$(BASE): requirements/base.txt pyproject.toml | $(BIN)/python
	@echo "Installing Penstock …"
	@$(PIP) install --require-hashes -r requirements/base.txt $(COMPLETE)
	@$(PIP) install --no-deps --no-build-isolation -e .
	@touch $@

$(DEV): requirements/dev.txt $(BASE)
	@echo "Installing what the tests need …"
	@$(PIP) install --require-hashes -r requirements/dev.txt $(COMPLETE)
	@touch $@
