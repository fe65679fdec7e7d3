//! Gives the shared library the name under which programs look for it, and keeps it in the process once it is
//! there: its threads outlive a `dlclose`.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
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
