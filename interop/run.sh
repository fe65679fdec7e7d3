#!/usr/bin/env bash
# Sealwire against published peers: sets the peers up, builds, tests. May be run again at any time.
# With --build it stops before the tests.
#
# A peer that cannot be had is named and skipped; with CI=true it fails the run.
set -euo pipefail
cd "$(dirname "$0")"

# Far more than the tests take: a run that hangs ends all the same.
limit=1500

sh setup.sh
# The programs' paths start here, whatever the caller has set.
cargo test --quiet --locked --target-dir target --package sealwire-interop-suite --no-run
[ "${1:-}" != --build ] || exit 0
timeout "$limit" cargo test --locked --target-dir target --package sealwire-interop-suite -- \
    --test-threads 4
