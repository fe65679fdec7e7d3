#!/bin/sh
# Installs the published peers and leaves a program for each in interop/target/peers.
#
# May be run again at any time; what is there already is kept. A peer that cannot be had fails the
# run when CI=true; elsewhere it is named as skipped and the others are set up.
set -u

cd "$(dirname "$0")" || exit 1
peers=$PWD/target/peers
mkdir -p "$peers"
missing=0

skip() {
    rm -f "$peers/$1"
    missing=$((missing + 1))
    echo "interop: SKIPPED $1: $2" >&2
}

# A peer that the systems which CI runs on do not have.
absent() {
    rm -f "$peers/$1"
    echo "interop: SKIPPED $1: $2" >&2
}

ready() {
    echo "interop: ready   $1: $2"
}

has_libzmq() {
    printf '#include <zmq.h>\n#include <sodium.h>\nint main(void) { return 0; }\n' |
        cc -x c - -o "$peers/.probe" -lzmq -lsodium 2>/dev/null
    result=$?
    rm -f "$peers/.probe"
    return $result
}

has_libzmq || ../.ci/install libzmq3-dev libsodium-dev || true
if ! has_libzmq; then
    skip zmq-peer-c "no C compiler with libzmq3-dev and libsodium-dev, and apt-get could not install them"
elif cc -std=c11 -D_POSIX_C_SOURCE=200809L -Wall -Wextra -Werror -O2 \
    -o "$peers/zmq-peer-c" zmq_peer.c zmq_peer_*.c -lzmq -lsodium; then
    ready zmq-peer-c "libzmq $(pkg-config --modversion libzmq 2>/dev/null || echo 'of the system')"
else
    skip zmq-peer-c "zmq_peer.c did not compile"
fi

if ! has_libzmq; then
    skip sodium-peer "no C compiler with libsodium-dev"
elif cc -std=c11 -Wall -Wextra -Werror -O2 -o "$peers/sodium-peer" sodium_peer.c -lsodium; then
    ready sodium-peer "libsodium $(pkg-config --modversion libsodium 2>/dev/null || echo 'of the system')"
else
    skip sodium-peer "sodium_peer.c did not compile"
fi

has_czmq() {
    printf '#include <czmq.h>\nint main(void) { return 0; }\n' |
        cc -x c - -o "$peers/.probe" -lczmq -lzmq 2>/dev/null
    result=$?
    rm -f "$peers/.probe"
    return $result
}

has_czmq || ../.ci/install libczmq-dev || true
if ! has_czmq; then
    skip czmq-peer "no C compiler with libczmq-dev, and apt-get could not install it"
elif cc -std=gnu11 -Wall -Wextra -Werror -O2 -o "$peers/czmq-peer" czmq_peer.c -lczmq -lzmq; then
    ready czmq-peer "czmq $(pkg-config --modversion libczmq 2>/dev/null || echo 'of the system')"
else
    skip czmq-peer "czmq_peer.c did not compile"
fi

command -v microsocks >/dev/null || ../.ci/install microsocks || true
if proxy=$(command -v microsocks); then
    ln -sf "$proxy" "$peers/microsocks"
    ready microsocks "$proxy"
else
    skip microsocks "not installed, and apt-get could not install it"
fi

# Not exported by the shared library; pkg-config names the rest with a file that has no -l.
others=$(pkg-config --static --libs libzmq 2>/dev/null | sed 's/-lzmq//; s/ libprotokit.a/ -l:libprotokit.a/')
if ! has_libzmq; then
    skip zmq-udp-peer "no C compiler with libzmq3-dev"
elif cc -std=c11 -D_POSIX_C_SOURCE=200809L -Wall -Wextra -Werror -O2 -o "$peers/zmq-udp-peer" \
    zmq_udp_peer.c -l:libzmq.a $others -lstdc++; then
    ready zmq-udp-peer "libzmq $(pkg-config --modversion libzmq), RADIO, DISH and DGRAM over UDP"
else
    skip zmq-udp-peer "zmq_udp_peer.c did not link with the static libzmq"
fi

if version=$(python3 -c 'import ssl; print(ssl.OPENSSL_VERSION)'); then
    printf '#!/bin/sh\nexec python3 "%s" "$@"\n' "$PWD/tls_relay.py" >"$peers/tls-relay"
    chmod +x "$peers/tls-relay"
    ready tls-relay "$version"
else
    skip tls-relay "no python3 with the module ssl"
fi

python=$PWD/.venv/bin/python
make_venv() {
    python3 -m venv --clear .venv && "$python" -m pip install --quiet \
        --disable-pip-version-check --requirement requirements.txt
}
if ! "$python" -c 'import blake3, zmq' 2>/dev/null && ! make_venv; then
    # Debian keeps what `venv` needs in a package of its own.
    ../.ci/install python3-venv && make_venv
