//! The client's side of the handshake.
//!
//! Source: CurveZMQ (RFC 26).

use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;

use sealwire_nacl::{SecretBox, TAG_SIZE};
use zeroize::Zeroizing;

use super::commands::{
    COOKIE_SIZE, HELLO, HELLO_NONCE, HELLO_PADDING, HELLO_PLAINTEXT, HELLO_SIZE, INITIATE,
    INITIATE_NONCE, READY, READY_NONCE, VERSION, VOUCH_NONCE, VOUCH_SIZE, WELCOME, WELCOME_NONCE,
};
use super::traffic::{Opener, Sealer, Side};
use super::{agree, begin_box, nonce, open_array, public_key, seal_from};
use crate::error::{Error, HandshakeError, Incompatible, Step};
use crate::key_pair::KeyPair;
use crate::keys::PublicKey;
use crate::mechanism::{
    AwaitCommand, CurveClient, Entropy, Established, Greetings, HandshakeFrame, Local,
    MechanismSettings, Progress, Weakness,
};
use crate::mechanism_type::Mechanism;
use crate::wire::command;

/// Numbers of the client's commands; frames go on from there.
const HELLO_NUMBER: u64 = 1;
const INITIATE_NUMBER: u64 = 2;

impl<P: From<(Sealer, Opener)>> MechanismSettings<P> for CurveClient {
    fn mechanism(&self) -> Mechanism {
        Mechanism::Curve
    }

    fn weakness(&self) -> Option<Weakness> {
        self.frame_order.weakness()
    }

    fn start(
        self: Arc<Self>,
        local: &Local<'_>,
        entropy: &Entropy,
        _: &Greetings<'_>,
    ) -> Result<Progress<P>, Error> {
        start(local, self, entropy)
    }
}

struct AwaitWelcome {
    settings: Arc<CurveClient>,
    /// `c`, `C`.
    client: KeyPair,
    /// `c'`, `C'`.
    ephemeral: KeyPair,
    /// Of `c'` and `S`.
    hello_box: SecretBox,
    vouch_nonce: [u8; 16],
}

struct AwaitReady {
    settings: Arc<CurveClient>,
    /// `C`.
    local_key: PublicKey,
    /// Of the connection's two keys.
    shared: SecretBox,
}

/// Says HELLO.
fn start<P: From<(Sealer, Opener)>>(
    local: &Local<'_>,
    settings: Arc<CurveClient>,
    entropy: &Entropy,
) -> Result<Progress<P>, Error> {
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
    let signature = begin_box(&mut frame);
    frame.extend_from_slice(&HELLO_PLAINTEXT);
    seal_from(
        &hello_box,
        &nonce(HELLO_NONCE, &number),
        signature,
        &mut frame,
    );
    let next = AwaitWelcome {
        settings,
        client,
        ephemeral,
        hello_box,
        vouch_nonce: entropy.vouch_nonce(),
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
        // libzmq does not say in its greeting which side it is.
        if frame.name == HELLO.as_bytes() {
            return Err(Incompatible::BothClients.into());
        }
        frame.expect(WELCOME, Step::Welcome)?;
        let (next, frame) = self.answer(local, frame.data)?;
        Ok(Progress::Reply {
            command: INITIATE,
            frame,
            next: Box::new(next),
        })
    }
}

impl AwaitWelcome {
    /// Opens WELCOME and answers with INITIATE.
    fn answer(self, local: &Local<'_>, welcome: &[u8]) -> Result<(AwaitReady, Vec<u8>), Error> {
        let provider = local.provider;
        let opened = welcome
            .split_first_chunk::<16>()
            .and_then(|(random, sealed)| {
                let nonce = nonce(WELCOME_NONCE, random);
                open_array::<{ 32 + COOKIE_SIZE }>(&self.hello_box, &nonce, sealed)
            })
            .ok_or(HandshakeError::WelcomeUnreadable)?;
        let (server_ephemeral, cookie) = opened.split_at(32);
        let server_ephemeral = public_key(server_ephemeral)?;

        let shared = agree(provider, &self.ephemeral, &server_ephemeral)?;
        let vouching = agree(provider, &self.client, &server_ephemeral)?;
        let number = INITIATE_NUMBER.to_be_bytes();

        let introduction = 32 + self.vouch_nonce.len() + VOUCH_SIZE + local.metadata.size();
        let size = COOKIE_SIZE + number.len() + TAG_SIZE + introduction;
        let mut frame = command::begin(INITIATE.as_bytes(), size);
        frame.extend_from_slice(cookie);
        frame.extend_from_slice(&number);
        let initiate_box = begin_box(&mut frame);
        frame.extend_from_slice(self.client.public().as_bytes());
        frame.extend_from_slice(&self.vouch_nonce);
        let vouch = begin_box(&mut frame);
        frame.extend_from_slice(self.ephemeral.public().as_bytes());
        frame.extend_from_slice(self.settings.server_key.as_bytes());
        let vouch_nonce = nonce(VOUCH_NONCE, &self.vouch_nonce);
        seal_from(&vouching, &vouch_nonce, vouch, &mut frame);
        local.metadata.encode(&mut frame);
        let initiate_nonce = nonce(INITIATE_NONCE, &number);
        seal_from(&shared, &initiate_nonce, initiate_box, &mut frame);
        let next = AwaitReady {
            settings: self.settings,
            local_key: self.client.public(),
            shared,
        };
        Ok((next, frame))
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
        let established = self.open(local, frame.data)?;
        Ok(Progress::Done {
            reply: None,
            established,
        })
    }
}

impl AwaitReady {
    /// Opens READY; from here on frames are sealed.
    fn open<P: From<(Sealer, Opener)>>(
        self,
        local: &Local<'_>,
        ready: &[u8],
    ) -> Result<Established<P>, Error> {
        let (number, sealed) = ready
            .split_first_chunk()
            .filter(|(_, sealed)| sealed.len() >= TAG_SIZE)
            .ok_or(HandshakeError::ReadyMalformed)?;
        let metadata = self
            .shared
            .open(&nonce(READY_NONCE, number), sealed)
            .map(Zeroizing::new)
            .map_err(|_| HandshakeError::ReadyUnreadable)?;
        let metadata = local.read_metadata(&metadata)?;
        let theirs = u64::from_be_bytes(*number);
        let sealer = Sealer::new(&self.shared, Side::Client, INITIATE_NUMBER + 1);
        let order = self.settings.frame_order;
        let opener = Opener::new(&self.shared, Side::Server, theirs, order);
        Ok(Established {
            metadata,
            public_key: Some(self.settings.server_key),
            local_key: Some(self.local_key),
            protection: (sealer, opener).into(),
        })
    }
}
