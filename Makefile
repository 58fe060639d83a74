# make demo  sets everything up, shows scored, explained boards of all four disciplines, and serves them;
#            where its output is no terminal, it ends with the command that does
# make check     lint, types of the package, contracts and the quick tests: the inner loop
# make test      sets everything up and runs every check: lint, types, contracts, documentation, tests
# make test-all  the same with all cases, the generative tests in full size (tests/sizes.py), and the
#            pages of the documentation written
# make test-engines  the tests of engines that need Apache Spark; CI runs it after make test
# Debian's interpreter is built with profile-guided optimization, which others on the PATH may lack.
PYTHON ?= $(or $(wildcard /usr/bin/python3.11),python3)
BIN := .venv/bin
DEMO_DIR ?= demo
# Tests and demo start many processes; without bytecode each would compile agon again.
unexport PYTHONDONTWRITEBYTECODE
# `make test JOBS=2` distributes the tests over two processes; each imports and collects all of them. By default
# they run in one, beside the type check.
JOBS ?= 0
QUICK := tests/kernel tests/ledger tests/repository tests/disciplines/arena/test_formulas.py tests/disciplines/challenge/test_formulas.py tests/disciplines/community/test_formulas.py tests/disciplines/dojo/test_formulas.py tests/app/webhooks tests/app/contests/ingest tests/app/queue
# Those among them that take longest: they read every file, or rate thousands of matches.
SLOW := tests/repository/test_distribution.py tests/repository/test_disciplines.py tests/repository/test_patterns.py tests/kernel/ratings/test_bradley_terry.py tests/app/contests/ingest/test_doors.py

# Bytecode of what a demo imports is compiled after an installation by all processors, which pip does by one; not
# that of modules that are imported rarely or never.
INSTALL := $(BIN)/python -m pip install -qq --disable-pip-version-check --no-compile --require-hashes --no-deps
EDITABLE := $(BIN)/python -m pip install -qq --disable-pip-version-check --no-deps --no-build-isolation --editable .
RARE := tests|testing|mypy|mypyc|pandas|pip|setuptools|pkg_resources|lexers|graphql|schemathesis|mssql|mysql|oracle|orm|physics|cuda|signal|mllib|async_api|distutils|experimental|hypothesis|werkzeug|benchmarks|ml
BYTECODE := $(BIN)/python -m compileall -qq -j 0 -x '/($(RARE))/' .venv/lib
RUN_PACKAGES := bubblewrap fonts-dejavu-core
DEV_PACKAGES := postgresql podman runc busybox-static squid chromium-headless-shell nginx-light openssl

.PHONY: setup setup-dev demo test test-all test-engines check checks quick tests lint types types-of-src contracts docs coverage pictures bench lock clean

setup: .venv/.base

# The pip that comes with Python 3.11 takes twice as long to find the files of the locked versions.
.venv/.pip: requirements/pip.lock
	@$(PYTHON) -c 'import ensurepip' 2>/dev/null || tools/system-packages $(if $(filter /usr/%,$(PYTHON)),$(notdir $(PYTHON)),python3)-venv
	$(PYTHON) -m venv .venv
	$(INSTALL) -r requirements/pip.lock
	touch $@

# Without these the demo goes on: in the degraded sandbox, and without the pictures' font.
.venv/.base: .venv/.packages
	tools/system-packages --optional $(RUN_PACKAGES)
	$(BYTECODE)
	touch $@

.venv/.packages: requirements/base.lock pyproject.toml .venv/.pip
	$(INSTALL) -r requirements/base.lock
	$(EDITABLE)
	touch $@

setup-dev: .venv/.pip
	@$(MAKE) --no-print-directory -j 3 .venv/.system .venv/.dev

# Debian's packages, the base packages and the others are installed at once: pip uses one processor.
.venv/.system: Makefile .venv/.pip
	tools/system-packages $(RUN_PACKAGES) $(DEV_PACKAGES)
	touch $@

# dev.lock contains what base.lock does not. Bytecode is compiled by what imports it: the tests import less than half.
.venv/.dev-packages: requirements/dev.lock .venv/.pip
	$(INSTALL) -r requirements/dev.lock
	touch $@

.venv/.dev: .venv/.packages .venv/.dev-packages
	touch .venv/.base $@

.venv/.bench: requirements/bench.lock .venv/.dev
	tools/system-packages gcc wrk
	$(INSTALL) -r requirements/bench.lock
	touch $@

demo: setup
	@if [ -t 1 ]; then $(BIN)/agon demo --dir $(DEMO_DIR); else $(BIN)/agon demo --dir $(DEMO_DIR) --no-serve; fi

# Every page is read and every reference followed; writing the pages takes as long again.
test: export DOCS := dummy
test: checks

