# make demo: see parloom work.  make test: every check that continuous integration runs.
# Both create .venv and install into it on first use, and again only when pyproject.toml changes.

PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin

export PIP_DISABLE_PIP_VERSION_CHECK := 1
# Take the node on the PATH where there is one, and print findings only.
export PYRIGHT_PYTHON_GLOBAL_NODE := 1
export PYRIGHT_PYTHON_IGNORE_WARNINGS := 1

.NOTPARALLEL:
.PHONY: help demo test lint pytest pytest-numba wheel bench debug-kernel format clean

help:
	@echo "make demo     cluster the colours of a picture, against NumPy"
	@echo "make test     lint, types, tests, documentation snippets, wheel"
	@echo "make lint     style, types and import direction only"
	@echo "make fuzz     random functions against NumPy: N=1000 of them, from SEED=0"
	@echo "make bench    benchmarks against hand-written NumPy"
	@echo "make debug-kernel SCRIPT=... [FUNCTION=...] [TO=...]"
	@echo "              kernels, LLVM IR, assembly, loops of what a script compiles, as files"
	@echo "make format   rewrite the sources in the project's style"
	@echo "make clean    remove caches and build products (not $(VENV))"

demo: $(VENV)/.installed-demo
	$(BIN)/python examples/kmeans_image.py

test: lint pytest wheel

lint: $(VENV)/.installed-dev
	$(BIN)/ruff check --output-format concise
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/pyright --pythonpath $(BIN)/python
	$(BIN)/lint-imports --no-logo

pytest: $(VENV)/.installed-dev
	$(BIN)/python -m pytest

# The same tests where the other printer compiles whatever does not choose one.
pytest-numba: $(VENV)/.installed-dev
	PARLOOM_PRINTER=numba $(BIN)/python -m pytest

wheel: $(VENV)/.installed-dev
	$(BIN)/python .ci/check_wheel.py

fuzz: $(VENV)/.installed-dev
	$(BIN)/python -m tests.fuzz --count $(or $(N),1000) --seed $(or $(SEED),0)

bench: $(VENV)/.installed-bench
	$(BIN)/python benchmarks/run.py

# A script, or a file of LLVM IR that an earlier call has written.
debug-kernel: $(VENV)/.installed-dev
	$(BIN)/python -m parloom kernels $(if $(TO),--to $(TO)) $(if $(FUNCTION),--function $(FUNCTION)) $(SCRIPT)

format: $(VENV)/.installed-dev
	$(BIN)/ruff check --select I --fix
	$(BIN)/ruff format

clean:
	rm -rf build dist *.egg-info .coverage htmlcov .hypothesis
	rm -rf .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -not -path './$(VENV)/*' -prune -exec rm -rf {} +

# One stamp for each extra.
$(VENV)/.installed-%: pyproject.toml | $(BIN)/pip
	@echo "Installing parloom[$*] into $(VENV) ..."
	@$(BIN)/python -m pip install --quiet --editable '.[$*]'
	@touch $@

$(BIN)/pip:
	@$(PYTHON) -c 'import sys; (3, 11) <= sys.version_info < (3, 14) or sys.exit( \
	    f"parloom needs Python 3.11 to 3.13, and $(PYTHON) is {sys.version.split()[0]};" \
	    " name another one: make PYTHON=python3.12 ...")'
	$(PYTHON) -m venv $(VENV)
