//! A handshake: every box of HELLO, WELCOME, INITIATE and READY, sealed by one side and opened by the
//! other.
//!
//! ```text
//!            client                              server
//! HELLO      c', agree (c',S), box               agree (s,C'), open
//! WELCOME    open                                s', cookie, box
//! INITIATE   agree (c',S') and (c,S'),           open the cookie, agree (s',C'), open,
//!            vouch, box                          agree (s',C), open the vouch
//! READY      open                                box
//! ```
//!
//! Each side agrees on each key once. libzmq agrees anew for each box but READY's, which makes
//! twelve multiplications of these eight.

use libsodium_rs::crypto_box::{KeyPair, PrecomputedKey, PublicKey, SecretKey, beforenm};
use libsodium_rs::{crypto_secretbox, random};
use zeroize::Zeroizing;

use super::{nonce, open, refused, seal};
use crate::Error;

/// Of a PUSH and a PULL socket: the only property that they have.
const PUSH: &[u8] = b"\x0bSocket-Type\x00\x00\x00\x04PUSH";
const PULL: &[u8] = b"\x0bSocket-Type\x00\x00\x00\x04PULL";

const HELLO_TEXT: [u8; 64] = [0; 64];
/// A nonce, and a box of `C'` and `s'`.
const COOKIE_SIZE: usize = 16 + 16 + 64;

/// The long-term keys.
pub(super) struct Parties {
    client: KeyPair,
    server: KeyPair,
}

impl Parties {
    pub(super) fn new() -> Self {
        Parties {
            client: KeyPair::generate(),
            server: KeyPair::generate(),
        }
    }

    /// The key of the connection, as the client and as the server have it.
    pub(super) fn shake_hands(&self) -> Result<[PrecomputedKey; 2], Error> {
        let (client, hello) = Client::hello(self)?;
        let (server, welcome) = Server::welcome(self, &hello)?;
        let (client_key, initiate) = client.initiate(&welcome)?;
        let (server_key, ready) = server.ready(&initiate)?;
        if open("READY", &ready, ready_nonce(), &client_key)? != PULL {
            return Err(refused("what READY says"));
        }
        Ok([client_key, server_key])
    }
}

struct Hello {
    ephemeral: PublicKey,
    sealed: Vec<u8>,
}

struct Welcome {
    nonce: [u8; 16],
    sealed: Vec<u8>,
}

struct Initiate {
    cookie: [u8; COOKIE_SIZE],
    sealed: Vec<u8>,
}

/// A client that awaits WELCOME.
struct Client<'a> {
    parties: &'a Parties,
    ephemeral: KeyPair,
    hello_key: PrecomputedKey,
}

impl<'a> Client<'a> {
    fn hello(parties: &'a Parties) -> Result<(Self, Hello), Error> {
        let ephemeral = KeyPair::generate();
        let hello_key = agree(&parties.server.public_key, &ephemeral.secret_key)?;
        let hello = Hello {
            ephemeral: ephemeral.public_key.clone(),
            sealed: seal("HELLO", &HELLO_TEXT, hello_nonce(), &hello_key)?,
        };
        let client = Client {
            parties,
            ephemeral,
            hello_key,
        };
        Ok((client, hello))
    }

    fn initiate(self, welcome: &Welcome) -> Result<(PrecomputedKey, Initiate), Error> {
        let welcome_nonce = nonce(b"WELCOME-", &welcome.nonce);
        let opened = open("WELCOME", &welcome.sealed, welcome_nonce, &self.hello_key)?;
        let (server_ephemeral, cookie) = key_and_rest(&opened).ok_or_else(|| refused("WELCOME"))?;
        let cookie = cookie.try_into().map_err(|_| refused("the cookie"))?;

        let key = agree(&server_ephemeral, &self.ephemeral.secret_key)?;
        let Parties { client, server } = self.parties;
        let vouched = [
            *self.ephemeral.public_key.as_bytes(),
            *server.public_key.as_bytes(),
        ]
        .concat();
        let vouch_nonce = random_nonce();
        let vouch_key = agree(&server_ephemeral, &client.secret_key)?;
        let vouch = seal(
            "the vouch",
            &vouched,
            nonce(b"VOUCH---", &vouch_nonce),
            &vouch_key,
        )?;
        let text = [
            &client.public_key.as_bytes()[..],
            &vouch_nonce,
            &vouch,
            PUSH,
        ]
        .concat();
        let sealed = seal("INITIATE", &text, initiate_nonce(), &key)?;
        Ok((key, Initiate { cookie, sealed }))
    }
}

