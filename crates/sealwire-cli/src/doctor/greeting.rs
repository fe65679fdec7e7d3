//! The mechanism of a peer that closed before it said so.
//!
//! libzmq reads our greeting to its end before it sends the end of its own, and closes if the mechanisms differ. But it sends all
//! of its own to a peer that has sent no more than signature and version (RFC 37, section "Greeting").

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use sealwire::PeerAddress;

use crate::threads;

/// Signature and major version of ZMTP 3.
const BEGIN: [u8; 11] = [0xff, 0, 0, 0, 0, 0, 0, 0, 1, 0x7f, 3];
const SIZE: usize = 64;

/// Asks on another connection. `None` if it does not say in time.
pub(super) fn mechanism_of(address: &PeerAddress, limit: Duration) -> Option<String> {
    let (sender, answer) = mpsc::channel();
    let address = address.clone();
    // Connecting to a Unix socket may take any time, so that it has a thread which may be left behind.
    threads::spawn(move || {
        let _ = sender.send(connect(&address, limit));
    })
    .ok()?;
    answer.recv_timeout(limit).ok().flatten()
}

fn connect(address: &PeerAddress, limit: Duration) -> Option<String> {
    match address {
        PeerAddress::Tcp(address) => {
            let stream = TcpStream::connect_timeout(address, limit).ok()?;
            stream.set_write_timeout(Some(limit)).ok()?;
            ask(&stream, limit, |left| stream.set_read_timeout(Some(left)))
        }
        #[cfg(unix)]
        PeerAddress::Ipc(path) => {
            let stream = std::os::unix::net::UnixStream::connect(path).ok()?;
            stream.set_write_timeout(Some(limit)).ok()?;
            ask(&stream, limit, |left| stream.set_read_timeout(Some(left)))
        }
        _ => None,
    }
}

/// `limit_read` sets how long the next read may take.
fn ask<S>(
    mut stream: &S,
    limit: Duration,
    limit_read: impl Fn(Duration) -> std::io::Result<()>,
) -> Option<String>
where
    for<'a> &'a S: Read + Write,
{
    let deadline = Instant::now() + limit;
    stream.write_all(&BEGIN).ok()?;
    let mut greeting = [0; SIZE];
    let mut filled = 0;
    while filled < SIZE {
        let left = deadline.checked_duration_since(Instant::now())?;
        limit_read(left.max(Duration::from_millis(1))).ok()?;
        match stream.read(&mut greeting[filled..]).ok()? {
            0 => return None,
            read => filled += read,
        }
    }
    parse(&greeting)
}

/// The name between version and role, without the zeros that fill it up.
fn parse(greeting: &[u8; SIZE]) -> Option<String> {
    if greeting[0] != 0xff || greeting[9] != 0x7f || greeting[10] < 3 {
        return None;
    }
    let name = greeting[12..32].split(|byte| *byte == 0).next()?;
    (!name.is_empty()).then(|| name.escape_ascii().to_string())
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::net::TcpListener;
    use std::thread;

    use super::*;

    fn greeting(mechanism: &[u8]) -> [u8; SIZE] {
        let mut greeting = [0; SIZE];
        greeting[..11].copy_from_slice(&BEGIN);
        greeting[11] = 1;
        greeting[12..12 + mechanism.len()].copy_from_slice(mechanism);
        greeting
    }

    #[test]
    fn the_name_stands_behind_the_version() {
        assert_eq!(parse(&greeting(b"CURVE")).as_deref(), Some("CURVE"));
        let whole = [b'M'; 20];
        assert_eq!(parse(&greeting(&whole)).as_deref(), Some(&*"M".repeat(20)));
        assert_eq!(parse(&greeting(b"\x1bX")).as_deref(), Some("\\x1bX"));
        assert_eq!(parse(&greeting(b"")), None);
        for (position, wrong) in [(0, 0xfe), (9, 0x7e), (10, 2)] {
            let mut greeting = greeting(b"CURVE");
            greeting[position] = wrong;
            assert_eq!(parse(&greeting), None, "byte {position}");
        }
    }

    /// What a peer answers that reads 11 bytes first.
    fn asked(
        answer: impl FnOnce(&mut TcpStream) -> io::Result<()> + Send + 'static,
    ) -> Option<String> {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = PeerAddress::Tcp(listener.local_addr().unwrap());
        let peer = thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut begin = [0; 11];
            stream.read_exact(&mut begin).unwrap();
            assert_eq!(begin, BEGIN);
            answer(&mut stream)
        });
        let found = mechanism_of(&address, Duration::from_secs(30));
        peer.join().unwrap().unwrap();
        found
    }

    #[test]
    fn a_peer_is_asked_with_signature_and_version() {
        let in_parts = |stream: &mut TcpStream| {
            for part in greeting(b"PLAIN").chunks(10) {
                stream.write_all(part)?;
            }
            Ok(())
        };
        assert_eq!(asked(in_parts).as_deref(), Some("PLAIN"));
        let closes_early = |stream: &mut TcpStream| stream.write_all(&greeting(b"PLAIN")[..63]);
        assert_eq!(asked(closes_early), None);
    }
}
