//! The server's side of the handshake.
//!
//! Source: CurveZMQ (RFC 26). Between WELCOME and INITIATE nothing is kept but the number of the
//! connection; what is needed then comes back in the cookie.

use alloc::boxed::Box;
use alloc::vec::Vec;

use sealwire_nacl::{SecretBox, TAG_SIZE};
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

use super::commands::{
    COOKIE_SIZE, HELLO, HELLO_NONCE, HELLO_PLAINTEXT, Hello, INITIATE, INITIATE_NONCE, Initiate,
    Introduction, READY, READY_NONCE, VOUCH_NONCE, WELCOME, WELCOME_NONCE,
};
use super::cookie::Cookie;
use super::traffic::{self, Side};
use super::{agree, nonce, open_array, public_key, seal_from};
use crate::error::{Error, HandshakeError, Step};
use crate::key_pair::KeyPair;
use crate::keys::{PublicKey, SecretKey};
use crate::mechanism::{
    Claim, Credentials, CurveServer, Entropy, Established, FrameOrder, HandshakeFrame, Local,
    Opener, Progress, Sealer,
};
use crate::provider::Provider;
use crate::wire::command;
use crate::wire::metadata::Metadata;

/// The number of the server's READY; frames go on from there.
const READY_NUMBER: u64 = 1;

/// A server between two commands.
pub(crate) struct Server(State);

enum State {
    AwaitHello(Box<AwaitHello>),
    /// All that is kept of a connection between WELCOME and INITIATE.
    AwaitInitiate {
        connection_number: u64,
    },
    AwaitDecision(Box<AwaitDecision>),
    Over,
}

// The number and the variant, and no room for anything else.
const _: () = assert!(size_of::<Server>() == 2 * size_of::<u64>());

struct AwaitHello {
    /// `s'`.
    ephemeral: SecretKey,
    cookie_nonce: [u8; 16],
    welcome_nonce: [u8; 16],
}

struct AwaitDecision {
    /// Of `c'` and `s'`.
    shared: SecretBox,
    /// INITIATE's.
    number: u64,
    public_key: PublicKey,
    metadata: Metadata,
}

impl Server {
    pub(crate) fn start(entropy: &Entropy) -> Self {
        Self(State::AwaitHello(Box::new(AwaitHello {
            ephemeral: entropy.ephemeral(),
            cookie_nonce: entropy.short_cookie_nonce(),
            welcome_nonce: entropy.welcome_nonce(),
        })))
    }

    pub(crate) fn step(&self) -> Step {
        match self.0 {
            State::AwaitHello(_) => Step::Hello,
            State::AwaitInitiate { .. } => Step::Initiate,
            State::AwaitDecision(_) | State::Over => Step::Authorization,
        }
    }

    pub(crate) fn receive(
        &mut self,
        local: &Local<'_>,
        settings: &CurveServer,
        frame: &HandshakeFrame<'_>,
    ) -> Result<Progress, Error> {
        let expected = self.step();
        match core::mem::replace(&mut self.0, State::Over) {
            State::AwaitHello(state) if frame.name == HELLO.as_bytes() => {
                let (frame, connection_number) = state.receive(local, settings, frame.data)?;
                self.0 = State::AwaitInitiate { connection_number };
                Ok(Progress::Reply {
                    command: WELCOME,
                    frame,
                })
            }
            State::AwaitInitiate { connection_number } if frame.name == INITIATE.as_bytes() => {
                let pending = receive_initiate(local, settings, connection_number, frame.data)?;
                let credentials = Credentials {
                    public_key: pending.public_key,
                    socket_type: pending.metadata.socket_type()?,
                    routing_id: pending.metadata.routing_id()?,
                    metadata: pending.metadata.clone(),
                };
                self.0 = State::AwaitDecision(Box::new(pending));
                Ok(Progress::Ask(Claim::Key(Box::new(credentials))))
            }
            _ => Err(HandshakeError::UnexpectedCommand { expected }.into()),
        }
    }

    /// Answers INITIATE with READY; `None` when the authenticator was not asked.
    pub(crate) fn authorized(
        &mut self,
        local: &Local<'_>,
        settings: &CurveServer,
    ) -> Option<Progress> {
        match core::mem::replace(&mut self.0, State::Over) {
            State::AwaitDecision(state) => {
                let (frame, established) = state.ready(local, settings.frame_order);
                Some(Progress::Done {
                    reply: Some((READY, frame)),
                    established,
                })
            }
            state => {
                self.0 = state;
                None
            }
        }
    }
}

