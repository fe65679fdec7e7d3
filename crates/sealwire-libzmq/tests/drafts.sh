#!/usr/bin/env bash
# The library with draft functions exports what zmq.h declares with ZMQ_BUILD_DRAFT_API and nothing else: the one in
# the folder SEALWIRE_BUILT, or one that is built here.
#
# Needs binutils, a C compiler and python3.
set -euo pipefail
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

if [ -z "${SEALWIRE_BUILT:-}" ]; then
    cargo build --quiet --locked --package sealwire-libzmq-drafts
    SEALWIRE_BUILT=${CARGO_TARGET_DIR:-$PWD/../../target}/debug
fi
python3 tests/header.py include/zmq.h --drafts >"$work/declared"
nm -D --defined-only "$SEALWIRE_BUILT/libsealwire_libzmq_drafts.so" | awk '{ print $3 }' |
    LC_ALL=C sort >"$work/exported"
diff "$work/declared" "$work/exported" || {
    echo "libzmq: exported functions are not those of zmq.h with drafts" >&2
    exit 1
}
echo "library with drafts: $(wc -l <"$work/exported") functions of zmq.h and nothing else"
