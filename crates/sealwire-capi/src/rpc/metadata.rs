//! Metadata: keys and values beside the body of a call or message.

use std::ffi::{CString, c_char, c_void};
use std::sync::OnceLock;

use sealwire_rpc::{Metadata, MetadataError};

use crate::panics::{free, guard, value};
use crate::pointers::{bytes, c_text, give, output, required, text};
use crate::status::{Failure, sealwire_status};

/// Metadata of a call or message: at most 64 entries and 8,192 bytes, each entry counted as its key, its value
/// and 3 bytes. A key has 1 to 255 of the characters a-z, 0-9, '-', '_' and '.', and may come more than once; a
/// value is bytes. The order of entries is kept.
///
/// Threads: any number may read it at once; while one changes it, no other may use it.
#[derive(Default)]
pub struct sealwire_rpc_metadata {
    metadata: Metadata<'static>,
    /// The keys as C reads them, made when somebody asks for one.
    keys: OnceLock<Vec<CString>>,
}

impl sealwire_rpc_metadata {
    pub(super) fn metadata(&self) -> &Metadata<'static> {
        &self.metadata
    }

    pub(super) fn change(
        &mut self,
        change: impl FnOnce(&mut Metadata<'static>) -> Result<(), MetadataError>,
    ) -> Result<(), Failure> {
        self.keys.take();
        change(&mut self.metadata).map_err(Failure::from)
    }

    fn value(&self, index: usize) -> Option<&[u8]> {
        self.metadata.iter().nth(index).map(|(_, value)| value)
    }
}

/// Received metadata that is made for C when somebody asks for it.
#[derive(Default)]
pub(super) struct LazyMetadata(OnceLock<Box<sealwire_rpc_metadata>>);

impl LazyMetadata {
    pub(super) fn get(&self, received: &Metadata<'_>) -> *const sealwire_rpc_metadata {
        let made = || {
            Box::new(sealwire_rpc_metadata {
                metadata: received.borrowed().into_owned(),
                keys: OnceLock::new(),
            })
        };
        std::ptr::from_ref(self.0.get_or_init(made))
    }
}

/// Makes empty metadata, to be sent with `sealwire_rpc_client_request_with` and the like, any number of times.
/// Free it with `sealwire_rpc_metadata_free`.
///
/// Errors: `SEALWIRE_ERROR_NULL`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_rpc_metadata_new(
    out: *mut *mut sealwire_rpc_metadata,
) -> sealwire_status {
    guard(|| {
        output(out, "out")?.write(give(sealwire_rpc_metadata::default()));
        Ok(())
    })
}

/// Adds an entry behind the others, whether one with this key is there or not, with a copy of `size` bytes.
///
/// Errors: `SEALWIRE_ERROR_RPC_METADATA` if the key has another form or a limit would be exceeded, and nothing
/// has changed then; `SEALWIRE_ERROR_NULL`, `SEALWIRE_ERROR_ARGUMENT`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_rpc_metadata_append(
    metadata: Option<&mut sealwire_rpc_metadata>,
    key: *const c_char,
    value: *const c_void,
    size: usize,
) -> sealwire_status {
    with_entry(metadata, key, value, size, |metadata, key, value| {
        metadata.append(key, value)
    })
}

/// Adds an entry in the place of all entries with this key, with a copy of `size` bytes.
///
/// Errors: as `sealwire_rpc_metadata_append`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_rpc_metadata_set(
    metadata: Option<&mut sealwire_rpc_metadata>,
    key: *const c_char,
    value: *const c_void,
    size: usize,
) -> sealwire_status {
    with_entry(metadata, key, value, size, |metadata, key, value| {
        metadata.insert(key, value)
    })
}

/// Changes metadata by an entry of C.
fn with_entry(
    metadata: Option<&mut sealwire_rpc_metadata>,
    key: *const c_char,
    value: *const c_void,
    size: usize,
    change: impl FnOnce(&mut Metadata<'static>, &str, &[u8]) -> Result<(), MetadataError>,
) -> sealwire_status {
    guard(|| {
        let metadata = required(metadata, "metadata")?;
        let (key, value) = (text(key, "key")?, bytes(value.cast(), size, "value")?);
        metadata.change(|metadata| change(metadata, key, value))
    })
}

/// The value of the first entry with this key, whose number of bytes is written to `size`. NULL if there is
/// none, and for NULL; a value without bytes is not NULL. Belongs to the metadata, until that is changed.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_rpc_metadata_get(
    metadata: Option<&sealwire_rpc_metadata>,
    key: *const c_char,
    size: *mut usize,
) -> *const c_void {
    let found = || metadata?.metadata.get(text(key, "key").ok()?);
    sized(value(None, found), size)
}

/// The number of entries; 0 for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_rpc_metadata_count(metadata: Option<&sealwire_rpc_metadata>) -> usize {
    metadata.map_or(0, |metadata| metadata.metadata.len())
}

/// The key of the entry `index`, which begins at 0. NULL behind the last, and for NULL. Belongs to the
/// metadata, until that is changed.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_rpc_metadata_key(
    metadata: Option<&sealwire_rpc_metadata>,
    index: usize,
) -> *const c_char {
    let key = || {
        let metadata = metadata?;
        let made = || metadata.metadata.iter().map(|(key, _)| c_text(key));
        let keys = metadata.keys.get_or_init(|| made().collect());
        Some(keys.get(index)?.as_ptr())
    };
    value(None, key).unwrap_or(std::ptr::null())
}

/// The value of the entry `index`, which begins at 0; its number of bytes is written to `size`. NULL behind the
/// last, and for NULL; a value without bytes is not NULL. Belongs to the metadata, until that is changed.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_rpc_metadata_value(
    metadata: Option<&sealwire_rpc_metadata>,
    index: usize,
    size: *mut usize,
) -> *const c_void {
    let found = metadata.and_then(|metadata| metadata.value(index));
    sized(found, size)
}

/// A value, and how long it is where somebody wants to know.
fn sized(value: Option<&[u8]>, size: *mut usize) -> *const c_void {
    if let Ok(size) = output(size, "size") {
        size.write(value.map_or(0, <[u8]>::len));
    }
    value.map_or(std::ptr::null(), |value| value.as_ptr().cast())
}

/// Frees metadata of `sealwire_rpc_metadata_new`. NULL is fine.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_rpc_metadata_free(metadata: Option<Box<sealwire_rpc_metadata>>) {
    free(metadata);
}
