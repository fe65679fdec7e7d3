#!/bin/sh
# Checks that the time taken does not depend on secrets: the tests in src/constant_time.rs, with every
# secret marked as undefined memory, under valgrind and under LLVM's MemorySanitizer.
#
# Needs an x86-64 CPU, valgrind, and rustup for a nightly toolchain with the source of the standard
# library, which are installed if they are missing. Without them the second part is a stated skip,
# and a failure where CI=true.
set -eu
cd "$(dirname "$0")/.."
target=x86_64-unknown-linux-gnu
workspace=$(dirname "$(cargo locate-project --workspace --message-format plain)")

fail() {
    echo "constant time: $*" >&2
    exit 1
}

# Builds the unit tests with the command "$@" and prints where they are.
build() {
    log=$("$@" --release --lib --no-run --color never 2>&1) || fail "the tests do not build: $log"
    binary=$(echo "$log" | sed -n 's/.*Executable.*(\(.*\)).*/\1/p' | tail -n 1)
    cd "$workspace"
    realpath "$binary"
}

# Prints the lines of the log that say what was checked, of which there must be one for each of "$@".
report() {
    for name in "$@"; do
        echo "$log" | grep -q "$name: checked under" || fail "$name was not checked: $log"
    done
    echo "$log" | grep -o "[a-z0-9]*: \(checked under\|skipped\).*"
}

# Valgrind sees the machine code. Version 3.19 does not know AVX-512 and shows a CPU without it.
under_valgrind() {
    binary=$(build cargo test)
    log=$(valgrind --quiet "$binary" --test-threads=1 --nocapture \
        constant_time 2>&1) || fail "under valgrind: $log"
    report portable sse2 avx2 agreement control
}

# MemorySanitizer sees every instruction set, in LLVM's code before instructions are selected.
under_memory_sanitizer() {
    # A secret may be handed to a function; what counts is what is done with it.
    export RUSTFLAGS="-Zsanitizer=memory --cfg memory_sanitizer -Cllvm-args=-msan-eager-checks=0"
    # Separate from other builds, and the standard library need not be linked into one piece.
    export CARGO_PROFILE_RELEASE_LTO=off
    binary=$(build cargo +nightly test -Zbuild-std --target $target \
        --target-dir "$workspace/target/memory-sanitizer")
    log=$("$binary" --test-threads=1 --nocapture is_constant_time 2>&1) \
        || fail "under MemorySanitizer: $log"
    if grep -q avx512vl /proc/cpuinfo; then
        report portable sse2 avx2 avx512 agreement
    else
        report portable agreement
    fi
    for control in a_branch_on_a_secret an_index_that_is_secret; do
        log=$("$binary" --test-threads=1 --nocapture $control 2>&1) \
            && fail "$control went unnoticed by MemorySanitizer: $log"
        echo "$log" | grep -q "SUMMARY: MemorySanitizer: use-of-uninitialized-value .*/constant_time.rs" \
            || fail "$control failed for another reason: $log"
        echo "control: $control was noticed by MemorySanitizer"
    done
}

# Installs what MemorySanitizer needs; the standard library has to be built with it.
has_nightly() {
    command -v rustup >/dev/null || return
    rustup run nightly rustc --version >/dev/null 2>&1 \
        || rustup toolchain install nightly --profile minimal || return
    rustup component add rust-src --toolchain nightly 2>/dev/null
}

under_valgrind
if has_nightly; then
    under_memory_sanitizer
elif [ "${CI:-}" = true ]; then
    fail "no nightly toolchain with rust-src, which MemorySanitizer needs"
else
    echo "avx512: skipped, no nightly toolchain with rust-src, which MemorySanitizer needs"
fi
