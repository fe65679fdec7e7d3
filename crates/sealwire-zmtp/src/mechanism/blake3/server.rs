//! The server's side of the handshake.
//!
//! Source: wire reference, sections 4 and 8. Between WELCOME and INITIATE the server keeps nothing but the
//! connection id. The cookie brings the rest back, and the server makes the WELCOME frame again, since
//! sealing is deterministic. A cache with the transcripts of the latest connections spares most servers that.

use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;

use sealwire_aead::TAG_SIZE;
use subtle::ConstantTimeEq;

use super::client::{agree, public_key};
use super::commands::{
    COOKIE_SIZE, HELLO, HELLO_PLAINTEXT, Hello, INITIATE, Initiate, Introduction, READY, WELCOME,
};
use super::cookie::Cookie;
use super::data_phase::{self, Opener, Sealer, Side};
use super::sealed_box::{self, SealedBox};
use super::transcript::Transcript;
use crate::error::{Error, HandshakeError, Step};
use crate::key_pair::KeyPair;
use crate::keys::{PublicKey, SecretKey};
use crate::mechanism::{
    AwaitCommand, AwaitDecision, Blake3Server, Claim, Entropy, Established, Greetings,
    HandshakeFrame, Local, MechanismSettings, PeerMetadata, Progress, Waiting, Weakness,
};
use crate::mechanism_type::Mechanism;
use crate::provider::{Provider, SharedSecret};
use crate::wire::command;

impl<P: From<(Sealer, Opener)>> MechanismSettings<P> for Blake3Server {
    fn mechanism(&self) -> Mechanism {
        Mechanism::Blake3
    }

    fn as_server(&self) -> bool {
        true
    }

    /// Different each time, so that the same HELLO never gives the same WELCOME key and nonce.
    fn wants_fresh_padding(&self) -> bool {
        true
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
        let state = AwaitHello::new(self, local.provider, entropy, greetings);
        Ok(Progress::Wait(Waiting::Command(Box::new(state))))
    }
}

pub(super) struct AwaitHello {
    settings: Arc<Blake3Server>,
    /// `s'`.
    ephemeral: SecretKey,
    cookie_nonce: [u8; 24],
    h0: Transcript,
}

/// All that is kept of a connection between WELCOME and INITIATE, beside the server's own settings.
struct AwaitInitiate {
    settings: Arc<Blake3Server>,
    connection_id: u64,
    /// Which of the server's keys the client knows.
    key: u8,
}

// The settings, the number and the key, and no room for anything else.
const _: () = assert!(size_of::<AwaitInitiate>() <= size_of::<usize>() + 2 * size_of::<u64>());

pub(super) struct AwaitAnswer {
    settings: Arc<Blake3Server>,
    /// `S`.
    local_key: PublicKey,
    dh2: SharedSecret,
    h3: Transcript,
    public_key: PublicKey,
    metadata: PeerMetadata,
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
        let settings = self.settings.clone();
        let (cookie_key, connection_id) = settings.cookies.issue();
        let seal_cookie =
            |cookie: &Cookie, nonce| cookie.seal(local.provider, &cookie_key, connection_id, nonce);
        let (frame, h2, key) = self.answer(local.provider, frame, seal_cookie)?;
        settings.cookies.remember(connection_id, *h2.as_bytes());
        let next = AwaitInitiate {
            settings,
            connection_id,
            key,
        };
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
        let Self {
            settings,
            connection_id,
            key,
        } = *self;
        let initiate = Initiate::parse(frame.data)?;
        let cookie = settings
            .cookies
            .candidates()
            .iter()
            .flatten()
            .find_map(|key| Cookie::open(local.provider, key, connection_id, initiate.cookie))
            .ok_or(HandshakeError::CookieRejected)?;
        let keys = settings.key(key);
        let h2 = match settings.cookies.recall(connection_id) {
            Some(h2) => Transcript::from_bytes(h2),
            None => up_to_welcome(local.provider, keys, &initiate, &cookie)?,
        };
        let pending = receive_initiate(local, &settings, keys, frame, &initiate, &cookie, h2)?;
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
    pub(super) fn new(
        settings: Arc<Blake3Server>,
        provider: &dyn Provider,
        entropy: &Entropy,
        greetings: &Greetings<'_>,
    ) -> Self {
        Self {
            settings,
            ephemeral: entropy.ephemeral(),
            cookie_nonce: entropy.cookie_nonce(),
            h0: Transcript::start(provider, greetings.theirs, greetings.ours),
        }
    }

