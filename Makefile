# Lapwing's tasks. `make demo` and `make test` need no set-up by hand: they prepare what they use, once.
# `make check` never writes to the tree; `make fix` does.
.DEFAULT_GOAL := help
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:

PYTHON ?= python3
# Cargo's profile of the extension: CI takes `dev`, which the Rust tests have too, so that what both need is compiled once.
PROFILE ?= release
VENV := .venv
BIN := $(VENV)/bin
export PATH := $(abspath $(BIN)):$(PATH)
CACHE := .cache
# What `make audit` looks with.
DENY := 0.20.2
PIP_AUDIT := 2.10.1
RUST_SOURCES := $(shell find crates -name '*.rs' -o -name Cargo.toml 2>/dev/null)
step = @printf '\033[1m==> %s\033[0m\n' "$(1)"

.PHONY: help toolchain lapwingd setup peers demo python test test-rust test-rust-build test-rust-rooms test-python test-slow test-nightly flaky nightly newest-mosquitto check-rust check-rust-format check-python crash fault-matrix wild raft cluster-sim cluster-crash openraft test-32-bit one-offs soak interop-clients check fix bench bench-dispatch conformance kafka-jars faults-kafka spark-jars lab wheel test-wheel sbom jar-pins audit fuzz mutants clean sn mqtt-sn-tools bisquitt pages

help: ## this list
	@grep -hE '^[a-z0-9-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 16

setup: $(CACHE)/built ## virtual environment and the Rust build

toolchain: $(CACHE)/toolchain

$(CACHE)/toolchain:
	$(call step,tools)
	@mkdir -p $(CACHE)
	@$(PYTHON) -c 'import sys; assert sys.version_info >= (3, 11), f"Python 3.11 or later is needed, this is {sys.version.split()[0]}: set PYTHON=... "'
	@$(PYTHON) tools/prepare.py rust compiler
	@touch $@

$(CACHE)/python: requirements.lock tools/compiled_zips.py tools/wheels.cfg | $(CACHE)/toolchain
	$(call step,virtual environment in $(VENV) (Spark is 430 MB: this takes a minute or two the first time))
	@$(PYTHON) -m venv $(VENV)
	@DIST_EXTRA_CONFIG=$(abspath tools/wheels.cfg) $(BIN)/pip install --quiet --disable-pip-version-check --progress-bar on --require-hashes -r requirements.lock
	@$(BIN)/python tools/compiled_zips.py
	@touch $@

# What was built with another profile is built again: figures of a `dev` build say nothing.
$(CACHE)/profile-%: | $(CACHE)/toolchain
	@rm -f $(CACHE)/profile-*
	@touch $@

$(CACHE)/built: $(CACHE)/python $(CACHE)/profile-$(PROFILE) pyproject.toml Cargo.toml Cargo.lock $(RUST_SOURCES)
	$(call step,the broker: $(PROFILE) build (two to four minutes the first time))
	@MATURIN_PEP517_ARGS="--locked --profile $(PROFILE)$(if $(filter dev,$(PROFILE)), --features tests)" $(BIN)/pip install --verbose --disable-pip-version-check --no-build-isolation --no-deps --editable . 2>&1 \
		| sed -unE 's/^ *((Compiling|Finished|error|warning|-->).*)/    \1/p'
	@touch $@

python: $(CACHE)/python

$(CACHE)/java: | $(CACHE)/toolchain
	$(call step,Java)
	@$(PYTHON) tools/prepare.py java
	@touch $@

# Again when prepare.py changes: it may ask for more.
$(CACHE)/peers: tools/prepare.py | $(CACHE)/toolchain
	$(call step,peers for tests: other MQTT clients, a load balancer and a browser)
	@$(PYTHON) tools/prepare.py node npm javac maven paho-c browser mosquitto mosquitto-clients haproxy
	@touch $@

INTEROP := $(CACHE)/interop
PROGRAMS := tests/interop/programs
interop-clients: $(CACHE)/node-clients $(INTEROP)/hivemq/Main.class $(INTEROP)/paho_c mqtt-sn-tools bisquitt ## other people's MQTT clients, for the tests

$(CACHE)/node-clients: tests/interop/package-lock.json $(CACHE)/peers
	@npm ci --prefix tests/interop --no-audit --no-fund --loglevel=error
	@touch $@

