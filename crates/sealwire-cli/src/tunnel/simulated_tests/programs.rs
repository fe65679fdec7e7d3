//! Programs at both ends of a tunnel. Each sends a stream that its number decides about, ends it, and reads
//! what comes until that ends.

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::SocketAddr;

use sealwire::simulation::{Network, Scene, SimulatedListener, address};

use super::world::Socket;
use super::{CLIENTS, CONNECTOR, PORT, PROGRAMS};
use crate::tunnel::world::Stream as _;

/// What each stream of a client begins with; strangers do not know it.
const MAGIC: u32 = 0x7365_616c;
const HEADER: usize = 8;

/// Where programs run, and how much they send.
#[derive(Clone)]
pub(super) struct Stand {
    pub(super) network: Network,
    pub(super) most: u64,
}

/// The bytes of one direction of an exchange.
#[derive(Clone, Copy)]
struct Text {
    number: u32,
    is_answer: bool,
    length: usize,
}

impl Text {
    fn new(number: u32, is_answer: bool, stand: &Stand) -> Self {
        let mixed = u64::from(number) * 2 + u64::from(is_answer);
        let length = mixed.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20;
        Text {
            number,
            is_answer,
            length: HEADER + (length % stand.most) as usize,
        }
    }

    fn byte(&self, at: usize) -> u8 {
        match at {
            0..4 => MAGIC.to_be_bytes()[at],
            4..HEADER => self.number.to_be_bytes()[at - 4],
            _ => {
                (at.wrapping_mul(31) ^ at >> 8) as u8 ^ self.number as u8 ^ u8::from(self.is_answer)
            }
        }
    }
}

/// A text that goes out.
struct Sending {
    text: Text,
    sent: usize,
    is_finished: bool,
}

impl Sending {
    fn new(text: Text) -> Self {
        Sending {
            text,
            sent: 0,
            is_finished: false,
        }
    }

    /// Sends some of it.
    fn go_on(&mut self, socket: &mut Socket, scene: &Scene) -> Result<(), ErrorKind> {
        if self.sent == self.text.length {
            if !std::mem::replace(&mut self.is_finished, true) {
                socket.finish();
            }
            return Ok(());
        }
        let most = 1 + scene.below(10_000) as usize;
        let end = self.text.length.min(self.sent + most);
        let bytes: Vec<_> = (self.sent..end).map(|at| self.text.byte(at)).collect();
        match socket.write(&bytes) {
            Ok(count) => self.sent += count,
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            Err(error) => return Err(error.kind()),
        }
        Ok(())
    }
}

/// Reads what there is. `None` at the end.
fn read(socket: &mut Socket, scene: &Scene) -> Result<Option<Vec<u8>>, ErrorKind> {
    let mut bytes = vec![0; 1 + scene.below(10_000) as usize];
    match socket.read(&mut bytes) {
        Ok(0) => Ok(None),
        Ok(count) => {
            bytes.truncate(count);
            Ok(Some(bytes))
        }
        Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(Some(Vec::new())),
        Err(error) => Err(error.kind()),
    }
}

/// A text that comes: a prefix of it, and at its end all of it.
struct Receiving {
    text: Text,
    received: usize,
}

impl Receiving {
    fn take(&mut self, bytes: &[u8]) {
        for byte in bytes {
            let at = self.received;
            assert!(at < self.text.length, "more than was sent");
            assert_eq!(*byte, self.text.byte(at), "at {at} of {}", self.text.number);
            self.received += 1;
        }
    }

    fn end(&self) {
        let (received, length) = (self.received, self.text.length);
        assert_eq!(
            received, length,
            "an end before the end of {}",
            self.text.number
        );
    }
}

/// A program that connects through the tunnel again until it has sent and received all.
pub(super) struct Client {
    stand: Stand,
    first: u32,
    attempts: u32,
    attempt: Option<(Socket, Sending, Receiving)>,
    is_done: bool,
}

impl Client {
    pub(super) fn new(stand: &Stand, first: u32) -> Self {
        Client {
            stand: stand.clone(),
            first,
            attempts: 0,
            attempt: None,
            is_done: false,
        }
    }

