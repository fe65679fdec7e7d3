#!/usr/bin/env bash
# The C API: the header is what the crate says it is, everything installs, and what is installed
# works in C99 and C++17, through pkg-config and CMake, against libzmq and libsodium, without a leak.
#
# Needs a C and a C++ compiler, pkg-config, CMake, valgrind, python3, libzmq3-dev, libsodium-dev and
# cbindgen, which are installed if they are missing.
set -euo pipefail
cd "$(dirname "$0")"
root=$(cd ../.. && pwd)

# Another version may lay the header out in another way.
CBINDGEN=0.29.4
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
    echo "the C API: $*" >&2
    exit 1
}

has_tools() {
    for tool in cc c++ pkg-config cmake make valgrind python3; do
        command -v "$tool" >/dev/null || return 1
    done
    pkg-config --exists libzmq libsodium
}

if ! has_tools; then
    packages="build-essential pkg-config cmake valgrind python3 libzmq3-dev libsodium-dev"
    # shellcheck disable=SC2086
    "$root/.ci/install" $packages || true
    has_tools || fail "some of these are missing, and apt-get could not install them: $packages"
fi
cbindgen=$(command -v cbindgen || true)
if [ "$("${cbindgen:-false}" --version 2>/dev/null)" != "cbindgen $CBINDGEN" ]; then
    cargo install --quiet --debug cbindgen --version "$CBINDGEN" --locked --root "$root/target/cbindgen"
    cbindgen=$root/target/cbindgen/bin/cbindgen
fi

# Makes header $1 from the cbindgen arguments behind it, and compares it with what is there.
header() {
    name=$1
    shift
    "$cbindgen" --quiet --output "$work/$name" "$@" 2>"$work/log" \
        || fail "cbindgen: $(cat "$work/log")"
    if ! cmp -s "$work/$name" "include/$name"; then
        if [ "$update" = --update ]; then
            cp "$work/$name" "include/$name"
            echo "$name: updated"
        else
            diff -u "include/$name" "$work/$name" | head -n 40 || true
            fail "include/$name is not what the crate says: run $0 --update"
        fi
    fi
}
update=${1:-}
header sealwire.h --config cbindgen.toml .
header sealwire_nacl.h --config cbindgen-nacl.toml src/nacl/names.rs
echo "headers: as the crate has them"

prefix=$work/prefix
./install.sh "$prefix"
export PKG_CONFIG_PATH=$prefix/lib/pkgconfig LD_LIBRARY_PATH=$prefix/lib

# Every function that is declared is there, and nothing else is.
grep -oh 'sealwire_[a-z0-9_]*(' include/sealwire.h include/sealwire_nacl.h | tr -d '(' | sort -u \
    >"$work/declared"
nm -D --defined-only "$prefix/lib/libsealwire.so" | awk '{ print $3 }' | sort -u >"$work/exported"
diff "$work/declared" "$work/exported" || fail "declared and exported functions differ"
echo "library: $(wc -l <"$work/exported") functions, all of them declared"

python3 tests/vectors.py "$root/vectors/chacha20-blake3.json" "$root/vectors/blake3-derive-key.json" \
    "$work/aead_vectors.h"
python3 tests/session_vectors.py "$root/vectors/blake3zmq-continuous.json" "$work/session_vectors.h"
python3 tests/nacl_vectors.py "$root/vectors/nacl.json" "$work/nacl_vectors.h"
python3 tests/newplex_vectors.py "$root/vectors/newplex.json" "$work/newplex_vectors.h"
if [ -n "${SEALWIRE_BUILT:-}" ]; then
    "$SEALWIRE_BUILT/examples/certificates"
else
    cargo run --quiet --release --locked --package sealwire-capi --example certificates
fi >"$work/wss_certificates.h"
warnings="-Wall -Wextra -Wpedantic -Werror"
common="-O1 -g -pthread -D_XOPEN_SOURCE=700 $warnings -I$work"
libraries() {
    case $1 in
        nacl | nacl_sodium) pkg-config --cflags --libs sealwire libsodium ;;
        nacl_names) pkg-config --cflags --libs sealwire-nacl ;;
        libzmq) pkg-config --cflags --libs sealwire libzmq ;;
        *) pkg-config --cflags --libs sealwire ;;
    esac
}
tests="sockets changing listeners endpoints events publishing messages errors auth guests accounts peers wss engine poll signals aead session
    nacl nacl_names nacl_sodium newplex newplex_refused libzmq rpc metadata streams work work_ends log standard_error fork"
# shellcheck disable=SC2046,SC2086
for test in $tests leak; do
    cc -std=c99 $common -o "$work/$test" "tests/$test.c" $(libraries "$test")
    c++ -std=c++17 $common -o "$work/$test++" -x c++ "tests/$test.c" -x none $(libraries "$test")
done
for test in $tests; do
    timeout 300 "$work/$test" || fail "$test (C99) failed"
    timeout 300 "$work/$test++" || fail "$test (C++17) failed"
