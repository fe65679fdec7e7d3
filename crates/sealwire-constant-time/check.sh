#!/bin/sh
# Checks that the time taken does not depend on secrets: the tests `constant_time` of the crates that have
# some, with every secret marked as undefined memory, under valgrind and under LLVM's MemorySanitizer;
# and for AArch64, in an emulator, with secrets that differ from run to run. What valgrind runs is compiled as it
# is shipped, so its kernels are looked at too: that no function with an intrinsic was left outside of them.
#
# Needs an x86-64 CPU with Linux, valgrind, objdump, and rustup for a nightly toolchain with the source of the
# standard library; qemu's user mode and a C compiler for AArch64. What is missing is installed. What
# cannot be had is a stated skip, and a failure where CI=true.
set -eu
cd "$(dirname "$0")/../.."
target=x86_64-unknown-linux-gnu

fail() {
    echo "constant time: $*" >&2
    exit 1
}

# Builds the unit tests with the command "$@" behind crate $1 and prints where those of the crate are. All crates
# are named each time, as in `make emulated`, or what is below them would have other features and be compiled again.
crates="sealwire-simd sealwire-aead sealwire-nacl sealwire-newplex"
build() {
    package=$1
    shift
    for crate in $crates; do
        set -- "$@" -p "$crate"
    done
    log=$("$@" --release --lib --no-run --color never 2>&1) || fail "the tests do not build: $log"
    name=$(echo "$package" | tr - _)
    realpath "$(echo "$log" | sed -n "s/.*Executable.*(\(.*\/$name-[0-9a-f]*\)).*/\1/p")"
}

# Prints the lines of the log that say what was checked, of which there must be one for each of the
# comma-separated names.
report() {
    echo "$1" | tr , '\n' | while read -r name; do
        echo "$log" | grep -q "$name: checked under" || fail "$name was not checked: $log"
    done
    echo "$log" | grep -o "[a-z0-9 ]*: \(checked under\|skipped\).*"
}

# Valgrind sees the machine code. Version 3.19 shows a CPU without the instructions it does not know.
under_valgrind() {
    binary=$(build "$1" cargo test)
    log=$(valgrind --quiet "$binary" --test-threads=1 --nocapture constant_time 2>&1) \
        || fail "$1 under valgrind: $log"
    report "$2,control"
    as_shipped="$as_shipped $binary"
}

# MemorySanitizer sees every instruction set, in LLVM's code before instructions are selected.
under_memory_sanitizer() {
    # A secret may be handed to a function; what counts is what is done with it.
    export RUSTFLAGS="-Zsanitizer=memory --cfg memory_sanitizer -Cllvm-args=-msan-eager-checks=0"
    # Separate from other builds, and the standard library need not be linked into one piece.
    export CARGO_PROFILE_RELEASE_LTO=off
    binary=$(build "$1" cargo +nightly test -Zbuild-std --target $target \
        --target-dir target/memory-sanitizer)
    log=$("$binary" --test-threads=1 --nocapture is_constant_time 2>&1) \
        || fail "$1 under MemorySanitizer: $log"
    report "$2"
    for control in a_branch_on_a_secret an_index_that_is_secret; do
        log=$("$binary" --test-threads=1 --nocapture $control 2>&1) \
            && fail "$control went unnoticed by MemorySanitizer: $log"
        echo "$log" | grep -q \
            "SUMMARY: MemorySanitizer: use-of-uninitialized-value .*/sealwire-constant-time/src/lib.rs" \
            || fail "$control failed for another reason: $log"
        echo "control: $control was noticed by MemorySanitizer"
    done
}

# Compares traces of the machine code for AArch64 in qemu's user mode, which hands every instruction to
# `traces.c`. Every name is checked with four sets of secrets.
under_emulation() {
    export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc
    binary=$(build "$1" cargo test --target aarch64-unknown-linux-gnu)
    log=$(emulated is_constant_time) || fail "$1 for AArch64: $log"
    report "$2"
    count=$(echo "$2" | tr , '\n' | wc -l)
    [ "$(echo "$log" | grep -c "traces: [0-9]* steps, the same as before")" = $((3 * count)) ] \
        || fail "$1 for AArch64: not every trace was compared: $log"
    for control in "a_branch_on_a_secret a branch" "an_index_that_is_secret an address"; do
        log=$(emulated "${control%% *}") && fail "$control went unnoticed in traces: $log"
        echo "$log" | grep -q "traces: ${control#* } depends on a secret: .* in .*traced" \
            || fail "$control failed for another reason: $log"
        echo "control: ${control%% *} was noticed in traces"
    done
}

