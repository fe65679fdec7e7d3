#!/bin/sh
# Runs every fuzz target for SECONDS (default 10), on the stable toolchain and without cargo-fuzz:
#
#     fuzz/run.sh [SECONDS] [TARGET...]
#
# Inputs that were found are kept in fuzz/corpus, those that crash a target in fuzz/artifacts.
set -eu

seconds=${1:-10}
[ $# -gt 0 ] && shift
cd "$(dirname "$0")"
targets=${*:-greeting frames commands metadata keys handshake_client handshake_server \
handshake_curve handshake_plain connection zws socks metrics_request datagrams addresses rpc rpc_monte work patterns sealed_file tunnel newplex_state newplex_aestream \
newplex_oae2 newplex_decoders newplex_files newplex_handshakes newplex_ciphertexts newplex_transcript}
host=$(rustc -vV | sed -n 's/^host: //p')

# What `cargo fuzz` passes, without the sanitizers, which need a nightly toolchain.
export RUSTFLAGS="--cfg fuzzing -Ccodegen-units=1 -Cpasses=sancov-module \
-Cllvm-args=-sanitizer-coverage-level=4 \
-Cllvm-args=-sanitizer-coverage-inline-8bit-counters \
-Cllvm-args=-sanitizer-coverage-pc-table \
-Cllvm-args=-sanitizer-coverage-trace-compares"

# With the target named, build scripts and macros are not instrumented.
cargo build --release --bins --target "$host"

for target in $targets; do
    mkdir -p "corpus/$target" "artifacts/$target"
    echo "== $target, $seconds s"
    "target/$host/release/$target" -max_total_time="$seconds" -max_len=4096 -timeout=10 \
        -rss_limit_mb=1024 -print_final_stats=1 -verbosity=0 -print_funcs=0 \
        -artifact_prefix="artifacts/$target/" "corpus/$target" "seeds/$target"
done
