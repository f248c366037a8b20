# Each target sets itself up: only Python 3.11+, make and the package registry are needed.
PYTHON ?= python3
# Processes that commands and tests start read the compiled modules of this checkout, instead of compiling all of them again.
unexport PYTHONDONTWRITEBYTECODE
BIN := .venv/bin
STORE := .ledgerframes/store
SPARK := $(CURDIR)/.ledgerframes/spark
SOAK := $(CURDIR)/.ledgerframes/soak-tools
REPORTS := reports
PICTURES := $(CURDIR)/.ledgerframes/picture-tools
COVERAGE := $(CURDIR)/.ledgerframes/coverage-tools
SCREENSHOTS := .ledgerframes/screenshots
# Of the sandbox at the end of last week, as its rounds and its traffic status say.
PRICES := --param 'price=50 USD/MB' --param 'rate=0.161406 USD/coin'
BALANCE := --param balance=18600000

.PHONY: help venv report reports test test-exhaustive test-lowest coverage mutants soak spark lint screenshots lab docstrings pages docs sample gallery data bench bench-loading bench-answers bench-findings lock clean

help:  ## List the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 17

venv: .venv/ready  ## Make .venv from the lock

.venv/ready: requirements.lock pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit("ledgerframes needs Python 3.11 or newer; set PYTHON=python3.11") if sys.version_info < (3, 11) else None'
	$(PYTHON) -m venv .venv
	$(BIN)/python tools/install.py
	@touch $@

# The week and the six weeks before it, for usual ranges, are loaded once. Then one core runs each report.
report: .venv/ready  ## Publish the reports traffic-cost and verdicts over last week of the embedded sandbox, in reports/
	LEDGERFRAMES_STORE=$(STORE) $(BIN)/ledgerframes sync events --profile sandbox --since 2026-09-21 --until 2026-11-09
	$(MAKE) --jobs=2 report-traffic-cost report-verdicts

report-%: .venv/ready
	LEDGERFRAMES_STORE=$(STORE) $(BIN)/ledgerframes report run $* --profile sandbox --during last-week --out $(REPORTS) $(PRICES)

reports: report  ## Publish all reports over last week of the embedded sandbox, in reports/
	LEDGERFRAMES_STORE=$(STORE) $(BIN)/ledgerframes report run operations --profile sandbox --during last-week --out $(REPORTS) $(PRICES) $(BALANCE)
	LEDGERFRAMES_STORE=$(STORE) $(BIN)/ledgerframes report run activity --profile sandbox --during last-week --out $(REPORTS) --param 'market=0.15 USD/coin'
	LEDGERFRAMES_STORE=$(STORE) $(BIN)/ledgerframes report run weekly --profile sandbox --during last-week --out $(REPORTS) \
		$(PRICES) $(BALANCE) --param 'market=0.15 USD/coin'

test: .venv/ready lint  ## Run every check, and the tests that show each behavior
	$(BIN)/python -m pytest -n 3 --dist worksteal

test-exhaustive: .venv/ready  ## Run the tests that make test leaves out: all cases of long tables, and long attacks
	$(BIN)/python -m pytest -n 3 --dist worksteal -m exhaustive

test-lowest:  ## Run the default tests with the lowest versions that pyproject.toml declares (needs uv)
	uv venv --quiet --clear --python $(PYTHON) .venv-lowest
	uv pip install --quiet --python .venv-lowest --resolution lowest-direct --editable '.[all]' --group dev
	.venv-lowest/bin/python -m pytest -n 3 --dist worksteal

coverage: .venv/ready  ## Measure which lines and branches the default tests reach (8 minutes), in build/coverage.json
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --upgrade --target "$(COVERAGE)" coverage==7.17.5 pytest-cov==7.1.0
	PYTHONPATH="$(COVERAGE)" $(BIN)/python -m pytest -n 3 --dist worksteal -p pytest_cov --cov=ledgerframes --cov-branch \
		--cov-report=term:skip-covered --cov-report=json:build/coverage.json

