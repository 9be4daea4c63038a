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

# Needs the public dataset SJAFFE, which is downloaded if it is not there.
images: .venv/test
	$(BIN)/python examples/draw_docs.py

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
	rm -rf .venv .pytest_cache .mypy_cache .ruff_cache .hypothesis dist