# The allocator merges what is freed at once: it does the same in every run.
emulated() {
    SEALWIRE_TRACES=1 GLIBC_TUNABLES=glibc.malloc.tcache_count=0:glibc.malloc.mxfast=0 \
        qemu-aarch64 -L /usr/aarch64-linux-gnu -plugin "$traces" \
        "$binary" --test-threads=1 --nocapture "$1" 2>&1
}

# Installs what the emulation needs, and builds the plugin.
has_emulator() {
    if ! command -v qemu-aarch64 >/dev/null || ! command -v aarch64-linux-gnu-gcc >/dev/null; then
        .ci/install qemu-user gcc-aarch64-linux-gnu || return
    fi
    rustup target add aarch64-unknown-linux-gnu 2>/dev/null || return
    traces=$PWD/target/traces.so
    mkdir -p target
    cc -std=c11 -Wall -Wextra -Werror -O2 -shared -fPIC \
        -o "$traces" crates/sealwire-constant-time/traces.c
}

# Installs what MemorySanitizer needs; the standard library has to be built with it.
has_nightly() {
    command -v rustup >/dev/null || return
    rustup run nightly rustc --version >/dev/null 2>&1 \
        || rustup toolchain install nightly --profile minimal || return
    rustup component add rust-src --toolchain nightly 2>/dev/null
}

# Prints $1 where the processor has the feature $2, which valgrind does not know.
needs() {
    if grep -qw "$2" /proc/cpuinfo; then
        echo "$1"
    else
        echo "MemorySanitizer: skipped for ${1#,}: valgrind sees all that a processor without $2 runs" >&2
    fi
}

as_shipped=
under_valgrind sealwire-aead portable,sse41,avx2
under_valgrind sealwire-nacl portable,sse2,avx2,parts,agreement
under_valgrind sealwire-newplex "portable,aesni,aesni with avx"
# shellcheck disable=SC2086
python3 .ci/kernels.py $as_shipped || fail "a kernel calls what it should contain"
echo "kernels: whole, in the release build of these crates"
if has_emulator; then
    under_emulation sealwire-aead portable,neon
    under_emulation sealwire-nacl portable,neon,parts,agreement
    under_emulation sealwire-newplex portable,armv8
elif [ "${CI:-}" = true ]; then
    fail "no emulator with plugins and no C compiler for AArch64 (qemu-user, gcc-aarch64-linux-gnu)"
else
    echo "AArch64: skipped, no qemu-aarch64 or no aarch64-linux-gnu-gcc"
fi
if has_nightly; then
    # Only what valgrind does not see: compiling the sanitizer's standard library and tests takes longest of all.
    crates="$(needs sealwire-aead avx512bw) $(needs sealwire-nacl avx512vl) $(needs sealwire-newplex vaes)"
    case $crates in
        *sealwire-aead*) under_memory_sanitizer sealwire-aead portable,sse41,avx2,avx512 ;;
    esac
    case $crates in
        *sealwire-nacl*)
            under_memory_sanitizer sealwire-nacl \
                "portable,sse2,avx2,avx512$(needs ,ifma avx512ifma),parts,agreement"
            ;;
    esac
    case $crates in
        *sealwire-newplex*)
            under_memory_sanitizer sealwire-newplex \
                "portable,aesni,aesni with avx,vaes256$(needs ,vaes512 avx512bw)"
            ;;
    esac
elif [ "${CI:-}" = true ]; then
    fail "no nightly toolchain with rust-src, which MemorySanitizer needs"
else
    echo "MemorySanitizer: skipped, no nightly toolchain with rust-src, which it needs"
fi