mutants: .venv/ready  ## Plant errors one by one, and check that a test breaks (about 5 minutes)
	$(BIN)/python tools/mutants.py

soak: .venv/ready  ## Attack everything for at most an hour, and write docs/reliability.md
	-$(BIN)/python -m pip install --quiet --disable-pip-version-check --only-binary :all: --upgrade --target "$(SOAK)/python" atheris==3.0.0
	-npm install --silent --no-audit --no-fund --prefix "$(SOAK)/node" s3rver@3.7.1
	PYTHONPATH="$(SOAK)/python" PATH="$(SOAK)/node/node_modules/.bin:$(PATH)" $(BIN)/python tools/soak.py --minutes 60

spark: .venv/ready  ## Run the lines for Spark in docs/engines.md (fetches Spark, needs Java 17+)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade --target "$(SPARK)" pyspark==4.3.0 sqlglot==30.30.0
	PYTHONPATH="$(SPARK)" $(BIN)/python -m pytest tests/test_spark.py tests/test_spark_figures.py

lint: .venv/ready  ## Check style, types, layers, words and docstrings
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python tools/check_words.py
	$(BIN)/python tools/docstrings.py --check

screenshots: .venv/ready  ## Take pictures of reports, notebooks and plots, to look at, and check pages by axe (needs Chromium)
	-$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --upgrade --target "$(PICTURES)" axe-playwright-python==0.1.8 pypdfium2==5.15.2
	$(MAKE) reports REPORTS=$(SCREENSHOTS)/reports
	PYTHONPATH="$(PICTURES)" $(BIN)/python tools/accessibility.py
	PYTHONPATH="$(PICTURES)" $(BIN)/python tools/screenshots.py
	$(BIN)/python tools/picture_sheets.py

lab: .venv/ready  ## Open JupyterLab on a copy of the notebooks
	$(BIN)/ledgerframes lab

docstrings: .venv/ready  ## Write what docstrings share into the source
	$(BIN)/python tools/docstrings.py

pages: .venv/ready  ## Write the pages of docs/ that are made from code
	$(BIN)/python docs/generate.py

sample: .venv/ready  ## Publish the reports that the site of the docs shows, in build/sample
	LEDGERFRAMES_STORE=$(STORE) $(BIN)/ledgerframes sync events --profile sandbox --since 2026-09-21 --until 2026-11-09
	$(MAKE) reports REPORTS=build/sample/sample
	rm -rf build/sample/sample/latest build/sample/sample/.*.lock

gallery: .venv/ready  ## Draw each plot and run each notebook for the site of the docs, in build/sample
	$(BIN)/python docs/gallery.py build/sample

docs: sample gallery  ## Build the site of the docs with sample reports, plots and notebooks, in build/docs/index.html
	$(BIN)/python -m sphinx --quiet --fresh-env --write-all --nitpicky --fail-on-warning --keep-going docs build/docs

data: .venv/ready  ## Write the sample in data/
	$(BIN)/python data/make.py

bench: bench-loading bench-answers bench-findings  ## Measure everything (up to two hours), and write docs/performance.md

bench-loading: .venv/ready  ## Measure loading and reading (25 to 40 minutes), and write docs/performance.md
	$(BIN)/python benchmarks/sync_memory.py
	$(BIN)/python benchmarks/run.py

bench-answers: .venv/ready  ## Measure every figure over a live week (up to an hour)
	$(BIN)/python benchmarks/answers.py

bench-findings: .venv/ready  ## Measure how often findings are wrong, and how often they are right (20 minutes)
	$(BIN)/python benchmarks/findings.py

lock:  ## Resolve the dependencies again (needs uv)
	uv pip compile --quiet pyproject.toml --all-extras --group dev --universal --python-version 3.11 --generate-hashes \
		--no-emit-index-url --no-emit-find-links --no-header --output-file requirements.lock

clean:  ## Remove what these targets made, except reports/
	rm -rf .venv .venv-lowest .ledgerframes build .mypy_cache .ruff_cache .pytest_cache .import_linter_cache
