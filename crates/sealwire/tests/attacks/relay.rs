//! A person in the middle: carries the bytes between a client and a server, one greeting or frame
//! at a time, and does with each what a script says.

use std::io::{self, Write as _};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};

use crate::support::TIMEOUT;
use crate::wire;

/// What to do when a greeting or frame came by.
#[derive(Default)]
pub(crate) struct Act {
    /// For the one it was meant for.
    pub(crate) forward: Vec<u8>,
    /// For the one it came from.
    pub(crate) back: Vec<u8>,
    /// Whether to end both connections after that.
    pub(crate) cut: bool,
    /// Whether each byte travels alone.
    pub(crate) one_by_one: bool,
}

impl Act {
    pub(crate) fn forward(bytes: impl Into<Vec<u8>>) -> Act {
        Act {
            forward: bytes.into(),
            ..Act::default()
        }
    }

    pub(crate) fn drop() -> Act {
        Act::default()
    }

    pub(crate) fn reflect(bytes: impl Into<Vec<u8>>) -> Act {
        Act {
            back: bytes.into(),
            ..Act::default()
        }
    }

    pub(crate) fn forward_and_cut(bytes: impl Into<Vec<u8>>) -> Act {
        Act {
            cut: true,
            ..Act::forward(bytes)
        }
    }
}

/// Given the number of the unit in its direction (0 is the greeting) and its bytes.
pub(crate) type Script = Box<dyn FnMut(usize, Vec<u8>) -> Act + Send>;

/// Carries everything as it is.
pub(crate) fn honest() -> Script {
    Box::new(|_, unit| Act::forward(unit))
}

/// Carries everything as it is and keeps a copy.
pub(crate) fn recording(copy: &Arc<Mutex<Vec<Vec<u8>>>>) -> Script {
    let copy = copy.clone();
    Box::new(move |_, unit| {
        copy.lock().unwrap().push(unit.clone());
        Act::forward(unit)
    })
}

/// Where clients believe the server to be.
pub(crate) struct Relay {
    listener: TcpListener,
    server: SocketAddr,
}

impl Relay {
    pub(crate) fn before(server: SocketAddr) -> Relay {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        // Accepting gives up when nobody comes.
        let limited = socket2::SockRef::from(&listener);
        limited.set_read_timeout(Some(TIMEOUT)).unwrap();
        Relay { listener, server }
    }

    pub(crate) fn endpoint(&self) -> String {
        format!("tcp://{}", self.listener.local_addr().unwrap())
    }

    /// Takes the next client, connects to the server on its behalf, and follows the scripts.
    pub(crate) fn carry(&self, to_server: Script, to_client: Script) -> Carried {
        let (client, _) = self.listener.accept().unwrap();
        let server = TcpStream::connect(self.server).unwrap();
        let address = server.local_addr().unwrap();
        let streams = [Arc::new(client), Arc::new(server)];
        // One unit is written at a time, whichever direction it comes from.
        let writers = streams.clone().map(|stream| {
            stream.set_nodelay(true).unwrap();
            Mutex::new(stream)
        });
        let [client_writer, server_writer] = writers.map(Arc::new);
        let threads = [
            Pump {
                from: streams[0].clone(),
                back: client_writer.clone(),
                to: server_writer.clone(),
                script: to_server,
            },
            Pump {
                from: streams[1].clone(),
                back: server_writer,
                to: client_writer,
                script: to_client,
            },
        ]
        .map(|pump| thread::spawn(move || pump.run()))
        .into();
        Carried {
            address,
            streams,
            threads,
        }
    }
}

/// One connection through the relay. Both its halves end when it is dropped.
pub(crate) struct Carried {
    /// The address under which the server knows the client.
    pub(crate) address: SocketAddr,
    streams: [Arc<TcpStream>; 2],
    threads: Vec<JoinHandle<()>>,
}

impl Drop for Carried {
    fn drop(&mut self) {
        for stream in &self.streams {
            // Already closed by the other end, perhaps.
            let _ = stream.shutdown(Shutdown::Both);
        }
        for thread in self.threads.drain(..) {
            thread.join().expect("a script panicked");
        }
    }
}

struct Pump {
    from: Arc<TcpStream>,
    back: Arc<Mutex<Arc<TcpStream>>>,
    to: Arc<Mutex<Arc<TcpStream>>>,
    script: Script,
}

impl Pump {
    fn run(mut self) {
        // A connection that breaks is what most attacks end with.
        let _ = self.pump();
        let _ = self.to.lock().unwrap().shutdown(Shutdown::Write);
    }

    fn pump(&mut self) -> io::Result<()> {
        for index in 0.. {
            let Some(unit) = wire::read_unit(&mut &*self.from, index)? else {
                break;
            };
            let act = (self.script)(index, unit);
            let piece = if act.one_by_one { 1 } else { usize::MAX };
            for piece in act.forward.chunks(piece) {
                write(&self.to, piece)?;
            }
            write(&self.back, &act.back)?;
            if act.cut {
                self.from.shutdown(Shutdown::Both)?;
                self.to.lock().unwrap().shutdown(Shutdown::Both)?;
                break;
            }
        }
        Ok(())
    }
}

fn write(stream: &Mutex<Arc<TcpStream>>, bytes: &[u8]) -> io::Result<()> {
    (&**stream.lock().unwrap()).write_all(bytes)
}
