//! The client's side of the handshake.
//!
//! Source: wire reference, section 4.

use alloc::boxed::Box;
use alloc::vec::Vec;

use sealwire_aead::TAG_SIZE;

use super::commands::{
    COOKIE_SIZE, HELLO, HELLO_PADDING, HELLO_PLAINTEXT, HELLO_SIZE, INITIATE, READY, VERSION,
    VOUCH_SIZE, WELCOME,
};
use super::data_phase::{self, Side};
use super::sealed_box::{self, SealedBox};
use super::transcript::Transcript;
use crate::error::{Error, HandshakeError, Step};
use crate::key_pair::KeyPair;
use crate::keys::{PublicKey, SecretKey};
use crate::mechanism::{Blake3Client, Entropy, Established, HandshakeFrame, Local, Progress};
use crate::provider::{Provider, SharedSecret};
use crate::wire::command;
use crate::wire::metadata::Metadata;

/// A client between two commands.
pub(crate) struct Client(State);

enum State {
    AwaitWelcome(Box<AwaitWelcome>),
    AwaitReady(AwaitReady),
    Over,
}

struct AwaitWelcome {
    /// `c`, `C`.
    client: KeyPair,
    /// `c'`, `C'`.
    ephemeral: KeyPair,
    dh1: SharedSecret,
    h1: Transcript,
}

struct AwaitReady {
    dh2: SharedSecret,
    h3: Transcript,
}

impl Client {
    pub(crate) fn start(
        local: &Local<'_>,
        settings: &Blake3Client,
        entropy: &Entropy,
        client_greeting: &[u8; 64],
        server_greeting: &[u8; 64],
    ) -> Result<(Self, Progress), Error> {
        let provider = local.provider;
        let ephemeral = KeyPair::with_provider(entropy.ephemeral(), provider);
        let one_time = || KeyPair::with_provider(entropy.one_time_client_key(), provider);
        let client = settings.keys.clone().unwrap_or_else(one_time);
        let dh1 = agree(provider, ephemeral.secret(), &settings.server_key)?;

        let ephemeral_public = ephemeral.public();
        let mut frame = command::begin(HELLO.as_bytes(), HELLO_SIZE);
        frame.extend_from_slice(&VERSION);
        frame.extend_from_slice(ephemeral_public.as_bytes());
        frame.extend_from_slice(&HELLO_PADDING);
        let hello_box = frame.len();
        frame.extend_from_slice(&HELLO_PLAINTEXT);
        SealedBox::derive(
            provider,
            &sealed_box::HELLO,
            &[dh1.as_bytes()],
            &[ephemeral_public.as_bytes()],
        )
        .seal_from(hello_box, &mut frame);

        let h0 = Transcript::start(provider, client_greeting, server_greeting);
        let h1 = h0.then(provider, &frame);
        let state = State::AwaitWelcome(Box::new(AwaitWelcome {
            client,
            ephemeral,
            dh1,
            h1,
        }));
        Ok((
            Self(state),
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
        settings: &Blake3Client,
        frame: &HandshakeFrame<'_>,
    ) -> Result<Progress, Error> {
        let expected = self.step();
        match core::mem::replace(&mut self.0, State::Over) {
            State::AwaitWelcome(state) if frame.name == WELCOME.as_bytes() => {
                let (next, initiate) = state.receive(local, settings, frame)?;
                self.0 = State::AwaitReady(next);
                Ok(Progress::Reply {
                    command: INITIATE,
                    frame: initiate,
                })
            }
            State::AwaitReady(state) if frame.name == READY.as_bytes() => {
                let established = state.receive(local, settings, frame)?;
                Ok(Progress::Done {
                    reply: None,
                    established,
                })
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
        settings: &Blake3Client,
        welcome: &HandshakeFrame<'_>,
    ) -> Result<(AwaitReady, Vec<u8>), Error> {
        let provider = local.provider;
        let opened = SealedBox::derive(
            provider,
            &sealed_box::WELCOME,
            &[self.dh1.as_bytes()],
            &[self.h1.as_bytes()],
        )
        .open_array::<{ 32 + COOKIE_SIZE }>(welcome.data)
        .ok_or(HandshakeError::WelcomeUnreadable)?;
        let (server_ephemeral, cookie) = opened.split_first_chunk().expect("so many were opened");
        let server_ephemeral = public_key(server_ephemeral)?;

        let h2 = self.h1.then(provider, welcome.wire);
        let dh2 = agree(provider, self.ephemeral.secret(), &server_ephemeral)?;
        let dh3 = agree(provider, self.client.secret(), &server_ephemeral)?;
        let dh3 = [&dh3.as_bytes()[..]];
        let material = [&dh2.as_bytes()[..], h2.as_bytes()];
        let size = COOKIE_SIZE + 32 + VOUCH_SIZE + local.metadata.size() + TAG_SIZE;
        let mut frame = command::begin(INITIATE.as_bytes(), size);
        frame.extend_from_slice(cookie);
        let initiate_box = frame.len();
        frame.extend_from_slice(self.client.public().as_bytes());
        let vouch = frame.len();
        frame.extend_from_slice(self.ephemeral.public().as_bytes());
        frame.extend_from_slice(settings.server_key.as_bytes());
        SealedBox::derive(provider, &sealed_box::VOUCH, &dh3, &dh3).seal_from(vouch, &mut frame);
        local.metadata.encode(&mut frame);
        SealedBox::derive(provider, &sealed_box::INITIATE, &material, &material)
            .seal_from(initiate_box, &mut frame);
        let h3 = h2.then(provider, &frame);
        Ok((AwaitReady { dh2, h3 }, frame))
    }
}

impl AwaitReady {
    /// Opens READY; from here on frames are sealed.
    fn receive(
        self,
        local: &Local<'_>,
        settings: &Blake3Client,
        ready: &HandshakeFrame<'_>,
    ) -> Result<Established, Error> {
        let provider = local.provider;
        let material = [&self.dh2.as_bytes()[..], self.h3.as_bytes()];
        let metadata = SealedBox::derive(provider, &sealed_box::READY, &material, &material)
            .open(ready.data)
            .ok_or(HandshakeError::ReadyUnreadable)?;
        let metadata = Metadata::parse(&metadata)?;
        local.check_metadata(&metadata)?;
        let h4 = self.h3.then(provider, ready.wire);
        let (sealer, opener) =
            data_phase::derive(provider, settings.data_phase, Side::Client, &h4, &self.dh2);
        Ok(Established {
            metadata,
            public_key: Some(settings.server_key),
            sealer,
            opener,
        })
    }
}

/// Refuses keys that have a canonical twin.
pub(super) fn public_key(bytes: &[u8; 32]) -> Result<PublicKey, HandshakeError> {
    PublicKey::from_bytes(*bytes).map_err(|_| HandshakeError::KeyNotCanonical)
}

/// X25519 with an all-zero result refused.
pub(super) fn agree(
    provider: &dyn Provider,
    ours: &SecretKey,
    theirs: &PublicKey,
) -> Result<SharedSecret, HandshakeError> {
    provider
        .diffie_hellman(ours, theirs)
        .map_err(|_| HandshakeError::WeakKey)
}
