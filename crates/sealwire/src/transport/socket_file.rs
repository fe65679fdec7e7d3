//! The file of a Unix socket: who may connect to it, when one that was left behind may be replaced,
//! and which one is removed at the end.
//!
//! A socket that is bound and does not listen yet refuses connections, like one whose process is
//! gone. So from binding to listening every process holds the lock of a file beside it, `PATH.lock`,
//! which exists only for that time. Nobody takes a fresh socket for an abandoned one, and of two
//! processes that find an abandoned one only the first replaces it.

use std::fs::{self, File, Metadata, OpenOptions, TryLockError};
use std::io;
use std::os::fd::AsFd as _;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::{Mode, OFlags, fchmod};
use sealwire_fork::Birth;
use socket2::{Domain, SockAddr, Socket, Type};

/// Bits of a mode that are permissions.
const PERMISSIONS: u32 = 0o777;
/// How long somebody else may take from binding to listening.
const LOCK_LIMIT: Duration = Duration::from_secs(5);
const LOCK_PAUSE: Duration = Duration::from_millis(2);

/// The file of a listening socket. Dropping it removes the file, unless another one lies there by
/// then, or this is a child of the process that made it.
pub(crate) struct SocketFile {
    path: PathBuf,
    device: u64,
    inode: u64,
    birth: Birth,
}

/// Which socket's file gives way to a new one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Replace {
    /// That of a process that is gone.
    Abandoned,
    /// Any: the socket that listens there gets no more connections, and is not told.
    Any,
}

/// Binds a socket there that listens, and that those may connect to who may write to a file of this
/// mode.
pub(super) fn listen(
    path: &Path,
    mode: u32,
    backlog: i32,
    replace: Replace,
) -> io::Result<(Socket, SocketFile)> {
    // The working directory may be another one by the time the file is removed.
    let path = std::path::absolute(path)?;
    let address = SockAddr::unix(&path)?;
    let _lock = Lock::of(&path)?;
    let socket = Socket::new(Domain::UNIX, Type::STREAM, None)?;
    socket.set_nonblocking(true)?;
    // On Linux the file gets the mode of the socket, less what the umask takes off.
    let _ = fchmod(socket.as_fd(), Mode::from_raw_mode(mode));
    match socket.bind(&address) {
        Err(error)
            if error.kind() == io::ErrorKind::AddrInUse && replace.takes(&path, &address) =>
        {
            fs::remove_file(&path)?;
            socket.bind(&address)?;
        }
        outcome => outcome?,
    }
    let file = fs::symlink_metadata(&path)?;
    let bound = SocketFile {
        path,
        device: file.dev(),
        inode: file.ino(),
        birth: Birth::now(),
    };
    // Nobody can connect before it listens.
    if file.mode() & PERMISSIONS != mode {
        bound.set_mode(mode)?;
    }
    socket.listen(backlog)?;
    Ok((socket, bound))
}

impl Replace {
    /// Whether what lies there gives way. Nothing but a socket does.
    fn takes(self, path: &Path, address: &SockAddr) -> bool {
        let is_socket = fs::symlink_metadata(path).is_ok_and(|file| file.file_type().is_socket());
        is_socket && (self == Replace::Any || is_abandoned(address))
    }
}

/// Whether the process of a socket is gone. Any answer but a refusal comes of one that is there, such
/// as that it has no room for another connection now.
fn is_abandoned(address: &SockAddr) -> bool {
    let refused = || {
        let probe = Socket::new(Domain::UNIX, Type::STREAM, None)?;
        probe.set_nonblocking(true)?;
        probe.connect(address)
    };
    refused().is_err_and(|error| error.kind() == io::ErrorKind::ConnectionRefused)
}

impl SocketFile {
    fn is(&self, file: &Metadata) -> bool {
        (file.dev(), file.ino()) == (self.device, self.inode)
    }

    /// By way of a descriptor: what lies at the path may be a link by now.
    #[cfg(target_os = "linux")]
    fn set_mode(&self, mode: u32) -> io::Result<()> {
        use std::os::fd::AsRawFd as _;
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = File::from(rustix::fs::open(&self.path, flags, Mode::empty())?);
        if !self.is(&file.metadata()?) {
            return Err(io::ErrorKind::NotFound.into());
        }
        set_permissions(
            Path::new(&format!("/proc/self/fd/{}", file.as_raw_fd())),
            mode,
        )
    }

    #[cfg(not(target_os = "linux"))]
    fn set_mode(&self, mode: u32) -> io::Result<()> {
        set_permissions(&self.path, mode)
    }
}

fn set_permissions(path: &Path, mode: u32) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(path, fs::Permissions::from_mode(mode))
}

