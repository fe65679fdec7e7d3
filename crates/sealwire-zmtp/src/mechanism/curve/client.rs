//! The client's side of the handshake.
//!
//! Source: CurveZMQ (RFC 26).

use alloc::boxed::Box;
use alloc::vec::Vec;

use sealwire_nacl::{SecretBox, TAG_SIZE};
use zeroize::Zeroizing;

use super::commands::{
    COOKIE_SIZE, HELLO, HELLO_NONCE, HELLO_PADDING, HELLO_PLAINTEXT, HELLO_SIZE, INITIATE,
    INITIATE_NONCE, READY, READY_NONCE, VERSION, VOUCH_NONCE, VOUCH_SIZE, WELCOME, WELCOME_NONCE,
};
use super::traffic::{self, Side};
use super::{agree, nonce, open_array, public_key, seal_from};
use crate::error::{Error, HandshakeError, Incompatible, Step};
use crate::key_pair::KeyPair;
use crate::mechanism::{
    CurveClient, Entropy, Established, HandshakeFrame, Local, Opener, Progress, Sealer,
};
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
    AwaitReady(SecretBox),
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
        let mut frame = command::begin(HELLO.as_bytes(), HELLO_SIZE);
        frame.extend_from_slice(&VERSION);
        frame.extend_from_slice(&HELLO_PADDING);
        frame.extend_from_slice(ephemeral.public().as_bytes());
        frame.extend_from_slice(&number);
        let signature = frame.len();
        frame.extend_from_slice(&[0; TAG_SIZE]);
        frame.extend_from_slice(&HELLO_PLAINTEXT);
        seal_from(
            &hello_box,
            &nonce(HELLO_NONCE, &number),
            signature,
            &mut frame,
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
                self.0 = State::AwaitReady(shared);
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
                let nonce = nonce(WELCOME_NONCE, random);
                open_array::<{ 32 + COOKIE_SIZE }>(&self.hello_box, &nonce, sealed)
            })
            .ok_or(HandshakeError::WelcomeUnreadable)?;
        let (server_ephemeral, cookie) = opened.split_first_chunk().expect("so many were opened");
        let server_ephemeral = public_key(server_ephemeral)?;

        let shared = agree(provider, &self.ephemeral, &server_ephemeral)?;
        let vouching = agree(provider, &self.client, &server_ephemeral)?;
        let number = INITIATE_NUMBER.to_be_bytes();

        let introduction = 32 + self.vouch_nonce.len() + VOUCH_SIZE + local.metadata.size();
        let size = COOKIE_SIZE + number.len() + TAG_SIZE + introduction;
        let mut frame = command::begin(INITIATE.as_bytes(), size);
        frame.extend_from_slice(cookie);
        frame.extend_from_slice(&number);
        let initiate_box = frame.len();
        frame.extend_from_slice(&[0; TAG_SIZE]);
        frame.extend_from_slice(self.client.public().as_bytes());
        frame.extend_from_slice(&self.vouch_nonce);
        let vouch = frame.len();
        frame.extend_from_slice(&[0; TAG_SIZE]);
        frame.extend_from_slice(self.ephemeral.public().as_bytes());
        frame.extend_from_slice(settings.server_key.as_bytes());
        let vouch_nonce = nonce(VOUCH_NONCE, &self.vouch_nonce);
        seal_from(&vouching, &vouch_nonce, vouch, &mut frame);
        local.metadata.encode(&mut frame);
        let initiate_nonce = nonce(INITIATE_NONCE, &number);
        seal_from(&shared, &initiate_nonce, initiate_box, &mut frame);
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
        sealer: Sealer::Wrapped(traffic::Sealer::new(
            shared,
            Side::Client,
            INITIATE_NUMBER + 1,
        )),
        opener: Opener::Wrapped(traffic::Opener::new(
            shared,
            Side::Server,
            theirs,
            settings.frame_order,
        )),
    })
}
