//! SOCKS5 as a client: CONNECT (RFC 1928), with a username and a password where the proxy asks for
//! them (RFC 1929). No I/O: bytes come in and go out.
//!
//! ```text
//!   methods ──▶ choice ──▶ (login ──▶ verdict) ──▶ request ──▶ reply ──▶ the tunnel stands
//! ```
//!
//! Names are not resolved here: they go to the proxy, as in libzmq. Bytes after the reply are the
//! peer's, so this reads no more than the current answer needs.

use std::fmt;
use std::net::IpAddr;

use zeroize::Zeroizing;

const VERSION: u8 = 5;
/// Of the exchange of username and password (RFC 1929).
const LOGIN_VERSION: u8 = 1;

const NO_LOGIN: u8 = 0;
const PASSWORD: u8 = 2;
const NO_METHOD: u8 = 0xff;

const CONNECT: u8 = 1;
const RESERVED: u8 = 0;
const IPV4: u8 = 1;
const NAME: u8 = 3;
const IPV6: u8 = 4;

/// Longest name, username or password: their length is one octet.
const MAX_TEXT: usize = u8::MAX as usize;
/// The longest answer: a reply with a name of 255 bytes.
pub(crate) const MAX_ANSWER: usize = 4 + 1 + MAX_TEXT + 2;

/// A SOCKS5 proxy did not make the connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SocksError {
    /// The answer is not of version 5.
    #[error("what answers is no SOCKS5 proxy")]
    NotSocks5,
    /// It wants a login that was not offered, or of another kind.
    #[error(
        "the proxy takes neither no login nor a username with a password, as far as these are set"
    )]
    NoCommonMethod,
    /// It chose a kind of login that it was not offered.
    #[error("the proxy chose login method {0}, which was not offered")]
    WrongMethod(u8),
    /// It does not know this username with this password.
    #[error("the proxy refuses the username or the password")]
    WrongLogin,
    /// It did not connect.
    #[error("the proxy did not connect: {0}")]
    Refused(SocksRefusal),
    /// Its reply has an address of a kind that does not exist.
    #[error("the proxy's reply has an address of unknown type {0}")]
    BadReply(u8),
    /// It ended the connection before it answered.
    #[error("the proxy closed the connection instead of answering")]
    Closed,
    /// It did not answer within the time to connect.
    #[error("the proxy did not answer in time")]
    TimedOut,
    /// The host of the endpoint is longer than 255 bytes.
    #[error("the name of the host has more than 255 bytes")]
    NameTooLong,
}

/// Why a proxy did not connect, in its own words (RFC 1928, section 6).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum SocksRefusal {
    /// 1.
    GeneralFailure,
    /// 2.
    NotAllowed,
    /// 3.
    NetworkUnreachable,
    /// 4.
    HostUnreachable,
    /// 5.
    ConnectionRefused,
    /// 6.
    TtlExpired,
    /// 7.
    CommandNotSupported,
    /// 8.
    AddressTypeNotSupported,
    /// Any other number.
    Other(u8),
}

impl From<u8> for SocksRefusal {
    fn from(code: u8) -> Self {
        match code {
            1 => Self::GeneralFailure,
            2 => Self::NotAllowed,
            3 => Self::NetworkUnreachable,
            4 => Self::HostUnreachable,
            5 => Self::ConnectionRefused,
            6 => Self::TtlExpired,
            7 => Self::CommandNotSupported,
            8 => Self::AddressTypeNotSupported,
            other => Self::Other(other),
        }
    }
}

impl fmt::Display for SocksRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::GeneralFailure => "general failure (reply 1)",
            Self::NotAllowed => "its rules do not allow it (reply 2)",
            Self::NetworkUnreachable => "the network cannot be reached (reply 3)",
            Self::HostUnreachable => "the host cannot be reached (reply 4)",
            Self::ConnectionRefused => "the host refused the connection (reply 5)",
            Self::TtlExpired => "the way to the host is too long (reply 6)",
            Self::CommandNotSupported => "it makes no connections (reply 7)",
            Self::AddressTypeNotSupported => {
                "it knows no addresses of the endpoint's kind (reply 8)"
            }
            Self::Other(code) => return write!(f, "reply {code}, which has no meaning"),
        })
    }
}

/// Which answer is awaited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    Choice,
    Verdict,
    Reply,
}

/// One connection through a proxy, until it stands.
pub(crate) struct Handshake {
    step: Step,
    /// Username and password as they are sent.
    login: Option<Zeroizing<Vec<u8>>>,
    request: Vec<u8>,
    outgoing: Zeroizing<Vec<u8>>,
    sent: usize,
    answer: Vec<u8>,
    /// Bytes that the answer needs at least.
    length: usize,
}