impl Drop for SocketFile {
    fn drop(&mut self) {
        // The socket is open still, so the number of its file belongs to no other.
        if self.birth.is_here() && fs::symlink_metadata(&self.path).is_ok_and(|file| self.is(&file))
        {
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Held from binding to listening.
struct Lock {
    path: PathBuf,
    _file: File,
}

impl Lock {
    fn of(path: &Path) -> io::Result<Self> {
        let mut name = path.as_os_str().to_owned();
        name.push(".lock");
        let path = PathBuf::from(name);
        let deadline = Instant::now() + LOCK_LIMIT;
        loop {
            let file = OpenOptions::new()
                .write(true)
                .create(true)
                .truncate(false)
                .mode(0o600)
                .custom_flags(OFlags::NOFOLLOW.bits() as i32)
                .open(&path)?;
            match file.try_lock() {
                // The previous owner has removed the file meanwhile: then others lock another one.
                Ok(()) if !is_at(&file, &path) => continue,
                Ok(()) => return Ok(Lock { path, _file: file }),
                Err(TryLockError::WouldBlock) if Instant::now() < deadline => {
                    thread::sleep(LOCK_PAUSE);
                }
                Err(TryLockError::WouldBlock) => return Err(io::ErrorKind::AddrInUse.into()),
                Err(TryLockError::Error(error)) => return Err(error),
            }
        }
    }
}

fn is_at(file: &File, path: &Path) -> bool {
    match (file.metadata(), fs::symlink_metadata(path)) {
        (Ok(file), Ok(there)) => (file.dev(), file.ino()) == (there.dev(), there.ino()),
        _ => false,
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // While the lock is held: nobody else can have taken it on this file.
        let _ = fs::remove_file(&self.path);
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixStream;
    use std::sync::Barrier;

    use super::*;

    fn mode_of(path: &Path) -> u32 {
        fs::symlink_metadata(path).unwrap().mode() & PERMISSIONS
    }

    fn names_in(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect()
    }

    #[test]
    fn the_mode_is_what_was_asked_for_and_nothing_else_is_left() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("socket");
        for mode in [0o600, 0o660, 0o666, 0o777, 0o700] {
            let (_socket, file) = listen(&path, mode, 5, Replace::Abandoned).unwrap();
            assert_eq!(mode_of(&path), mode, "{mode:o}");
            assert_eq!(names_in(folder.path()), ["socket"]);
            drop(file);
            assert!(names_in(folder.path()).is_empty());
        }
    }

    #[test]
    fn only_its_own_file_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("socket");
        let (_socket, file) = listen(&path, 0o600, 5, Replace::Abandoned).unwrap();
        fs::remove_file(&path).unwrap();
        let (_other, replaced) = listen(&path, 0o600, 5, Replace::Abandoned).unwrap();
        drop(file);
        UnixStream::connect(&path).unwrap();
        fs::rename(&path, folder.path().join("moved")).unwrap();
        fs::write(&path, "precious").unwrap();
        drop(replaced);
        assert_eq!(fs::read(&path).unwrap(), b"precious");
    }

    #[test]
    fn a_server_without_room_is_not_taken_for_one_that_is_gone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("socket");
        let (_socket, _file) = listen(&path, 0o600, 1, Replace::Abandoned).unwrap();
        let address = SockAddr::unix(&path).unwrap();
        // Until the system says that there is no room.
        let mut waiting = Vec::new();
        let refused = loop {
            let client = Socket::new(Domain::UNIX, Type::STREAM, None).unwrap();
            client.set_nonblocking(true).unwrap();
            match client.connect(&address) {
                Ok(()) => waiting.push(client),
                Err(error) => break error.kind(),
            }
        };
        assert_eq!(refused, io::ErrorKind::WouldBlock);
        let error = listen(&path, 0o600, 5, Replace::Abandoned).err().unwrap();
        assert_eq!(error.kind(), io::ErrorKind::AddrInUse);
        assert!(path.exists());
    }

    #[test]
    fn a_socket_gives_way_to_one_that_replaces_any_and_nothing_else_does() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("socket");
        let (_socket, before) = listen(&path, 0o600, 5, Replace::Abandoned).unwrap();
        let refused = listen(&path, 0o600, 5, Replace::Abandoned).err().unwrap();
        assert_eq!(refused.kind(), io::ErrorKind::AddrInUse);
        let (socket, _file) = listen(&path, 0o600, 5, Replace::Any).unwrap();
        // The earlier socket leaves the new file where it is.
        drop(before);
        UnixStream::connect(&path).unwrap();
        socket.accept().unwrap();
        let precious = folder.path().join("precious");
        fs::write(&precious, "text").unwrap();
        let refused = listen(&precious, 0o600, 5, Replace::Any).err().unwrap();
        assert_eq!(refused.kind(), io::ErrorKind::AddrInUse);
        assert_eq!(fs::read(&precious).unwrap(), b"text");
    }

    /// Of many that find a file left behind one replaces it, and nobody removes what that one made.
    #[test]
    fn of_many_that_start_at_once_one_gets_the_place() {
        const STARTS: usize = 8;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("socket");
        for _ in 0..200 {
            drop(std::os::unix::net::UnixListener::bind(&path).unwrap());
            let start = Barrier::new(STARTS);
            let bound: Vec<_> = thread::scope(|scope| {
                let threads: Vec<_> = (0..STARTS)
                    .map(|_| {
                        scope.spawn(|| {
                            start.wait();
                            listen(&path, 0o600, 64, Replace::Abandoned).ok()
                        })
                    })
                    .collect();
                let bound = threads.into_iter().map(|thread| thread.join().unwrap());
                bound.flatten().collect()
            });
            assert_eq!(bound.len(), 1, "listening at the same path");
            UnixStream::connect(&path).unwrap();
            drop(bound);
            assert!(names_in(folder.path()).is_empty());
        }
    }

    #[test]
    fn a_lock_that_is_a_link_is_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("socket");
        let target = folder.path().join("target");
        std::os::unix::fs::symlink(&target, folder.path().join("socket.lock")).unwrap();
        assert!(listen(&path, 0o600, 5, Replace::Abandoned).is_err());
        assert!(!target.exists());
    }
}
