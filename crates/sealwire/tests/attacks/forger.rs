//! Someone with a program of their own: BLAKE3ZMQ by hand, step by step, so that any step can be
//! done wrong. Written from the wire reference (sections 2 to 5); only the primitives are the
//! library's.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};

use sealwire::{DefaultProvider, Generate as _, KeyPair, Provider as _, PublicKey};
use sealwire_zmtp::provider::{OpenJob, SealJob, Verdict};

use crate::support::TIMEOUT;
use sealwire_relay::zmtp::{self, COMMAND};

const PROVIDER: DefaultProvider = DefaultProvider;

/// A connection that the forger made to a server, or took from a client.
pub(crate) struct Forger {
    pub(crate) stream: TcpStream,
    /// `h0`, then `h1`, and so on.
    transcript: [u8; 32],
    pub(crate) ephemeral: KeyPair,
    dh1: [u8; 32],
    dh2: [u8; 32],
}

/// What WELCOME holds.
pub(crate) struct Welcome {
    pub(crate) server_ephemeral: PublicKey,
    pub(crate) cookie: Vec<u8>,
}

/// What INITIATE holds beside the cookie, for a forger who changes some of it.
pub(crate) struct Initiate {
    pub(crate) cookie: Vec<u8>,
    pub(crate) client: [u8; 32],
    pub(crate) vouch: Vec<u8>,
    pub(crate) metadata: Vec<u8>,
}

/// The metadata of a well-behaved DEALER.
pub(crate) fn metadata(socket_type: &str) -> Vec<u8> {
    zmtp::property("Socket-Type", socket_type.as_bytes())
}

impl Forger {
    /// Connects and exchanges greetings.
    pub(crate) fn connect(server: SocketAddr) -> Forger {
        let stream = connect(server);
        let ours = zmtp::greeting("BLAKE3", false);
        Forger::greet(stream, &ours, true)
    }

    /// Takes a client and exchanges greetings.
    pub(crate) fn accept(listener: &TcpListener) -> Forger {
        let (stream, _) = listener.accept().unwrap();
        stream.set_read_timeout(Some(TIMEOUT)).unwrap();
        let ours = zmtp::greeting("BLAKE3", true);
        Forger::greet(stream, &ours, false)
    }

    fn greet(mut stream: TcpStream, ours: &[u8; 64], client: bool) -> Forger {
        stream.write_all(ours).unwrap();
        let mut theirs = [0; 64];
        stream.read_exact(&mut theirs).unwrap();
        let (first, second) = if client {
            (ours, &theirs)
        } else {
            (&theirs, ours)
        };
        Forger {
            stream,
            transcript: PROVIDER.hash(&[b"BLAKE3ZMQ-1.0", first, second]),
            ephemeral: KeyPair::generate(),
            dh1: [0; 32],
            dh2: [0; 32],
        }
    }

    /// The address under which the other end knows this one.
    pub(crate) fn address(&self) -> SocketAddr {
        self.stream.local_addr().unwrap()
    }

