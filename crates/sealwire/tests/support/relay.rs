//! Somebody between two peers.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use sealwire::{Event, ProtocolError, SocketBuilder};

use super::await_event;

/// Carries the bytes of one connection until it is told to stop, then lets them vanish.
pub(crate) struct Relay {
    pub(crate) address: SocketAddr,
    silent: Arc<AtomicBool>,
}

impl Relay {
    pub(crate) fn to(port: u16) -> Relay {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let silent = Arc::<AtomicBool>::default();
        let told = silent.clone();
        std::thread::spawn(move || {
            let (client, _) = listener.accept().unwrap();
            let server = TcpStream::connect(("127.0.0.1", port)).unwrap();
            for (from, to) in [(&client, &server), (&server, &client)] {
                let (from, to) = (from.try_clone().unwrap(), to.try_clone().unwrap());
                let told = told.clone();
                std::thread::spawn(move || carry(from, to, &told));
            }
        });
        Relay { address, silent }
    }

    /// Connects a socket through it, lets the bytes vanish and waits until heartbeats notice.
    pub(crate) fn its_silence_is_noticed(&self, scheme: &str, connecting: SocketBuilder) {
        let beat = Duration::from_millis;
        let connecting = connecting
            .heartbeat(beat(20), beat(500), beat(500))
            .build_blocking()
            .unwrap();
        let monitor = connecting.monitor();
        let endpoint = format!("{scheme}://{}", self.address);
        connecting.connect(endpoint).unwrap();
        await_event(&monitor, "ready", |event| {
            matches!(event, Event::Ready { .. }).then_some(())
        });
        self.silent.store(true, Ordering::SeqCst);
        let cause = await_event(&monitor, "silence is noticed", |event| match event {
            Event::Failed(failure) if failure.was_ready() => Some(failure.cause().to_string()),
            _ => None,
        });
        assert_eq!(cause, ProtocolError::HeartbeatTimeout.to_string());
    }
}

fn carry(mut from: TcpStream, mut to: TcpStream, silent: &AtomicBool) {
    let mut buffer = [0; 4_096];
    while let Ok(length @ 1..) = from.read(&mut buffer) {
        if !silent.load(Ordering::SeqCst) && to.write_all(&buffer[..length]).is_err() {
            return;
        }
    }
}
