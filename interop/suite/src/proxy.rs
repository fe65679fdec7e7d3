//! microsocks, a published SOCKS5 proxy, at work in a process of its own.

use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use sealwire::options::SocksProxy;

use crate::program::MICROSOCKS;
use crate::watch::TIMEOUT;

/// Pause between two attempts to reach the process.
const POLL: Duration = Duration::from_millis(5);

/// A running proxy. Killed when dropped.
#[derive(Debug)]
pub struct Proxy {
    process: Child,
    port: u16,
}

impl Proxy {
    /// Starts a proxy on a free port; with a username and a password if it is to ask for them.
    ///
    /// # Panics
    ///
    /// When it cannot be started.
    pub fn start(login: Option<(&str, &str)>) -> Self {
        let deadline = Instant::now() + TIMEOUT;
        while Instant::now() < deadline {
            // It takes no port 0. Another process may be faster; then it ends, and is started again.
            let free = TcpListener::bind("127.0.0.1:0").expect("a free port");
            let port = free.local_addr().expect("it is bound").port();
            drop(free);
            let mut command = Command::new(MICROSOCKS.path());
            command.args(["-i", "127.0.0.1", "-p", &port.to_string()]);
            if let Some((username, password)) = login {
                command.args(["-u", username, "-P", password]);
            }
            let process = command
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
                .expect("it can be started");
            let mut proxy = Proxy { process, port };
            while matches!(proxy.process.try_wait(), Ok(None)) && Instant::now() < deadline {
                if TcpStream::connect(("127.0.0.1", port)).is_ok() {
                    return proxy;
                }
                thread::sleep(POLL);
            }
        }
        panic!("no SOCKS5 proxy in time");
    }

    /// As an option of a socket, without a login.
    pub fn option(&self) -> SocksProxy {
        SocksProxy::new("127.0.0.1", self.port)
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        // Fails only when it has ended already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
