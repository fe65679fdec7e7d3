//! One reading of a list on disk: the contents of its files, and which of them are unchanged.

use std::collections::{BTreeMap, HashMap};
use std::fs::{self, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use sealwire_zmtp::PublicKey;

use crate::keys::{self, KeyFileError, MAX_FILE_SIZE, Readers};

/// What a list may have at most.
#[derive(Debug)]
pub(super) struct Bounds {
    /// Files of a directory.
    pub(super) files: usize,
    /// Bytes of all files together.
    pub(super) size: u64,
}

pub(super) const BOUNDS: Bounds = Bounds {
    files: 65_536,
    size: 64 << 20,
};
/// Lists with no more files are read whole at each reading. In larger ones a file is passed over whose
/// metadata is the same as before.
const ALWAYS_READ: usize = 1_024;
/// Metadata of a file that was read sooner after its last change says nothing: another change may
/// have the same time.
const TICK: Duration = Duration::from_secs(2);

/// Keys with their user ids.
pub(super) type Entries = BTreeMap<PublicKey, Option<String>>;

/// What one reading found.
#[derive(Debug)]
pub(super) struct Snapshot {
    /// In the order of their names.
    pub(super) files: Vec<Found>,
    /// The file system of a directory. `None` for a list that is a file.
    pub(super) device: Option<u64>,
}

/// A file of the list.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) path: PathBuf,
    pub(super) content: Content,
}

#[derive(Debug)]
pub(super) enum Content {
    /// As at the last reading.
    Same,
    /// Another than at the last reading, or the first.
    Keys(Entries),
    /// Not understood, or not readable.
    Failed(KeyFileError),
}

/// The files as they were read before.
#[derive(Debug, Default)]
pub(super) struct Memory(HashMap<PathBuf, Known>);

#[derive(Debug)]
struct Known {
    digest: blake3::Hash,
    stamp: Stamp,
    /// Whether an equal stamp means equal content.
    settled: bool,
    understood: bool,
}

/// Reads what has to be read.
///
/// # Errors
///
/// When the list as a whole cannot be read, or exceeds the bounds.
pub(super) fn read(
    path: &Path,
    memory: &mut Memory,
    bounds: &Bounds,
) -> Result<Snapshot, KeyFileError> {
    let read = |source| KeyFileError::read(path, source);
    let metadata = fs::metadata(path).map_err(read)?;
    keys::check_mode(&metadata, path, Readers::Everybody)?;
    let is_client = metadata.is_dir();
    let device = is_client.then(|| device_of(&metadata));
    let files = if is_client {
        clients_in(path, bounds.files)?
    } else {
        vec![(path.to_path_buf(), Ok(metadata))]
    };
    let passes_over = files.len() > ALWAYS_READ;
    let mut size = 0;
    let mut found = Vec::with_capacity(files.len());
    for (file, looked_up) in files {
        let content = match looked_up {
            Err(source) => Err(KeyFileError::read(&file, source)),
            Ok(metadata) => {
                size += metadata.len();
                if size > bounds.size {
                    return Err(KeyFileError::TooLarge {
                        path: path.into(),
                        limit: bounds.size,
                    });
                }
                memory.read(&file, &metadata, is_client, passes_over)
            }
        };
        let content = match content {
            Ok(content) => content,
            // It was removed a moment ago.
            Err(KeyFileError::Read { source, .. })
                if is_client && source.kind() == io::ErrorKind::NotFound =>
            {
                continue;
            }
            // Somebody's secret, as its name says.
            Err(KeyFileError::Read { source, .. })
                if source.kind() == io::ErrorKind::PermissionDenied
                    && has_the_name_of_secrets(&file)
                    && !memory.0.contains_key(&file) =>
            {
                continue;
            }
            Err(error) => {
                memory.forget(&file);
                Content::Failed(error)
            }
        };
        found.push(Found {
            path: file,
            content,
        });
    }
    let is_there = |path: &PathBuf| found.binary_search_by(|found| found.path.cmp(path)).is_ok();
    memory.0.retain(|path, _| is_there(path));
    Ok(Snapshot {
        files: found,
        device,
    })
}

#[cfg(unix)]
fn device_of(directory: &Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::dev(directory)
}

#[cfg(not(unix))]
fn device_of(_: &Metadata) -> u64 {
    0
}

