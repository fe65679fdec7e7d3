#!/usr/bin/env bash
# The Debian packages: what is in them, and the distribution's own python3-zmq on them, in a root of its own. Nothing is
# installed on the machine.
#
# Needs root, on Debian or one of its kind, and its packages; a C compiler and pkg-config.
set -euo pipefail
cd "$(dirname "$0")"
crate=$(cd .. && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
    echo "packages: $*" >&2
    exit 1
}

debs=$work/debs
# Quickly: these are for nobody.
DPKG_DEB_COMPRESSOR_TYPE=gzip ./build.sh "$debs" >"$work/log" 2>&1 || fail "$(cat "$work/log")"
triplet=$(dpkg-architecture -qDEB_HOST_MULTIARCH)
folder=usr/lib/$triplet/sealwire
file() { echo "$debs/$1"_*.deb; }

# All of each: nothing is in two packages, and nothing where the distribution's have theirs.
expected() {
    case $1 in
        libsealwire-zmq5) echo "$folder/lib/libzmq.so.5 $folder/lib/libzmq.so.5.2.5" ;;
        libsealwire-zmq5-default) ;;
        libsealwire-zmq-dev)
            echo "$folder/include/zmq.h $folder/include/zmq_utils.h $folder/include/zmq_sealwire.h
                $folder/lib/libzmq.so $folder/lib/libzmq.a $folder/lib/pkgconfig/libzmq.pc
                $folder/lib/cmake/ZeroMQ/ZeroMQConfig.cmake $folder/lib/cmake/ZeroMQ/ZeroMQConfigVersion.cmake"
            ;;
        sealwire) echo "$folder/bin/sealwire usr/bin/sealwire" ;;
    esac
    echo "usr/share/doc/$1/changelog.gz usr/share/doc/$1/copyright"
}
packages="libsealwire-zmq5 libsealwire-zmq5-default libsealwire-zmq-dev sealwire"
for package in $packages; do
    deb=$(file "$package")
    dpkg-deb --info "$deb" >"$work/info" || fail "$package has no information"
    dpkg-deb --contents "$deb" >"$work/contents"
    ! grep -v ' root/root ' "$work/contents" || fail "$package has files of others than root"
    dpkg-deb --fsys-tarfile "$deb" | tar -t | grep -v '/$' | sed 's|^\./||' | LC_ALL=C sort >"$work/files"
    expected "$package" | tr -s ' \n' '\n' | LC_ALL=C sort | diff - "$work/files" \
        || fail "$package has other files than these"
