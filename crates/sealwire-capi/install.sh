#!/bin/sh
# Builds libsealwire and installs it with its headers under PREFIX:
#
#   include/sealwire.h   lib/libsealwire.{so,a}   lib/pkgconfig/sealwire.pc   lib/cmake/Sealwire/
#   include/sealwire_nacl.h   include/sealwire/nacl/   lib/pkgconfig/sealwire-nacl.pc
#
# Needs a Rust toolchain, or in SEALWIRE_BUILT the folder where cargo has left libraries that were built before. The
# files find each other wherever PREFIX is moved to; DESTDIR goes in front of it, for packages.
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

if [ -z "$built" ]; then
    cargo build --quiet --release --locked --package sealwire-capi
    built=${CARGO_TARGET_DIR:-../../target}/release
fi
version=$(cargo pkgid --quiet --package sealwire-capi | sed 's/.*[#@]//')
major=${version%%.*}

mkdir -p "$root/include/sealwire/nacl" "$root/lib/pkgconfig" "$root/lib/cmake/Sealwire"
install -m 644 include/sealwire.h include/sealwire_nacl.h "$root/include/"
# Not in include/nacl, where packages of NaCl itself have theirs.
install -m 644 include/nacl/*.h "$root/include/sealwire/nacl/"
install -m 644 "$built/libsealwire_c.a" "$root/lib/libsealwire.a"
case $(uname) in
    Darwin)
        shared=libsealwire.$major.dylib
        link=libsealwire.dylib
        file=$shared
        install -m 755 "$built/libsealwire_c.dylib" "$root/lib/$file"
        system="-lpthread -lm -liconv"
        ;;
    *)
        shared=libsealwire.so.$major
        link=libsealwire.so
        file=libsealwire.so.$version
        install -m 755 "$built/libsealwire_c.so" "$root/lib/$file"
        ln -sf "$file" "$root/lib/$shared"
        # What the standard library of Rust stands on.
        system="-lgcc_s -lutil -lrt -lpthread -lm -ldl"
        ;;
esac
ln -sf "$shared" "$root/lib/$link"

cat > "$root/lib/pkgconfig/sealwire.pc" <<END
prefix=\${pcfiledir}/../..
libdir=\${prefix}/lib
includedir=\${prefix}/include

Name: sealwire
Description: Encrypted ZeroMQ messaging, calls, and the cryptography below
Version: $version
Libs: -L\${libdir} -lsealwire
Libs.private: $system
Cflags: -I\${includedir}
END

cat > "$root/lib/pkgconfig/sealwire-nacl.pc" <<END
prefix=\${pcfiledir}/../..
includedir=\${prefix}/include

Name: sealwire-nacl
Description: NaCl's headers and names for libsealwire
Version: $version
Requires: sealwire = $version
Cflags: -I\${includedir}/sealwire/nacl
END

cat > "$root/lib/cmake/Sealwire/SealwireConfig.cmake" <<END
# Sealwire::sealwire is the shared library, Sealwire::sealwire_static the other. Sealwire::nacl is the shared
# one with NaCl's headers.
get_filename_component(_sealwire_prefix "\${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
if(NOT TARGET Sealwire::sealwire)
    add_library(Sealwire::sealwire SHARED IMPORTED)
    set_target_properties(Sealwire::sealwire PROPERTIES
        IMPORTED_LOCATION "\${_sealwire_prefix}/lib/$file"
        IMPORTED_SONAME "$shared"
        INTERFACE_INCLUDE_DIRECTORIES "\${_sealwire_prefix}/include")
    add_library(Sealwire::sealwire_static STATIC IMPORTED)
    set_target_properties(Sealwire::sealwire_static PROPERTIES
        IMPORTED_LOCATION "\${_sealwire_prefix}/lib/libsealwire.a"
        INTERFACE_INCLUDE_DIRECTORIES "\${_sealwire_prefix}/include"
        INTERFACE_LINK_LIBRARIES "$system")
    add_library(Sealwire::nacl INTERFACE IMPORTED)
    set_target_properties(Sealwire::nacl PROPERTIES
        INTERFACE_INCLUDE_DIRECTORIES "\${_sealwire_prefix}/include/sealwire/nacl"
        INTERFACE_LINK_LIBRARIES Sealwire::sealwire)
endif()
unset(_sealwire_prefix)
END

cat > "$root/lib/cmake/Sealwire/SealwireConfigVersion.cmake" <<END
set(PACKAGE_VERSION "$version")
if(PACKAGE_FIND_VERSION VERSION_EQUAL PACKAGE_VERSION)
    set(PACKAGE_VERSION_EXACT TRUE)
endif()
# Below 1.0 another second number may mean another interface.
if(PACKAGE_FIND_VERSION VERSION_GREATER PACKAGE_VERSION
        OR NOT "\${PACKAGE_FIND_VERSION_MAJOR}.\${PACKAGE_FIND_VERSION_MINOR}" STREQUAL "${version%.*}")
    set(PACKAGE_VERSION_COMPATIBLE FALSE)
else()
    set(PACKAGE_VERSION_COMPATIBLE TRUE)
endif()
END
echo "sealwire $version is in $root"