impl Handshake {
    /// Towards `host`, a name or an IP address, through a proxy that may want a login of a username
    /// and a password, of up to 255 bytes each.
    pub(crate) fn new(
        host: &str,
        port: u16,
        login: Option<(&str, &[u8])>,
    ) -> Result<Self, SocksError> {
        let mut methods = vec![VERSION, 1, NO_LOGIN];
        if login.is_some() {
            methods[1] += 1;
            methods.push(PASSWORD);
        }
        Ok(Handshake {
            step: Step::Choice,
            login: login.map(|(username, password)| encode_login(username, password)),
            request: encode_request(host, port)?,
            outgoing: Zeroizing::new(methods),
            sent: 0,
            answer: Vec::with_capacity(MAX_ANSWER),
            length: 2,
        })
    }

    /// Bytes for the proxy.
    pub(crate) fn pending(&self) -> &[u8] {
        &self.outgoing[self.sent..]
    }

    /// Notes that this number of bytes has been sent.
    pub(crate) fn sent(&mut self, bytes: usize) {
        self.sent += bytes;
    }

    /// How many bytes to read next, at most; never more than [`MAX_ANSWER`].
    pub(crate) fn wanted(&self) -> usize {
        self.length - self.answer.len()
    }

    /// Takes up to as many bytes of the proxy as are [`wanted`](Handshake::wanted). `true` once the
    /// connection stands: from there on its bytes are the peer's.
    pub(crate) fn receive(&mut self, bytes: &[u8]) -> Result<bool, SocksError> {
        debug_assert!(bytes.len() <= self.wanted());
        self.answer.extend_from_slice(bytes);
        self.length = self.check()?;
        if self.answer.len() < self.length {
            return Ok(false);
        }
        match self.step {
            Step::Choice => match self.answer[1] {
                NO_LOGIN => self.go_on(Step::Reply),
                PASSWORD if self.login.is_some() => self.go_on(Step::Verdict),
                NO_METHOD => return Err(SocksError::NoCommonMethod),
                method => return Err(SocksError::WrongMethod(method)),
            },
            Step::Verdict if self.answer[1] == 0 => self.go_on(Step::Reply),
            Step::Verdict => return Err(SocksError::WrongLogin),
            Step::Reply => return Ok(true),
        }
        Ok(false)
    }

    /// Sends what leads to the next answer.
    fn go_on(&mut self, next: Step) {
        self.outgoing = match next {
            Step::Verdict => self.login.take().unwrap_or_default(),
            Step::Choice | Step::Reply => Zeroizing::new(std::mem::take(&mut self.request)),
        };
        self.sent = 0;
        self.step = next;
        self.answer.clear();
        self.length = match next {
            Step::Choice | Step::Verdict => 2,
            Step::Reply => 4,
        };
    }

    /// Checks as much as there is of the answer, and says how long it is at least.
    fn check(&self) -> Result<usize, SocksError> {
        let version = match self.step {
            Step::Verdict => LOGIN_VERSION,
            Step::Choice | Step::Reply => VERSION,
        };
        if self.answer.first().is_some_and(|&first| first != version) {
            return Err(SocksError::NotSocks5);
        }
        if self.step != Step::Reply {
            return Ok(2);
        }
        match self.answer[..] {
            // Some proxies say no more than this when they refuse.
            [_, code, ..] if code != 0 => Err(SocksError::Refused(code.into())),
            [_, _, _, IPV4, ..] => Ok(4 + 4 + 2),
            [_, _, _, IPV6, ..] => Ok(4 + 16 + 2),
            [_, _, _, NAME, length, ..] => Ok(4 + 1 + usize::from(length) + 2),
            [_, _, _, NAME] => Ok(4 + 1),
            [_, _, _, other, ..] => Err(SocksError::BadReply(other)),
            _ => Ok(4),
        }
    }
}

fn encode_login(username: &str, password: &[u8]) -> Zeroizing<Vec<u8>> {
    debug_assert!(username.len() <= MAX_TEXT && password.len() <= MAX_TEXT);
    // No growing: that would leave a copy behind.
    let mut login = Vec::with_capacity(3 + username.len() + password.len());
    login.extend_from_slice(&[LOGIN_VERSION, username.len() as u8]);
    login.extend_from_slice(username.as_bytes());
    login.push(password.len() as u8);
    login.extend_from_slice(password);
    Zeroizing::new(login)
}

