//! Builds libzmq with its drafts, and the libzmq peer of this folder's parent against it.

use std::env;
use std::path::PathBuf;

const PEER: [&str; 4] = [
    "zmq_peer.c",
    "zmq_peer_arguments.c",
    "zmq_peer_monitor.c",
    "zmq_peer_security.c",
];

fn main() {
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
    // The peer needs what stands behind it.
    println!("cargo:rustc-link-search=native={}", out.display());
    println!("cargo:rustc-link-lib=static=zmq_peer");
    let variable = |name| pkg_config::get_variable("libsodium", name).expect("libsodium-dev");
    let sodium = zeromq_src::LibLocation::new(variable("libdir"), variable("includedir"));
    zeromq_src::Build::new()
        .enable_draft(true)
        .with_libsodium(Some(sodium))
        .build();

    let parent = PathBuf::from("..");
    println!(
        "cargo:rerun-if-changed={}",
        parent.join("zmq_peer.h").display()
    );
    let files = PEER.map(|file| parent.join(file));
    for file in &files {
        println!("cargo:rerun-if-changed={}", file.display());
    }
    cc::Build::new()
        .files(&files)
        .include(out.join("source/include"))
        .define("ZMQ_BUILD_DRAFT_API", "1")
        .define("_POSIX_C_SOURCE", "200809L")
        .std("c11")
        .cargo_metadata(false)
        .compile("zmq_peer");
}
