//! The groups of the process at the other end of a Unix socket (`SO_PEERGROUPS`, `unix(7)`).

use std::io;
use std::os::fd::{AsFd, AsRawFd as _};

use libc::{gid_t, socklen_t};

/// Groups for which there is room at first; most processes have fewer.
const USUAL: usize = 32;

/// Returns the supplementary groups that the process at the other end had when it connected or began to listen.
///
/// # Errors
///
/// Those of `getsockopt`, where the socket is not a Unix socket with a peer, for example.
pub fn peer_groups(socket: impl AsFd) -> io::Result<Vec<u32>> {
    let socket = socket.as_fd();
    let mut groups: Vec<gid_t> = vec![0; USUAL];
    loop {
        let mut size = socklen_t::try_from(size_of_val(&*groups)).unwrap_or(socklen_t::MAX);
        // SAFETY: the descriptor is open. The vector has room for as many bytes as `size` says, and any bytes are numbers of
        // groups. The system writes no more, and says in `size` how many there are.
        let outcome = unsafe {
            libc::getsockopt(
                socket.as_raw_fd(),
                libc::SOL_SOCKET,
                libc::SO_PEERGROUPS,
                groups.as_mut_ptr().cast(),
                &raw mut size,
            )
        };
        let count = size as usize / size_of::<gid_t>();
        if outcome == 0 {
            groups.truncate(count);
            return Ok(groups);
        }
        let error = io::Error::last_os_error();
        if error.raw_os_error() != Some(libc::ERANGE) || count <= groups.len() {
            return Err(error);
        }
        groups.resize(count, 0);
    }
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream};
    use std::os::unix::net::UnixStream;

    use super::*;

    /// As the system tells of this process.
    fn own() -> Vec<u32> {
        let status = std::fs::read_to_string("/proc/self/status").unwrap();
        let groups = status.lines().find_map(|line| line.strip_prefix("Groups:"));
        let groups = groups.unwrap().split_whitespace();
        groups.map(|group| group.parse().unwrap()).collect()
    }

    #[test]
    fn the_groups_are_those_of_the_peer() {
        let (one, _other) = UnixStream::pair().unwrap();
        let mut groups = peer_groups(&one).unwrap();
        groups.sort_unstable();
        let mut expected = own();
        expected.sort_unstable();
        assert_eq!(groups, expected);
    }

    #[test]
    fn there_are_none_over_tcp() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let stream = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        assert!(peer_groups(&stream).is_err());
    }
}
