# Everything below needs only Python 3.11+, pip and make; the rest is installed into .venv.
PYTHON ?= python3
BIN := .venv/bin
VERSION_OF := -c 'import sys; print("%d.%d" % sys.version_info[:2])'
WANTED = $(shell $(PYTHON) $(VERSION_OF))
PRESENT = $(shell test -x $(BIN)/python && $(BIN)/python $(VERSION_OF))

.PHONY: help install demo test coverage test-slow test-browser docs docs-serve services test-services lint format bench bench-check bench-limit bench-hotspots bench-layout bench-growth bench-engine bench-accuracy bench-calibration bench-baselines bench-streams bench-comparison bench-shift bench-decisions bench-change-points bench-combination bench-fleet bench-command-line bench-serve paper refresh-uplot lock clean

help:  ## Show the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "make %-18s %s\n", $$1, $$2}'

ifeq ($(origin PYTHON) $(filter-out $(WANTED),$(PRESENT)),command line $(PRESENT))
.PHONY: .venv/installed  # another Python is asked for than .venv has: it is made anew
endif

.venv/installed: requirements.lock pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "sgais needs Python 3.11 or newer: make PYTHON=python3.11")'
	$(PYTHON) -m venv $(if $(filter-out $(WANTED),$(PRESENT)),--clear) .venv
	$(BIN)/pip install --quiet --requirement requirements.lock
	$(BIN)/pip install --quiet --no-build-isolation --no-deps --editable .
	@touch $@

install: .venv/installed  ## Create .venv with the locked versions

demo: install  ## Three models compete for data that change twice (writes demo-output/report.html)
	$(BIN)/sgais demo

test: install lint  ## Lint, types, imports and the fast tests
	$(BIN)/pytest -n 2 --dist worksteal -m "not slow"

coverage: install  ## Which lines of src/ the fast tests run (htmlcov/index.html)
	$(BIN)/pytest -n 2 --dist worksteal -m "not slow" --cov --cov-report=html --cov-report=term:skip-covered

test-slow: install  ## The tests that take minutes
	$(BIN)/pytest -n 2 --dist worksteal -m slow

# Strict: a warning, a dead link or a name without a page is an error. docs/site/conf.py says what is built.
docs: install  ## Build the site into build/site (open build/site/index.html)
	$(BIN)/python docs/site/build.py

docs-serve: docs  ## Show the site at http://localhost:8000
	$(BIN)/python -m http.server 8000 --bind 127.0.0.1 --directory build/site

services: install  ## Install what the tests of sources and of the page need, where that is allowed
	tests/services/install.sh

test-services: install  ## All tests on real servers, also the long ones; fails where a server is missing (make services)
	SGAIS_SERVICES=all $(BIN)/pytest -m services

test-browser: install  ## The page in a real browser (needs Chromium and chromedriver)
	$(BIN)/pytest -m browser

lint: install  ## Style, types and who may import whom
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

format: install  ## Rewrite the code in the project's style
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# make bench: quick, into bench-output/. FULL=1: to a million rows, into benchmarks/results/peers/.
# REDRAW=1: tables and figures from the committed runs.
bench: install  ## Beside other libraries: 10 minutes; FULL=1: three problems to 1e6 rows (hours; goes on where it stopped)
	$(BIN)/python -m benchmarks.peers $(if $(FULL),--full) $(if $(REDRAW),--redraw)

bench-check: install  ## Has the default become slower? A short run against the committed baseline (RENEW=1: a new one)
	$(BIN)/python -m benchmarks.check $(if $(RENEW),--renew)

bench-limit: install  ## The default beside one pass over a million rows, its memory and its start (five minutes)
	$(BIN)/python -m benchmarks.limit

bench-hotspots: install  ## Where the time of the default goes (three minutes)
	$(BIN)/python -m benchmarks.hotspots

bench-layout: install  ## What it costs to write a likelihood one way or another (a minute)
	$(BIN)/python -m benchmarks.layout

