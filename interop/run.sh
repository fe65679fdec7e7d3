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
[ "${1:-}" != --build ] || exit 0
# Of the whole workspace, since it chooses the features of what is below: alone, the suite would have all of that
# compiled again.
cd ..
timeout "$limit" cargo test --locked --workspace --test interop -- --test-threads 4
