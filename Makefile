# The front door: thin over CMake presets (CMakePresets.json) and pytest. `make help` lists what there is.
#
# Everything a target needs beyond g++, make, git and python3 (with its venv and header packages) is set up by the
# target itself, in .venv and build/. A second run does only what changed.

PYTHON ?= python3
VENV ?= .venv
PREFIX ?= /usr/local
# What is installed or packed gets the CUDA backend wherever it can be compiled (auto). That takes many minutes, so
# everything else has it only where there is a GPU to run it on.
CUDA ?= $(if $(filter install release wheel wheel-test,$(MAKECMDGOALS))$(wildcard /dev/nvidiactl /proc/driver/nvidia/version),auto,off)
CUDA_ARCHITECTURES ?=
PYTEST_ARGS ?=
JOBS ?= $(shell nproc)

py := $(abspath $(VENV))/bin/python
export PATH := $(abspath $(VENV))/bin:$(PATH)
export CMAKE_BUILD_PARALLEL_LEVEL := $(JOBS)
unexport PYTHONPATH PYTHONHOME

.DEFAULT_GOAL := help
.PHONY: help demo test build release install wheel wheel-test asan tsan simt simt-asan cuda cuda-report gpu-check
.PHONY: lint format bench overhead docs nightly clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z -]+:.*## /{printf "  make %-24s %s\n", $$1, $$2}' Makefile

# ---- set-up: one stamp per list of Python packages ----------------------------------------------------------------

$(VENV)/stamp-venv: tools/check_prerequisites.sh
	@tools/check_prerequisites.sh $(PYTHON)
	@echo "== Making $(VENV)"
	@$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/stamp-%: tools/requirements/%.txt $(VENV)/stamp-venv
	@echo "== Installing Python packages: $*.txt"
	@$(py) -m pip install --quiet --disable-pip-version-check -r $<
	@touch $@

# Lists that include another are as old as the newest of theirs.
$(VENV)/stamp-test $(VENV)/stamp-bench: tools/requirements/demo.txt
$(VENV)/stamp-lint: tools/requirements/test.txt tools/requirements/demo.txt

$(VENV)/stamp-torch: tools/install_torch.py $(VENV)/stamp-build
	@$(py) tools/install_torch.py
	@touch $@

# ---- building -----------------------------------------------------------------------------------------------------

# Ninja runs CMake again by itself when a CMake file changes; the presets and the tools are the rest.
build/%/stamp-configure-$(CUDA): CMakePresets.json $(VENV)/stamp-build
	@echo "== Configuring build/$*"
	@cmake --preset $* -DPython_EXECUTABLE=$(py) $(CONFIGURE_$*)
	@touch $@

# An ordinary variable keeps the CUDA choice of the last configuration when a target does not name one.
CONFIGURE_release = -DBNAPI_CUDA=$(CUDA)
CONFIGURE_cuda = $(if $(CUDA_ARCHITECTURES),'-DBNAPI_CUDA_ARCHITECTURES=$(CUDA_ARCHITECTURES)')

build-%: build/%/stamp-configure-$(CUDA)
	@cmake --build --preset $*

.PRECIOUS: build/%/stamp-configure-$(CUDA) $(VENV)/stamp-%

build: build-dev ## the library, the Python module and the test programs, in build/dev

release: build-release ## the optimised library and Python module, in build/release

install: build-release ## install the library, headers and configuration files under PREFIX
	@cmake --install build/release --prefix $(PREFIX)

wheel: $(VENV)/stamp-build ## the Python wheel, in dist/
	@$(py) -m pip wheel --disable-pip-version-check --no-deps --wheel-dir dist --config-settings=cmake.define.BNAPI_CUDA=$(CUDA) .

wheel-test: wheel $(VENV)/stamp-test ## install the wheel in a clean virtual environment and use it from there
	@$(py) -m pytest -q tests/wheel

# ---- running ------------------------------------------------------------------------------------------------------

demo: build-release $(VENV)/stamp-demo ## build, and run the samples
	@tools/run_demo.sh $(CURDIR)/build/release

test: build-dev $(VENV)/stamp-test $(VENV)/stamp-torch ## build, and run all tests
	@tools/run_tests.sh dev $(PYTEST_ARGS)

asan tsan simt simt-asan: %: build-% $(VENV)/stamp-test $(VENV)/stamp-torch ## the tests under a sanitizer, or on the emulated GPU
	@tools/run_tests.sh $* $(PYTEST_ARGS)

bench: build-release $(VENV)/stamp-bench $(VENV)/stamp-torch ## measure against PyTorch, oneDNN and NumPy, side by side
	@$(py) benchmarks/build_peers.py
	@PYTHONPATH=build/release/python $(py) benchmarks/run.py $(BENCH_ARGS)

overhead: build-release $(VENV)/stamp-bench ## measure what a call costs beside its work, from C and from Python
	@$(py) benchmarks/overhead.py --build build/release

cuda: build-cuda ## compile the CUDA backend, warnings as errors (CUDA_ARCHITECTURES=90-real for one only)

cuda-report: build-simt $(VENV)/stamp-test ## what the CUDA kernels move, and their registers, without a GPU
	@$(py) tests/simt/report.py --build build/simt

gpu-check: build-cuda $(VENV)/stamp-test $(VENV)/stamp-torch ## on a machine with a GPU: all tests on it, and measurements
	@benchmarks/gpu_check.sh $(BENCH_ARGS)

lint: build-dev $(VENV)/stamp-lint ## formatting, style, types
	@tools/lint.sh

format: $(VENV)/stamp-lint ## bring the sources into the project's format
	@tools/lint.sh --fix

docs: $(VENV)/stamp-docs ## the documentation as a site, in site/
	@NO_MKDOCS_2_WARNING=1 mkdocs build --quiet --strict

nightly: ## what is too long for every change: other processors, big cases, a fresh machine, the wheel
	@tools/nightly/run.sh

clean: ## remove everything that was built
	rm -rf build dist site .venv
