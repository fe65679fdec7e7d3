//! The client's side of the handshake.
//!
//! Source: CurveZMQ (RFC 26).

use alloc::boxed::Box;
use alloc::vec::Vec;

use sealwire_nacl::SecretBox;
use zeroize::Zeroizing;

use super::commands::{
    COOKIE_SIZE, HELLO, HELLO_NONCE, HELLO_PADDING, HELLO_PLAINTEXT, INITIATE, INITIATE_NONCE,
    READY, READY_NONCE, VERSION, VOUCH_NONCE, WELCOME, WELCOME_NONCE,
};
use super::traffic::{self, Side};
use super::{agree, nonce, public_key};
use crate::connection::{CurveClient, Entropy};
use crate::error::{Error, HandshakeError, Incompatible, Step};
use crate::keys::KeyPair;
use crate::mechanism::{Established, HandshakeFrame, Local, Opener, Progress, Sealer};
use crate::wire::command;
use crate::wire::metadata::Metadata;

/// Numbers of the client's commands; frames go on from there.
const HELLO_NUMBER: u64 = 1;
const INITIATE_NUMBER: u64 = 2;

/// A client between two commands.
pub(crate) struct Client(State);

enum State {
    AwaitWelcome(Box<AwaitWelcome>),
    /// The box of the connection's two keys.
    AwaitReady(Box<SecretBox>),
    Over,
}

struct AwaitWelcome {
    /// `c`, `C`.
    client: KeyPair,
    /// `c'`, `C'`.
    ephemeral: KeyPair,
    /// Of `c'` and `S`.
    hello_box: SecretBox,
    vouch_nonce: [u8; 16],
}

impl Client {
    pub(crate) fn start(
        local: &Local<'_>,
        settings: &CurveClient,
        entropy: &Entropy,
    ) -> Result<(Self, Progress), Error> {
        let provider = local.provider;
        let ephemeral = KeyPair::with_provider(entropy.ephemeral(), provider);
        let one_time = || KeyPair::with_provider(entropy.one_time_client_key(), provider);
        let client = settings.keys.clone().unwrap_or_else(one_time);
        let hello_box = agree(provider, &ephemeral, &settings.server_key)?;

        let number = HELLO_NUMBER.to_be_bytes();
        let signature = hello_box.seal(&nonce(HELLO_NONCE, &number), &HELLO_PLAINTEXT);
        let frame = command::frame(
            HELLO.as_bytes(),
            &[
                &VERSION,
                &HELLO_PADDING,
                ephemeral.public().as_bytes(),
                &number,
                &signature,
            ],
        );
        let state = AwaitWelcome {
            client,
            ephemeral,
            hello_box,
            vouch_nonce: entropy.vouch_nonce(),
        };
        Ok((
            Self(State::AwaitWelcome(Box::new(state))),
            Progress::Reply {
                command: HELLO,
                frame,
            },
        ))
    }

    pub(crate) fn step(&self) -> Step {
        match self.0 {
            State::AwaitWelcome(_) => Step::Welcome,
            State::AwaitReady(_) | State::Over => Step::Ready,
        }
    }

    pub(crate) fn receive(
        &mut self,
        local: &Local<'_>,
        settings: &CurveClient,
        frame: &HandshakeFrame<'_>,
    ) -> Result<Progress, Error> {
        let expected = self.step();
        match core::mem::replace(&mut self.0, State::Over) {
            State::AwaitWelcome(state) if frame.name == WELCOME.as_bytes() => {
                let (shared, frame) = state.receive(local, settings, frame.data)?;
                self.0 = State::AwaitReady(Box::new(shared));
                Ok(Progress::Reply {
                    command: INITIATE,
                    frame,
                })
            }
            State::AwaitReady(shared) if frame.name == READY.as_bytes() => {
                let established = receive_ready(local, settings, &shared, frame.data)?;
                Ok(Progress::Done {
                    reply: None,
                    established,
                })
            }
            // libzmq does not say in its greeting which side it is.
            State::AwaitWelcome(_) if frame.name == HELLO.as_bytes() => {
                Err(Incompatible::BothClients.into())
            }
            _ => Err(HandshakeError::UnexpectedCommand { expected }.into()),
        }
    }
}

impl AwaitWelcome {
    /// Opens WELCOME and answers with INITIATE.
    fn receive(
        self,
        local: &Local<'_>,
        settings: &CurveClient,
        welcome: &[u8],
    ) -> Result<(SecretBox, Vec<u8>), Error> {
        let provider = local.provider;
        let opened = welcome
            .split_first_chunk::<16>()
            .and_then(|(random, sealed)| {
                let opened = self.hello_box.open(&nonce(WELCOME_NONCE, random), sealed);
                opened.ok()
            })
            .filter(|opened| opened.len() == 32 + COOKIE_SIZE)
            .ok_or(HandshakeError::WelcomeUnreadable)?;
        let (server_ephemeral, cookie) = opened.split_first_chunk().expect("the size was checked");
        let server_ephemeral = public_key(server_ephemeral)?;

        let shared = agree(provider, &self.ephemeral, &server_ephemeral)?;
        let vouched = [
            *self.ephemeral.public().as_bytes(),
            *settings.server_key.as_bytes(),
        ]
        .concat();
        let vouch = agree(provider, &self.client, &server_ephemeral)?
            .seal(&nonce(VOUCH_NONCE, &self.vouch_nonce), &vouched);
        let introduction = [
            &self.client.public().as_bytes()[..],
            &self.vouch_nonce,
            &vouch,
            &local.metadata()?,
        ]
        .concat();
        let number = INITIATE_NUMBER.to_be_bytes();
        let sealed = shared.seal(&nonce(INITIATE_NONCE, &number), &introduction);
        let frame = command::frame(INITIATE.as_bytes(), &[cookie, &number, &sealed]);
        Ok((shared, frame))
    }
}

/// Opens READY; from here on frames are sealed.
fn receive_ready(
    local: &Local<'_>,
    settings: &CurveClient,
    shared: &SecretBox,
    ready: &[u8],
) -> Result<Established, Error> {
    let (number, sealed) = ready
        .split_first_chunk()
        .ok_or(HandshakeError::ReadyUnreadable)?;
    let metadata = shared
        .open(&nonce(READY_NONCE, number), sealed)
        .map(Zeroizing::new)
        .map_err(|_| HandshakeError::ReadyUnreadable)?;
    let metadata = Metadata::parse(&metadata)?;
    local.check_metadata(&metadata)?;
    let theirs = u64::from_be_bytes(*number);
    Ok(Established {
        metadata,
        public_key: Some(settings.server_key),
        sealer: Sealer::Curve(traffic::Sealer::new(
            shared,
            Side::Client,
            INITIATE_NUMBER + 1,
        )),
        opener: Opener::Curve(traffic::Opener::new(shared, Side::Server, theirs)),
    })
}