    pub(crate) fn write(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).unwrap();
    }

    /// Writes as much as the other end takes before it closes.
    pub(crate) fn write_ignoring_errors(&mut self, bytes: &[u8]) {
        let _ = self.stream.write_all(bytes);
    }

    /// The next frame, all of it.
    pub(crate) fn read(&mut self) -> Vec<u8> {
        zmtp::read_frame(&mut self.stream)
            .unwrap()
            .expect("a frame")
    }

    fn hashed(&mut self, frame: &[u8]) {
        self.transcript = PROVIDER.hash(&[&self.transcript, frame]);
    }

    // ---- as a client ----------------------------------------------------------------------------

    /// The HELLO frame for a server with this key.
    pub(crate) fn hello(&mut self, server: &PublicKey) -> Vec<u8> {
        self.dh1 = agree(&self.ephemeral, server);
        let ephemeral = self.ephemeral.public();
        let key = derive("HELLO key", &[&self.dh1]);
        let nonce = derive("HELLO nonce", &[ephemeral.as_bytes()]);
        let hello_box = seal(&key, nonce, &[0; 64], b"HELLO");
        hello_frame(ephemeral.as_bytes(), &[0; 96], &hello_box)
    }

    /// Sends HELLO and opens WELCOME.
    pub(crate) fn welcome(&mut self, server: &PublicKey) -> Welcome {
        let hello = self.hello(server);
        self.hashed(&hello);
        self.write(&hello);
        let frame = self.read();
        let key = derive("WELCOME key", &[&self.dh1]);
        let nonce = derive("WELCOME nonce", &[&self.transcript]);
        let opened = open(&key, nonce, &frame[2 + 8..], b"WELCOME").expect("WELCOME opens");
        self.hashed(&frame);
        let server_ephemeral = PublicKey::from_bytes(opened[..32].try_into().unwrap()).unwrap();
        self.dh2 = agree(&self.ephemeral, &server_ephemeral);
        Welcome {
            server_ephemeral,
            cookie: opened[32..].into(),
        }
    }

    /// The box by which a client proves that it holds its key.
    pub(crate) fn vouch(&self, client: &KeyPair, welcome: &Welcome, server: &PublicKey) -> Vec<u8> {
        let dh3 = agree(client, &welcome.server_ephemeral);
        let named = [*self.ephemeral.public().as_bytes(), *server.as_bytes()].concat();
        seal(
            &derive("VOUCH key", &[&dh3]),
            derive("VOUCH nonce", &[&dh3]),
            &named,
            b"VOUCH",
        )
    }

    /// INITIATE as a well-behaved client would say it.
    pub(crate) fn initiate(
        &self,
        client: &KeyPair,
        welcome: &Welcome,
        server: &PublicKey,
        metadata: &[u8],
    ) -> Initiate {
        Initiate {
            cookie: welcome.cookie.clone(),
            client: *client.public().as_bytes(),
            vouch: self.vouch(client, welcome, server),
            metadata: metadata.into(),
        }
    }

    /// The frame of INITIATE.
    pub(crate) fn initiate_frame(&mut self, initiate: &Initiate) -> Vec<u8> {
        let material = [&self.dh2, &self.transcript];
        let material = material.map(|part| &part[..]);
        let plaintext = [&initiate.client[..], &initiate.vouch, &initiate.metadata].concat();
        let key = derive("INITIATE key", &material);
        let initiate_box = seal(
            &key,
            derive("INITIATE nonce", &material),
            &plaintext,
            b"INITIATE",
        );
        let data = [&initiate.cookie[..], &initiate_box].concat();
        zmtp::frame(COMMAND, &zmtp::command("INITIATE", &data))
    }

    /// Goes through the whole handshake as an honest client with this metadata.
    pub(crate) fn authenticated(
        server: SocketAddr,
        server_key: &PublicKey,
        client: &KeyPair,
        metadata: &[u8],
    ) -> Channel {
        let mut forger = Forger::connect(server);
        let welcome = forger.welcome(server_key);
        let initiate = forger.initiate(client, &welcome, server_key, metadata);
        let frame = forger.initiate_frame(&initiate);
        forger.write(&frame);
        forger.hashed(&frame);
        let ready = forger.read();
        assert_eq!(&ready[2..8], b"\x05READY");
        forger.hashed(&ready);
        forger.channel("client->server")
    }

    // ---- as a server ----------------------------------------------------------------------------

    /// Reads HELLO and answers with a WELCOME for this ephemeral key and a cookie of zeros.
    pub(crate) fn welcome_with(&mut self, server: &KeyPair, server_ephemeral: &[u8; 32]) {
        let hello = self.read();
        self.hashed(&hello);
        let client_ephemeral = hello_key(&hello);
        self.dh1 = agree(server, &client_ephemeral);
        let key = derive("WELCOME key", &[&self.dh1]);
        let nonce = derive("WELCOME nonce", &[&self.transcript]);
        let plaintext = [&server_ephemeral[..], &[0; 152]].concat();
        let welcome_box = seal(&key, nonce, &plaintext, b"WELCOME");
        let frame = zmtp::frame(COMMAND, &zmtp::command("WELCOME", &welcome_box));
        self.hashed(&frame);
        self.write(&frame);
        if let Ok(ephemeral) = PublicKey::from_bytes(*server_ephemeral)
            && ephemeral == self.ephemeral.public()
        {
            self.dh2 = agree(&self.ephemeral, &client_ephemeral);
        }
    }

    /// Reads INITIATE and answers with a READY that holds this metadata.
    pub(crate) fn ready_with(&mut self, metadata: &[u8]) {
        let initiate = self.read();
        self.hashed(&initiate);
        let material = [&self.dh2, &self.transcript];
        let material = material.map(|part| &part[..]);
        let key = derive("READY key", &material);
        let ready_box = seal(&key, derive("READY nonce", &material), metadata, b"READY");
        self.write(&zmtp::frame(COMMAND, &zmtp::command("READY", &ready_box)));
    }

    fn channel(self, direction: &str) -> Channel {
        let material = [&self.transcript, &self.dh2];
        let material = material.map(|part| &part[..]);
        Channel {
            key: derive(&format!("{direction} key"), &material),
            nonce: derive(&format!("{direction} nonce"), &material),
            sealed: 0,
            stream: self.stream,
        }
    }
}

