# tidscope: `make up` runs it, `make test` checks all of it. Everything else is a part of these two.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory
# No built-in rules: the host's compiler would make an object for eBPF that is older than its source.
.SUFFIXES:

PYTHON ?= python3
PY := .venv/bin/python
STAMP := .venv/.stamp
NODE_STAMP := node_modules/.stamp
UP_ARGS ?=
TEST_WORKERS ?= 2
# With one a CPU a third of it is idle.
UNIT_WORKERS ?= $(shell expr 3 '*' $(TEST_WORKERS) / 2)
# Most of these tests wait for programs and intervals: two workers a CPU keep it busy.
INTEGRATION_WORKERS ?= $(shell expr 2 '*' $(TEST_WORKERS))
PYTEST = $(PY) -m pytest --dist loadfile --no-loadscope-reorder
# Without cached bytecode each start of a tidscope process compiles its modules: 0.4 s of CPU.
export PYTHONDONTWRITEBYTECODE :=
# Python's stable ABI is the same everywhere: no interpreter is asked when the sampler is compiled.
export PYO3_NO_PYTHON := 1
export PYO3_BUILD_EXTENSION_MODULE := 1
KERNELS ?= bookworm trixie trixie-backports
KERNEL_TESTS ?= $(addprefix tests/integration/,test_doctor_kernel.py test_waits_kernel.py test_stacks_windows.py)
ENGINE_JARS := org.apache.iceberg:iceberg-spark-runtime-4.0_2.13:1.10.1 org.xerial:sqlite-jdbc:3.50.3.0
FUZZ_RUNS ?= 1000000
FUZZ_SEED ?= $(shell date +%s)
# Natively ten times as many take less time.
SAMPLER_RUNS ?= $(shell expr 10 '*' $(FUZZ_RUNS))

BPF := sampler/src/network/netacct.bpf sampler/src/walk/task_iterator.bpf sampler/src/ledger/waits.bpf sampler/src/processes/groups.bpf stacks/bpf/filter.bpf
SPAWN := backend/tidscope_backend/cli/spawn_held
# The processor to compile and build a wheel for: x86_64 or aarch64. As tools/processor has it, what is
# compiled for another one than this machine's lies in .cache/ARCH.
ARCH ?= $(shell uname -m)
export ARCH
MADE := $(if $(filter-out $(shell uname -m),$(ARCH)),.cache/$(ARCH)/)
STACKS := $(MADE)collector/tidscope_collector/stacks/tidscope-stacks
SAMPLER := $(MADE)sampler/tidscope_sampler/native.abi3.so
LIBBPF := $(MADE)collector/tidscope_collector/ebpf/libbpf.so.1
COMPILED := $(SAMPLER) $(LIBBPF) $(STACKS)
# What cargo makes for checks and tests; what the collector loads lies beside it, by content.
CARGO_TARGET := $(CURDIR)/.cache/sampler/target
# A Go compiler, for tools/find-go; empty: it looks for one.
GO ?=
export GO
CLANG ?= clang
BPFTOOL ?= $(shell command -v bpftool || echo /usr/sbin/bpftool)

# Targets with plain names are no files.
.PHONY: $(shell sed -nE 's/^([a-z0-9-]+):.*/\1/p' $(firstword $(MAKEFILE_LIST)))

help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' Makefile | sed -E 's/^([a-z-]+):.*## /  make \1\t/' | expand -t 22

install: $(STAMP)-runtime $(NODE_STAMP) $(COMPILED) ## environment and dependencies only

install-dev: ## what the tests need as well (apt, when run as root)
	@$(MAKE) -j3 $(STAMP)-dev $(NODE_STAMP) compiled-after-packages

# The compilers are among the packages.
compiled-after-packages:
	@tools/install-test-packages
	@$(MAKE) $(COMPILED)

sampler: $(SAMPLER) ## compile the sampler

libbpf: $(LIBBPF) ## compile the library that loads eBPF programs

stacks: ## compile the program that takes stacks (needs Go)
	@tools/build-stacks

sampler-test: $(STAMP)-dev ## the tests of the sampler, on the same generated cases each time
	PROPTEST_RNG_SEED=20260101 cargo test --quiet --locked --manifest-path sampler/Cargo.toml --target-dir $(CARGO_TARGET)

up: install build ## start collector and backend, print the address (DEMO=1: with a program to watch)
	@exec .venv/bin/tidscope up $(if $(filter 1,$(DEMO)),--demo) $(UP_ARGS)

