//! The client's side of the handshake.
//!
//! Source: wire reference, section 4.

use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;

use sealwire_aead::TAG_SIZE;

use super::commands::{
    COOKIE_SIZE, HELLO, HELLO_PADDING, HELLO_PLAINTEXT, HELLO_SIZE, INITIATE, READY, VERSION,
    VOUCH_SIZE, WELCOME,
};
use super::data_phase::{self, Opener, Sealer, Side};
use super::sealed_box::{self, SealedBox};
use super::transcript::Transcript;
use crate::error::{Error, HandshakeError, Step};
use crate::key_pair::KeyPair;
use crate::keys::{PublicKey, SecretKey};
use crate::mechanism::{
    AwaitCommand, Blake3Client, Entropy, Established, Greetings, HandshakeFrame, Local,
    MechanismSettings, Progress, Weakness,
};
use crate::mechanism_type::Mechanism;
use crate::provider::{Provider, SharedSecret};
use crate::wire::command;

impl<P: From<(Sealer, Opener)>> MechanismSettings<P> for Blake3Client {
    fn mechanism(&self) -> Mechanism {
        Mechanism::Blake3
    }

    fn accepts_side(&self, as_server: bool) -> bool {
        as_server
    }

    fn weakness(&self) -> Option<Weakness> {
        self.data_phase.weakness()
    }

    fn start(
        self: Arc<Self>,
        local: &Local<'_>,
        entropy: &Entropy,
        greetings: &Greetings<'_>,
    ) -> Result<Progress<P>, Error> {
        start(local, self, entropy, greetings)
    }
}

struct AwaitWelcome {
    settings: Arc<Blake3Client>,
    /// `c`, `C`.
    client: KeyPair,
    /// `c'`, `C'`.
    ephemeral: KeyPair,
    dh1: SharedSecret,
    h1: Transcript,
}

struct AwaitReady {
    settings: Arc<Blake3Client>,
    /// `C`.
    local_key: PublicKey,
    dh2: SharedSecret,
    h3: Transcript,
}

/// Says HELLO.
fn start<P: From<(Sealer, Opener)>>(
    local: &Local<'_>,
    settings: Arc<Blake3Client>,
    entropy: &Entropy,
    greetings: &Greetings<'_>,
) -> Result<Progress<P>, Error> {
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

    let h0 = Transcript::start(provider, greetings.ours, greetings.theirs);
    let h1 = h0.then(provider, &frame);
    let next = AwaitWelcome {
        settings,
        client,
        ephemeral,
        dh1,
        h1,
    };
    Ok(Progress::Reply {
        command: HELLO,
        frame,
        next: Box::new(next),
    })
}

impl<P: From<(Sealer, Opener)>> AwaitCommand<P> for AwaitWelcome {
    fn step(&self) -> Step {
        Step::Welcome
    }

    fn receive(
        self: Box<Self>,
        local: &Local<'_>,
        frame: &HandshakeFrame<'_>,
    ) -> Result<Progress<P>, Error> {
        frame.expect(WELCOME, Step::Welcome)?;
        let (next, frame) = self.answer(local, frame)?;
        Ok(Progress::Reply {
            command: INITIATE,
            frame,
            next: Box::new(next),
        })
    }
}

impl<P: From<(Sealer, Opener)>> AwaitCommand<P> for AwaitReady {
    fn step(&self) -> Step {
        Step::Ready
    }

    fn receive(
        self: Box<Self>,
        local: &Local<'_>,
        frame: &HandshakeFrame<'_>,
    ) -> Result<Progress<P>, Error> {
        frame.expect(READY, Step::Ready)?;
        Ok(Progress::Done {
            reply: None,
            established: self.open(local, frame)?,
        })
    }
}

impl AwaitWelcome {
    /// Opens WELCOME and answers with INITIATE.
    fn answer(
        self,
        local: &Local<'_>,
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
        let (server_ephemeral, cookie) = opened.split_at(32);
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
        frame.extend_from_slice(self.settings.server_key.as_bytes());
        SealedBox::derive(provider, &sealed_box::VOUCH, &dh3, &dh3).seal_from(vouch, &mut frame);
        local.metadata.encode(&mut frame);
        SealedBox::derive(provider, &sealed_box::INITIATE, &material, &material)
            .seal_from(initiate_box, &mut frame);
        let h3 = h2.then(provider, &frame);
        let next = AwaitReady {
            settings: self.settings,
            local_key: self.client.public(),
            dh2,
            h3,
        };
        Ok((next, frame))
    }
}

impl AwaitReady {
    /// Opens READY; from here on frames are sealed.
    fn open<P: From<(Sealer, Opener)>>(
        self,
        local: &Local<'_>,
        ready: &HandshakeFrame<'_>,
    ) -> Result<Established<P>, Error> {
        let (provider, settings) = (local.provider, &self.settings);
        if ready.data.len() < TAG_SIZE {
            return Err(HandshakeError::ReadyMalformed.into());
        }
        let material = [&self.dh2.as_bytes()[..], self.h3.as_bytes()];
        let metadata = SealedBox::derive(provider, &sealed_box::READY, &material, &material)
            .open(ready.data)
            .ok_or(HandshakeError::ReadyUnreadable)?;
        let metadata = local.read_metadata(&metadata)?;
        let h4 = self.h3.then(provider, ready.wire);
        let protection =
            data_phase::derive(provider, settings.data_phase, Side::Client, &h4, &self.dh2);
        Ok(Established {
            metadata,
            public_key: Some(settings.server_key),
            local_key: Some(self.local_key),
            protection: protection.into(),
        })
    }
}

/// Refuses keys that have a canonical twin, and what is not 32 bytes.
pub(super) fn public_key(bytes: &[u8]) -> Result<PublicKey, HandshakeError> {
    let bytes = bytes.try_into().ok();
    bytes
        .and_then(|bytes| PublicKey::from_bytes(bytes).ok())
        .ok_or(HandshakeError::KeyNotCanonical)
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
