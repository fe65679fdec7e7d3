//! A ping-pong over TCP with nothing between.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::time::{Duration, Instant};

use crate::{CALL, Error};

pub(crate) struct Client {
    stream: TcpStream,
}

impl Client {
    pub(crate) fn connect(address: &str) -> Result<Self, Error> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        Ok(Client { stream })
    }

    /// Exchanges a second.
    pub(crate) fn exchanges(&mut self, turn: Duration) -> Result<f64, Error> {
        let mut body = [0x5a; CALL];
        let (started, mut done) = (Instant::now(), 0_u32);
        while started.elapsed() < turn {
            self.stream.write_all(&body)?;
            self.stream.read_exact(&mut body)?;
            done += 1;
        }
        Ok(f64::from(done) / started.elapsed().as_secs_f64())
    }
}

/// Answers the first that connects, until it is gone.
pub(crate) fn answer(listener: &TcpListener) -> Result<(), Error> {
    let (mut stream, _) = listener.accept()?;
    stream.set_nodelay(true)?;
    let mut body = [0; CALL];
    while stream.read_exact(&mut body).is_ok() && stream.write_all(&body).is_ok() {}
    Ok(())
}