test: ## everything, and what each stage took
	@MAKE="$(MAKE)" $(PYTHON) tools/test_stages.py

pytest: unit integration ## the Python tests, on TEST_WORKERS workers

unit: $(STAMP)-dev $(COMPILED) ## those without the kernel
	$(PYTEST) -n $(UNIT_WORKERS) tests/unit tests/contract --junitxml=test-output/times/unit.xml

integration: $(STAMP)-dev $(COMPILED) ## those with the kernel, and with whole processes
	$(PYTEST) -n $(INTEGRATION_WORKERS) tests/integration --junitxml=test-output/times/integration.xml

test-room: $(STAMP)-dev $(COMPILED) ## the unit and contract tests of a room: make test-room ROOM=collector/locks
	@tests=$$($(PY) tools/room_tests.py $(ROOM)) && $(PYTEST) -n $(TEST_WORKERS) -q $$tests

test-deep: $(STAMP)-dev $(COMPILED) ## ten times the examples of each property, branch coverage, and FUZZ_RUNS broken inputs
	@mkdir -p test-output/coverage
	TIDSCOPE_DEEP_TESTS=1 $(PYTEST) -n $(TEST_WORKERS) tests/unit tests/contract --cov --cov-report=
	PROPTEST_CASES=10000 cargo test --quiet --locked --manifest-path sampler/Cargo.toml --target-dir $(CARGO_TARGET) totals_tests
	@$(PY) -m coverage json -q -o test-output/coverage/report.json
	$(PY) tools/check_coverage.py
	@$(MAKE) fuzz

test-times: ## the dearest tests of the last run
	@$(PYTHON) tools/test_times.py test-output/times/unit.xml test-output/times/integration.xml

vitest: $(NODE_STAMP) ## the tests of the page's code
	npm run --silent test

e2e: $(NODE_STAMP) $(COMPILED) build ## the tests of the page in a browser
	npm run --silent e2e

pictures: $(NODE_STAMP) $(COMPILED) build ## the pictures of README.md and docs/gallery.md
	npm run --silent pictures

screens: $(NODE_STAMP) $(COMPILED) build ## every page in test-output/screenshots, to look at
	npm run --silent screens

check: $(STAMP)-dev $(NODE_STAMP) ## format, lint, types, import directions, generated files
	@$(MAKE) -j2 --output-sync=target check-types check-page check-sampler check-tree

check-types:
	$(PY) -m mypy

check-page:
	npm run --silent check

check-sampler:
	cargo fmt --check --manifest-path sampler/Cargo.toml
	cargo clippy --quiet --locked --all-targets --features python --manifest-path sampler/Cargo.toml \
	  --target-dir $(CARGO_TARGET) -- -D warnings

site: $(STAMP)-dev $(NODE_STAMP) ## build the docs site, with the page of a recorded run: dist/site
	$(PY) tools/build_site.py dist/site
	$(PY) tools/build_demo.py dist/site/demo

agent-packages: $(STAMP)-dev ## make the packages of the agents: dist/agents
	$(PY) tools/pack_agents.py dist/agents

release: ## make a release in dist/release: make release VERSION=0.2.0 (RELEASE_ARGS=--dry-run: without the tags)
	$(PYTHON) tools/release.py $(VERSION) $(RELEASE_ARGS)

demo-site: $(STAMP)-dev $(NODE_STAMP) ## build the page of a recorded run that needs no backend: dist/demo
	$(PY) tools/build_demo.py dist/demo

check-tree:
	$(PY) -m ruff format --check .
	$(PY) -m ruff check .
	$(PY) tools/check_imports.py
	$(PY) tools/check_escapes.py
	$(PY) tools/check_words.py
	$(PY) tools/check_locks.py
	$(PY) tools/check_links.py
	$(PY) tools/generate.py --check
	$(PY) tools/dashboard.py --check
	@tools/check-go

hooks: ## check what is staged before each commit (undo: git config --unset core.hooksPath)
	git config core.hooksPath tools/hooks

generate: $(STAMP)-dev ## rewrite what is made from shared/schemas: Python, and Grafana's board (the page's build makes its own part)
	$(PY) tools/generate.py
	$(PY) tools/dashboard.py