/// A server that awaits INITIATE.
struct Server<'a> {
    parties: &'a Parties,
    cookie_key: crypto_secretbox::Key,
}

impl<'a> Server<'a> {
    fn welcome(parties: &'a Parties, hello: &Hello) -> Result<(Self, Welcome), Error> {
        let hello_key = agree(&hello.ephemeral, &parties.server.secret_key)?;
        if open("HELLO", &hello.sealed, hello_nonce(), &hello_key)? != HELLO_TEXT {
            return Err(refused("what HELLO says"));
        }
        let ephemeral = KeyPair::generate();
        // libzmq makes a key for each connection.
        let cookie_key = crypto_secretbox::Key::generate();
        let cookie_nonce = random_nonce();
        let kept = Zeroizing::new(
            [
                *hello.ephemeral.as_bytes(),
                *ephemeral.secret_key.as_bytes(),
            ]
            .concat(),
        );
        let cookie = crypto_secretbox::seal(
            &kept,
            &crypto_secretbox::Nonce::from_bytes(nonce(b"COOKIE--", &cookie_nonce)),
            &cookie_key,
        );
        let text = [&ephemeral.public_key.as_bytes()[..], &cookie_nonce, &cookie].concat();
        let welcome_nonce = random_nonce();
        let welcome = Welcome {
            nonce: welcome_nonce,
            sealed: seal(
                "WELCOME",
                &text,
                nonce(b"WELCOME-", &welcome_nonce),
                &hello_key,
            )?,
        };
        let server = Server {
            parties,
            cookie_key,
        };
        Ok((server, welcome))
    }

    fn ready(self, initiate: &Initiate) -> Result<(PrecomputedKey, Vec<u8>), Error> {
        let (client_ephemeral, ephemeral) = self.open_cookie(&initiate.cookie)?;
        let key = agree(&client_ephemeral, &ephemeral)?;
        let opened = open("INITIATE", &initiate.sealed, initiate_nonce(), &key)?;
        let (client, rest) = key_and_rest(&opened).ok_or_else(|| refused("INITIATE"))?;
        let (vouch_nonce, rest) = rest
            .split_at_checked(16)
            .ok_or_else(|| refused("INITIATE"))?;
        let (vouch, metadata) = rest
            .split_at_checked(80)
            .ok_or_else(|| refused("INITIATE"))?;

        let vouch_key = agree(&client, &ephemeral)?;
        let vouched = open(
            "the vouch",
            vouch,
            nonce(b"VOUCH---", vouch_nonce),
            &vouch_key,
        )?;
        let expected = [
            *client_ephemeral.as_bytes(),
            *self.parties.server.public_key.as_bytes(),
        ]
        .concat();
        if vouched != expected || metadata != PUSH {
            return Err(refused("what INITIATE says"));
        }
        let ready = seal("READY", PULL, ready_nonce(), &key)?;
        Ok((key, ready))
    }

    /// `C'` and `s'`.
    fn open_cookie(&self, cookie: &[u8; COOKIE_SIZE]) -> Result<(PublicKey, SecretKey), Error> {
        let (random, sealed) = cookie.split_at(16);
        let nonce = crypto_secretbox::Nonce::from_bytes(nonce(b"COOKIE--", random));
        let opened = crypto_secretbox::open(sealed, &nonce, &self.cookie_key);
        let opened = Zeroizing::new(opened.map_err(|_| refused("the cookie"))?);
        let (client_ephemeral, secret) =
            key_and_rest(&opened).ok_or_else(|| refused("the cookie"))?;
        let secret = SecretKey::from_bytes(secret).map_err(|_| refused("the cookie"))?;
        Ok((client_ephemeral, secret))
    }
}

fn agree(public: &PublicKey, secret: &SecretKey) -> Result<PrecomputedKey, Error> {
    beforenm(public, secret).map_err(|_| refused("an agreement"))
}

fn key_and_rest(text: &[u8]) -> Option<(PublicKey, &[u8])> {
    let (key, rest) = text.split_first_chunk::<32>()?;
    Some(((*key).into(), rest))
}

fn random_nonce() -> [u8; 16] {
    let mut nonce = [0; 16];
    random::fill_bytes(&mut nonce);
    nonce
}

fn hello_nonce() -> [u8; 24] {
    nonce(b"CurveZMQHELLO---", &1_u64.to_be_bytes())
}

fn initiate_nonce() -> [u8; 24] {
    nonce(b"CurveZMQINITIATE", &2_u64.to_be_bytes())
}

fn ready_nonce() -> [u8; 24] {
    nonce(b"CurveZMQREADY---", &1_u64.to_be_bytes())
}
