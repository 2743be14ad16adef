# Everything a developer types: `make setup`, then `make demo`, `make test`, `make lint`, `make types`, `make docs`, ...
# PYTHON picks the interpreter that .venv is made with: make setup PYTHON=python3.12

PYTHON ?= python3
BIN := .venv/bin
# setup.cfg pins everything, so its hash says whether the environment is up to date.
STAMP := .venv/.installed-$(shell cat setup.cfg pyproject.toml | cksum | cut -d' ' -f1)
# One thread for arithmetic in each process: the tests run side by side. Bytecode is kept, because the tests start many
# processes, which would compile the package again.
ONE_THREAD := OMP_NUM_THREADS=1 MKL_NUM_THREADS=1 NUMBA_NUM_THREADS=1
PYTEST := $(ONE_THREAD) PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest --dist loadfile --no-loadscope-reorder

# Newer than the sources of the voxel world, which numba then has in its cache.
VOXEL := platform/env/voxel/__pycache__/.compiled

.DEFAULT_GOAL := help
.PHONY: help setup demo studio-demo test test-slow compiled playhouse lint types docs bench typing clean

help: ## what can be typed here
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-11s %s\n", $$1, $$2}'

setup: $(STAMP) ## .venv with everything pinned (minutes the first time, nothing after that)

$(STAMP): | .venv/bin/python
	@echo "setup: installing the pinned packages of setup.cfg into .venv (the first time: minutes, about 3 GB)"
	$(BIN)/python -m pip install --disable-pip-version-check --quiet --editable '.[gymnasium,minari,video,sweeps,remote,triton,tensorboard,docs,dev]'
	@rm -f .venv/.installed-*
	@touch $@
	@echo "setup: done; try: make demo"

.venv/bin/python:
	@command -v $(PYTHON) >/dev/null || \
		{ echo "setup: no '$(PYTHON)' here; install Python 3.11 or later, or name one: make setup PYTHON=python3.11"; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "setup: $$($(PYTHON) --version) is too old, 3.11 or later is needed; name one: make setup PYTHON=python3.11"; exit 1; }
	@echo "setup: making .venv with $$($(PYTHON) --version)"
	@$(PYTHON) -m venv .venv || \
		{ echo "setup: '$(PYTHON) -m venv' failed; on Debian and Ubuntu: apt install python3-venv"; rm -rf .venv; exit 1; }

demo: setup ## the whole pipeline, small: record, clone, mark, reward, reinforce, evaluate
	$(BIN)/interplay demo

studio-demo: setup ## people's pages on a small run, with synthetic people at work; prints an address to join
	$(BIN)/interplay studio-demo run.name=studio-demo collect.episodes=12 collect.heldout=2 collect.setter.sample_by=cues \
		studio.live.seconds=120 crowd.players=3 crowd.raters=2 crowd.seconds=36000 tracking.wandb=disabled

# Four processes for two cores: many tests wait for Ray, or for processes that they start.
test: setup compiled ## the tests, on both cores (minutes); leaves out those marked slow
	$(PYTEST) -n 4 -m "not slow"
	@echo "test: passed; the end-to-end tests marked slow were left out, run them with: make test-slow"

test-slow: setup compiled ## the end-to-end tests that make test leaves out: kills, lost nodes, sweeps, benchmarks
	$(PYTEST) -n 2 -m slow

# What numba compiles, once before the test processes start: each of them would compile it on its own.
compiled: setup
	@$(MAKE) --no-print-directory -j 2 playhouse $(VOXEL)

# A few tests call all compiled functions of the voxel world.
$(VOXEL): platform/env/voxel/dynamics.py platform/env/voxel/picture.py platform/env/voxel/matching.py | $(STAMP)
	@echo "test: compiling the voxel world (half a minute the first time, nothing after that)"
	@$(PYTEST) -k "tower or raises or redrawn or checker" \
		tests/env/voxel/test_building_tasks.py tests/env/voxel/test_conformance_voxel.py tests/env/voxel/test_silent_builder.py
	@touch $@

playhouse: setup
	@$(ONE_THREAD) $(BIN)/python -c "from interplay.env.registry import make; from interplay.env.warm_up import warm_up; \
		warm_up(make('playhouse'), lambda text: print('test:', text))"

lint: setup ## style: ruff's rules and its format
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: setup typing ## mypy, strict, of benchmarks too; fails where mypy did not read every file
	@files=$$(find platform conf launch -name '*.py' | wc -l); \
	$(BIN)/mypy > .typing/report; verdict=$$?; cat .typing/report; \
	read=$$(sed -n 's/.*[ (]\([0-9]*\) source files.*/\1/p' .typing/report); \
	[ "$${read:-0}" -ge "$$files" ] || { echo \
		"types: mypy read $${read:-0} of the $$files files in platform/, conf/ and launch/; see .typing/interplay"; exit 1; }; \
	exit $$verdict
	@MYPYPATH=.typing:benchmarks $(BIN)/mypy --exclude benchmarks/contestants benchmarks

docs: setup typing ## the documentation site with an API reference, in build/site; needs no network
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	@echo "docs: open build/site/index.html; its search needs a server: $(BIN)/python -m http.server -d build/site"

bench: setup ## all benchmarks, one after another: worlds, actors, learner, platforms (takes long)
	@for benchmark in benchmarks/*.py; do \
		echo "bench: $$benchmark"; $(ONE_THREAD) $(BIN)/python $$benchmark || exit 1; done

# Type checkers are blind to setup.cfg's mapping of folders to the package, and then report success over nothing.
# So they read .typing/interplay: a link for each subfolder of platform/, one for conf/ and one for launch/.
typing:
	@rm -rf .typing && mkdir -p .typing/interplay
	@for folder in platform/*/; do ln -s "../../$${folder%/}" .typing/interplay/; done
	@ln -s ../../conf .typing/interplay/conf
	@ln -s ../../launch .typing/interplay/launch

clean: ## caches and builds; .venv and runs/ stay
	rm -rf build dist .typing .mypy_cache .ruff_cache .pytest_cache .hypothesis *.egg-info
