//! Gives the shared library the name under which programs look for it, and keeps it in the process once it is
//! there: its threads outlive a `dlclose`. The package `sealwire-libzmq-drafts` gets the draft functions.

fn main() {
    // Not this file, which has another path in each package; cargo runs it anew once it compiles it anew.
    println!("cargo::rerun-if-env-changed=CARGO_CFG_TARGET_OS");
    if env!("CARGO_PKG_NAME") == "sealwire-libzmq-drafts" {
        println!("cargo::rustc-cfg=draft");
    }
    match std::env::var("CARGO_CFG_TARGET_OS").as_deref() {
        Ok("macos") => {
            println!("cargo::rustc-cdylib-link-arg=-Wl,-install_name,@rpath/libzmq.5.dylib");
        }
        _ => {
            println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libzmq.so.5");
            println!("cargo::rustc-cdylib-link-arg=-Wl,-z,nodelete");
        }
    }
}
