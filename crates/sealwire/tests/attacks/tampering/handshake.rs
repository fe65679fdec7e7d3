//! The same done to a command of a handshake: HELLO, WELCOME, INITIATE or READY.
//!
//! The client has a message from the beginning. It must not arrive unless the client had READY in time.

use std::net::SocketAddr;

use sealwire::blocking::Socket;
use sealwire::{Event, Monitor, SocketType};
use sealwire_relay::{
    Direction, Format, Manipulation, Material, Outcome, Recording, Relay, honest,
};

use super::protocol::Protocol;
use super::seen::{Seen, wait_for};
use crate::memory;

/// In the order in which they are sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Command {
    Hello,
    Welcome,
    Initiate,
    Ready,
}

impl Command {
    const ALL: [Command; 4] = [
        Command::Hello,
        Command::Welcome,
        Command::Initiate,
        Command::Ready,
    ];

    fn direction(self) -> Direction {
        match self {
            Command::Hello | Command::Initiate => Direction::ToServer,
            Command::Welcome | Command::Ready => Direction::ToClient,
        }
    }

    fn is_last(self) -> bool {
        matches!(self, Command::Initiate | Command::Ready)
    }
}

impl Protocol {
    pub(super) fn attack_handshakes(&self) {
        let _shared = memory::shared();
        for command in Command::ALL {
            for manipulation in Manipulation::ALL {
                if manipulation == Manipulation::Replay {
                    continue;
                }
                let attempt = Attempt {
                    protocol: self,
                    command,
                    manipulation,
                };
                attempt.run();
            }
        }
    }
}

struct Attempt<'p> {
    protocol: &'p Protocol,
    command: Command,
    manipulation: Manipulation,
}

impl Attempt<'_> {
    fn run(&self) {
        let what = || {
            let name = self.protocol.name;
            format!("{name}, {:?}: {}", self.command, self.manipulation)
        };
        let (server, address) = self.protocol.server(SocketType::Pull);
        let at_server = server.monitor();
        let spliced = match self.manipulation {
            Manipulation::Splice => self.record(&server, address),
            _ => Vec::new(),
        };
        let to_server = self.command.direction() == Direction::ToServer;
        let forged = self.protocol.format.forge(to_server, b"forged");
        let material = Material { spliced, forged };
        let script = self.manipulation.script(self.unit(), material);
        let script = script.expect("it is done to a unit");
        let relay = Relay::before(address, self.protocol.format.clone());
        let client = self.client();
        let at_client = client.monitor();
        let endpoint = self.protocol.endpoint(relay.address());
        client.connect(endpoint).unwrap();
        let carried = match to_server {
            true => relay.carry(script, honest()),
            false => relay.carry(honest(), script),
        };

        if !self.both_wait() {
            let (monitor, of) = match self.server_notices() {
                true => (&at_server, Some(carried.address)),
                false => (&at_client, None),
            };
            let seen = wait_for(what, || Seen::next(monitor, of)).outcome;
            let once_ready = match self.manipulation {
                Manipulation::End => Outcome::LikeAnEnd,
                _ => Outcome::Garbled,
            };
            // What follows INITIATE may be there before it is decided about.
            let not_ready = !self.was_ready() || self.command == Command::Initiate;
            let fits = self.was_ready() && once_ready.covers(seen)
                || not_ready && seen == Outcome::Refused;
            assert!(fits, "{}: {seen}", what());
        }
        let other = self.protocol.client(SocketType::Push);
        other.connect(self.protocol.endpoint(address)).unwrap();
        other.send("honest").unwrap();
        let mut delivered = server.recv().unwrap();
        let has_ready = self.command == Command::Ready && self.was_ready();
        if has_ready && delivered.as_bytes() == b"early" {
            delivered = server.recv().unwrap();
        }
        assert_eq!(delivered.as_bytes(), b"honest", "{}", what());
        assert!(has_ready || !is_ready(&at_client), "{}", what());
    }

    /// A client with a message for the server that lets it in.
    fn client(&self) -> Socket {
        let options = self.protocol.client_options(SocketType::Push);
        options.hello_message("early").build_blocking().unwrap()
    }

    /// The command in the handshake of another connection.
    fn record(&self, server: &Socket, address: SocketAddr) -> Vec<u8> {
        let recording = Recording::default();
        let relay = Relay::before(address, self.protocol.format.clone());
        let client = self.client();
        client
            .connect(self.protocol.endpoint(relay.address()))
            .unwrap();
        let directions = [Direction::ToServer, Direction::ToClient];
        let [to_server, to_client] = directions.map(|direction| recording.script(direction));
        let _carried = relay.carry(to_server, to_client);
        assert_eq!(server.recv().unwrap().as_bytes(), b"early");
        recording.sent(self.command.direction())[self.unit()].clone()
    }

    /// The greeting stands before it, and before that the head of an HTTP request or response.
    fn unit(&self) -> usize {
        let heads = usize::from(matches!(self.protocol.format, Format::WebSocket));
        1 + heads + usize::from(self.command.is_last())
    }

    /// Nobody has said anything wrong yet.
    fn both_wait(&self) -> bool {
        matches!(
            self.manipulation,
            Manipulation::Drop | Manipulation::Reorder | Manipulation::Shorten
        )
    }

    fn server_notices(&self) -> bool {
        let to_server = self.command.direction() == Direction::ToServer;
        match (self.manipulation, self.command) {
            // Whose HELLO it is comes out at the client, which cannot read the answer.
            (Manipulation::Splice, Command::Hello) => false,
            (Manipulation::Reflect, _) => !to_server,
            _ => to_server,
        }
    }

    /// Whether the side that notices had all it needs before.
    fn was_ready(&self) -> bool {
        match self.manipulation {
            Manipulation::Repeat | Manipulation::End => self.command.is_last(),
            Manipulation::Reflect => self.command == Command::Ready,
            _ => false,
        }
    }
}

fn is_ready(monitor: &Monitor) -> bool {
    let mut events = std::iter::from_fn(|| monitor.try_next());
    events.any(|event| matches!(event, Event::Ready { .. }))
}