/// An established connection on which the forger seals whatever it likes.
pub(crate) struct Channel {
    pub(crate) stream: TcpStream,
    key: [u8; 32],
    nonce: [u8; 24],
    sealed: u64,
}

impl Channel {
    pub(crate) fn address(&self) -> SocketAddr {
        self.stream.local_addr().unwrap()
    }

    /// The next frame, sealed as it should be.
    pub(crate) fn seal(&mut self, flags: u8, body: &[u8]) -> Vec<u8> {
        let mut header = zmtp::header(flags, body.len() as u64 + 32);
        let mut nonce = self.nonce;
        let counter = u64::from_le_bytes(nonce[16..].try_into().unwrap());
        nonce[16..].copy_from_slice(&counter.wrapping_add(self.sealed).to_le_bytes());
        self.sealed += 1;
        let sealed = seal(&self.key, nonce, body, &header);
        header.extend_from_slice(&sealed);
        header
    }

    pub(crate) fn send(&mut self, flags: u8, body: &[u8]) {
        let frame = self.seal(flags, body);
        self.stream.write_all(&frame).unwrap();
    }

    /// Writes as much as the other end takes before it closes.
    pub(crate) fn write_ignoring_errors(&mut self, bytes: &[u8]) {
        let _ = self.stream.write_all(bytes);
    }
}

/// A TCP connection that gives up in time.
pub(crate) fn connect(server: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(server).unwrap();
    stream.set_nodelay(true).unwrap();
    stream.set_read_timeout(Some(TIMEOUT)).unwrap();
    stream
}

/// The frame of HELLO.
pub(crate) fn hello_frame(ephemeral: &[u8; 32], padding: &[u8], hello_box: &[u8]) -> Vec<u8> {
    let data = [&[1, 0][..], ephemeral, padding, hello_box].concat();
    zmtp::frame(COMMAND, &zmtp::command("HELLO", &data))
}

/// `C'` of a HELLO frame.
fn hello_key(frame: &[u8]) -> PublicKey {
    PublicKey::from_bytes(frame[10..42].try_into().unwrap()).unwrap()
}

fn agree(ours: &KeyPair, theirs: &PublicKey) -> [u8; 32] {
    let shared = PROVIDER.diffie_hellman(ours.secret(), theirs);
    *shared.expect("an honest key").as_bytes()
}

fn derive<const N: usize>(suffix: &str, material: &[&[u8]]) -> [u8; N] {
    let mut output = [0; N];
    PROVIDER.derive_key(&format!("BLAKE3ZMQ-1.0 {suffix}"), material, &mut output);
    output
}

fn seal(key: &[u8; 32], nonce: [u8; 24], plaintext: &[u8], aad: &[u8]) -> Vec<u8> {
    let (mut buffer, mut tag) = (plaintext.to_vec(), [0; 32]);
    PROVIDER.cipher(key).seal(&mut [SealJob {
        nonce,
        aad,
        buffer: &mut buffer,
        tag: &mut tag,
    }]);
    buffer.extend_from_slice(&tag);
    buffer
}

fn open(key: &[u8; 32], nonce: [u8; 24], sealed: &[u8], aad: &[u8]) -> Option<Vec<u8>> {
    let (ciphertext, tag) = sealed.split_last_chunk()?;
    let mut buffer = ciphertext.to_vec();
    let mut jobs = [OpenJob::new(nonce, aad, &mut buffer, tag)];
    PROVIDER.cipher(key).open(&mut jobs);
    let [job] = jobs;
    (job.verdict == Verdict::Verified).then_some(buffer)
}