$(INTEROP)/hivemq/jars: $(PROGRAMS)/hivemq/pom.xml $(PROGRAMS)/hivemq/jars.sha256 tools/jars.py | $(CACHE)/peers
	@mvn --quiet --batch-mode -Dstyle.color=never --update-snapshots --strict-checksums --file $< dependency:copy-dependencies -DoutputDirectory=$(abspath $@)
	@$(PYTHON) tools/jars.py check $@ $(word 2,$^)
	@touch $@

$(INTEROP)/hivemq/Main.class: $(INTEROP)/hivemq/jars $(wildcard $(PROGRAMS)/hivemq/*.java)
	@javac --release 17 -Xlint:all,-processing,-path -Werror -cp "$</*" -d $(@D) $(filter %.java,$^)

$(INTEROP)/paho_c: $(wildcard $(PROGRAMS)/paho_c/*.[ch]) | $(CACHE)/peers
	@mkdir -p $(@D)
	@cc -std=gnu17 -O1 -Wall -Wextra -Werror -o $@ $(filter %.c,$^) -lpaho-mqtt3cs

# Where they cannot be had their tests are skipped, and say so.
mqtt-sn-tools: | $(CACHE)/toolchain
	$(call step,clients of MQTT-SN in C)
	@-$(PYTHON) tools/mqtt_sn_tools.py $(INTEROP)/mqtt-sn-tools

bisquitt: | $(CACHE)/toolchain
	$(call step,a client of MQTT-SN in Go)
	@GOTOOLCHAIN=local GOFLAGS=-buildvcs=false go build -C tests/mqtt_sn/bisquitt -o $(abspath $(INTEROP))/bisquitt/device . 2>$(CACHE)/bisquitt.log \
		|| echo "    bisquitt is not to be had here: $$(tail -n 1 $(CACHE)/bisquitt.log)"

# With TARGET for another machine: that is linked by zig's compiler, which has the C libraries of all of them.
lapwingd: $(CACHE)/toolchain $(if $(TARGET),$(CACHE)/cross) ## the broker as one executable without Python: target/edge/lapwingd (TARGET=aarch64-unknown-linux-musl: for other machines)
	$(call step,lapwingd$(if $(TARGET), for $(TARGET)): a release build as a whole (ten minutes and more on two cores, the first time))
ifdef TARGET
	@rustup --quiet target add $(TARGET)
	@$(CROSS) zigbuild --locked --profile edge --package lapwing-daemon --target $(TARGET)
	@echo "    target/$(TARGET)/edge/lapwingd"
else
	@cargo build --locked --profile edge --package lapwing-daemon
endif

CROSS = PATH="$(abspath $(CACHE)/cross-tools/bin):$$PATH" cargo-zigbuild

$(CACHE)/cross: tools/cross.lock | $(CACHE)/toolchain
	$(call step,what links for other machines (100 MB))
	@$(PYTHON) -m venv $(CACHE)/cross-tools
	@$(CACHE)/cross-tools/bin/pip install --quiet --disable-pip-version-check --progress-bar on --require-hashes -r tools/cross.lock
	@touch $@

kafka-jars: $(CACHE)/kafka/jars ## the Kafka server that tests and the lab start

$(CACHE)/kafka/jars: python/lapwing/lab/kafka/pom.xml python/lapwing/lab/kafka/jars.sha256 tools/jars.py | $(CACHE)/java $(CACHE)/peers
	@mvn --quiet --batch-mode -Dstyle.color=never --update-snapshots --strict-checksums --file $< dependency:copy-dependencies -DoutputDirectory=$(abspath $@)
	@$(PYTHON) tools/jars.py check $@ $(word 2,$^)
	@touch $@

spark-jars: $(CACHE)/spark-jars ## what Spark needs to read Kafka, and to write Delta on a cluster

$(CACHE)/spark-jars: python/lapwing/pipeline/pom.xml python/lapwing/pipeline/jars.sha256 tools/jars.py | $(CACHE)/java $(CACHE)/peers
	@mvn --quiet --batch-mode -Dstyle.color=never --update-snapshots --strict-checksums --file $< dependency:copy-dependencies -DincludeScope=runtime -DoutputDirectory=$(abspath $@)
	@$(PYTHON) tools/jars.py check $@ $(word 2,$^)
	@touch $@

lab: $(CACHE)/built $(CACHE)/java kafka-jars spark-jars ## from phones to the controller: architectures side by side; charts in out/lab (LAB="--quick")
	@$(BIN)/lapwing lab run crowdsourcing --out out/lab $(LAB)

demo: $(CACHE)/built $(CACHE)/java ## devices, broker, stream, Spark, tables and pictures in out/demo
	@$(BIN)/lapwing demo --out out/demo $(DEMO)

# JVMs of tests live for seconds: no optimising compiler, no threads that collect, and Spark's classes from an archive.
TEST_JVMS := JDK_JAVA_OPTIONS="-XX:TieredStopAtLevel=1 -XX:+UseSerialGC" SPARK_SUBMIT_OPTS="-XX:SharedArchiveFile=$(abspath $(CACHE))/spark.jsa"
SUITE := $(TEST_JVMS) $(BIN)/python -m tools.suite

test: $(CACHE)/built peers ## every test; with SLOW=1 the slow proofs too, as CI runs them (TESTS="tests/bridge")
	$(call step,tests: first what needs a JVM)
	@$(SUITE) --tier $(if $(SLOW),ci,fast) $(if $(TESTS),--no-rust) $(TESTS)

test-rust: $(CACHE)/built ## the Rust rooms (LAPWING_WILD_SECONDS=600: clients that do anything to a whole node, LAPWING_WILD_SEED)
	$(call step,tests of the Rust rooms)
	@cargo test --locked --workspace --quiet

# Of the tests' build what the extension's has in common with it, and what needs no other: cargo needs no Python for it.
# Benches too: where clippy compiles (.ci/run), whatever it does not see is not looked at.
test-rust-rooms: $(CACHE)/toolchain
	@cargo test --locked --workspace --benches --quiet --no-run

test-rust-build: test-rust-rooms
	@cargo test --locked --workspace --quiet --no-run

test-python: $(CACHE)/built peers ## the Python rooms and what crosses rooms
	@$(SUITE) --tier $(if $(SLOW),ci,fast) --no-rust $(TESTS)

test-slow: $(CACHE)/built peers ## the slow proofs alone: brokers, Kafka and jobs killed
	@$(SUITE) --tier slow --no-rust $(TESTS)

flaky: $(CACHE)/built peers ## the suite ROUNDS times (5), beside two busy loops with BUSY=1; who failed how often
	@$(TEST_JVMS) $(BIN)/python -m tools.suite.flaky --rounds $(or $(ROUNDS),5) $(if $(BUSY),--busy) $(if $(SLOW),--tier ci) $(TESTS)

nightly: $(CACHE)/built peers newest-mosquitto ## every proof that CI has no time for, and what came of each (hours; NIGHTLY="tests crash")
	@$(TEST_JVMS) $(BIN)/python -m tools.suite.nightly $(NIGHTLY)

test-nightly: $(CACHE)/built peers newest-mosquitto ## of these the tests: a Spark cluster, jobs killed after each commit, days of the lab
	@$(SUITE) --tier nightly --jvm-workers 2 --workers 2 --no-rust $(TESTS)

# Where it cannot be had its tests are skipped, and say so.
newest-mosquitto:
	$(call step,the newest Mosquitto)
	@-$(PYTHON) tools/newer_mosquitto.py $(CACHE)/mosquitto

# What tests need beside what they test.
peers: $(CACHE)/java interop-clients kafka-jars spark-jars $(CACHE)/spark.jsa

$(CACHE)/spark.jsa: $(CACHE)/python tools/spark_archive.py | $(CACHE)/java $(CACHE)/built
	$(call step,Spark for tests: an archive of its classes)
	@$(TEST_JVMS) $(BIN)/python tools/spark_archive.py $@

crash: $(CACHE)/built ## 200 rounds of random work on a broker that is killed at random moments, 100 of power cuts; see docs/reliability.md
	$(call step,killed at random moments)
	@$(BIN)/python -m tests.crash --rounds 200 --out out/crash/kills $(CRASH)
	$(call step,power cut at random moments)
	@$(BIN)/python -m tests.crash --rounds 100 --power-cut --out out/crash/power-cuts $(CRASH)
	$(call step,at every change of a simulated disk and every step of a session)
	@LAPWING_CRASH_EVERY=1 cargo test --locked --quiet -p lapwing-store -p lapwing-node -p lapwing-session --lib --tests crash

cluster-crash: $(CACHE)/built ## ROUNDS (100) of the same on a cluster of three: kills, pauses, power cuts, splits (as root); see docs/reliability.md
	@$(BIN)/python -m tests.cluster_crash --rounds $(or $(ROUNDS),100) --seed $(or $(SEED),1) --out out/crash/cluster $(CRASH)

wild: $(CACHE)/built ## clients that do anything to a broker process that is killed, WILD_SECONDS long (600); SEED=7 begins with that one
	$(call step,clients that do anything)
	@LAPWING_WILD_SECONDS=$(or $(WILD_SECONDS),600) LAPWING_WILD_SEED=$(or $(SEED),0) \
		cargo test --locked --quiet -p lapwing-wild --test wild a_process_that_is_killed -- --nocapture

raft: $(CACHE)/toolchain ## groups of Raft in rough weather, simulated: SEEDS (200) runs of each kind
	$(call step,groups of Raft in rough weather)
	@LAPWING_RAFT_SEEDS=$(or $(SEEDS),200) cargo test --locked --quiet -p lapwing-raft --test engine runs

cluster-sim: $(CACHE)/toolchain ## whole clusters in rough weather, simulated: SIM (2000) seconds of three nodes and of five; SEED=7 begins with that one
	$(call step,clusters in rough weather)
	@LAPWING_SIM_SECONDS=$(or $(SIM),2000) LAPWING_SIM_SEED=$(or $(SEED),1) cargo test --locked --quiet -p lapwing-replica --test sim runs -- --nocapture

test-32-bit: $(CACHE)/cross ## tests of what `lapwingd` is made of, and of it as a process, in 32 bits and linked against musl
	@rustup --quiet target add i686-unknown-linux-musl
	@$(CROSS) test --locked --quiet --no-fail-fast --target i686-unknown-linux-musl $(addprefix --package=lapwing-,$(NATIVE_ROOMS))

NATIVE_ROOMS := access codec daemon dispatch envelope files groups ledger node router session sn store transport

openraft: $(CACHE)/toolchain ## openraft's own suite for log storages, on the journal
	@cargo test --locked --quiet --manifest-path tests/openraft/Cargo.toml --target-dir target/openraft

faults-kafka: $(CACHE)/built $(CACHE)/java kafka-jars spark-jars ## Kafka, bridge members and the broker killed, paused, without disk, at random for ten minutes (FAULTS="--seconds 60")
	@$(BIN)/python -m tests.faults_kafka --seconds 600 $(FAULTS)

fault-matrix: $(CACHE)/built $(CACHE)/peers ## every fault by QoS, on Lapwing and on Mosquitto, as a table
	@$(BIN)/python -m tests.crash.matrix --peer mosquitto $(MATRIX)

one-offs: $(CACHE)/toolchain ## 50 million clients, topics, groups, values and addresses that come once: tables are as small behind them as before
	@LAPWING_ONE_OFFS=50000000 cargo test --locked --release --quiet -p lapwing-router -p lapwing-ledger -p lapwing-node --lib --tests one_off

soak: $(CACHE)/built ## an hour of mixed load: memory, disk and descriptors stay flat (SOAK="--minutes 5")
	@$(BIN)/python -m benches.soak --out out/soak $(SOAK)

check: check-rust check-python ## format, lints, types, stubs, directions; writes nothing to the tree

check-rust: check-rust-format
	$(call step,Rust: lints)
	@cargo clippy --locked --workspace --all-targets --quiet -- -D warnings

check-rust-format: $(CACHE)/toolchain
	$(call step,Rust: format)
	@cargo fmt --all --check

check-python: $(CACHE)/built
	$(call step,Python: format; lints; types; stubs; directions)
	@$(BIN)/ruff format --check --quiet .
	@$(BIN)/ruff check --quiet .
	@$(BIN)/mypy
	@$(BIN)/stubtest lapwing._core
	@$(BIN)/lint-imports --no-cache
	@$(BIN)/python tools/conformance.py --check --strict
	@$(BIN)/python tools/sn_rules.py --check

fix: $(CACHE)/built ## formats and mends what the linters can mend
	@cargo fmt --all
	@$(BIN)/ruff check --quiet --fix . || true
	@$(BIN)/ruff format --quiet .

pages: $(CACHE)/built ## writes what is made from the code: pages of docs, the model and the verdicts of lapwingd
	@$(BIN)/python tools/made_files.py

bench: $(CACHE)/built $(CACHE)/java $(CACHE)/peers $(if $(filter-out sn --quick,$(or $(BENCH),sn)),,lapwingd) ## prints the figures, with this machine's description
	@$(BIN)/python -m benches $(BENCH)

bench-dispatch: $(CACHE)/built $(CACHE)/peers ## who finishes first: every policy and other brokers, with pictures (hours; BENCH_DISPATCH=--quick)
	@$(BIN)/python -m benches.dispatch_figures --out docs/benchmarks/dispatch $(BENCH_DISPATCH)

conformance: $(CACHE)/built ## runs the tests of the normative statements, prints the table, writes docs/conformance.md
	@cargo test --locked --quiet -p lapwing-codec -p lapwing-session -p lapwing-router -p lapwing-transport -p lapwing-node
	@$(BIN)/pytest -q tests/conformance
	@$(BIN)/python tools/conformance.py --table --strict

sn: $(CACHE)/built ## what MQTT-SN 1.2 asks for, rule by rule, each with its tests and what came of them; fails if one is not shown
	@$(BIN)/python tools/sn_rules.py --run

# Where maturin looks for what pip puts beside the package. It is there for a wheel only: an editable install would copy an
# executable into the environment that nobody builds again.
WHEEL_DATA := lapwing._core.data
wheel: $(CACHE)/python lapwingd ## one abi3 wheel in dist/, with `lapwingd` in it, and beside it what it is made of
	$(call step,wheel)
	@install -D --mode 0755 --target-directory $(WHEEL_DATA)/scripts target/edge/lapwingd
	@trap 'rm -r $(WHEEL_DATA)' EXIT; MATURIN_PEP517_ARGS="--locked" $(BIN)/pip wheel --quiet --disable-pip-version-check --no-build-isolation --no-deps --wheel-dir dist .
	@ls -1 dist/*.whl
	@$(BIN)/python tools/sbom.py

sbom: $(CACHE)/python ## what a wheel is made of, in dist/: CycloneDX, from the lock files
	@$(BIN)/python tools/sbom.py

jar-pins: ## writes the hashes of the jars that Maven fetched, for whoever changed a pom.xml and has looked at them
	@$(PYTHON) tools/jars.py pin $(CACHE)/kafka/jars python/lapwing/lab/kafka/jars.sha256
	@$(PYTHON) tools/jars.py pin $(CACHE)/spark-jars python/lapwing/pipeline/jars.sha256
	@$(PYTHON) tools/jars.py pin $(INTEROP)/hivemq/jars $(PROGRAMS)/hivemq/jars.sha256

test-wheel: wheel $(CACHE)/java ## installs the wheel into an empty environment and runs the demo outside the tree
	$(call step,the wheel in an empty environment)
	@$(PYTHON) tools/try_wheel.py

audit: $(CACHE)/python ## licences, sources, pins and advisories of all that we use; says what it could not look at (ADVISORIES=FOLDER)
	@test -x $(CACHE)/cargo/bin/cargo-deny || cargo install --quiet --locked --root $(CACHE)/cargo cargo-deny@$(DENY)
	@test -x $(CACHE)/audit/bin/pip-audit || { $(PYTHON) -m venv $(CACHE)/audit && $(CACHE)/audit/bin/pip install --quiet --disable-pip-version-check pip-audit==$(PIP_AUDIT); }
	@$(BIN)/python tools/audit.py --programs $(CACHE)/cargo/bin $(CACHE)/audit/bin $(if $(ADVISORIES),--advisories $(ADVISORIES))

fuzz: $(CACHE)/toolchain ## fuzzes whatever reads bytes for FUZZ_SECONDS (600), half of it on connections and nodes (FUZZ_TARGETS="tls node"); see fuzz/README.md
	@command -v cargo-fuzz >/dev/null || test -x $(CACHE)/cargo/bin/cargo-fuzz || cargo install --quiet --locked --root $(CACHE)/cargo cargo-fuzz \
		|| { echo "cargo-fuzz is missing and could not be fetched: cargo install --locked cargo-fuzz" >&2; exit 1; }
	@PATH="$(abspath $(CACHE)/cargo/bin):$$PATH" $(PYTHON) tools/fuzz.py --seconds $(or $(FUZZ_SECONDS),600) $(FUZZ_TARGETS)

mutants: $(CACHE)/toolchain ## changes codec, session and router in every way that a test should notice: about two hours
	@command -v cargo-mutants >/dev/null || test -x $(CACHE)/cargo/bin/cargo-mutants || cargo install --quiet --locked --root $(CACHE)/cargo cargo-mutants
	@mkdir -p $(CACHE)/mutants
	@PATH="$(abspath $(CACHE)/cargo/bin):$$PATH" cargo mutants -p lapwing-codec -p lapwing-session -p lapwing-router --output $(CACHE)/mutants $(MUTANTS)

clean: ## removes what the targets made
	@rm -rf target $(VENV) $(CACHE) dist out
