#!/usr/bin/env bash
# The gem, installed with its one command into an empty GEM_HOME, and its tests against it.
#
# Installs what Debian has of what is missing. Uses CARGO_TARGET_DIR if it is set. With CI=true a
# peer that is missing is a failure.
set -euo pipefail
cd "$(dirname "$0")"
here=$PWD
root=$(cd ../.. && pwd)
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$root/target}

missing=
command -v ruby >/dev/null || missing="$missing ruby"
ruby -rmkmf -e 'exit File.exist?(File.join(RbConfig::CONFIG["rubyhdrdir"], "ruby.h"))' 2>/dev/null ||
    missing="$missing ruby-dev"
ruby -rminitest -e '' 2>/dev/null || missing="$missing ruby-minitest"
# Not libclang-cpp, which other packages bring.
ldconfig -p | grep -q 'libclang\(-[0-9]*\)\?\.so' || [ -n "${LIBCLANG_PATH:-}" ] || missing="$missing libclang-dev"
ldconfig -p | grep -q 'libzmq\.so\.5' || missing="$missing libzmq5"
command -v bundle >/dev/null || missing="$missing bundler"
ruby -e 'gem "rake"' 2>/dev/null || missing="$missing rake"
python3 -c 'import ensurepip' 2>/dev/null || missing="$missing python3-venv"
if [ -n "$missing" ]; then
    echo "installing$missing"
    # shellcheck disable=SC2086
    "$root/.ci/install" $missing
fi

GEM_HOME=$(mktemp -d)
trap 'rm -rf "$GEM_HOME"' EXIT
export GEM_HOME
./install.sh

# Peers: the program, the C library, and the Python package in an environment of its own; or those
# that the caller names. One by one, as a user builds them: together they would have other features, and
# be compiled again.
if [ -z "${SEALWIRE_PROGRAM:-}" ]; then
    (cd "$root" && cargo build --release --locked --quiet -p sealwire-cli)
    export SEALWIRE_PROGRAM=$CARGO_TARGET_DIR/release/sealwire
fi
if [ -n "${SEALWIRE_BUILT:-}" ]; then
    export SEALWIRE_C_LIBRARY=${SEALWIRE_C_LIBRARY:-$SEALWIRE_BUILT/libsealwire_c.so}
elif [ -z "${SEALWIRE_C_LIBRARY:-}" ]; then
    (cd "$root" && cargo build --release --locked --quiet -p sealwire-capi)
    export SEALWIRE_C_LIBRARY=$CARGO_TARGET_DIR/release/libsealwire_c.so
fi
if [ -z "${SEALWIRE_PYTHON:-}" ]; then
    python3 -m venv "$GEM_HOME/python"
    "$GEM_HOME/python/bin/pip" install --quiet "$root/bindings/python"
    export SEALWIRE_PYTHON=$GEM_HOME/python/bin/python
fi

# Away from the sources: what is loaded is the installed gem. Far more time than the tests take: a
# run that hangs ends all the same.
cd "$GEM_HOME"
limit=900
timeout "$limit" ruby -w -r sealwire -e '
  expected = File.realpath(ENV.fetch("GEM_HOME"))
  loaded = $LOADED_FEATURES.grep(/sealwire\/sealwire\./).first
  abort "not the installed gem: #{loaded}" unless File.realpath(loaded).start_with?(expected)
  Dir[File.join(ARGV.fetch(0), "*_test.rb")].sort.each { |test| require test }
' "$here/test"

# The gem that has the native part in it needs no cargo and no headers where it is installed.
library=$(ruby -e 'puts Dir[File.join(ENV.fetch("GEM_HOME"), "extensions/**/sealwire/sealwire.*")].fetch(0)')
precompiled=$(ruby "$here/package.rb" --precompiled "$library" | tail -n 1)
GEM_HOME=$GEM_HOME/precompiled PATH=$(dirname "$(command -v ruby)"):/usr/bin:/bin CARGO=/nonexistent sh -euc '
    gem install --local --no-document --quiet "$1"
    ruby -r sealwire -e "
        loaded = \$LOADED_FEATURES.grep(/sealwire\/sealwire\./).first
        abort \"not the precompiled gem: #{loaded}\" unless loaded.include?(Gem::Platform.local.to_s)
        abort unless Sealwire::KeyPair.generate.public_key.to_z85.size == 40
    "
' sh "$precompiled"

# The tasks that one works with, with the gems of the distribution. With other settings than the Python package they
# would compile all below it again.
cd "$here"
bundle install --local --quiet
TEST=keys bundle exec rake --quiet compile test