# bpftool links one object into one: that drops the debug sections and keeps the types.
bpf: ## compile the eBPF programs (BPF_OUT=FOLDER: to there, not over the committed objects)
	@mkdir -p .cache
	@for program in $(BPF); do \
	  made=.cache/$$(basename $$program).tmp.o; \
	  $(CLANG) -target bpf -mcpu=v3 -O2 -g -ffile-prefix-map=$(CURDIR)=. -Wall -Wextra -Werror \
	    -Wno-unused-parameter -I/usr/include/$(shell uname -m)-linux-gnu -c $$program.c -o $$made; \
	  $(BPFTOOL) gen object $(if $(BPF_OUT),$(BPF_OUT)/$$(basename $$program).o,$$program.o) $$made; \
	  rm -f $$made; \
	done

spawn-held: ## compile the helper that starts recorded commands (SPAWN_OUT=FILE: to there)
	$(CLANG) --target=x86_64-linux-gnu -Os -static -nostdlib -ffreestanding -fno-stack-protector \
	  -fno-asynchronous-unwind-tables -Wall -Wextra -Werror -Wl,--build-id=none,-z,noseparate-code -s \
	  -o $(or $(SPAWN_OUT),$(SPAWN)) $(SPAWN).c

kernel: ## build the kernel with extended taskstats as user-mode Linux (cached)
	@kernel/build

# Status 3: this machine cannot build it, and its tests say so.
kernel-if-possible:
	@kernel/build || test $$? -eq 3

kernel-test: $(STAMP)-dev ## boot it and compare its numbers with what programs moved
	$(PY) -m pytest tests/integration/test_extended_kernel.py

# Packages for the Python of kernel/root, with the wheel for that processor.
GUEST_PACKAGES := $(MADE)packages
GUEST_PY := $(if $(MADE),env PYTHONPATH=$(GUEST_PACKAGES) /usr/bin/python3,$(PY))

guest-packages: wheel
	rm -rf $(GUEST_PACKAGES)
	.venv/bin/uv pip install --quiet --system-certs --target $(GUEST_PACKAGES) --python-platform $(ARCH)-manylinux_2_28 \
	  --python-version 3.13 --only-binary :all: --no-deps --require-hashes -r requirements-dev.lock
	.venv/bin/python -m zipfile -e "$$(ls -t dist/tidscope-*_$(ARCH).whl | head -n 1)" $(GUEST_PACKAGES)
	chmod +x $(GUEST_PACKAGES)/tidscope_collector/stacks/tidscope-stacks

kernels-test: $(STAMP)-dev $(if $(MADE),guest-packages,$(COMPILED)) ## run KERNEL_TESTS in the kernel of each of KERNELS, emulated (root; long; ARCH=aarch64: of that processor)
	$(if $(MADE),,$(PY) -c 'import sys; sys.path[:0] = ["tests"]; from programs import known_code, known_waits as waits; waits.KnownWaits().close(); known_code.command("c")')
	@for release in $(KERNELS); do \
	  $(PY) kernel/check_types.py "$$(kernel/fetch $$release)"; \
	  kernel/run --kernel $$release --time-limit 7200 --writable .cache --writable /var/tmp -- \
	    $(GUEST_PY) -m pytest -q -p no:cacheprovider -o timeout=7000 $(KERNEL_TESTS); \
	done

format: $(STAMP)-dev $(NODE_STAMP) ## format all sources
	$(PY) -m ruff format .
	$(PY) -m ruff check --fix .
	node_modules/.bin/biome check --write .
	cargo fmt --manifest-path sampler/Cargo.toml

fuzz: $(STAMP)-fuzz $(NODE_STAMP) fuzz-sampler ## broken input for the decoders, FUZZ_RUNS=1000000 for each, ten times as many for the sampler
	@mkdir -p test-output/fuzz
	@for target in arrow frame elf pprof; do \
	  echo "fuzzing $$target"; \
	  mkdir -p .cache/fuzz/$$target; \
	  $(PY) tests/fuzz $$target -runs=$(FUZZ_RUNS) -max_len=8192 -timeout=20 -rss_limit_mb=3000 \
	    -verbosity=0 -print_final_stats=1 -artifact_prefix=test-output/fuzz/$$target- \
	    .cache/fuzz/$$target; \
	done
	PYTHONPATH=tests $(PY) tests/fuzz/verdicts.py .cache/fuzz/verdicts.jsonl 20000 $(FUZZ_SEED)
	FUZZ_VERDICTS=$(CURDIR)/.cache/fuzz/verdicts.jsonl FUZZ_FRAMES=$(FUZZ_RUNS) FUZZ_SEED=$(FUZZ_SEED) \
	  npx vitest run --root frontend frame.fuzz