impl AwaitHello {
    /// Opens HELLO and answers with WELCOME; gives the number of the connection too.
    fn receive(
        self,
        local: &Local<'_>,
        settings: &CurveServer,
        data: &[u8],
    ) -> Result<(Vec<u8>, u64), Error> {
        let provider = local.provider;
        let hello = Hello::parse(data)?;
        let client_ephemeral = public_key(hello.ephemeral)?;
        let hello_box = agree(provider, &settings.keys, &client_ephemeral)?;
        let opened = open_array(&hello_box, &nonce(HELLO_NONCE, hello.nonce), hello.sealed);
        if opened.is_some_and(|opened| *opened == HELLO_PLAINTEXT) {
            let (cookie_key, number) = settings.cookies.issue();
            let server_ephemeral = provider.public_key(&self.ephemeral);
            let cookie = Cookie {
                client_ephemeral,
                server_ephemeral: self.ephemeral,
            }
            .seal(provider, &cookie_key, number, &self.cookie_nonce);
            let size = self.welcome_nonce.len() + TAG_SIZE + 32 + COOKIE_SIZE;
            let mut frame = command::begin(WELCOME.as_bytes(), size);
            frame.extend_from_slice(&self.welcome_nonce);
            let welcome_box = frame.len();
            frame.extend_from_slice(&[0; TAG_SIZE]);
            frame.extend_from_slice(server_ephemeral.as_bytes());
            frame.extend_from_slice(&cookie);
            let nonce = nonce(WELCOME_NONCE, &self.welcome_nonce);
            seal_from(&hello_box, &nonce, welcome_box, &mut frame);
            Ok((frame, number))
        } else {
            Err(HandshakeError::HelloUnreadable.into())
        }
    }
}

impl AwaitDecision {
    fn ready(self, local: &Local<'_>, order: FrameOrder) -> (Vec<u8>, Established) {
        let number = READY_NUMBER.to_be_bytes();
        let size = number.len() + TAG_SIZE + local.metadata.size();
        let mut frame = command::begin(READY.as_bytes(), size);
        frame.extend_from_slice(&number);
        let ready_box = frame.len();
        frame.extend_from_slice(&[0; TAG_SIZE]);
        local.metadata.encode(&mut frame);
        let nonce = nonce(READY_NONCE, &number);
        seal_from(&self.shared, &nonce, ready_box, &mut frame);
        let sealer = traffic::Sealer::new(&self.shared, Side::Server, READY_NUMBER + 1);
        let opener = traffic::Opener::new(&self.shared, Side::Client, self.number, order);
        let established = Established {
            metadata: self.metadata,
            public_key: Some(self.public_key),
            sealer: Sealer::Wrapped(sealer),
            opener: Opener::Wrapped(opener),
        };
        (frame, established)
    }
}

/// Opens INITIATE with what its cookie brought back, and verifies the vouch.
fn receive_initiate(
    local: &Local<'_>,
    settings: &CurveServer,
    connection_number: u64,
    data: &[u8],
) -> Result<AwaitDecision, Error> {
    let provider: &dyn Provider = local.provider;
    let initiate = Initiate::parse(data)?;
    let candidates = settings.cookies.candidates();
    let cookie = candidates
        .iter()
        .flatten()
        .find_map(|key| Cookie::open(provider, key, connection_number, initiate.cookie))
        .ok_or(HandshakeError::CookieRejected)?;
    let ephemeral = KeyPair::with_provider(cookie.server_ephemeral, provider);

    let shared = agree(provider, &ephemeral, &cookie.client_ephemeral)?;
    let opened = shared
        .open(&nonce(INITIATE_NONCE, initiate.nonce), initiate.sealed)
        .map(Zeroizing::new)
        .map_err(|_| HandshakeError::InitiateUnreadable)?;
    let introduction = Introduction::parse(&opened)?;

    let client = public_key(introduction.client)?;
    let vouched = open_array::<64>(
        &agree(provider, &ephemeral, &client)?,
        &nonce(VOUCH_NONCE, introduction.vouch_nonce),
        introduction.vouch,
    )
    .ok_or(HandshakeError::VouchInvalid)?;
    let (vouched_ephemeral, vouched_server) = vouched.split_at(32);
    let expected = vouched_ephemeral.ct_eq(cookie.client_ephemeral.as_bytes())
        & vouched_server.ct_eq(settings.keys.public().as_bytes());
    if !bool::from(expected) {
        return Err(HandshakeError::VouchInvalid.into());
    }

    let metadata = Metadata::parse(introduction.metadata)?;
    local.check_metadata(&metadata)?;
    Ok(AwaitDecision {
        shared,
        number: u64::from_be_bytes(*initiate.nonce),
        public_key: client,
        metadata,
    })
}