fn encode_request(host: &str, port: u16) -> Result<Vec<u8>, SocksError> {
    let mut request = vec![VERSION, CONNECT, RESERVED];
    match host.parse() {
        Ok(IpAddr::V4(address)) => {
            request.push(IPV4);
            request.extend_from_slice(&address.octets());
        }
        Ok(IpAddr::V6(address)) => {
            request.push(IPV6);
            request.extend_from_slice(&address.octets());
        }
        Err(_) => {
            let length = u8::try_from(host.len()).map_err(|_| SocksError::NameTooLong)?;
            request.extend_from_slice(&[NAME, length]);
            request.extend_from_slice(host.as_bytes());
        }
    }
    request.extend_from_slice(&port.to_be_bytes());
    Ok(request)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOGIN: Option<(&str, &[u8])> = Some(("user", b"secret"));
    const REPLY: [u8; 10] = [5, 0, 0, 1, 127, 0, 0, 1, 0x1f, 0x90];

    /// Plays the proxy's bytes in pieces of at most `step`, as far as they are wanted. Returns what
    /// came of it, what the client said, and what it left unread.
    fn play(
        login: Option<(&str, &[u8])>,
        proxy: &[u8],
        step: usize,
    ) -> (Result<bool, SocksError>, Vec<u8>, usize) {
        let mut handshake = Handshake::new("example.org", 5555, login).unwrap();
        let (mut said, mut rest) = (Vec::new(), proxy);
        loop {
            let pending = handshake.pending().to_vec();
            for byte in pending {
                assert_eq!(handshake.pending()[0], byte);
                handshake.sent(1);
                said.push(byte);
            }
            let length = handshake.wanted().min(step).min(rest.len());
            assert!(handshake.wanted() <= MAX_ANSWER);
            if length == 0 {
                return (Ok(false), said, rest.len());
            }
            let (piece, behind) = rest.split_at(length);
            rest = behind;
            match handshake.receive(piece) {
                Ok(false) => {}
                outcome => return (outcome, said, rest.len()),
            }
        }
    }

    fn concat(parts: &[&[u8]]) -> Vec<u8> {
        parts.concat()
    }

    #[test]
    fn the_exchange_is_as_the_rfcs_have_it_however_it_is_cut() {
        let name = concat(&[b"\x05\x01\x00\x03\x0b", b"example.org", b"\x15\xb3"]);
        let named = concat(&[b"\x05\x00\x00\x03\x04host", b"\x00\x01"]);
        let six = concat(&[&[5, 0, 0, 4], &[0; 16], &[0, 1]]);
        for reply in [&REPLY[..], &named, &six] {
            for step in 1..=reply.len() + 1 {
                let proxy = concat(&[&[5, 0], reply, b"greeting"]);
                let (outcome, said, left) = play(None, &proxy, step);
                assert_eq!((outcome, left), (Ok(true), 8), "{step}");
                assert_eq!(said, concat(&[&[5, 1, 0], &name]));
                // The proxy wants the login, and once it does not.
                let proxy = concat(&[&[5, 2], &[1, 0], reply, b"greeting"]);
                let (outcome, said, left) = play(LOGIN, &proxy, step);
                assert_eq!((outcome, left), (Ok(true), 8), "{step}");
                let login = b"\x01\x04user\x06secret";
                assert_eq!(said, concat(&[&[5, 2, 0, 2], login, &name]));
                let proxy = concat(&[&[5, 0], reply]);
                let (outcome, said, _) = play(LOGIN, &proxy, step);
                assert_eq!(outcome, Ok(true));
                assert_eq!(said, concat(&[&[5, 2, 0, 2], &name]));
            }
        }
    }

    #[test]
    fn an_unfinished_answer_is_waited_for() {
        let proxy = concat(&[&[5, 2], &[1, 0], &REPLY]);
        for length in 0..proxy.len() {
            assert_eq!(play(LOGIN, &proxy[..length], 1).0, Ok(false), "{length}");
        }
    }

    #[test]
    fn addresses_go_as_such() {
        let four = encode_request("192.0.2.1", 1).unwrap();
        assert_eq!(four, [5, 1, 0, 1, 192, 0, 2, 1, 0, 1]);
        let six = encode_request("2001:db8::1", 0x0203).unwrap();
        assert_eq!(six[..6], [5, 1, 0, 4, 0x20, 0x01]);
        assert_eq!(six[20..], [2, 3]);
        assert!(encode_request(&"x".repeat(255), 1).is_ok());
        let long = encode_request(&"x".repeat(256), 1);
        assert_eq!(long, Err(SocksError::NameTooLong));
    }

    #[test]
    fn what_goes_wrong_is_named() {
        use SocksError::*;
        let cases: [(&[u8], SocksError); 10] = [
            (b"HT", NotSocks5),
            (&[4], NotSocks5),
            (&[5, 0xff], NoCommonMethod),
            (&[5, 1], WrongMethod(1)),
            (&[5, 2, 5], NotSocks5),
            (&[5, 2, 1, 1], WrongLogin),
            (&[5, 0, 4], NotSocks5),
            (&[5, 0, 5, 5], Refused(SocksRefusal::ConnectionRefused)),
            (&[5, 0, 5, 2], Refused(SocksRefusal::NotAllowed)),
            (&[5, 0, 5, 0, 0, 2], BadReply(2)),
        ];
        for (proxy, error) in cases {
            for step in [1, 2, 300] {
                assert_eq!(play(LOGIN, proxy, step).0, Err(error), "{proxy:?}");
            }
        }
        // Chosen without having been offered.
        assert_eq!(play(None, &[5, 2], 2).0, Err(WrongMethod(2)));
        for code in 1..=255 {
            let text = SocksRefusal::from(code).to_string();
            assert!(text.contains(&format!("reply {code}")), "{text}");
        }
    }
}