fuzz-sampler: ## broken input for the sampler, SAMPLER_RUNS=10000000 for each of its readers
	@tools/need-rust
	FUZZ_RUNS=$(SAMPLER_RUNS) FUZZ_SEED=$(FUZZ_SEED) cargo test --quiet --profile fuzz --locked --lib \
	  --manifest-path sampler/Cargo.toml --target-dir $(CARGO_TARGET) fuzz_tests:: -- --nocapture

build: backend/tidscope_backend/web/index.html ## build the page

backend/tidscope_backend/web/index.html: $(NODE_STAMP) $(shell find frontend shared/schemas -type f -not -path "*/generated/*" -not -path "*/node_modules/*")
	@npm run --silent build -- --logLevel warn
	@touch $@

notice: build $(STAMP)-dev ## rewrite NOTICE and sbom.cdx.json: what page and programs carry and what is locked
	$(PY) tools/notice.py
	$(PY) tools/sbom.py

audit: $(STAMP)-dev $(NODE_STAMP) ## known vulnerabilities of what is locked, as far as the registries answer
	@$(PY) tools/audit.py

wheel: build $(STAMP)-dev $(COMPILED) ## build the wheel (ARCH=aarch64: for that processor), with page, sampler and, where there is Go, stacks
	$(PY) -m hatchling build -t wheel

deb: wheel ## build the Debian package from the wheel (needs debhelper and python3-venv)
	@tools/build-deb

deb-test: $(STAMP)-dev ## install, upgrade and purge the Debian package in a fresh system (needs mmdebstrap, podman, lintian)
	$(PY) -m pytest tests/packages

engines-test: $(STAMP)-dev .cache/engines/.stamp ## ClickHouse and Spark read the table of roles (needs a JDK and mvn; 1.5 GB)
	$(PY) -m pytest -q tests/table_engines

lock: $(STAMP)-dev ## pin the newest versions that fit
	.venv/bin/uv pip compile -q --universal --generate-hashes --no-emit-index-url --no-header --python-version 3.11 pyproject.toml --group build -o requirements.lock --upgrade
	.venv/bin/uv pip compile -q --universal --generate-hashes --no-emit-index-url --no-header --python-version 3.11 pyproject.toml --group dev -o requirements-dev.lock --upgrade
	.venv/bin/uv pip compile -q --universal --generate-hashes --no-emit-index-url --no-header --python-version 3.11 --group fuzz -o requirements-fuzz.lock --upgrade
	.venv/bin/uv pip compile -q --universal --generate-hashes --no-emit-index-url --no-header --python-version 3.11 --group engines -o requirements-engines.lock --upgrade

$(SAMPLER): sampler/Cargo.toml sampler/Cargo.lock tools/build-sampler $(shell find sampler/src -type f)
	@tools/build-sampler

$(LIBBPF): sampler/Cargo.lock tools/build-libbpf
	@tools/build-libbpf

# Status 3: this machine has no Go for it, and Doctor says so.
$(STACKS): $(shell find stacks -type f -not -name "*_test.go") tools/build-stacks tools/find-go
	@tools/build-stacks || test $$? -eq 3

$(STAMP)-runtime: requirements.lock pyproject.toml
	@test -e $(STAMP)-dev -a $(STAMP)-dev -nt requirements-dev.lock || tools/make-environment "$(PYTHON)" requirements.lock
	@touch $@

$(STAMP)-dev: requirements-dev.lock pyproject.toml
	@tools/make-environment "$(PYTHON)" requirements-dev.lock
	@touch $@ $(STAMP)-runtime

$(STAMP)-fuzz: requirements-fuzz.lock | $(STAMP)-dev
	@$(PY) -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-fuzz.lock
	@touch $@

# chdb needs other versions of some packages than the project has.
.cache/engines/.stamp: requirements-engines.lock
	@echo "installing ClickHouse and Spark"
	@$(PYTHON) -m venv .cache/engines
	@.cache/engines/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes --no-deps -r $<
	@for jar in $(ENGINE_JARS); do \
	  mvn -q -B dependency:copy -Dartifact=$$jar -DoutputDirectory=$(CURDIR)/.cache/engines/jars; \
	done
	@touch $@

# Not `npm ci`: it refuses where a registry lacks a package for another platform (of biome, say),
# which is never installed here. `npm install --no-save` takes versions and hashes from the same lock.
$(NODE_STAMP): package-lock.json
	@echo "installing packages for the page"
	@npm install --no-save --silent --no-audit --no-fund
	@touch $@

clean: ## remove everything that was made, the environment too
	rm -rf .venv node_modules backend/tidscope_backend/web $(COMPILED) dist .cache test-output
