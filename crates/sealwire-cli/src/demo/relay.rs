//! A TCP relay that records what passes, and flips a bit when told to: the eavesdropper and the
//! attacker of the demonstration.

use std::io::{self, Read as _, Write as _};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use crate::exit::{Code, Failure};

/// Bytes of one connection, in each direction.
#[derive(Debug, Clone, Default)]
pub(super) struct Recording {
    pub(super) to_server: Vec<u8>,
    pub(super) to_client: Vec<u8>,
}

impl Recording {
    /// Whether these bytes passed, in either direction.
    pub(super) fn contains(&self, needle: &[u8]) -> bool {
        [&self.to_server, &self.to_client]
            .iter()
            .any(|bytes| bytes.windows(needle.len()).any(|window| window == needle))
    }
}

/// Listens until the program ends.
pub(super) struct Relay {
    address: SocketAddr,
    shared: Arc<RelayState>,
}

#[derive(Default)]
struct RelayState {
    recordings: Mutex<Vec<Recording>>,
    flip_next: AtomicBool,
}

#[derive(Clone, Copy)]
enum Direction {
    ToServer,
    ToClient,
}

impl Relay {
    /// Begins to pass connections on to `server`.
    pub(super) fn start(server: SocketAddr) -> Result<Self, Failure> {
        let failed = |error: io::Error| {
            Failure::new(
                Code::Failed,
                format!("the recording relay cannot listen: {error}"),
            )
        };
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let shared = Arc::new(RelayState::default());
        let relay = Relay {
            address,
            shared: shared.clone(),
        };
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                // A client that cannot be passed on sees its connection close.
                let _ = shared.clone().pass_on(client, server);
            }
        });
        Ok(relay)
    }

    /// The endpoint for clients.
    pub(super) fn endpoint(&self) -> String {
        format!("tcp://{}", self.address)
    }

    /// What connection `index` has sent so far, in the order of their coming.
    pub(super) fn recording(&self, index: usize) -> Recording {
        self.shared
            .recordings()
            .get(index)
            .cloned()
            .unwrap_or_default()
    }

    /// Changes one bit of what the client sends next.
    pub(super) fn flip_a_bit(&self) {
        self.shared.flip_next.store(true, Ordering::SeqCst);
    }
}

impl RelayState {
    fn recordings(&self) -> MutexGuard<'_, Vec<Recording>> {
        self.recordings
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn pass_on(self: Arc<Self>, client: TcpStream, server: SocketAddr) -> io::Result<()> {
        let server = TcpStream::connect(server)?;
        let index = {
            let mut recordings = self.recordings();
            recordings.push(Recording::default());
            recordings.len() - 1
        };
        for stream in [&client, &server] {
            stream.set_nodelay(true)?;
        }
        let (client_too, server_too) = (client.try_clone()?, server.try_clone()?);
        let other = self.clone();
        thread::spawn(move || self.copy(client, server, index, Direction::ToServer));
        thread::spawn(move || other.copy(server_too, client_too, index, Direction::ToClient));
        Ok(())
    }

    fn copy(&self, mut from: TcpStream, mut to: TcpStream, index: usize, direction: Direction) {
        let mut buffer = vec![0; 64 << 10];
        while let Ok(length @ 1..) = from.read(&mut buffer) {
            let bytes = &mut buffer[..length];
            {
                // Recorded before it is passed on: a reader who has seen an answer finds the question.
                let recording = &mut self.recordings()[index];
                match direction {
                    Direction::ToServer => recording.to_server.extend_from_slice(bytes),
                    Direction::ToClient => recording.to_client.extend_from_slice(bytes),
                }
            }
            if matches!(direction, Direction::ToServer)
                && self.flip_next.swap(false, Ordering::SeqCst)
            {
                bytes[length - 1] ^= 0x01;
            }
            if to.write_all(bytes).is_err() {
                break;
            }
        }
        let _ = to.shutdown(Shutdown::Write);
    }
}
