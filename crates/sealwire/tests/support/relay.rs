//! Somebody between two peers.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

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

    pub(crate) fn fall_silent(&self) {
        self.silent.store(true, Ordering::SeqCst);
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
