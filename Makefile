# The two commands of the README, and what they share. Only Python 3.11 or newer is needed.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: demo test check docs benchmark images clean

demo: .venv/demo
	$(BIN)/python examples/demo.py

test: check
	$(BIN)/python -m pytest -n auto --dist worksteal --doctest-modules src tests

check: .venv/test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

docs: .venv/docs
	$(BIN)/python -m sphinx -W --keep-going -q -b html docs docs/_build/html
	@echo "the site is in docs/_build/html/index.html"

benchmark: .venv/test
	$(BIN)/python benchmarks/fit_speed.py
	$(BIN)/python benchmarks/fit_speed.py --scale
	$(BIN)/python benchmarks/table_speed.py
	$(BIN)/python benchmarks/out_of_core.py
	$(BIN)/python benchmarks/dask_overhead.py

# All pictures of the documentation. Takes more than an hour, most of it for the last two, which
# measure; needs Chromium and public datasets, which are downloaded if they are not there.
images: .venv/test
	$(BIN)/python examples/demo.py --picture docs/images/demo.png
	$(BIN)/python examples/draw_docs.py
	$(BIN)/python benchmarks/fit_speed.py --draw docs/images/performance.svg
	mkdir -p docs/_build/runs
	$(BIN)/python benchmarks/scale.py docs/_build/runs/times.csv
	$(BIN)/python benchmarks/scale.py docs/_build/runs/times.csv --draw docs/images/scale.svg
	$(BIN)/python examples/draw_runs.py

.venv/demo: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[report]'
	touch $@

.venv/docs: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[docs]'
	touch $@

.venv/test: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[test]'
	touch $@

clean:
	rm -rf .venv .pytest_cache .mypy_cache .ruff_cache .hypothesis dist docs/_build docs/api docs/gallery
