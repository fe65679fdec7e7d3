//! The people who take part, and the conversation that is recorded.

use std::net::SocketAddr;

use sealwire::auth::AllowedKeys;
use sealwire::blocking::Socket;
use sealwire::{Endpoint, Generate as _, KeyPair, Message, Monitor, SocketType};

use super::mechanism::DemoMechanism;
use super::relay::Relay;
use super::stage::Stage;
use crate::exit::{Code, Failure};

const QUESTION: &str = "Where do we meet, and when?";
const ANSWER: &str = "At the old lighthouse, an hour before dawn.";

/// The server and those who know of it.
pub(super) struct People {
    pub(super) mechanism: DemoMechanism,
    pub(super) server: Socket,
    pub(super) server_events: Monitor,
    pub(super) server_address: SocketAddr,
    pub(super) server_keys: KeyPair,
    pub(super) alice: KeyPair,
    pub(super) mallory: KeyPair,
}

/// The messages in the clear, between those who may know.
pub(super) struct Exchange {
    pub(super) question: &'static str,
    pub(super) answer: &'static str,
}

impl People {
    pub(super) fn introduce(stage: &mut Stage, mechanism: DemoMechanism) -> Result<Self, Failure> {
        let [server_keys, alice, mallory] = [(); 3].map(|()| KeyPair::generate());
        stage.scene("Keys")?;
        stage.say("Everyone has a key pair; these are the public halves.")?;
        stage.fact("server", server_keys.public())?;
        stage.fact("alice", format_args!("{}  (allowed)", alice.public()))?;
        stage.fact(
            "mallory",
            format_args!("{}  (not allowed)", mallory.public()),
        )?;

        let allowed = AllowedKeys::new().allow_as(alice.public(), "alice");
        let server = Socket::builder(SocketType::Rep)
            .security(mechanism.server(server_keys.clone(), allowed))
            .receive_timeout(stage.timeout())
            .build_blocking()?;
        let server_events = server.monitor();
        let Endpoint::Tcp { host, port } = server.bind("tcp://127.0.0.1:0")? else {
            return Err(Failure::new(Code::Failed, "a TCP endpoint became another"));
        };
        let address = format!("{host}:{port}");
        let server_address = address.parse().map_err(|_| {
            Failure::new(
                Code::Failed,
                format!("the server listens on no address: {address}"),
            )
        })?;
        Ok(People {
            mechanism,
            server,
            server_events,
            server_address,
            server_keys,
            alice,
            mallory,
        })
    }

    /// A client with these keys, not yet connected.
    pub(super) fn client(&self, stage: &Stage, keys: &KeyPair) -> Result<Socket, Failure> {
        let server_key = self.server_keys.public();
        let security = self.mechanism.client(server_key, keys.clone());
        Ok(Socket::builder(SocketType::Req)
            .security(security)
            .receive_timeout(stage.timeout())
            .send_timeout(stage.timeout())
            .linger(std::time::Duration::ZERO)
            .build_blocking()?)
    }

    /// Alice asks and the server answers, through the relay.
    pub(super) fn talk(&self, stage: &mut Stage, relay: &Relay) -> Result<Exchange, Failure> {
        stage.scene("A conversation")?;
        stage.say("Alice is connected to the server through a relay that records every byte.")?;
        let client = self.client(stage, &self.alice)?;
        client.connect(relay.endpoint().as_str())?;
        client.send(QUESTION).map_err(sealwire::Error::from)?;
        let request = self.server.recv()?;
        stage.fact("alice asks", format_args!("\"{QUESTION}\""))?;
        stage.claim(
            request.as_bytes() == QUESTION.as_bytes(),
            "the server reads exactly that",
        )?;
        stage.claim(
            self.is_from_alice(&request),
            "and knows whom it is from: the key is alice's, proved in the handshake",
        )?;
        self.server.send(ANSWER).map_err(sealwire::Error::from)?;
        let answer = client.recv()?;
        stage.fact("the server answers", format_args!("\"{ANSWER}\""))?;
        stage.claim(
            answer.as_bytes() == ANSWER.as_bytes(),
            "alice reads exactly that",
        )?;
        stage.claim(
            answer.peer().and_then(|peer| peer.public_key()) == Some(self.server_keys.public()),
            "and knows that no one but the server can have written it",
        )?;
        client.close()?;
        Ok(Exchange {
            question: QUESTION,
            answer: ANSWER,
        })
    }

    fn is_from_alice(&self, message: &Message) -> bool {
        message.peer().is_some_and(|peer| {
            peer.public_key() == Some(self.alice.public()) && peer.user_id() == Some("alice")
        })
    }
}
