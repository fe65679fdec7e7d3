//! Between two peers that speak TCP.

use std::io::{self, BufRead, BufReader, Write as _};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use crate::{Format, Script, TIME_LIMIT};

/// Where clients believe the server to be.
#[derive(Debug)]
pub struct Relay {
    listener: TcpListener,
    server: SocketAddr,
    /// Of what goes to the server, and of what goes to the client.
    formats: [Format; 2],
}

impl Relay {
    /// Listens in the server's place, at a port of its own.
    ///
    /// # Panics
    ///
    /// If the system has no port left.
    #[must_use]
    pub fn before(server: SocketAddr, format: Format) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        Relay {
            listener,
            server,
            formats: [format.clone(), format],
        }
    }

    /// Another format for what the server says.
    #[must_use]
    pub fn with_format_to_client(mut self, format: Format) -> Self {
        self.formats[1] = format;
        self
    }

    /// Where to connect to instead.
    ///
    /// # Panics
    ///
    /// If the system has lost the listener.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.listener.local_addr().expect("it is bound")
    }

    /// The same as an endpoint.
    #[must_use]
    pub fn endpoint(&self) -> String {
        format!("tcp://{}", self.address())
    }

    /// Takes the next client, connects to the server on its behalf, and follows the scripts.
    ///
    /// # Panics
    ///
    /// If no client comes within [`TIME_LIMIT`], or the server does not accept.
    #[must_use]
    pub fn carry(&self, to_server: Script, to_client: Script) -> Carried {
        let limited = socket2::SockRef::from(&self.listener);
        limited
            .set_read_timeout(Some(TIME_LIMIT))
            .expect("a time limit");
        let (client, _) = self.listener.accept().expect("a client");
        let carried = self.connect(client, [to_server, to_client]);
        carried.expect("the server accepts")
    }

    /// Takes every client from now on, with scripts of its own, until the process ends. A client that comes while
    /// the server does not accept is turned away.
    pub fn carry_all(self, mut scripts: impl FnMut() -> [Script; 2] + Send + 'static) {
        thread::spawn(move || {
            while let Ok((client, _)) = self.listener.accept() {
                if let Ok(carried) = self.connect(client, scripts()) {
                    carried.let_go();
                }
            }
        });
    }

    fn connect(&self, client: TcpStream, scripts: [Script; 2]) -> io::Result<Carried> {
        let server = TcpStream::connect(self.server)?;
        let address = server.local_addr()?;
        let streams = [client, server].map(Arc::new);
        for stream in &streams {
            stream.set_nodelay(true)?;
        }
        let [from_client, from_server] = streams.clone();
        let [client, server] = streams.clone().map(Writer::new);
        let [to_server, to_client] = scripts;
        let [format_to_server, format_to_client] = self.formats.clone();
        let pumps = [
            Pump {
                from: from_client,
                back: client.clone(),
                to: server.clone(),
                script: to_server,
                format: format_to_server,
            },
            Pump {
                from: from_server,
                back: server,
                to: client,
                script: to_client,
                format: format_to_client,
            },
        ];
        let threads = pumps.map(|pump| thread::spawn(move || pump.run()));
        Ok(Carried {
            address,
            threads: threads.into(),
            streams: streams.into(),
        })
    }
}

/// One connection through the relay. Both its halves end when it is dropped.
#[derive(Debug)]
pub struct Carried {
    /// The address under which the server knows the client.
    pub address: SocketAddr,
    streams: Vec<Arc<TcpStream>>,
    threads: Vec<JoinHandle<()>>,
}

impl Carried {
    /// Leaves it to the peers to end it.
    fn let_go(mut self) {
        self.streams.clear();
        self.threads.clear();
    }
}

impl Drop for Carried {
    fn drop(&mut self) {
        for stream in &self.streams {
            // Already closed by the other end, perhaps.
            let _ = stream.shutdown(Shutdown::Both);
        }
        for thread in self.threads.drain(..) {
            if thread.join().is_err() && !thread::panicking() {
                panic!("a script panicked");
            }
        }
    }
}

/// One end for two directions: a whole unit is written at a time.
#[derive(Clone)]
struct Writer(Arc<Mutex<Arc<TcpStream>>>);

impl Writer {
    fn new(stream: Arc<TcpStream>) -> Self {
        Writer(Arc::new(Mutex::new(stream)))
    }

    fn write(&self, bytes: &[u8], one_by_one: bool) -> io::Result<()> {
        let stream = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let piece = if one_by_one { 1 } else { usize::MAX };
        bytes
            .chunks(piece)
            .try_for_each(|piece| (&**stream).write_all(piece))
    }

    fn shutdown(&self, how: Shutdown) -> io::Result<()> {
        let stream = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        stream.shutdown(how)
    }
}

/// One direction of a connection.
struct Pump {
    from: Arc<TcpStream>,
    back: Writer,
    to: Writer,
    script: Script,
    format: Format,
}

impl Pump {
    fn run(mut self) {
        let from = self.from.clone();
        let mut reader = BufReader::new(&*from);
        // A connection that breaks is what most attacks end with.
        let _ = self.pump(&mut reader);
        let _ = self.to.shutdown(Shutdown::Write);
        // Bytes that nobody reads would reset the connection, and what it carried before could be lost.
        let _ = io::copy(&mut reader, &mut io::sink());
    }

    fn pump(&mut self, reader: &mut impl BufRead) -> io::Result<()> {
        for index in 0.. {
            let Some(unit) = self.format.read_unit(reader, index)? else {
                break;
            };
            let act = (self.script)(index, unit);
            self.back.write(&act.back, false)?;
            if act.cut {
                // First, so that no answer to what goes on gets through.
                self.back.shutdown(Shutdown::Write)?;
            }
            self.to.write(&act.forward, act.one_by_one)?;
            if act.cut {
                break;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use super::*;
    use crate::{Act, honest};

    #[test]
    fn what_went_before_a_cut_arrives_though_the_other_side_goes_on() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let units = Format::Sized {
            first: Vec::new(),
            then: 4,
        };
        let relay = Relay::before(listener.local_addr().expect("an address"), units);
        let mut client = TcpStream::connect(relay.address()).expect("it listens");
        let cut = Box::new(|_, unit: Vec<u8>| Act::forward_and_cut(unit));
        let _carried = relay.carry(honest(), cut);
        let (mut server, _) = listener.accept().expect("the relay");
        server.write_all(b"saidlost").expect("the relay reads");
        // The end that the server sees comes behind what the client sees.
        assert_eq!(server.read(&mut [0]).expect("an end"), 0);
        client.write_all(&[7; 100_000]).expect("nothing is reset");
        let mut heard = Vec::new();
        client.read_to_end(&mut heard).expect("nothing is reset");
        assert_eq!(heard, b"said");
    }
}
