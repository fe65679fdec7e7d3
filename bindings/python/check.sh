#!/usr/bin/env bash
# What must hold for the Python package: installs it into a clean virtual environment with the one
# command of the README, runs its tests (types and examples among them), and each line of the
# benchmark once. PYTHON chooses the interpreter; CARGO_TARGET_DIR is used if it is set.
set -euo pipefail
cd "$(dirname "$0")"

environment=$(mktemp -d)
trap 'rm -rf "$environment"' EXIT
"${PYTHON:-python3}" -m venv "$environment"

(cd ../.. && "$environment/bin/pip" install --quiet ./bindings/python)
"$environment/bin/pip" install --quiet "mypy>=1.10" "pytest>=8" "pytest-timeout>=2.3" "pyzmq>=26"

"$environment/bin/python" -m pytest
"$environment/bin/python" bench/bench.py --runs 1 --messages 10000