test-all: export TEST_ALL_SIZES := 1
test-all: export JOBS := 2
test-all: checks

# Apache Spark: what starts its processes, of the source of PySpark, from which pip would build a wheel first;
# its client is in .venv already.
.venv/apache-spark: requirements/spark.lock .venv/.system
	tools/system-packages default-jre-headless
	$(BIN)/python -m pip download -qq --disable-pip-version-check --require-hashes --no-deps -d $@.part -r $<
	tar -xzf $@.part/pyspark-*.tar.gz -C $@.part --strip-components=2 --wildcards '*/deps/bin/*' '*/deps/jars/*'
	rm -rf $@ $@.part/pyspark-*.tar.gz
	mv $@.part $@

test-engines: .venv/.dev .venv/apache-spark
	SPARK_HOME=$(CURDIR)/.venv/apache-spark $(BIN)/python -m pytest tests/engines

check: .venv/.pip
	$(MAKE) --no-print-directory -j 3 --output-sync .venv/.system types-of-src lint contracts quick

# One process: the type check takes the other processor.
quick: .venv/.dev
	$(BIN)/python -m pytest -q $(addprefix --ignore=,$(SLOW)) $(QUICK)

# Their output is mixed, as otherwise that of the tests would appear at their end.
checks: .venv/.pip
	$(MAKE) --no-print-directory -j 3 .venv/.system tests lint types contracts docs

tests: .venv/.system .venv/.dev
	$(BIN)/python -m pytest -n $(JOBS)

lint: .venv/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

# Its own workers would read the same files, and give up on a busy machine.
types: .venv/.dev
	$(BIN)/mypy

# Without tests and benchmarks, whose types `make test` checks.
types-of-src: .venv/.dev
	$(BIN)/mypy src

contracts: .venv/.dev
	$(BIN)/lint-imports

DOCS ?= html
docs: .venv/.dev
	$(BIN)/sphinx-build --builder $(DOCS) --fail-on-warning --keep-going -q docs docs/_build/$(DOCS)

# What the tests of TESTS run of the package, in their own processes; tests that start others are not counted.
TESTS ?= tests
.venv/.coverage: requirements/coverage.lock .venv/.dev
	$(INSTALL) -r requirements/coverage.lock
	touch $@

coverage: .venv/.coverage
	$(BIN)/python -m coverage run --branch --source=src/agon -m pytest -q $(TESTS)
	$(BIN)/python -m coverage report

pictures: setup
	$(BIN)/agon explain community examples/tutorial ada --format svg --output docs/pictures/why.svg
	rm -rf docs/_build/season && mkdir -p docs/_build
	$(BIN)/agon simulate challenge --out docs/_build/season --size 3000 --seed 3
	$(BIN)/agon challenge plot docs/_build/season --out docs/pictures/weights.svg
	tools/system-packages chromium-headless-shell
	$(BIN)/agon demo --dir docs/_build/demo --no-serve > docs/_build/demo.txt
	tools/site-picture $(BIN)/agon docs/_build/demo docs/pictures/site.png

# Peers that pin other versions than agon's run in an environment of their own.
.venv-peers/.done: requirements/peers.lock .venv/.pip
	$(BIN)/python -m venv .venv-peers
	.venv-peers/bin/python -m pip install --quiet --require-hashes -r requirements/peers.lock
	touch $@

bench: .venv/.bench .venv-peers/.done
	$(BIN)/python benchmarks/run.py

RESOLVE := $(BIN)/uv pip compile --quiet --universal --generate-hashes --no-emit-index-url --no-annotate --no-header --python-version 3.11
COMPILE := $(RESOLVE) --extra serve --extra postgres pyproject.toml requirements/build.in
# Options that leave out the packages of a lock, but those that only Windows gets from it.
omit = $$(sed -n "/'win32'/d; s/^\([a-z0-9-]*\)==.*/--no-emit-package \1/p" $(1))

lock:
	$(BIN)/python -m pip install --quiet uv
	$(RESOLVE) requirements/pip.in -o requirements/pip.lock
	$(RESOLVE) requirements/coverage.in -o requirements/coverage.lock
	$(RESOLVE) requirements/peers.in -o requirements/peers.lock
	$(COMPILE) -o requirements/base.lock
	$(COMPILE) --group dev -c requirements/base.lock $(call omit,requirements/base.lock) -o requirements/dev.lock
	$(RESOLVE) --no-deps requirements/spark.in -o requirements/spark.lock
	$(COMPILE) --group bench -c requirements/base.lock -c requirements/dev.lock -o requirements/bench.lock

clean:
	rm -rf .venv .venv-peers demo docs/_build
