# `make test` does all the set-up on a fresh machine with a Rust toolchain.

.PHONY: all formal check test unit interop lint format docs wasm aarch64 portable constant-time emulated fuzz bench soak instructions deny miri minimum-rust newcomer simulate c install-c libzmq install-libzmq deb-libzmq deb-check libzmq-suite libzmq-drafts-suite pyzmq-suite metrics-check units-check units-booted ruby python clean

all: test lint docs

## What to run while you write: format, lints and unit tests of what changed since the merge base with
## the main branch and of what uses it. `make check WHAT=sealwire-zmtp` is for one crate and its users.
WHAT ?=
check:
	@python3 .ci/check.py $(WHAT)

## Everything that must hold: unit and behaviour tests, then interoperability with real peers.
## Both run, and both verdicts are told, whatever became of the first. The peers are built while the unit
## tests run, which wait for most of that time.
test: export SEALWIRE_PROGRAM = $(abspath $(or $(CARGO_TARGET_DIR),target))/debug/sealwire
test:
	@cargo test --workspace --no-run && { bash interop/run.sh --build >/dev/null 2>&1 & } ; \
	verdicts=; failed=0; \
	for part in unit interop; do \
		if $(MAKE) --no-print-directory $$part; then verdict=passed; else verdict=FAILED; failed=1; fi; \
		wait; \
		verdicts="$$verdicts  $$part: $$verdict"; \
	done; \
	echo "make test:$$verdicts"; exit $$failed

unit:
	cargo test --workspace --no-fail-fast

## Real peers: libzmq, pyzmq, omq. A peer that is missing is a stated skip here, a failure in CI.
interop:
	bash interop/run.sh

lint:
	python3 .ci/layers.py
	python3 .ci/words.py
	python3 .ci/summaries.py
	$(MAKE) --no-print-directory format
	cargo clippy --workspace --all-targets -- -D warnings

## The format of every workspace.
WORKSPACES = . interop fuzz bench formal/states bindings/python bindings/ruby
format:
	@for workspace in $(WORKSPACES); do (cd $$workspace && cargo fmt --check) || exit; done

docs:
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps

## The protocol core does no I/O: it builds where there is none. The cryptography with vectors of 128 bits runs its
## tests in node.
wasm:
	rustup target add wasm32-unknown-unknown wasm32-wasip1
	cargo build -p sealwire-zmtp -p sealwire-simd -p sealwire-aead -p sealwire-nacl -p sealwire-newplex \
		--no-default-features --target wasm32-unknown-unknown
	RUSTFLAGS="-C target-feature=+simd128 -D warnings" \
		CARGO_TARGET_WASM32_WASIP1_RUNNER="node --no-warnings --experimental-wasi-unstable-preview1 $(CURDIR)/.ci/wasi.mjs" \
		cargo test -p sealwire-simd -p sealwire-aead -p sealwire-nacl --lib --target wasm32-wasip1

## The code for AArch64, which is not what this is tested on. Nothing is linked, and blake3 goes
## without its C, so no compiler for it is needed.
AARCH64 = aarch64-unknown-linux-gnu
aarch64:
	rustup target add $(AARCH64)
	cargo clippy -p sealwire-simd -p sealwire-aead -p sealwire-nacl -p sealwire-newplex --target $(AARCH64) -- -D warnings
	cargo clippy -p sealwire-zmtp --features blake3/pure --target $(AARCH64) -- -D warnings

## The cryptography without its back ends for instruction sets: what a processor without any runs, and
## what the others are compared with. Compiled beside the rest, since a flag of the compiler chooses it.
portable: export RUSTFLAGS = --cfg sealwire_portable -D warnings
portable: export CARGO_TARGET_DIR := $(abspath $(or $(CARGO_TARGET_DIR),target))/portable
portable:
	cargo clippy -p sealwire-simd -p sealwire-aead -p sealwire-nacl -p sealwire-newplex
	cargo test -p sealwire-simd -p sealwire-aead -p sealwire-nacl -p sealwire-newplex --lib
	RUSTFLAGS="-D warnings" cargo test -p sealwire-newplex --features portable --lib

## Sealing and opening take a time that does not depend on secrets: checked with valgrind,
## MemorySanitizer and traces of an emulator.
constant-time:
	sh crates/sealwire-constant-time/check.sh

## The unit tests of the cryptography on AArch64. Needs qemu-user and gcc-aarch64-linux-gnu, which
## `make constant-time` installs.
emulated: export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER = aarch64-linux-gnu-gcc
emulated: export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER = qemu-aarch64 -L /usr/aarch64-linux-gnu
emulated:
	cargo test -p sealwire-simd -p sealwire-aead -p sealwire-nacl -p sealwire-newplex --target $(AARCH64) --release --lib

## The C API: header, installation, tests in C and C++, valgrind.
c:
	bash crates/sealwire-capi/check.sh

## libsealwire with header, pkg-config and CMake files, under PREFIX.
PREFIX ?= /usr/local
install-c:
	sh crates/sealwire-capi/install.sh $(PREFIX)

## libzmq.so.5: header, functions, installation.
libzmq:
	bash crates/sealwire-libzmq/check.sh

## libzmq.so.5 on Sealwire with header, pkg-config and CMake files, under PREFIX. Another libzmq is not overwritten.
install-libzmq:
	sh crates/sealwire-libzmq/install.sh $(PREFIX)

## Debian packages of libzmq.so.5 and of the program, in target/debian.
deb-libzmq:
	bash crates/sealwire-libzmq/packaging/build.sh

