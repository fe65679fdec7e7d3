//! Two ends of one connection, without sockets, queues or threads: the protocol state machines and
//! the bytes between them.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::{Buf as _, BufMut as _, Bytes, BytesMut};
use sealwire::default_provider;
use sealwire_zmtp::mechanism::{
    Blake3Client, Blake3Server, CookieKeys, CurveClient, CurveServer, DataPhase, FrameOrder,
};
use sealwire_zmtp::{
    Config, Connection, Entropy, Event, Frames, KeyPair, MechanismConfig, Provider, SecretKey,
    SocketType,
};
use zeroize::Zeroizing;

use super::in_memory::{Channel, InMemory};
use super::{BLAKE3, CURVE};
use crate::{Error, failed};

/// Those of the compared that are protocol state machines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Contender {
    Blake3,
    Curve,
}

impl Contender {
    pub(super) const ALL: [Contender; 2] = [Contender::Blake3, Contender::Curve];

    fn name(self) -> &'static str {
        match self {
            Contender::Blake3 => BLAKE3,
            Contender::Curve => CURVE,
        }
    }
}

/// No deadline is ever due: the clock of these connections stands still.
pub(super) const NOW: Duration = Duration::ZERO;

/// What all connections between the same two parties share.
pub(super) struct Parties {
    contender: Contender,
    provider: Arc<dyn Provider>,
    client: Arc<Config>,
    server: Arc<Config>,
}

impl Parties {
    pub(super) fn new(contender: Contender) -> Result<Self, Error> {
        let cookies = Arc::new(Mutex::new(CookieKeys::new(*random::<32>()?)));
        let pair = || -> Result<KeyPair, Error> {
            let secret = random::<32>()?;
            Ok(KeyPair::from_secret(SecretKey::from_bytes(*secret)))
        };
        let (ours, theirs) = (pair()?, pair()?);
        let server_key = theirs.public();
        let (client, server) = match contender {
            Contender::Blake3 => (
                MechanismConfig::from(Blake3Client {
                    server_key,
                    keys: Some(ours),
                    data_phase: DataPhase::PerMessageNonces,
                }),
                MechanismConfig::from(Blake3Server {
                    keys: theirs,
                    additional_keys: Vec::new(),
                    cookies,
                    data_phase: DataPhase::PerMessageNonces,
                }),
            ),
            Contender::Curve => (
                MechanismConfig::from(CurveClient {
                    server_key,
                    keys: Some(ours),
                    frame_order: FrameOrder::default(),
                }),
                MechanismConfig::from(CurveServer {
                    keys: theirs,
                    additional_key: None,
                    cookies,
                    frame_order: FrameOrder::default(),
                }),
            ),
        };
        let config = |socket_type, mechanism| {
            let mut config = Config::new(socket_type);
            config.mechanism = mechanism;
            Arc::new(config)
        };
        Ok(Parties {
            contender,
            provider: default_provider(),
            client: config(SocketType::Push, client),
            server: config(SocketType::Pull, server),
        })
    }

    pub(super) fn client(&self) -> Result<End, Error> {
        End::new(&self.client, &self.provider)
    }

    pub(super) fn server(&self) -> Result<End, Error> {
        End::new(&self.server, &self.provider)
    }

    pub(super) fn name(&self) -> &'static str {
        self.contender.name()
    }

    /// Both ends, with the handshake done.
    fn connected(&self) -> Result<[End; 2], Error> {
        let (mut client, mut server) = (self.client()?, self.server()?);
        while !(client.is_ready() && server.is_ready()) {
            let before = client.moved + server.moved;
            client.send_to(&mut server)?;
            server.send_to(&mut client)?;
            if client.moved + server.moved == before {
                return Err(failed("the handshake does not go on"));
            }
        }
        Ok([client, server])
    }
}

impl InMemory for Parties {
    fn name(&self) -> &'static str {
        Parties::name(self)
    }

    fn connect(&self) -> Result<Box<dyn Channel>, Error> {
        let [client, server] = self.connected()?;
        Ok(Box::new(Ends { client, server }))
    }
}

/// Both sides of a connection; the messages go to the server.
struct Ends {
    client: End,
    server: End,
}

impl Channel for Ends {
    fn seal(&mut self, payloads: Vec<Bytes>) -> Result<(), Error> {
        for payload in payloads {
            self.client.stage(payload)?;
        }
        self.client.seal();
        Ok(())
    }

    fn carry(&mut self) {
        let mut wire = BytesMut::new();
        self.client.take_output(&mut wire);
        *self.server.input() = wire;
    }

    fn open(&mut self) -> Result<(usize, usize), Error> {
        self.server.open()?;
        Ok(self.server.take_messages())
    }
}

/// One side of a connection.
pub(super) struct End {
    protocol: Connection,
    input: BytesMut,
    received: VecDeque<Frames>,
    /// Bytes that were taken out.
    moved: usize,
}

impl End {
    fn new(config: &Arc<Config>, provider: &Arc<dyn Provider>) -> Result<Self, Error> {
        let entropy = Entropy::new(*random::<{ Entropy::SIZE }>()?);
        Ok(End {
            protocol: Connection::new(config.clone(), provider.clone(), entropy, NOW),
            input: BytesMut::new(),
            received: VecDeque::new(),
            moved: 0,
        })
    }

    pub(super) fn is_ready(&self) -> bool {
        self.protocol.is_ready()
    }

    /// Stages a message.
    pub(super) fn stage(&mut self, payload: Bytes) -> Result<(), Error> {
        self.protocol.send(Frames::single(payload)).map_err(failed)
    }

    /// Seals what is staged and says how many bytes are to be written.
    fn seal(&mut self) -> usize {
        self.protocol.transmit().remaining()
    }

    /// Moves what is sealed behind `into`.
    pub(super) fn take_output(&mut self, into: &mut BytesMut) {
        loop {
            let mut output = self.protocol.transmit();
            let size = output.remaining();
            if size == 0 {
                return;
            }
            into.put(&mut output);
            self.moved += size;
        }
    }

    /// Where received bytes are to be put.
    pub(super) fn input(&mut self) -> &mut BytesMut {
        &mut self.input
    }

    /// Takes in and opens what was put into [`input`](Self::input).
    pub(super) fn open(&mut self) -> Result<(), Error> {
        self.protocol
            .receive(&mut self.input, NOW)
            .map_err(failed)?;
        if !self.protocol.is_ready() {
            while let Some(event) = self.protocol.poll_event() {
                if let Event::Authorize(_) = event {
                    self.protocol.authorize(Ok(None), NOW).map_err(failed)?;
                }
            }
        }
        Ok(())
    }

    /// Takes what was received: messages and their bytes.
    pub(super) fn take_messages(&mut self) -> (usize, usize) {
        // The rest of the handshake.
        while self.protocol.has_events() {
            let taken = self
                .protocol
                .take_messages(&mut self.received, usize::MAX, usize::MAX);
            if taken == 0 && !matches!(self.protocol.poll_event(), None | Some(Event::Ready(_))) {
                break;
            }
        }
        let bytes = self.received.iter().map(Frames::size).sum();
        let count = self.received.len();
        self.received.clear();
        (count, bytes)
    }

    fn send_to(&mut self, other: &mut End) -> Result<(), Error> {
        self.take_output(&mut other.input);
        other.open()
    }
}

fn random<const N: usize>() -> Result<Zeroizing<[u8; N]>, Error> {
    let mut bytes = Zeroizing::new([0; N]);
    getrandom::fill(&mut bytes[..]).map_err(failed)?;
    Ok(bytes)
}
