//! The line beside the measured connections, over which subscribers acknowledge. Waiting for it
//! lets an async library's tasks run.

use std::io::{self, Read as _, Write as _};
use std::time::Duration;

use tokio::io::AsyncReadExt as _;
use tokio::runtime::Handle;

use crate::Outcome;

const SIGNS_AT_ONCE: usize = 64;

pub(crate) enum Control {
    Blocking(std::net::TcpStream),
    Async(tokio::net::TcpStream),
}

impl Control {
    pub(crate) fn new(stream: std::net::TcpStream) -> Outcome<Self> {
        stream.set_nodelay(true)?;
        if Handle::try_current().is_err() {
            return Ok(Control::Blocking(stream));
        }
        stream.set_nonblocking(true)?;
        Ok(Control::Async(tokio::net::TcpStream::from_std(stream)?))
    }

    pub(crate) fn give_sign(&mut self) -> Outcome<()> {
        match self {
            Control::Blocking(stream) => stream.write_all(&[0])?,
            // A byte always fits.
            Control::Async(stream) => drop(stream.try_write(&[0])?),
        }
        Ok(())
    }

    /// How many signs came, at least one unless the time is over first. An error ends it all.
    pub(crate) async fn signs(&mut self, limit: Option<Duration>) -> Outcome<usize> {
        let mut signs = [0; SIGNS_AT_ONCE];
        let read = match self {
            Control::Blocking(stream) => {
                stream.set_read_timeout(limit)?;
                stream.read(&mut signs)
            }
            Control::Async(stream) => match limit {
                None => stream.read(&mut signs).await,
                Some(limit) => match tokio::time::timeout(limit, stream.read(&mut signs)).await {
                    Ok(read) => read,
                    Err(_) => return Ok(0),
                },
            },
        };
        match read {
            Ok(0) => Err("the other side is gone".into()),
            Ok(count) => Ok(count),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(0),
            Err(error) => Err(error.into()),
        }
    }
}

/// Lets other tasks and threads run for `time`.
pub(crate) async fn pause(time: Duration) {
    if Handle::try_current().is_ok() {
        tokio::time::sleep(time).await;
    } else {
        std::thread::sleep(time);
    }
}