    pub(super) fn is_done(&self) -> bool {
        self.is_done
    }

    /// Attempts that did not come to their end.
    pub(super) fn failures(&self) -> u32 {
        self.attempts - 1
    }

    pub(super) fn go_on(&mut self, scene: &Scene) {
        if self.is_done {
            return;
        }
        let Some((socket, sending, receiving)) = &mut self.attempt else {
            return self.begin();
        };
        let outcome = match socket.connected() {
            None => return,
            Some(Err(_)) => Err(ErrorKind::ConnectionRefused),
            Some(Ok(())) => match (sending.go_on(socket, scene), read(socket, scene)) {
                (_, Ok(Some(bytes))) => {
                    receiving.take(&bytes);
                    return;
                }
                (Ok(()), Ok(None)) if !sending.is_finished => return,
                (_, Ok(None)) => Ok(()),
                (_, Err(error)) => Err(error),
            },
        };
        if outcome.is_ok() {
            receiving.end();
            self.is_done = true;
        }
        self.attempt = None;
    }

    fn begin(&mut self) {
        let connector = (address(CONNECTOR), PORT).into();
        let Ok(stream) = self.stand.network.connect(address(PROGRAMS), connector) else {
            // No descriptor is left.
            return;
        };
        let number = self.first + CLIENTS * self.attempts;
        self.attempts += 1;
        let text = |is_answer| Text::new(number, is_answer, &self.stand);
        let receiving = Receiving {
            text: text(true),
            received: 0,
        };
        self.attempt = Some((Socket::new(stream), Sending::new(text(false)), receiving));
    }
}

/// What programs connect to.
pub(super) struct Service {
    stand: Stand,
    listener: SimulatedListener,
    served: Vec<Served>,
}

/// One connection to it.
struct Served {
    socket: Socket,
    header: Vec<u8>,
    /// Once it is known who it is.
    exchange: Option<(Sending, Receiving)>,
    has_ended: bool,
}

impl Service {
    pub(super) fn new(stand: &Stand, address: SocketAddr) -> Self {
        Service {
            stand: stand.clone(),
            listener: stand.network.listen(address).unwrap(),
            served: Vec::new(),
        }
    }

    pub(super) fn go_on(&mut self, scene: &Scene) {
        if let Ok((stream, _)) = self.listener.accept() {
            self.served.push(Served {
                socket: Socket::new(stream),
                header: Vec::new(),
                exchange: None,
                has_ended: false,
            });
        }
        let stand = &self.stand;
        self.served
            .retain_mut(|served| served.go_on(stand, scene).is_ok_and(|goes_on| goes_on));
    }
}

impl Served {
    /// Whether it goes on.
    fn go_on(&mut self, stand: &Stand, scene: &Scene) -> Result<bool, ErrorKind> {
        if let Some((sending, _)) = &mut self.exchange {
            sending.go_on(&mut self.socket, scene)?;
            if self.has_ended {
                return Ok(!sending.is_finished);
            }
        }
        let Some(mut bytes) = read(&mut self.socket, scene)? else {
            self.has_ended = true;
            if let Some((_, receiving)) = &self.exchange {
                receiving.end();
            }
            return Ok(self.exchange.is_some());
        };
        if self.exchange.is_none() {
            self.header.extend(&bytes);
            if self.header.len() < HEADER {
                return Ok(true);
            }
            bytes = std::mem::take(&mut self.header);
            if bytes[..4] != MAGIC.to_be_bytes() {
                // A stranger, whom the connector does not know from others.
                return Ok(false);
            }
            let number = u32::from_be_bytes(bytes[4..HEADER].try_into().unwrap());
            let text = |is_answer| Text::new(number, is_answer, stand);
            let receiving = Receiving {
                text: text(false),
                received: 0,
            };
            self.exchange = Some((Sending::new(text(true)), receiving));
        }
        let (_, receiving) = self.exchange.as_mut().expect("it is known");
        receiving.take(&bytes);
        Ok(true)
    }
}
