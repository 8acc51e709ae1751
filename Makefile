# Plimsoll in one-line targets. The builds are in CMakePresets.json, everything else in tools/.

INSTALLED = plimsoll standin pages core_shared core_static plimsoll_shared plimsoll_static

# What follows "others" are names for it, not targets.
ifeq (others,$(firstword $(MAKECMDGOALS)))
OTHERS := $(wordlist 2,$(words $(MAKECMDGOALS)),$(MAKECMDGOALS)) $(NAME)
$(filter-out others build,$(OTHERS)):: ; @:
endif

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' Makefile | expand -t 18

build: ## the command, at build/release/plimsoll, and what it rehearses with
	@tools/bootstrap build && cmake --preset release >/dev/null && cmake --build --preset release --target plimsoll standin

demo: build ## explain an error message, inspect a real recording, save a run
	@tools/demo

test: ## build everything, run every test, print totals
	@tools/bootstrap test && tools/test release

ci: ## what a change has to pass: tests, sanitizers, both compilers, format, tidy
	@.ci/run

docs: ## the API reference, at build/docs/api/index.html
	@tools/bootstrap docs && tools/docs

docs-python: ## the reference of the Python package, by pdoc, at build/docs/python/index.html; from PyPI
	@tools/docs-python

bench: ## measure; one JSON document per line
	@tools/bootstrap test && tools/bench

check-exports: build ## open exports in the tools they are for; these come from PyPI, npm and Debian
	@tests/export/validate/run.py build/release/plimsoll

measured: build ## rehearse what others measured on GPUs, and compare; installs PyTorch, 2 GB a version
	@examples/rehearse/measured/check.py build/release/plimsoll each

check-runs: build ## reference programs under `plimsoll run`: verdicts, lines, holders, silence; with the Python in PLIM_TORCH_PYTHON
	@examples/rehearse/check_runs.py build/release/plimsoll "$${PLIM_TORCH_PYTHON:-$$(tools/torch-python)}"

check-regression: build ## find real regressions between releases of packages; installs three PyTorch, 6 GB
	@examples/rehearse/upgrades/check.py build/release/plimsoll

check-programs: build ## programs of others under plimsoll run, the same as without; from PyPI
	@tests/run/programs/check.py build/release/plimsoll

check-techniques: build ## programs of others under each technique of --with; from PyPI: make check-techniques [ONLY="trl .*offload"]
	@PYTHONDONTWRITEBYTECODE=1 tests/techniques/others/check.py build/release/plimsoll $(if $(ONLY),"$(ONLY)") $(if $(TABLE),--table "$(TABLE)")

check-fit: build ## fit on five programs, beside the stacks that guides give; from PyPI: make check-fit [ONLY="unet-8gb"]
	@PLIM_TORCH_PYTHON="$${PLIM_TORCH_PYTHON:-$$(tools/torch-python)}" tests/techniques/check_fit.py build/release/plimsoll $(ONLY)

check-callbacks: build ## the callbacks in transformers, Lightning and accelerate, older releases too; from PyPI
	@PLIM_TORCH_PYTHON="$${PLIM_TORCH_PYTHON:-$$(tools/torch-python)}" tests/python/check_callbacks.py build/release/plimsoll

fuzz: ## every fuzz target for FUZZ_SECONDS (600) each
	@tools/bootstrap ci && tools/fuzz

format: ## lay out our C files by .clang-format
	@tools/bootstrap ci && tools/sources | xargs -0 clang-format -i

tidy: ## clang-tidy over our C files
	@tools/bootstrap ci && tools/tidy

install: ## command, libraries, headers, pages; PREFIX=/usr/local, DESTDIR= for packagers
	@tools/bootstrap build && cmake --preset release >/dev/null && cmake --build --preset release --target $(INSTALLED) && cmake --install build/release --prefix "$(or $(PREFIX),/usr/local)"

uninstall: ## remove what install put there; the same PREFIX and DESTDIR
	@cmake -D PREFIX="$(abspath $(or $(PREFIX),/usr/local))" -P cmake/uninstall.cmake

wheel: ## the Python package for PyPI, wheel and sdist, in build/dist; its tools come from PyPI
	@tools/bootstrap wheel && tools/wheel

check-wheel: wheel ## install it in fresh environments, by pip and uv, and use it there: make check-wheel [PYTHONS="python3.12 ..."]
	@tests/wheel/check.py build/dist/plimsoll-*.whl "$$(tools/pypi-python wheel)" $(PYTHONS)

check-many: build ## plimsoll.map() on a local Ray cluster, and its DataFrames; from PyPI
	@python=$$(tools/ray-python) && "$$python" tests/python/check_ray.py build/release/plimsoll

deb: ## the Debian package, into build/dist
	@tools/bootstrap deb && tools/deb $(INSTALLED)

check-deb: deb ## install the package on a bare Debian 12, use it, remove it; needs root and mirrors
	@tools/bootstrap check-deb || true; tests/install/check_deb.py build/dist/plimsoll_*.deb

check-python: build ## the types of the Python package: mypy --strict, pyright, pandas; from PyPI
	@tools/check-python

check-actions: wheel ## the steps of docs/python/github-actions.yml, in a small project; from PyPI, with the Python in PLIM_TORCH_PYTHON
	@PLIM_TORCH_PYTHON="$${PLIM_TORCH_PYTHON:-$$(tools/torch-python)}" tests/python/check_actions.py build/dist/plimsoll-*.whl

record-from-pypi: ## make the recordings of tests/data anew, with PyTorch from PyPI
	@tools/record/record all

oracle: ## record PyTorch's own allocator afresh, with its library from PyPI
	@tests/oracle/allocator/record.py

others: $(if $(strip $(OTHERS)),build) ## programs of others, unmodified, rehearsed: make others NAME...; their list, without names
	@examples/rehearse/others/run.py $(OTHERS)

clean: ## forget every build
	@rm -rf build

.PHONY: help build demo test ci docs docs-python bench check-actions check-callbacks check-deb check-exports check-fit check-many check-programs check-python check-regression check-techniques check-wheel deb measured check-runs fuzz format tidy install uninstall wheel record-from-pypi oracle others clean
