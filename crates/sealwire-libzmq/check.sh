#!/usr/bin/env bash
# The C side of libzmq.so.5: the header is libzmq's in all that a compiler sees, the library exports
# its functions and nothing else, and what is installed works through pkg-config and CMake.
#
# Needs a C and a C++ compiler, binutils, pkg-config, CMake and python3, which are installed if they are missing.
set -euo pipefail
cd "$(dirname "$0")"
root=$(cd ../.. && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
    echo "libzmq: $*" >&2
    exit 1
}

has_tools() {
    for tool in cc c++ nm readelf pkg-config cmake make python3; do
        command -v "$tool" >/dev/null || return 1
    done
}
if ! has_tools; then
    packages="build-essential binutils pkg-config cmake python3"
    # shellcheck disable=SC2086
    "$root/.ci/install" $packages || true
    has_tools || fail "some of these are missing, and apt-get could not install them: $packages"
fi

python3 tests/header.py include/zmq.h

# Each of these is another kind of difference, and none may pass.
planted=(
    's/ZMQ_RCVTIMEO 27/ZMQ_RCVTIMEO 26/'
    '/define ZMQ_TOS/d'
    's/_\[64\]/_[72]/'
    's/void zmq_sleep(int /void zmq_sleep(long /'
    's/void(zmq_timer_fn)(int /void(zmq_timer_fn)(long /'
    '/^int zmq_poller_fd/d'
    's/void \*user_data;/short user_data;/'
)
for difference in "${planted[@]}"; do
    sed "$difference" include/zmq.h >"$work/zmq.h"
    ! cmp -s include/zmq.h "$work/zmq.h" || fail "the header has nothing for $difference"
    if python3 tests/header.py "$work/zmq.h" >"$work/log" 2>&1; then
        fail "the comparison of headers did not notice $difference"
    fi
done
echo "zmq.h: ${#planted[@]} planted differences were noticed"

tests/drafts.sh

prefix=$work/prefix
./install.sh "$prefix"
library=$prefix/lib/libzmq.so.5.2.5

python3 tests/header.py include/zmq.h --names >"$work/declared"
nm -D --defined-only "$library" | awk '{ print $3 }' | LC_ALL=C sort >"$work/exported"
diff "$work/declared" "$work/exported" || fail "exported functions are not those of zmq.h"
echo "library: $(wc -l <"$work/exported") functions of zmq.h and nothing else"

readelf -d "$library" >"$work/dynamic"
grep -q 'SONAME.*\[libzmq.so.5\]' "$work/dynamic" || fail "the library has another SONAME than libzmq.so.5"
grep -q NODELETE "$work/dynamic" || fail "dlclose would take the code from under the library's threads"
[ "$(readlink "$prefix/lib/libzmq.so")" = libzmq.so.5 ] || fail "libzmq.so is not a link to libzmq.so.5"
[ "$(readlink "$prefix/lib/libzmq.so.5")" = libzmq.so.5.2.5 ] || fail "libzmq.so.5 is another link"

export PKG_CONFIG_PATH=$prefix/lib/pkgconfig
pkg-config --exists 'libzmq = 4.3.5' || fail "pkg-config does not know libzmq 4.3.5"
expected="4.3.5 on Sealwire"
says() { # COMMAND...
    output=$("$@") || fail "$1 ended with $?"
    [ "$output" = "$expected" ] || fail "$1 says \"$output\""
}
warnings="-Wall -Wextra -Wpedantic -Werror"
# shellcheck disable=SC2046,SC2086
{
    cc -std=c99 $warnings -o "$work/c" tests/program.c $(pkg-config --cflags --libs libzmq)
    c++ -std=c++11 $warnings -o "$work/c++" -x c++ tests/program.c -x none $(pkg-config --cflags --libs libzmq)
    cc -std=c99 $warnings $(pkg-config --cflags libzmq) -o "$work/static" tests/program.c \
        "$prefix/lib/libzmq.a" $(pkg-config --libs --static libzmq | sed 's/-lzmq//')
    c++ -std=c++11 $warnings $(pkg-config --cflags libzmq) -o "$work/static++" tests/cmake/program.cpp \
        "$prefix/lib/libzmq.a" $(pkg-config --libs --static libzmq | sed 's/-lzmq//')
}
for program in c c++; do
    says env LD_LIBRARY_PATH="$prefix/lib" "$work/$program"
done
for program in static static++; do
    says "$work/$program"
done
echo "pkg-config: shared and static, in C99 and C++11"

cmake -S tests/cmake -B "$work/cmake" -DCMAKE_PREFIX_PATH="$prefix" >"$work/log" 2>&1 \
    && cmake --build "$work/cmake" >>"$work/log" 2>&1 || fail "CMake: $(cat "$work/log")"
for program in shared static shared++ static++ variables; do
    says env -u LD_LIBRARY_PATH "$work/cmake/$program"
done
echo "CMake: shared and static, in C99 and C++11, and by variables"

# Ours is replaced, another libzmq stays where it is.
./install.sh "$prefix" >/dev/null
for file in include/zmq.h lib/libzmq.so.5; do
    mkdir -p "$work/other/$(dirname $file)"
    echo "another" >"$work/other/$file"
    if ./install.sh "$work/other" >"$work/log" 2>&1; then
        fail "install.sh overwrote another libzmq"
    fi
    grep -q "has another libzmq" "$work/log" || fail "install.sh failed for another reason: $(cat "$work/log")"
    rm -r "$work/other"
done
echo "install.sh: another libzmq is not overwritten"
