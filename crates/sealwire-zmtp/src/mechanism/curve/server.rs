//! The server's side of the handshake.
//!
//! Source: CurveZMQ (RFC 26). Between WELCOME and INITIATE the server keeps nothing but the connection
//! id; the cookie brings the rest back.

use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;

use sealwire_nacl::{SecretBox, TAG_SIZE};
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

use super::commands::{
    COOKIE_SIZE, HELLO, HELLO_NONCE, HELLO_PLAINTEXT, Hello, INITIATE, INITIATE_NONCE, Initiate,
    Introduction, READY, READY_NONCE, VOUCH_NONCE, WELCOME, WELCOME_NONCE,
};
use super::cookie::Cookie;
use super::traffic::{Opener, Sealer, Side};
use super::{agree, begin_box, nonce, open_array, public_key, seal_from};
use crate::error::{Error, HandshakeError, Step};
use crate::key_pair::KeyPair;
use crate::keys::{PublicKey, SecretKey};
use crate::mechanism::{
    AwaitCommand, AwaitDecision, Claim, CurveServer, Entropy, Established, Greetings,
    HandshakeFrame, Local, MechanismSettings, PeerMetadata, Progress, Waiting, Weakness,
};
use crate::mechanism_type::Mechanism;
use crate::wire::command;

/// The number of the server's READY; frames go on from there.
const READY_NUMBER: u64 = 1;

impl<P: From<(Sealer, Opener)>> MechanismSettings<P> for CurveServer {
    fn mechanism(&self) -> Mechanism {
        Mechanism::Curve
    }

    fn as_server(&self) -> bool {
        true
    }

    fn weakness(&self) -> Option<Weakness> {
        self.frame_order.weakness()
    }

    fn start(
        self: Arc<Self>,
        _: &Local<'_>,
        entropy: &Entropy,
        _: &Greetings<'_>,
    ) -> Result<Progress<P>, Error> {
        Ok(start(self, entropy))
    }
}

struct AwaitHello {
    settings: Arc<CurveServer>,
    /// `s'`.
    ephemeral: SecretKey,
    cookie_nonce: [u8; 16],
    welcome_nonce: [u8; 16],
}

/// All that is kept of a connection between WELCOME and INITIATE, beside the server's own settings.
struct AwaitInitiate {
    settings: Arc<CurveServer>,
    connection_id: u64,
    /// Which of the server's keys the client knows.
    key: u8,
}

// The settings, the number and the key, and no room for anything else.
const _: () = assert!(size_of::<AwaitInitiate>() <= size_of::<usize>() + 2 * size_of::<u64>());

struct AwaitAnswer {
    settings: Arc<CurveServer>,
    /// `S`.
    local_key: PublicKey,
    /// Of `c'` and `s'`.
    shared: SecretBox,
    /// INITIATE's.
    number: u64,
    public_key: PublicKey,
    metadata: PeerMetadata,
}

/// Waits for HELLO.
fn start<P: From<(Sealer, Opener)>>(settings: Arc<CurveServer>, entropy: &Entropy) -> Progress<P> {
    Progress::Wait(Waiting::Command(Box::new(AwaitHello {
        settings,
        ephemeral: entropy.ephemeral(),
        cookie_nonce: entropy.short_cookie_nonce(),
        welcome_nonce: entropy.welcome_nonce(),
    })))
}

impl<P: From<(Sealer, Opener)>> AwaitCommand<P> for AwaitHello {
    fn step(&self) -> Step {
        Step::Hello
    }

    fn receive(
        self: Box<Self>,
        local: &Local<'_>,
        frame: &HandshakeFrame<'_>,
    ) -> Result<Progress<P>, Error> {
        frame.expect(HELLO, Step::Hello)?;
        let (next, frame) = self.answer(local, frame.data)?;
        Ok(Progress::Reply {
            command: WELCOME,
            frame,
            next: Box::new(next),
        })
    }
}

impl<P: From<(Sealer, Opener)>> AwaitCommand<P> for AwaitInitiate {
    fn step(&self) -> Step {
        Step::Initiate
    }

    fn receive(
        self: Box<Self>,
        local: &Local<'_>,
        frame: &HandshakeFrame<'_>,
    ) -> Result<Progress<P>, Error> {
        frame.expect(INITIATE, Step::Initiate)?;
        let pending = self.open(local, frame.data)?;
        Ok(Progress::Ask {
            claim: Claim::key(pending.public_key, &pending.metadata),
            next: Waiting::Decision(Box::new(pending)),
        })
    }
}