done
if command -v lintian >/dev/null; then
    # Whose packages they are the machine that builds them for others says.
    lintian --fail-on error --suppress-tags bogus-mail-host,bogus-mail-host-in-debian-changelog "$debs"/*.deb >"$work/log" 2>&1 \
        || fail "lintian: $(cat "$work/log")"
    echo "packages: lintian finds no error"
fi
echo "packages: $(echo "$packages" | wc -w), $(du -ch "$debs"/*.deb | tail -n 1 | cut -f1), with their files"

# All that python3-zmq needs, as if nothing were installed.
root=$work/root
mkdir -p "$work/apt/partial" "$root/var/lib/dpkg/info" "$root/var/lib/dpkg/updates" "$root/proc" "$root/dev" "$root/tmp"
: >"$work/empty"
download() {
    apt-get -qq -y --no-install-recommends --download-only -o "Dir::State::status=$work/empty" \
        -o "Dir::Cache::archives=$work/apt" install python3-zmq dash coreutils libc-bin >"$work/log" 2>&1
}
download || { apt-get -qq update && download; } || fail "apt-get: $(cat "$work/log")"
# Merged as on a machine that was installed.
for name in bin sbin lib lib64; do
    mkdir -p "$root/usr/$name"
    ln -s "usr/$name" "$root/$name"
done
for deb in "$work"/apt/*.deb; do
    dpkg-deb --fsys-tarfile "$deb" | tar -x -C "$root" --keep-directory-symlink
    # Known to dpkg, so that what ours depend on has to be there.
    dpkg-deb --field "$deb" | sed '/^Package:/a Status: install ok installed'
    echo
done >"$root/var/lib/dpkg/status"
ln -sf dash "$root/usr/bin/sh"
mknod -m 666 "$root/dev/null" c 1 3
cp talk.py "$root/tmp/"
echo "packages: a root with $(find "$work/apt" -name '*.deb' | wc -l) packages of the distribution"

# Runs a command there, with /proc as programs expect it.
inside() {
    unshare --mount sh -euc 'mount --bind /proc "$1/proc"; root=$1; shift; exec chroot "$root" "$@"' sh "$root" \
        env -i PATH=/usr/bin:/usr/sbin HOME=/tmp "$@"
}
talks() { # WHAT VERSION MECHANISM LIBRARY COMMAND...
    local what=$1 version=$2 mechanism=$3 library=$4
    shift 4
    said=$(inside "$@" python3 /tmp/talk.py 2>"$work/log") || fail "$what: $(cat "$work/log")"
    case $said in
        "{\"version\": \"$version\", \"mechanism\": $mechanism, \"libraries\": [\"$library"*"\"]}") ;;
        *) fail "$what: $said" ;;
    esac
    echo "packages: $what: $said"
}
install() {
    for package; do
        dpkg --root="$root" --install "$(file "$package")" >"$work/log" 2>&1 || fail "$package: $(cat "$work/log")"
    done
}
theirs=/usr/lib/$triplet/libzmq.so.5
ours=/$folder/lib/libzmq.so.5
inside ldconfig
distributions=$(dpkg-deb --field "$work"/apt/libzmq5_*.deb Version | cut -d- -f1)
talks "nothing installed" "$distributions" 0 "$theirs" env
install libsealwire-zmq5 sealwire
inside ldconfig
talks "installed beside it" "$distributions" 0 "$theirs" env
talks "by LD_LIBRARY_PATH" 4.3.5 0 "$ours" env LD_LIBRARY_PATH="/$folder/lib"

for name in server client; do
    inside sealwire keygen --out "/tmp/$name" >"$work/log"
done
cat >"$root/tmp/rules.conf" <<'RULES'
version = 1

[[rule]]
bind = "tcp://127.0.0.1:*"
mechanism = "blake3"
secret_key_file = "server.key"
allow = "client.pub"

[[rule]]
connect = "tcp://127.0.0.1:*"
mechanism = "blake3"
server_key_file = "server.pub"
secret_key_file = "client.key"

[[rule]]
bind = "ipc://*"
mechanism = "blake3"
secret_key_file = "server.key"
allow = "client.pub"

[[rule]]
connect = "ipc://*"
mechanism = "blake3"
server_key_file = "server.pub"
secret_key_file = "client.key"
RULES
talks "SEALWIRE_CONFIG" 4.3.5 100 "$ours" env LD_LIBRARY_PATH="/$folder/lib" SEALWIRE_CONFIG=/tmp/rules.conf
talks "sealwire run" 4.3.5 100 "$ours" sealwire run --config /tmp/rules.conf --
# With a peer that is not libzmq at all.
inside sealwire run --config /tmp/rules.conf -- python3 /tmp/talk.py ipc:///tmp/pull >"$work/pulled" 2>"$work/log" &
puller=$!
echo "over BLAKE3" | inside sealwire push --connect ipc:///tmp/pull --mechanism blake3 \
    --server-key /tmp/server.pub --secret-key-file /tmp/client.key 2>"$work/pushed" \
    || fail "sealwire push: $(cat "$work/pushed")"
wait $puller || fail "the program with a PULL socket failed: $(cat "$work/log")"
[ "$(cat "$work/pulled")" = "over BLAKE3" ] || fail "the program has read $(cat "$work/pulled")"
echo "packages: sealwire push to a program with pyzmq, with BLAKE3"

install libsealwire-zmq5-default
talks "instead of it" 4.3.5 0 "$ours" env
dpkg --root="$root" --remove libsealwire-zmq5-default >"$work/log" 2>&1 || fail "$(cat "$work/log")"
talks "removed again" "$distributions" 0 "$theirs" env

# A program that is compiled with the headers, shared and static.
install libsealwire-zmq-dev
export PKG_CONFIG_PATH=$root/$folder/lib/pkgconfig
cc -o "$root/tmp/shared" "$crate/tests/program.c" $(pkg-config --cflags --libs libzmq)
cc $(pkg-config --cflags libzmq) -o "$root/tmp/static" "$crate/tests/program.c" "$root/$folder/lib/libzmq.a" \
    $(pkg-config --libs --static libzmq | sed 's/-lzmq//')
for program in shared static; do
    said=$(inside env LD_LIBRARY_PATH="/$folder/lib" "/tmp/$program") || fail "the $program program failed"
    [ "$said" = "4.3.5 on Sealwire" ] || fail "the $program program says $said"
done
echo "packages: a program, shared and static"