/// The files of a directory that stand for clients, with what could be learnt of each.
fn clients_in(
    path: &Path,
    limit: usize,
) -> Result<Vec<(PathBuf, io::Result<Metadata>)>, KeyFileError> {
    let read = |source| KeyFileError::read(path, source);
    let mut files = Vec::new();
    for entry in fs::read_dir(path).map_err(read)? {
        let file = entry.map_err(read)?.path();
        if !names_a_client(&file) {
            continue;
        }
        match fs::metadata(&file) {
            Ok(metadata) if !metadata.is_file() => continue,
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            metadata => files.push((file, metadata)),
        }
        if files.len() > limit {
            return Err(KeyFileError::TooMany {
                path: path.into(),
                limit,
            });
        }
    }
    files.sort_by(|(one, _), (other, _)| one.cmp(other));
    Ok(files)
}

fn names_a_client(file: &Path) -> bool {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    !name.starts_with('.') && !name.ends_with("_secret")
}

fn has_the_name_of_secrets(file: &Path) -> bool {
    file.extension().is_some_and(|extension| extension == "key")
}

impl Memory {
    fn read(
        &mut self,
        file: &Path,
        metadata: &Metadata,
        is_client: bool,
        passes_over: bool,
    ) -> Result<Content, KeyFileError> {
        let stamp = Stamp::of(metadata);
        let known = self.0.get(file);
        if passes_over && known.is_some_and(|known| known.settled && known.stamp == stamp) {
            return Ok(Content::Same);
        }
        let read_at = SystemTime::now();
        let source = |source| KeyFileError::read(file, source);
        let handle = keys::open_regular(file).map_err(source)?;
        // Of the file that is read: the path may lead to another one by now.
        let metadata = handle.metadata().map_err(source)?;
        keys::check_mode(&metadata, file, Readers::Everybody)?;
        let stamp = Stamp::of(&metadata);
        let bytes = keys::read_bounded(handle, file, MAX_FILE_SIZE)?;
        let digest = blake3::hash(&bytes);
        let same = known.is_some_and(|known| known.digest == digest);
        let understood = known.is_some_and(|known| known.understood);
        let settled = stamp.is_older_than(read_at);
        let content = if same && understood {
            Ok(Content::Same)
        } else {
            parse(file, &bytes, is_client).map(Content::Keys)
        };
        self.0.insert(
            file.into(),
            Known {
                digest,
                stamp,
                settled,
                understood: content.is_ok(),
            },
        );
        content
    }

    /// Lets the next reading read the file, whatever its metadata say.
    fn forget(&mut self, file: &Path) {
        if let Some(known) = self.0.get_mut(file) {
            known.understood = false;
            known.settled = false;
        }
    }
}

fn parse(file: &Path, bytes: &[u8], is_client: bool) -> Result<Entries, KeyFileError> {
    let text =
        std::str::from_utf8(bytes).map_err(|_| KeyFileError::NotText { path: file.into() })?;
    if !is_client {
        return Ok(keys::key_list_in(file, text)?.into_iter().collect());
    }
    let user_id = file.file_stem().unwrap_or_default().to_string_lossy();
    let key = if has_the_name_of_secrets(file) {
        keys::public_certificate_in(file, text)?
    } else {
        Some(keys::public_key_in(file, text)?)
    };
    Ok(key
        .map(|key| (key, Some(user_id.into_owned())))
        .into_iter()
        .collect())
}

/// What the system says of a file without reading it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stamp {
    size: u64,
    modified: Option<SystemTime>,
    /// Device, inode, and when the inode changed, in seconds and nanoseconds.
    #[cfg(unix)]
    inode: (u64, u64, i64, i64),
}

impl Stamp {
    fn of(metadata: &Metadata) -> Self {
        #[cfg(unix)]
        use std::os::unix::fs::MetadataExt as _;
        Stamp {
            size: metadata.len(),
            modified: metadata.modified().ok(),
            #[cfg(unix)]
            inode: (
                metadata.dev(),
                metadata.ino(),
                metadata.ctime(),
                metadata.ctime_nsec(),
            ),
        }
    }

    /// Whether a change after this time would show in the stamp.
    fn is_older_than(&self, time: SystemTime) -> bool {
        #[cfg(unix)]
        let changed = u64::try_from(self.inode.2)
            .ok()
            .and_then(|seconds| SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(seconds)));
        #[cfg(not(unix))]
        let changed = self.modified;
        changed.is_some_and(|changed| time.duration_since(changed).is_ok_and(|since| since > TICK))
    }
}