impl<P: From<(Sealer, Opener)>> AwaitDecision<P> for AwaitAnswer {
    fn allowed(self: Box<Self>, local: &Local<'_>) -> Progress<P> {
        let (frame, established) = self.ready(local);
        Progress::Done {
            reply: Some((READY, frame)),
            established,
        }
    }
}

impl AwaitHello {
    /// Opens HELLO and answers with WELCOME.
    fn answer(self, local: &Local<'_>, data: &[u8]) -> Result<(AwaitInitiate, Vec<u8>), Error> {
        let settings = self.settings;
        let provider = local.provider;
        let hello = Hello::parse(data)?;
        let client_ephemeral = public_key(hello.ephemeral)?;
        // The client does not say which key it knows; the right one opens its HELLO.
        let mut known = None;
        for (key, keys) in (0..).zip(settings.all_keys()) {
            let hello_box = agree(provider, keys, &client_ephemeral)?;
            let opened = open_array(&hello_box, &nonce(HELLO_NONCE, hello.nonce), hello.sealed);
            if opened.is_some_and(|opened| *opened == HELLO_PLAINTEXT) {
                known = Some((hello_box, key));
                break;
            }
        }
        let (hello_box, key) = known.ok_or(HandshakeError::HelloUnreadable)?;
        let (cookie_key, connection_id) = settings.cookies.issue();
        let server_ephemeral = provider.public_key(&self.ephemeral);
        let cookie = Cookie {
            client_ephemeral,
            server_ephemeral: self.ephemeral,
        }
        .seal(provider, &cookie_key, connection_id, &self.cookie_nonce);
        let size = self.welcome_nonce.len() + TAG_SIZE + 32 + COOKIE_SIZE;
        let mut frame = command::begin(WELCOME.as_bytes(), size);
        frame.extend_from_slice(&self.welcome_nonce);
        let welcome_box = begin_box(&mut frame);
        frame.extend_from_slice(server_ephemeral.as_bytes());
        frame.extend_from_slice(&cookie);
        let nonce = nonce(WELCOME_NONCE, &self.welcome_nonce);
        seal_from(&hello_box, &nonce, welcome_box, &mut frame);
        let next = AwaitInitiate {
            settings,
            connection_id,
            key,
        };
        Ok((next, frame))
    }
}

impl AwaitAnswer {
    fn ready<P: From<(Sealer, Opener)>>(self, local: &Local<'_>) -> (Vec<u8>, Established<P>) {
        let number = READY_NUMBER.to_be_bytes();
        let size = number.len() + TAG_SIZE + local.metadata.size();
        let mut frame = command::begin(READY.as_bytes(), size);
        frame.extend_from_slice(&number);
        let ready_box = begin_box(&mut frame);
        local.metadata.encode(&mut frame);
        let nonce = nonce(READY_NONCE, &number);
        seal_from(&self.shared, &nonce, ready_box, &mut frame);
        let sealer = Sealer::new(&self.shared, Side::Server, READY_NUMBER + 1);
        let order = self.settings.frame_order;
        let opener = Opener::new(&self.shared, Side::Client, self.number, order);
        let established = Established {
            metadata: self.metadata,
            public_key: Some(self.public_key),
            local_key: Some(self.local_key),
            protection: (sealer, opener).into(),
        };
        (frame, established)
    }
}

impl AwaitInitiate {
    /// Opens INITIATE with what its cookie brought back, and verifies the vouch.
    fn open(self, local: &Local<'_>, data: &[u8]) -> Result<AwaitAnswer, Error> {
        let settings = self.settings;
        let provider = local.provider;
        let initiate = Initiate::parse(data)?;
        let candidates = settings.cookies.candidates();
        let cookie = candidates
            .iter()
            .flatten()
            .find_map(|key| Cookie::open(provider, key, self.connection_id, initiate.cookie))
            .ok_or(HandshakeError::CookieRejected)?;
        let ephemeral = KeyPair::with_provider(cookie.server_ephemeral, provider);
        let local_key = settings.key(self.key).public();

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
            & vouched_server.ct_eq(local_key.as_bytes());
        if !bool::from(expected) {
            return Err(HandshakeError::VouchInvalid.into());
        }

        let metadata = local.read_metadata(introduction.metadata)?;
        Ok(AwaitAnswer {
            settings,
            local_key,
            shared,
            number: u64::from_be_bytes(*initiate.nonce),
            public_key: client,
            metadata,
        })
    }
}
