//! Gives the shared library the name under which programs look for it.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let major = env!("CARGO_PKG_VERSION_MAJOR");
    match std::env::var("CARGO_CFG_TARGET_OS").as_deref() {
        Ok("macos") => println!(
            "cargo::rustc-cdylib-link-arg=-Wl,-install_name,@rpath/libsealwire.{major}.dylib"
        ),
        Ok("windows") => {}
        _ => println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libsealwire.so.{major}"),
    }
}
