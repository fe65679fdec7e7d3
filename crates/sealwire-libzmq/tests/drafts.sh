#!/usr/bin/env bash
# The library with the feature `draft`: its own tests, and that it exports what zmq.h declares with ZMQ_BUILD_DRAFT_API
# and nothing else.
#
# Needs binutils, a C compiler and python3.
set -euo pipefail
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cargo test --quiet --locked --package sealwire-libzmq --features draft --lib
# In a folder of its own: cargo gives the library the same name with the feature and without.
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$PWD/../../target}/draft
cargo build --quiet --locked --package sealwire-libzmq --features draft
library=$CARGO_TARGET_DIR/debug/libsealwire_libzmq.so
python3 tests/header.py include/zmq.h --drafts >"$work/declared"
nm -D --defined-only "$library" | awk '{ print $3 }' | LC_ALL=C sort >"$work/exported"
diff "$work/declared" "$work/exported" || {
    echo "libzmq: exported functions are not those of zmq.h with drafts" >&2
    exit 1
}
echo "library with drafts: $(wc -l <"$work/exported") functions of zmq.h and nothing else"
