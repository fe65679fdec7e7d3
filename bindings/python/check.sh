#!/usr/bin/env bash
# What must hold for the Python package: installs it into a clean virtual environment with the one
# command of the README, runs its tests (types and examples among them), and each line of the
# benchmark once.
#
# PYTHON chooses the interpreter; CARGO_TARGET_DIR is used if it is set. The peers of the tests are
# the C library and the program, or those in the folder SEALWIRE_BUILT and the one that SEALWIRE_PROGRAM names.
set -euo pipefail
cd "$(dirname "$0")"
root=$(cd ../.. && pwd)
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$root/target}

environment=$(mktemp -d)
trap 'rm -rf "$environment"' EXIT
"${PYTHON:-python3}" -m venv "$environment"

(cd "$root" && "$environment/bin/pip" install --quiet ./bindings/python)
"$environment/bin/pip" install --quiet "mypy>=1.10" "pynacl>=1.5" "pytest>=8" "pytest-timeout>=2.3" "pyzmq>=26"

# One by one, as a user builds them: together they would have other features, and be compiled again.
if [ -z "${SEALWIRE_BUILT:-}" ]; then
    (cd "$root" && cargo build --release --locked --quiet -p sealwire-capi)
fi
if [ -z "${SEALWIRE_PROGRAM:-}" ]; then
    (cd "$root" && cargo build --release --locked --quiet -p sealwire-cli)
    export SEALWIRE_PROGRAM=$CARGO_TARGET_DIR/release/sealwire
fi

"$environment/bin/python" -m pytest -p no:cacheprovider
"$environment/bin/python" bench/bench.py --runs 1 --messages 10000
