#!/usr/bin/env bash
# What must hold for the Python package: installs it into a clean virtual environment with the one
# command of the README, runs its tests (types and examples among them), and each line of the
# benchmark once.
#
# PYTHON chooses the interpreter; CARGO_TARGET_DIR is used if it is set. The peers of the tests are
# the program, the C library and, if there is a ruby, the gem, as cargo builds them. With CI=true
# what is missing is installed, or a failure.
set -euo pipefail
cd "$(dirname "$0")"
root=$(cd ../.. && pwd)
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$root/target}

has_ruby() {
    command -v ruby >/dev/null &&
        ruby -rmkmf -e 'exit File.exist?(File.join(RbConfig::CONFIG["rubyhdrdir"], "ruby.h"))' 2>/dev/null &&
        { ldconfig -p | grep -q libclang || [ -n "${LIBCLANG_PATH:-}" ]; }
}

if [ "${CI:-}" = true ] && ! has_ruby; then
    "$root/.ci/install" ruby ruby-dev libclang-dev
fi

environment=$(mktemp -d)
trap 'rm -rf "$environment"' EXIT
"${PYTHON:-python3}" -m venv "$environment"

(cd "$root" && "$environment/bin/pip" install --quiet ./bindings/python)
"$environment/bin/pip" install --quiet "mypy>=1.10" "pynacl>=1.5" "pytest>=8" "pytest-timeout>=2.3" "pyzmq>=26"

(cd "$root" && cargo build --release --locked --quiet -p sealwire-cli -p sealwire-capi)
export SEALWIRE_PROGRAM=$CARGO_TARGET_DIR/release/sealwire
if has_ruby; then
    # In its place, from the crates that are built: the gem would build all of them again.
    (cd ../ruby && RUBY=$(command -v ruby) cargo build --release --locked --quiet)
    cp -r ../ruby/lib "$environment/ruby"
    cp "$CARGO_TARGET_DIR/release/libsealwire_ruby.so" "$environment/ruby/sealwire/sealwire.so"
    export SEALWIRE_RUBY_LIB=$environment/ruby
fi

"$environment/bin/python" -m pytest -p no:cacheprovider
"$environment/bin/python" bench/bench.py --runs 1 --messages 10000
