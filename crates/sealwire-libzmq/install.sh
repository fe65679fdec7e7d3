#!/bin/sh
# Builds libzmq.so.5 and installs it with its header under PREFIX:
#
#   include/zmq.h, zmq_sealwire.h   lib/libzmq.{so,a}   lib/pkgconfig/libzmq.pc   lib/cmake/ZeroMQ/
#
# Needs a Rust toolchain, or in SEALWIRE_BUILT the folder where cargo has left libraries that were built before. The
# files find each other wherever PREFIX is moved to; DESTDIR goes in front of it, for packages. A libzmq that is there
# is not overwritten: choose another PREFIX.
set -eu
if [ $# -ne 1 ]; then
    echo "usage: $0 PREFIX" >&2
    exit 2
fi
case $1 in
    /*) prefix=$1 ;;
    *) prefix=$PWD/$1 ;;
esac
root=${DESTDIR:-}$prefix
built=${SEALWIRE_BUILT:+$(realpath "$SEALWIRE_BUILT")}
cd "$(dirname "$0")"

# The system's libzmq is other programs' too, and `make` says /usr/local where nothing else is said.
for there in "$root/include/zmq.h" "$root"/lib/libzmq.*; do
    if [ -e "$there" ] && ! grep -q Sealwire "$root/include/zmq.h"; then
        echo "$0: $root has another libzmq, $there; give another PREFIX, or remove it first" >&2
        exit 1
    fi
done

if [ -z "$built" ]; then
    cargo build --quiet --release --locked --package sealwire-libzmq
    built=${CARGO_TARGET_DIR:-../../target}/release
fi
# That of the libzmq whose place the library takes.
version=4.3.5
case $(uname) in
    Darwin)
        shared=libzmq.5.dylib
        link=libzmq.dylib
        file=$shared
        library=libsealwire_libzmq.dylib
        system="-lpthread -lm -liconv"
        ;;
    *)
        shared=libzmq.so.5
        link=libzmq.so
        # libtool's way to count; 4.3.5 has this number.
        file=libzmq.so.5.2.5
        library=libsealwire_libzmq.so
        # What the standard library of Rust stands on.
        system="-lgcc_s -lutil -lrt -lpthread -lm -ldl"
        ;;
esac

mkdir -p "$root/include" "$root/lib/pkgconfig" "$root/lib/cmake/ZeroMQ"
install -m 644 include/zmq.h include/zmq_utils.h include/zmq_sealwire.h "$root/include/"
install -m 644 "$built/libsealwire_libzmq.a" "$root/lib/libzmq.a"
install -m 755 "$built/$library" "$root/lib/$file"
[ "$file" = "$shared" ] || ln -sf "$file" "$root/lib/$shared"
ln -sf "$shared" "$root/lib/$link"

fill() { # TEMPLATE FILE
    sed -e "s|@version@|$version|g" -e "s|@system@|$system|g" \
        -e "s|@file@|$file|g" -e "s|@shared@|$shared|g" "$1" >"$root/lib/$2"
}
fill libzmq.pc.in pkgconfig/libzmq.pc
fill ZeroMQConfig.cmake.in cmake/ZeroMQ/ZeroMQConfig.cmake
fill ZeroMQConfigVersion.cmake.in cmake/ZeroMQ/ZeroMQConfigVersion.cmake
echo "libzmq $version on Sealwire is in $root"