## The packages, in a root of their own in which the distribution's pyzmq runs on them. Needs root and apt-get.
deb-check:
	bash crates/sealwire-libzmq/packaging/check.sh

## libzmq's own test programs, and pyzmq's own tests, with our libzmq.so.5: the one in the folder SEALWIRE_BUILT, or
## one that is built here. The first need libsodium-dev.
LIBZMQ = $(abspath $(or $(SEALWIRE_BUILT),$(or $(CARGO_TARGET_DIR),target)/debug))/libsealwire_libzmq.so
$(LIBZMQ):
	cargo build -p sealwire-libzmq
ifndef SEALWIRE_BUILT
.PHONY: $(LIBZMQ)
else
# Scripts change their folder.
override SEALWIRE_BUILT := $(abspath $(SEALWIRE_BUILT))
export SEALWIRE_BUILT
endif

libzmq-suite: $(LIBZMQ)
	cd interop && cargo test --quiet --locked -p sealwire-interop-libzmq-suite
	cd interop && cargo run --quiet --locked -p sealwire-interop-libzmq-suite -- --library "$(LIBZMQ)"

## Those that need its draft functions, with the library that has them.
DRAFTS = $(dir $(LIBZMQ))libsealwire_libzmq_drafts.so
$(DRAFTS):
	cargo build -p sealwire-libzmq-drafts
ifndef SEALWIRE_BUILT
.PHONY: $(DRAFTS)
endif

libzmq-drafts-suite: $(DRAFTS)
	cd interop && cargo run --quiet --locked -p sealwire-interop-libzmq-suite -- --drafts \
		$$(sed -n 's/^\[\(.*\)\]$$/--only \1/p' libzmq-suite/expected-drafts.toml) --library "$(DRAFTS)"

pyzmq-suite: $(LIBZMQ)
	python3 interop/pyzmq-suite/suite.py --library "$(LIBZMQ)"

## The program's metrics, scraped by a real Prometheus, and every query of the dashboard. Needs Debian's `prometheus`.
metrics-check:
	cargo build -p sealwire-cli
	.ci/metrics

## The unit files for systemd, without systemd. Needs systemd-analyze and strace.
units-check:
	cargo build -p sealwire-cli
	.ci/units

## The unit files under systemd itself, as root, in namespaces of its own over a view of this system.
units-booted:
	cargo build -p sealwire-cli
	.ci/units-booted

## Undefined behaviour, in an interpreter, where it knows the instructions.
miri:
	.ci/miri

## The libraries and the program compile with the oldest Rust that `Cargo.toml` names.
minimum-rust:
	.ci/minimum-rust

## Sockets, proxies, tunnels, calls and acknowledged work in the simulated world, with many more seeds than the tests have.
## `SEEDS=2000..4000` is a part of them, for one of several processes.
SEEDS ?= 10000
simulate:
	SEALWIRE_SEEDS=$(SEEDS) cargo test -p sealwire --lib simulated_tests
	SEALWIRE_SEEDS=$(SEEDS) cargo test -p sealwire-cli --bin sealwire simulated_tests
	SEALWIRE_SEEDS=$(SEEDS) cargo test -p sealwire-rpc --lib simulated_tests

## The models of the state machines and the symbolic ones of the handshakes: all rows.
formal:
	.ci/formal

## What somebody does who sees this for the first time, timed.
newcomer:
	.ci/newcomer

## Every fuzz target for SECONDS each.
SECONDS ?= 10
fuzz:
	bash fuzz/run.sh $(SECONDS)

## The sockets beside their peers: tables and plots in docs/performance.md. Needs libzmq and two
## cores with nothing else to do, for half an hour.
bench:
	cargo build --release -p sealwire-libzmq
	cd bench && cargo build --release -p sealwire-bench-sockets
	bench/target/release/sealwire-bench-sockets run --out docs/performance/sockets.json
	bench/target/release/sealwire-bench-sockets render docs/performance/sockets.json docs/performance.md

## A server for MINUTES with a thousand clients that come and go, keys that change, peers that do not read; its plot. Not in CI.
MINUTES ?= 60
soak:
	cd bench && cargo build --release -p sealwire-bench-soak
	bench/target/release/sealwire-bench-soak run --minutes $(MINUTES) --samples target/soak.csv
	bench/target/release/sealwire-bench-soak plot target/soak.csv target/soak.svg

## Instructions for each message, from PUSH to PULL, by valgrind. `make instructions AGAINST=BINARY`
## compares with another build of the same program.
AGAINST ?=
instructions:
	cd bench && cargo build --release -p sealwire-bench-instructions
	bench/target/release/sealwire-bench-instructions run $(if $(AGAINST),--against "$(AGAINST)")

## The Ruby gem: its one command in an empty GEM_HOME, and its tests, peers among them.
## The check comes first: it installs what the lints need too.
ruby:
	CARGO_TARGET_DIR="$(CURDIR)/target" bindings/ruby/check.sh
	cd bindings/ruby && CARGO_TARGET_DIR="$(CURDIR)/target" cargo clippy --locked -- -D warnings

## Licences, bans and sources of all dependencies. Advisories too where the RustSec database can be
## fetched; else it says that they were skipped. Installs its version of cargo-deny.
deny:
	.ci/deny

## The Python package: installed into a clean virtual environment, tested, types and examples too.
python:
	cd bindings/python && CARGO_TARGET_DIR="$(CURDIR)/target" cargo clippy --all-targets --features abi3 -- -D warnings
	CARGO_TARGET_DIR="$(CURDIR)/target" bindings/python/check.sh

clean:
	cargo clean
