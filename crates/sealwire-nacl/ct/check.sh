#!/bin/sh
# Checks that the time taken does not depend on secrets: the tests in src/constant_time.rs, with every
# secret marked as undefined memory, under valgrind. Needs an x86-64 CPU and valgrind.
set -eu
cd "$(dirname "$0")/.."
workspace=$(dirname "$(cargo locate-project --workspace --message-format plain)")

fail() {
    echo "constant time: $*" >&2
    exit 1
}

command -v valgrind >/dev/null || fail "valgrind is missing"
log=$(cargo test --release --lib --no-run --color never 2>&1) || fail "the tests do not build: $log"
binary=$(echo "$log" | sed -n 's/.*Executable.*(\(.*\)).*/\1/p' | tail -n 1)
cd "$workspace"
log=$(valgrind --quiet "$(realpath "$binary")" --test-threads=1 --nocapture \
    constant_time 2>&1) || fail "under valgrind: $log"
# Version 3.19 of valgrind does not know AVX-512 and shows a CPU without it.
for name in portable sse2 avx2 agreement control; do
    echo "$log" | grep -q "$name: checked under" || fail "$name was not checked: $log"
done
echo "$log" | grep -o "[a-z0-9]*: checked under.*" | sort -u
