//! Where cargo keeps libzmq's sources and tests: in the folder of the crate `zeromq-src`.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::Failure;

/// Returns the folder with libzmq's `src`, `tests`, `include` and `external`.
pub(crate) fn folder() -> Result<PathBuf, Failure> {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml");
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args([
            "metadata",
            "--format-version",
            "1",
            "--locked",
            "--manifest-path",
        ])
        .arg(&manifest)
        .output()?;
    if !output.status.success() {
        return Err(format!(
            "cargo metadata: {}",
            String::from_utf8_lossy(&output.stderr)
        )
        .into());
    }
    let metadata: Value = serde_json::from_slice(&output.stdout)?;
    let package = metadata["packages"]
        .as_array()
        .into_iter()
        .flatten()
        .find(|package| package["name"] == "zeromq-src")
        .and_then(|package| package["manifest_path"].as_str())
        .ok_or("cargo metadata does not know zeromq-src")?;
    Ok(Path::new(package).with_file_name("vendor"))
}