fi
if version=$("$python" -c 'import zmq; print(f"pyzmq {zmq.__version__}, libzmq {zmq.zmq_version()}")'); then
    printf '#!/bin/sh\nexec "%s" "%s" "$@"\n' "$python" "$PWD/zmq_peer.py" >"$peers/zmq-peer-python"
    chmod +x "$peers/zmq-peer-python"
    ready zmq-peer-python "$version"
else
    skip zmq-peer-python "no virtual environment with pyzmq"
fi

if cargo build --quiet --locked --target-dir target --package sealwire-interop-peers; then
    for program in omq-peer omq-codec-peer zmq-rs-peer; do
        ln -sf "../debug/$program" "$peers/$program"
    done
    ready omq-peer "omq-tokio 0.13.0"
    ready omq-codec-peer "omq-proto 0.22.0"
    ready zmq-rs-peer "zeromq 0.7.0"
else
    for program in omq-peer omq-codec-peer zmq-rs-peer; do
        skip "$program" "cargo could not build it (it needs Rust 1.93 or newer)"
    done
fi

# The gems are not packages of Debian, and need Ruby 3.3: install them with `gem install`.
gems='gem "omq"; gem "omq-blake3zmq"; puts %w[omq omq-blake3zmq].map { |name| "#{name} #{Gem.loaded_specs[name].version}" }.join(", ")'
if ! ruby -e 'exit RUBY_VERSION >= "3.3"' 2>/dev/null; then
    absent omq-gem-peer "no Ruby 3.3 or newer, which the gem omq needs"
elif version=$(ruby -e "$gems" 2>/dev/null); then
    printf '#!/bin/sh\nexec ruby "%s" "$@"\n' "$PWD/omq_gem_peer.rb" >"$peers/omq-gem-peer"
    chmod +x "$peers/omq-gem-peer"
    ready omq-gem-peer "$version"
else
    absent omq-gem-peer "the gems omq and omq-blake3zmq are not installed"
fi

# Go's monte has no version that a registry gives: MONTE_REFERENCE is a checkout of it.
monte=$peers/monte
if [ -z "${MONTE_REFERENCE:-}" ]; then
    absent monte-peer "MONTE_REFERENCE names no checkout of Go's monte"
elif ! command -v go >/dev/null; then
    absent monte-peer "there is no go"
elif mkdir -p "$monte" && cp monte_peer.go "$monte/main.go" &&
    printf 'module monte-peer\n\ngo 1.21\n\nrequire github.com/lithdew/monte v0.0.0\n\nreplace github.com/lithdew/monte => %s\n' \
        "$(realpath "$MONTE_REFERENCE")" >"$monte/go.mod" &&
    (cd "$monte" && go mod tidy 2>"$monte/log" && go build -o "$peers/monte-peer" . 2>>"$monte/log"); then
    ready monte-peer "Go's monte, $(git -C "$MONTE_REFERENCE" rev-parse --short HEAD 2>/dev/null || echo 'a checkout')"
else
    cat "$monte/log" >&2
    absent monte-peer "its program did not compile"
fi

# Two minutes, the first time.
if ! has_libzmq; then
    skip zmq-peer-drafts "no C compiler with libsodium-dev"
elif CXXFLAGS=-w cargo build --quiet --locked --target-dir target \
    --package sealwire-interop-drafts; then
    ln -sf ../debug/zmq-peer-drafts "$peers/zmq-peer-drafts"
    ready zmq-peer-drafts "libzmq 4.3.5 with its drafts"
else
    skip zmq-peer-drafts "cargo could not build it (it needs a C++ compiler and pkg-config)"
fi

# This program: others read the key files that it writes. SEALWIRE_PROGRAM names one that is compiled,
# as `make test` does: by itself it has other features than with all tests, and would be compiled again.
if [ -x "${SEALWIRE_PROGRAM:-}" ]; then
    ln -sf "$(realpath "$SEALWIRE_PROGRAM")" "$peers/sealwire"
    ready sealwire "$SEALWIRE_PROGRAM"
elif cargo build --quiet --locked --manifest-path ../Cargo.toml --target-dir ../target \
    --package sealwire-cli; then
    ln -sf "$PWD/../target/debug/sealwire" "$peers/sealwire"
    ready sealwire "this program"
else
    skip sealwire "cargo could not build it"
fi

if [ "$missing" -gt 0 ] && [ "${CI:-}" = true ]; then
    echo "interop: $missing peers are missing, which CI does not accept" >&2
    exit 1
fi