done
echo "pkg-config: $(echo "$tests" | wc -w) tests in C99 and C++17"

# NaCl's headers of what is not offered say so, and what to do.
for name in sign hash auth; do
    echo "#include \"crypto_$name.h\"" >"$work/refused.c"
    # shellcheck disable=SC2046
    if cc -fsyntax-only $(pkg-config --cflags sealwire-nacl) "$work/refused.c" 2>"$work/log"; then
        fail "crypto_$name.h compiles"
    fi
    grep -q "crypto_$name is not offered: Sealwire has no " "$work/log" \
        || fail "crypto_$name.h fails for another reason: $(cat "$work/log")"
done
# shellcheck disable=SC2046,SC2086
cc -std=c99 $warnings -o "$work/nacl_box" examples/nacl_box.c \
    $(pkg-config --cflags --libs sealwire-nacl)
[ "$("$work/nacl_box")" = "hello from NaCl" ] || fail "a program for NaCl says something else"
echo "NaCl: a program for it compiles unchanged; crypto_sign, crypto_hash and crypto_auth say why not"

# shellcheck disable=SC2046,SC2086
cc -std=c99 $warnings -pthread -o "$work/rpc_stream" examples/rpc_stream.c \
    $(pkg-config --cflags --libs sealwire)
[ "$("$work/rpc_stream")" = "$(printf 'so far 1\nso far 3\nso far 6\nin all 6')" ] \
    || fail "the example of streams says something else"
# shellcheck disable=SC2046,SC2086
cc -std=c99 $warnings -o "$work/work_example" examples/work.c $(pkg-config --cflags --libs sealwire)
[ "$("$work/work_example")" = "$(printf 'resize 1.png, attempt 1\nresize 2.png, attempt 1\nset aside after 2 attempts: nothing to do')" ] \
    || fail "the example of acknowledged work says something else"

cmake -S tests/cmake -B "$work/cmake" -DCMAKE_PREFIX_PATH="$prefix" >"$work/log" 2>&1 \
    && cmake --build "$work/cmake" >>"$work/log" 2>&1 || fail "CMake: $(cat "$work/log")"
for test in sockets sockets_static rpc rpc_static nacl_box; do
    timeout 300 env -u LD_LIBRARY_PATH "$work/cmake/$test" || fail "$test (CMake) failed"
done
echo "CMake: shared and static library"

# What the process holds until it ends is no leak: the context that sockets share, with its thread.
# Rust's hash tables point into the middle of their memory, so such shows as "possibly lost".
memcheck() {
    timeout 600 valgrind --quiet --error-exitcode=9 --leak-check=full \
        --show-leak-kinds=definite,indirect --errors-for-leak-kinds=definite,indirect "$@"
}
for test in $tests; do
    argument= option=
    [ "$test" != errors ] || argument=under-valgrind
    # To valgrind the tags that ring's assembly computes hold nothing.
    [ "$test" != wss ] || option=--undef-value-errors=no
    # A child leaves what is its parent's where it is, and valgrind follows forks.
    [ "$test" != fork ] || continue
    # shellcheck disable=SC2086
    memcheck $option "$work/$test" $argument >"$work/log" 2>&1 || fail "$test under valgrind: $(cat "$work/log")"
done
if memcheck "$work/leak" >"$work/log" 2>&1; then
    fail "valgrind did not notice a message that was leaked on purpose"
fi
grep -q "definitely lost" "$work/log" || fail "the leak failed for another reason: $(cat "$work/log")"
echo "valgrind: no error and no leak, and one on purpose was noticed"

[ "$(wc -l <examples/hello.c)" -le 30 ] || fail "the example has more than 30 lines"
# The guide's section, exactly as printed: its program, then its commands.
section=$(awk '/^## /{ inside = ($0 == "## An example") } inside' "$root/docs/c.md")
block() {
    echo "$section" | awk -v fence="\`\`\`$1" '
        $0 == "```" { inside = 0 } inside { print } $0 == fence { inside = 1 }'
}
mkdir "$work/readme"
block c >"$work/readme/hello.c"
cmp "$work/readme/hello.c" examples/hello.c || fail "docs/c.md does not have examples/hello.c"
# shellcheck disable=SC2086
cc -std=c99 $warnings -fsyntax-only -I"$prefix/include" examples/hello.c
block sh >"$work/readme/commands"
grep -q "pkg-config" "$work/readme/commands" || fail "docs/c.md has no command in ## An example"
ln -s "$root/Makefile" "$root/crates" "$work/readme/"
output=$(cd "$work/readme" && env -u PKG_CONFIG_PATH -u LD_LIBRARY_PATH sh -eu commands | tail -n 1)
[[ $output == "hello from tcp://127.0.0.1:"* ]] || fail "the guide's example says: $output"
echo "docs/c.md: its example, as printed, says: $output"
