#!/usr/bin/env bash
# Debian packages in target/debian, or in the folder that is given:
#
#   libsealwire-zmq5           libzmq.so.5 in a folder of its own, beside the distribution's
#   libsealwire-zmq5-default   makes it the libzmq.so.5 of every program, until the package is removed
#   libsealwire-zmq-dev        headers, static library, pkg-config and CMake files
#   sealwire                   the program
#
# DEBFULLNAME and DEBEMAIL are whose packages they are. Needs dpkg-dev, and a Rust toolchain, or in SEALWIRE_BUILT the
# folder where cargo has left program and libraries.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../.." && pwd)
out=${1:-${CARGO_TARGET_DIR:-$root/target}/debian}
maintainer="${DEBFULLNAME:-The Sealwire authors} <${DEBEMAIL:-sealwire@localhost}>"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

command -v dpkg-shlibdeps >/dev/null || "$root/.ci/install" dpkg-dev
cd "$root"
version=$(cargo pkgid --offline --quiet --package sealwire-libzmq | sed 's/.*[#@]//')
architecture=$(dpkg --print-architecture)
# The files find each other below this folder, as below any PREFIX.
prefix=/usr/lib/$(dpkg-architecture -qDEB_HOST_MULTIARCH)/sealwire
# The same sources make the same packages.
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || date +%s)}
export SOURCE_DATE_EPOCH

if [ -z "${SEALWIRE_BUILT:-}" ]; then
    cargo build --release --locked --package sealwire-libzmq
    cargo build --release --locked --package sealwire-cli
    SEALWIRE_BUILT=${CARGO_TARGET_DIR:-$root/target}/release
fi
export SEALWIRE_BUILT
DESTDIR=$work/all sh crates/sealwire-libzmq/install.sh "$prefix" >/dev/null
all=$work/all$prefix
install -D -m 755 "$SEALWIRE_BUILT/sealwire" "$all/bin/sealwire"
strip --strip-unneeded "$all/lib/libzmq.so.5.2.5" "$all/bin/sealwire"
strip --strip-debug "$all/lib/libzmq.a"
# As Debian has libraries.
chmod 644 "$all/lib/libzmq.so.5.2.5"

# Moves what package $1 has, of the paths below the prefix behind it.
take() {
    local package=$1 path
    shift
    for path; do
        mkdir -p "$work/$package$prefix/$(dirname "$path")"
        mv "$all/$path" "$work/$package$prefix/$path"
    done
}
take libsealwire-zmq5 lib/libzmq.so.5 lib/libzmq.so.5.2.5
take libsealwire-zmq-dev include lib/libzmq.so lib/libzmq.a lib/pkgconfig lib/cmake
take sealwire bin/sealwire
# Found by a program that looks beside itself, as the link is followed.
mkdir -p "$work/sealwire/usr/bin"
ln -s "..${prefix#/usr}/bin/sealwire" "$work/sealwire/usr/bin/sealwire"