    /// Opens HELLO and answers with WELCOME, and says what the transcript is then and which of the
    /// server's keys opened HELLO.
    /// `seal_cookie` gives the cookie its wire form.
    pub(super) fn answer(
        self,
        provider: &dyn Provider,
        frame: &HandshakeFrame<'_>,
        seal_cookie: impl FnOnce(&Cookie, [u8; 24]) -> [u8; COOKIE_SIZE],
    ) -> Result<(Vec<u8>, Transcript, u8), Error> {
        let hello = Hello::parse(frame.data)?;
        let client_ephemeral = public_key(hello.ephemeral)?;
        // The client does not say which key it knows; the right one opens its HELLO.
        let mut known = None;
        for (key, keys) in (0..).zip(self.settings.all_keys()) {
            let dh1 = agree(provider, keys.secret(), &client_ephemeral)?;
            let opened = SealedBox::derive(
                provider,
                &sealed_box::HELLO,
                &[dh1.as_bytes()],
                &[client_ephemeral.as_bytes()],
            )
            .open_array(hello.hello_box);
            if opened.is_some_and(|opened| *opened == HELLO_PLAINTEXT) {
                known = Some((dh1, key));
                break;
            }
        }
        let (dh1, key) = known.ok_or(HandshakeError::HelloUnreadable)?;
        let server_ephemeral = provider.public_key(&self.ephemeral);
        let h1 = self.h0.then(provider, frame.wire);
        let cookie = Cookie {
            client_ephemeral,
            server_ephemeral: self.ephemeral,
            h1,
        };
        let cookie = seal_cookie(&cookie, self.cookie_nonce);
        let welcome = welcome_frame(provider, &dh1, &h1, &server_ephemeral, &cookie);
        let h2 = h1.then(provider, &welcome);
        Ok((welcome, h2, key))
    }
}

impl AwaitAnswer {
    pub(super) fn ready<P: From<(Sealer, Opener)>>(
        self,
        local: &Local<'_>,
    ) -> (Vec<u8>, Established<P>) {
        let provider = local.provider;
        let data_phase = self.settings.data_phase;
        let material = [&self.dh2.as_bytes()[..], self.h3.as_bytes()];
        let size = local.metadata.size() + TAG_SIZE;
        let mut frame = command::begin(READY.as_bytes(), size);
        let ready_box = frame.len();
        local.metadata.encode(&mut frame);
        SealedBox::derive(provider, &sealed_box::READY, &material, &material)
            .seal_from(ready_box, &mut frame);
        let h4 = self.h3.then(provider, &frame);
        let protection = data_phase::derive(provider, data_phase, Side::Server, &h4, &self.dh2);
        let established = Established {
            metadata: self.metadata,
            public_key: Some(self.public_key),
            local_key: Some(self.local_key),
            protection: protection.into(),
        };
        (frame, established)
    }
}

/// WELCOME. The same arguments give the same bytes, which is what lets the server forget it.
fn welcome_frame(
    provider: &dyn Provider,
    dh1: &SharedSecret,
    h1: &Transcript,
    server_ephemeral: &PublicKey,
    cookie: &[u8; COOKIE_SIZE],
) -> Vec<u8> {
    let mut frame = command::begin(WELCOME.as_bytes(), 32 + COOKIE_SIZE + TAG_SIZE);
    let welcome_box = frame.len();
    frame.extend_from_slice(server_ephemeral.as_bytes());
    frame.extend_from_slice(cookie);
    SealedBox::derive(
        provider,
        &sealed_box::WELCOME,
        &[dh1.as_bytes()],
        &[h1.as_bytes()],
    )
    .seal_from(welcome_box, &mut frame);
    frame
}

/// `h2` from what the cookie brought back: WELCOME is made once more.
pub(super) fn up_to_welcome(
    provider: &dyn Provider,
    keys: &KeyPair,
    initiate: &Initiate<'_>,
    cookie: &Cookie,
) -> Result<Transcript, Error> {
    let ephemeral = provider.public_key(&cookie.server_ephemeral);
    let dh1 = agree(provider, keys.secret(), &cookie.client_ephemeral)?;
    let welcome = welcome_frame(provider, &dh1, &cookie.h1, &ephemeral, initiate.cookie);
    Ok(cookie.h1.then(provider, &welcome))
}

/// Opens INITIATE with what its cookie brought back, and verifies the vouch.
pub(super) fn receive_initiate(
    local: &Local<'_>,
    settings: &Arc<Blake3Server>,
    keys: &KeyPair,
    frame: &HandshakeFrame<'_>,
    initiate: &Initiate<'_>,
    cookie: &Cookie,
    h2: Transcript,
) -> Result<AwaitAnswer, Error> {
    let provider = local.provider;
    let ephemeral = &cookie.server_ephemeral;
    let dh2 = agree(provider, ephemeral, &cookie.client_ephemeral)?;
    let material = [&dh2.as_bytes()[..], h2.as_bytes()];
    let opened = SealedBox::derive(provider, &sealed_box::INITIATE, &material, &material)
        .open(initiate.initiate_box)
        .ok_or(HandshakeError::InitiateUnreadable)?;
    let introduction = Introduction::parse(&opened)?;

    let client = public_key(introduction.client)?;
    let dh3 = agree(provider, ephemeral, &client)?;
    let dh3 = [&dh3.as_bytes()[..]];
    let vouched = SealedBox::derive(provider, &sealed_box::VOUCH, &dh3, &dh3)
        .open_array::<64>(introduction.vouch)
        .ok_or(HandshakeError::VouchInvalid)?;
    let (vouched_ephemeral, vouched_server) = vouched.split_at(32);
    let expected = vouched_ephemeral.ct_eq(cookie.client_ephemeral.as_bytes())
        & vouched_server.ct_eq(keys.public().as_bytes());
    if !bool::from(expected) {
        return Err(HandshakeError::VouchInvalid.into());
    }

    let metadata = local.read_metadata(introduction.metadata)?;
    let h3 = h2.then(provider, frame.wire);
    Ok(AwaitAnswer {
        settings: Arc::clone(settings),
        local_key: keys.public(),
        dh2,
        h3,
        public_key: client,
        metadata,
    })
}
