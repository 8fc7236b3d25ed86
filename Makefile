# Everything runs in a virtual environment of its own; only python3 with venv,
# a C++ compiler and make are assumed.
PYTHON ?= python3
VENV ?= .venv
WARNINGS_AS_ERRORS ?= OFF
BIN := $(VENV)/bin
PIP_INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt
NATIVE := $(shell find native -name '*.[ch]pp')
SOURCES := $(shell find src lab/src -type f -not -path '*/__pycache__/*') $(NATIVE) CMakeLists.txt pyproject.toml lab/pyproject.toml
SANITIZED := build/sanitized
SHOWN := fig1 fig2 fig4 decay cost calibration compartments extinction

.PHONY: reproduce test rebuild lint format sanitize bench studies encoders rivals reproduction report clean

reproduce: $(VENV)/installed
	$(BIN)/kenyon-lab reproduce

test: $(VENV)/installed
	$(BIN)/python -m pytest -n auto tests lab/tests --pyargs kenyon kenyon_lab --cov --cov-report=term --cov-fail-under=95

# Makes the packaged features anew from the raw data in KENYON_DATA_DIR.
rebuild: $(VENV)/installed
	$(BIN)/python -m pytest lab/tests/encoders -m rebuild

lint: $(VENV)/installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/clang-format --dry-run --Werror $(NATIVE) benchmarks/*.cpp

format: $(VENV)/installed
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/clang-format -i $(NATIVE) benchmarks/*.cpp

# The tests of the circuit again, on a kernel that notices bad addresses and
# undefined behaviour. Python itself is not built for it, so the run-time
# library is loaded first, and leaks at exit are not looked for.
sanitize: $(SANITIZED)/installed
	PYTHONPATH=$(SANITIZED) PYTHONMALLOC=malloc ASAN_OPTIONS=detect_leaks=0 \
	LD_PRELOAD="$$($(CXX) -print-file-name=libasan.so) $$($(CXX) -print-file-name=libstdc++.so)" \
	$(BIN)/python -m pytest tests/circuit -p no:cacheprovider

bench: $(VENV)/installed
	$(BIN)/python benchmarks/speed.py
	$(BIN)/python benchmarks/memory.py
	$(BIN)/python benchmarks/novelty.py
	$(BIN)/python benchmarks/smoothing.py
	$(BIN)/python benchmarks/readouts.py

# What was tried and what was chosen: the first layer for ridge, how its penalty is found, suggested
# parameters against a grid search, and what the living fly's memory has; takes half an hour.
studies: $(VENV)/installed
	$(BIN)/python benchmarks/layer.py
	$(BIN)/python benchmarks/penalty.py
	$(BIN)/python benchmarks/suggest.py
	$(BIN)/python benchmarks/living.py

# What makes an encoder good; takes an hour, and the raw data in KENYON_DATA_DIR.
encoders: $(VENV)/installed
	$(BIN)/python benchmarks/encoder.py

# Every method on MNIST-20, with five seeds; takes hours, and goes on where it was stopped.
rivals: $(VENV)/installed
	$(BIN)/python benchmarks/rivals.py

# The whole paper, with five seeds and all datasets at hand; takes most of a day, and goes on where
# it was stopped. CIFAR-100's stand-in is looked for in KENYON_DATA_DIR.
reproduction: $(VENV)/installed
	$(BIN)/kenyon-lab reproduce --profile full

# The report, and what the README shows of it, from the results that are kept.
report: $(VENV)/installed
	$(BIN)/kenyon-lab report
	$(BIN)/python benchmarks/beyond.py
	mkdir -p docs/figures
	cp $(SHOWN:%=report/figures/%.png) docs/figures
	cp report/verdict.md docs

$(VENV)/tools: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(PIP_INSTALL) "scikit-build-core>=0.10" "nanobind>=2.4" "cmake>=3.18" \
	    ninja "hatchling>=1.26"
	touch $@

$(VENV)/installed: $(VENV)/tools $(SOURCES)
	$(PIP_INSTALL) --no-build-isolation --config-settings=build-dir=build/release \
	    --config-settings=cmake.define.KENYON_WARNINGS_AS_ERRORS=$(WARNINGS_AS_ERRORS) \
	    ".[test,lint]" "./lab[text,tables,figures]"
	touch $@

$(SANITIZED)/installed: $(VENV)/installed
	rm -rf $(SANITIZED)
	$(PIP_INSTALL) --no-build-isolation --no-deps --target $(SANITIZED) \
	    --config-settings=build-dir=build/sanitize --config-settings=cmake.define.KENYON_SANITIZE=ON .
	touch $@

clean:
	rm -rf $(VENV) build