# What the libraries of the distribution are called that the file $1 needs.
needs() {
    mkdir -p "$work/needs/debian"
    printf 'Source: sealwire\n\nPackage: sealwire\nArchitecture: any\n' >"$work/needs/debian/control"
    (cd "$work/needs" && dpkg-shlibdeps -O "$1" 2>/dev/null) | sed 's/^shlibs:Depends=//'
}
# Control file of package $1: its line of dependencies, and what it is for.
package() { # NAME SECTION FIELDS SUMMARY < DESCRIPTION
    local folder=$work/$1 documents=$work/$1/usr/share/doc/$1
    mkdir -p "$documents" "$folder/DEBIAN"
    install -m 644 "$work/copyright" "$documents/copyright"
    {
        printf 'sealwire (%s) unstable; urgency=medium\n\n  * See https://github.com/sealwire/sealwire, CHANGELOG.md.\n\n' "$version"
        printf ' -- %s  %s\n' "$maintainer" "$(LC_ALL=C date -u -R -d "@$SOURCE_DATE_EPOCH")"
    } | gzip -9n >"$documents/changelog.gz"
    {
        printf 'Package: %s\nSource: sealwire\nVersion: %s\nArchitecture: %s\n' "$1" "$version" "$architecture"
        printf 'Maintainer: %s\n' "$maintainer"
        printf 'Section: %s\nPriority: optional\nHomepage: https://github.com/sealwire/sealwire\n' "$2"
        printf 'Installed-Size: %s\n' "$(du -k -s --apparent-size "$folder" | cut -f1)"
        printf '%s\nDescription: %s\n' "$3" "$4"
        fold -s -w 78 | sed 's/ *$//; s/^$/./; s/^/ /'
    } >"$folder/DEBIAN/control"
    (cd "$folder" && find . -path ./DEBIAN -prune -o -type f -printf '%P\n' | LC_ALL=C sort | xargs -r md5sum) \
        >"$folder/DEBIAN/md5sums"
    find "$folder" -newermt "@$SOURCE_DATE_EPOCH" -exec touch --no-dereference --date "@$SOURCE_DATE_EPOCH" {} +
    dpkg-deb --root-owner-group --build "$folder" "$out" >/dev/null
    echo "$out/$1_${version}_$architecture.deb"
}
# The libraries and the program contain crates of others.
{
    cat "$here/copyright"
    printf '\nFiles: lib/* bin/*\nCopyright: the authors of these crates, and The Sealwire authors\nLicense: various\n'
    cargo tree --offline --locked --quiet --edges normal --prefix none --format ' {p}: {l}' \
        --package sealwire-libzmq --package sealwire-cli | sed 's/ (.*)//; /^ sealwire/d' | LC_ALL=C sort -u
} >"$work/copyright"
mkdir -p "$out"
rm -f "$out"/*.deb

package libsealwire-zmq5 libs "Multi-Arch: same
Depends: $(needs "$work/libsealwire-zmq5$prefix/lib/libzmq.so.5.2.5")
Suggests: sealwire, libsealwire-zmq5-default" "libzmq.so.5 on Sealwire, beside the distribution's" <<TEXT
The API of libzmq 4.3.5 on the engine of Sealwire. Programs that load libzmq dynamically run on it without being
compiled again, and can be encrypted by a file of rules.

It is in $prefix/lib, and no program uses it that is not told
to: by "sealwire run" of the package sealwire, by LD_LIBRARY_PATH, or, all of them, by libsealwire-zmq5-default.
TEXT

for script in postinst postrm; do
    install -D -m 755 "$here/default.$script" "$work/libsealwire-zmq5-default/DEBIAN/$script"
    sed -i "s|@folder@|$prefix/lib|" "$work/libsealwire-zmq5-default/DEBIAN/$script"
done
package libsealwire-zmq5-default libs "Depends: libsealwire-zmq5 (= $version)" \
    "libzmq.so.5 on Sealwire for every program" <<TEXT
Puts the library of libsealwire-zmq5 before the distribution's libzmq5 in the loader's configuration. The
distribution's stays where it is, for the packages that depend on it, and is used again when this package is removed.
TEXT

package libsealwire-zmq-dev libdevel "Multi-Arch: same
Depends: libsealwire-zmq5 (= $version)" "libzmq on Sealwire, for programs that are compiled" <<TEXT
zmq.h, zmq_utils.h, zmq_sealwire.h, the static library, and files for pkg-config and CMake. They are below
$prefix, beside those of libzmq3-dev:

  PKG_CONFIG_PATH=$prefix/lib/pkgconfig
  CMAKE_PREFIX_PATH=$prefix
TEXT

package sealwire net "Depends: $(needs "$work/sealwire$prefix/bin/sealwire")
Recommends: libsealwire-zmq5" "encrypted ZeroMQ sockets, calls, tunnels and files" <<TEXT
The program of Sealwire: sockets for shells, keys, calls, tunnels, sealed files, and "sealwire run", which gives
programs written for libzmq encryption by a file of rules.
TEXT