bench-growth: install  ## Cost of a row against rows, particles, parameters and islands (ten minutes)
	$(BIN)/python -m benchmarks.growth

bench-engine: install  ## Accuracy and speed of the engine in paper mode, single-threaded
	$(BIN)/python benchmarks/engine.py

bench-accuracy: install  ## Errors, coverage and cost of the default (about an hour; goes on where it stopped)
	$(BIN)/python -m benchmarks.accuracy

# make bench-calibration: quick, into bench-output/. FULL=1: all problems and seeds, into benchmarks/results/.
# METHOD=ais, nested or laplace: another method. ONLY="mixture, small": one problem or family.
bench-calibration: install  ## Do error bars hold what is true? Short problems; FULL=1: all of them (hours; goes on where it stopped)
	$(BIN)/python -m benchmarks.calibration $(if $(FULL),--full) $(if $(METHOD),--method $(METHOD)) $(if $(ONLY),--only "$(ONLY)") $(if $(REDRAW),--redraw)

bench-streams: install  ## Memory and cost of a stream of 1e7 rows (ROWS=1e8 for more), of reading files, and from servers
	$(BIN)/python benchmarks/streams.py $(ROWS)
	$(BIN)/python -m benchmarks.sources

bench-comparison: install  ## What it costs to compare models, beside each of them alone
	$(BIN)/python benchmarks/comparison.py

bench-baselines: install  ## Accuracy of AIS, nested sampling and Laplace, and the speed-ups (an hour; goes on where it stopped)
	$(BIN)/python benchmarks/baselines.py

# make paper: quick, into paper-output/. FULL=1: as published, into experiments/paper/results/ and docs/paper/.
# REDRAW=1: figures and report from the tables of the full version. ONLY=appendix_a: the runs of one experiment.
# UNTIMED=1: only the runs whose time does not matter, while the machine has other things to do.
paper: install  ## The paper: 20 minutes; FULL=1 as published (hours; goes on where it stopped), REDRAW=1 from its tables
	$(BIN)/python -m experiments.paper $(if $(FULL),--version full) $(if $(REDRAW),--redraw) $(if $(ONLY),--only $(ONLY)) $(if $(UNTIMED),--untimed)

bench-shift: install  ## Delay and false alarms of the shift detector beside river's
	$(BIN)/python benchmarks/shift.py

bench-decisions: install  ## How often e-processes reject true and false nulls, beside Bayes factors (ten minutes)
	$(BIN)/python -m benchmarks.decisions

bench-combination: install  ## Weights by evidence, forgetting and stacking on real streams (some minutes)
	$(BIN)/python -m benchmarks.combination

bench-change-points: install  ## Change points on annotated series and the paper's shift, and their cost (half an hour; goes on where it stopped)
	$(BIN)/python -m benchmarks.change_points

bench-fleet: install  ## 10,000 keys in a fleet beside a loop: rate, errors, memory (ten minutes)
	$(BIN)/python -m benchmarks.fleet

bench-command-line: install  ## Cost of sgais compare beside the same in Python (some minutes)
	$(BIN)/python benchmarks/command_line.py

bench-serve: install  ## The service under load for a minute, and an hour's rows with the page open (five minutes)
	$(BIN)/python benchmarks/serve.py

refresh-uplot:  ## Fetch the newest uPlot from the npm registry into the page (needs npm)
	$(PYTHON) src/sgais/serve/page/vendor/refresh.py

lock: install  ## Choose new versions for requirements.lock
	$(BIN)/uv pip compile --universal --python-version 3.11 --no-emit-index-url --no-emit-find-links --no-annotate --no-header --extra cluster --extra serve --extra sources --group dev --group docs --upgrade --output-file requirements.lock pyproject.toml

clean:  ## Remove .venv and what the targets wrote
	rm -rf .venv .venv-peers .services htmlcov .coverage demo-output paper-output bench-output .mypy_cache .ruff_cache .pytest_cache
