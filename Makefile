# The two commands of the README, and what they share. Only Python 3.11 or newer is needed.
PYTHON ?= python3
VENV ?= .venv
PINS ?= constraints.txt
TORCH ?= torch==2.13.0  # not among the pins: all that comes with it would be as well
BIN := $(VENV)/bin
STUDIO := packages/inldl-studio
PAPER := packages/inldl-paper
NETWORKS := packages/inldl-torch
# As many processes as cores, with one thread of BLAS and OpenMP each: more would spend their time
# waiting for each other. Tests that are about threads of BLAS ask for them.
PYTEST = OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n auto --dist worksteal

.PHONY: demo test tests test-all test-torch test-newest test-oldest check lock docs measurements release benchmark images clean

demo: $(VENV)/demo
	$(BIN)/python examples/demo.py

# Everything but the long witnesses, which `test-all` adds.
test: check
	$(PYTEST) -m "not slow" --durations=25 --doctest-modules src tests $(STUDIO) $(PAPER)

test-all: check
	$(PYTEST) --hypothesis-profile=thorough --durations=25 --doctest-modules src tests $(STUDIO) $(PAPER)

# What needs PyTorch, which is large: nothing else installs it.
test-torch: $(VENV)/torch
	$(PYTEST) --doctest-modules $(NETWORKS) \
		'tests/test_docs.py::test_pages_run_and_print_what_they_show[torch.md]'

check: $(VENV)/test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	PYTHONPATH=$(NETWORKS)/src $(BIN)/lint-imports
	$(BIN)/python tests/helpers/house.py

tests:  # nothing but the tests, with what is installed
	$(PYTEST) $(WARNINGS) -m "not slow" tests $(STUDIO) $(PAPER)

# The newest versions that can be had, and the lowest that pyproject.toml allows. A warning of a future
# removal ends a test of the newest, also in processes that a test starts; old packages have many.
test-newest: NAME := newest
test-newest: RESOLUTION := highest
test-newest: REMOVALS := error::DeprecationWarning,error::FutureWarning
test-oldest: NAME := oldest
test-oldest: RESOLUTION := lowest-direct
test-oldest: WARNINGS := -W ignore::DeprecationWarning -W ignore::FutureWarning
test-newest test-oldest:
	rm -rf .venv-$(NAME)
	$(PYTHON) -m venv .venv-$(NAME)
	.venv-$(NAME)/bin/python -m pip install --quiet --disable-pip-version-check uv
	.venv-$(NAME)/bin/uv pip install --quiet --python .venv-$(NAME)/bin/python \
		--resolution $(RESOLUTION) --editable '.[test]' --editable $(STUDIO) --editable $(PAPER)
	PYTHONWARNINGS="$(REMOVALS)" \
		$(MAKE) --no-print-directory tests VENV=.venv-$(NAME) WARNINGS="$(WARNINGS)"

# Take the newest versions into the pins of the two commands.
lock: $(VENV)/test
	$(BIN)/python -m pip install --quiet --disable-pip-version-check uv
	printf '%s\n' hatchling './[test]' ./$(STUDIO) ./$(PAPER) | $(BIN)/uv pip compile --quiet --upgrade --universal \
		--python-version 3.11 --no-emit-package inldl --no-emit-package inldl-studio \
		--no-emit-package inldl-paper --no-annotate --no-header \
		--output-file $(PINS) -

docs: $(VENV)/docs
	$(BIN)/python -m sphinx -W --keep-going -q -b html docs docs/_build/html
	@echo "the site is in docs/_build/html/index.html"

# The numbers of the pages: all studies, or one with STUDY=completion. Takes many hours; a stopped run goes
# on where it was. `python benchmarks/measure.py --list` says what there is.
measurements: $(VENV)/test
	OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 $(BIN)/python benchmarks/measure.py $(STUDY)
	$(BIN)/python benchmarks/measure.py --write

# Wheels and source archives of all packages, checked, and installed into an empty environment; all but
# inldl-torch, which needs PyTorch, and which `make test-torch` installs.
release: EMPTY := .venv-release
release:
	rm -rf dist $(EMPTY)
	$(PYTHON) -m venv $(EMPTY)
	$(EMPTY)/bin/python -m pip install --quiet --disable-pip-version-check build twine
	for each in . $(STUDIO) $(PAPER) $(NETWORKS); do \
		$(EMPTY)/bin/python -m build --outdir dist $$each || exit 1; done
	$(EMPTY)/bin/python -m twine check --strict dist/*
	$(PYTHON) -m venv --clear $(EMPTY)
	$(EMPTY)/bin/python -m pip install --quiet --disable-pip-version-check \
		--find-links dist 'inldl[report]' inldl-paper inldl-studio
	cd dist && ../$(EMPTY)/bin/inldl --version && ../$(EMPTY)/bin/inldl methods > /dev/null
	cd dist && ../$(EMPTY)/bin/inldl bench --datasets 'random(n=60)' --rates 0.5 --splits 1
	rm -rf $(EMPTY) dist/run.sqlite*
	@echo "what can be released is in dist/"

benchmark: $(VENV)/test
	$(BIN)/python benchmarks/fit_speed.py
	$(BIN)/python benchmarks/fit_speed.py --scale
	$(BIN)/python benchmarks/table_speed.py
	$(BIN)/python benchmarks/out_of_core.py
	$(BIN)/python benchmarks/dask_overhead.py

# All pictures of the documentation. Takes more than an hour, most of it for the last two, which
# measure; needs Chromium and public datasets, which are downloaded if they are not there.
images: $(VENV)/test
	$(BIN)/python examples/demo.py --picture docs/images/demo.png
	$(BIN)/python examples/draw_docs.py
	$(BIN)/python examples/draw_studio.py
	$(BIN)/python benchmarks/fit_speed.py --draw docs/images/performance.svg
	mkdir -p docs/_build/runs
	$(BIN)/python benchmarks/scale.py docs/_build/runs/times.csv
	$(BIN)/python benchmarks/scale.py docs/_build/runs/times.csv --draw docs/images/scale.svg
	$(BIN)/python examples/draw_runs.py

$(VENV)/demo: EXTRA := report
$(VENV)/docs: EXTRA := docs
$(VENV)/test: EXTRA := test
$(VENV)/docs: BESIDE := --editable $(STUDIO) --editable $(PAPER)
$(VENV)/test: BESIDE := --editable $(STUDIO) --editable $(PAPER)
$(VENV)/test: $(STUDIO)/pyproject.toml $(PAPER)/pyproject.toml
$(VENV)/demo $(VENV)/docs $(VENV)/test: pyproject.toml $(PINS)
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	PIP_CONSTRAINT=$(PINS) PIP_BUILD_CONSTRAINT=$(PINS) $(BIN)/python -m pip install --quiet --disable-pip-version-check \
		--editable '.[$(EXTRA)]' $(BESIDE)
	touch $@

$(VENV)/torch: $(VENV)/test $(NETWORKS)/pyproject.toml
	PIP_CONSTRAINT=$(PINS) PIP_BUILD_CONSTRAINT=$(PINS) $(BIN)/python -m pip install --quiet --disable-pip-version-check \
		--editable $(NETWORKS) $(TORCH)
	touch $@

clean:
	rm -rf .venv .venv-* .pytest_cache .mypy_cache .ruff_cache .hypothesis dist docs/_build docs/api docs/commands docs/gallery docs/reference
