//! The HTTP/1.1 upgrade that opens a WebSocket (RFC 6455, section 4).

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use bytes::{Buf as _, BytesMut};
use sha1::{Digest as _, Sha1};

use super::{Role, WebSocketError};

/// Longest head of a request or answer, in bytes.
const MAX_HEAD: usize = 8 << 10;
/// Most fields in it.
const MAX_FIELDS: usize = 64;
/// How the first record of TLS begins: an alert or a handshake.
const TLS_RECORDS: [u8; 2] = [0x15, 0x16];
const GUID: &[u8] = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

/// What the request is about.
#[derive(Debug, Clone)]
pub(crate) struct Address {
    /// Name or address and port, as in the field `Host`.
    pub(crate) authority: String,
    pub(crate) path: String,
}

pub(super) struct Upgrade {
    role: Role,
    path: String,
    subprotocol: String,
    /// What the server has to answer.
    accept: String,
    /// How far the end of the head has been looked for.
    searched: usize,
}

impl Upgrade {
    /// A client's request goes to `output`.
    pub(super) fn new(
        role: Role,
        address: Address,
        subprotocol: String,
        nonce: [u8; 16],
        output: &mut BytesMut,
    ) -> Self {
        let key = BASE64.encode(nonce);
        let Address { authority, path } = address;
        if role == Role::Client {
            let request = format!(
                "GET {path} HTTP/1.1\r\nHost: {authority}\r\nUpgrade: websocket\r\n\
                 Connection: Upgrade\r\nSec-WebSocket-Key: {key}\r\n\
                 Sec-WebSocket-Protocol: {subprotocol}\r\nSec-WebSocket-Version: 13\r\n\r\n"
            );
            output.extend_from_slice(request.as_bytes());
        }
        Upgrade {
            role,
            path,
            subprotocol,
            accept: accept(key.as_bytes()),
            searched: 0,
        }
    }

    /// Takes the head off `input` once it is whole, and tells whether it was. A server's answer
    /// goes to `output`, also one that refuses.
    pub(super) fn receive(
        &mut self,
        input: &mut BytesMut,
        output: &mut BytesMut,
    ) -> Result<bool, WebSocketError> {
        // What cannot become a head is told at once.
        let start: &[u8] = match self.role {
            Role::Server => b"GET ",
            Role::Client => b"HTTP/1.1 ",
        };
        let seen = start.len().min(input.len());
        let outcome = if input
            .first()
            .is_some_and(|first| TLS_RECORDS.contains(first))
        {
            Err(WebSocketError::Tls)
        } else if input[..seen] != start[..seen] {
            Err(WebSocketError::NotHttp)
        } else {
            let from = self.searched.saturating_sub(3);
            let end = input[from..]
                .windows(4)
                .position(|four| four == b"\r\n\r\n");
            self.searched = input.len();
            match end.map(|end| from + end + 4) {
                Some(end) if end <= MAX_HEAD => {
                    let head = input.split_to(end);
                    match self.role {
                        Role::Server => self.request(&head),
                        Role::Client => self.answer(&head).map(|()| String::new()),
                    }
                }
                None if input.len() < MAX_HEAD => return Ok(false),
                _ => Err(WebSocketError::HeadTooLarge),
            }
        };
        match outcome {
            Ok(answer) => {
                output.extend_from_slice(answer.as_bytes());
                Ok(true)
            }
            Err(error) => {
                input.advance(input.len());
                if self.role == Role::Server {
                    output.extend_from_slice(refusal(error).as_bytes());
                }
                Err(error)
            }
        }
    }

    /// The answer to a client's request.
    fn request(&self, head: &[u8]) -> Result<String, WebSocketError> {
        let mut fields = [httparse::EMPTY_HEADER; MAX_FIELDS];
        let mut request = httparse::Request::new(&mut fields);
        request.parse(head).map_err(not_http)?;
        let fields = Fields(request.headers);
        let key = fields
            .only("Sec-WebSocket-Key")
            .filter(|key| BASE64.decode(key).is_ok_and(|nonce| nonce.len() == 16));
        let wanted = request.version == Some(1)
            && fields.lists("Upgrade", "websocket", true)
            && fields.lists("Connection", "upgrade", true)
            && fields.only("Host").is_some()
            && fields.only("Sec-WebSocket-Version") == Some(b"13");
        let Some(key) = key.filter(|_| wanted) else {
            return Err(WebSocketError::NoUpgrade);
        };
        let path = request.path.unwrap_or_default();
        if path.split('?').next() != Some(&self.path) {
            return Err(WebSocketError::WrongPath);
        }
        if !fields.lists("Sec-WebSocket-Protocol", &self.subprotocol, false) {
            return Err(WebSocketError::NoCommonSubprotocol);
        }
        Ok(format!(
            "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
             Sec-WebSocket-Accept: {}\r\nSec-WebSocket-Protocol: {}\r\n\r\n",
            accept(key),
            self.subprotocol
        ))
    }

    /// Checks a server's answer.
    fn answer(&self, head: &[u8]) -> Result<(), WebSocketError> {
        let mut fields = [httparse::EMPTY_HEADER; MAX_FIELDS];
        let mut answer = httparse::Response::new(&mut fields);
        answer.parse(head).map_err(not_http)?;
        match answer.code {
            Some(101) => {}
            Some(status) => return Err(WebSocketError::Refused(status)),
            None => return Err(WebSocketError::NotHttp),
        }
        let fields = Fields(answer.headers);
        let fits = fields.lists("Upgrade", "websocket", true)
            && fields.lists("Connection", "upgrade", true)
            && fields.only("Sec-WebSocket-Accept") == Some(self.accept.as_bytes())
            && fields.only("Sec-WebSocket-Extensions").is_none();
        if !fits {
            return Err(WebSocketError::WrongAnswer);
        }
        match fields.only("Sec-WebSocket-Protocol") {
            Some(chosen) if chosen == self.subprotocol.as_bytes() => Ok(()),
            _ => Err(WebSocketError::NoCommonSubprotocol),
        }
    }
}

fn not_http(error: httparse::Error) -> WebSocketError {
    match error {
        httparse::Error::TooManyHeaders => WebSocketError::HeadTooLarge,
        _ => WebSocketError::NotHttp,
    }
}

fn accept(key: &[u8]) -> String {
    BASE64.encode(Sha1::new().chain_update(key).chain_update(GUID).finalize())
}

fn refusal(error: WebSocketError) -> String {
    let status = match error {
        WebSocketError::HeadTooLarge => "431 Request Header Fields Too Large",
        WebSocketError::WrongPath => "404 Not Found",
        WebSocketError::NoUpgrade => {
            "426 Upgrade Required\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13"
        }
        _ => "400 Bad Request",
    };
    format!("HTTP/1.1 {status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
}

struct Fields<'a>(&'a [httparse::Header<'a>]);

impl<'a> Fields<'a> {
    fn all(&self, name: &str) -> impl Iterator<Item = &'a [u8]> {
        let fields = self.0.iter();
        fields
            .filter(move |field| field.name.eq_ignore_ascii_case(name))
            .map(|field| field.value.trim_ascii())
    }

    /// The value of a field that must not be there twice.
    fn only(&self, name: &str) -> Option<&'a [u8]> {
        let mut all = self.all(name);
        all.next().filter(|_| all.next().is_none())
    }

    /// Whether a field that is a list has this item.
    fn lists(&self, name: &str, wanted: &str, any_case: bool) -> bool {
        let wanted = wanted.as_bytes();
        self.all(name)
            .flat_map(|value| value.split(|&byte| byte == b','))
            .map(<[u8]>::trim_ascii)
            .any(|item| item == wanted || any_case && item.eq_ignore_ascii_case(wanted))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const REQUEST: &str = "GET /zeromq HTTP/1.1\r\nHost: server.example.com\r\n\
        Upgrade: websocket\r\nConnection: keep-alive, Upgrade\r\n\
        Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\
        Sec-WebSocket-Protocol: ZWS2.0, ZWS2.0/NULL\r\nSec-WebSocket-Version: 13\r\n\r\n";

    fn upgrade(role: Role, output: &mut BytesMut) -> Upgrade {
        let address = Address {
            authority: "server.example.com".into(),
            path: "/zeromq".into(),
        };
        let nonce = *b"the sample nonce";
        Upgrade::new(role, address, "ZWS2.0/NULL".into(), nonce, output)
    }

    fn ask(request: &str) -> (Result<bool, WebSocketError>, String) {
        let (mut input, mut output) = (BytesMut::from(request), BytesMut::new());
        let outcome = upgrade(Role::Server, &mut output).receive(&mut input, &mut output);
        (outcome, String::from_utf8(output.to_vec()).unwrap())
    }

    /// Key and answer are those of RFC 6455, section 1.3.
    #[test]
    fn a_request_is_answered_however_it_is_cut() {
        let (outcome, answer) = ask(REQUEST);
        assert_eq!(outcome, Ok(true));
        assert!(answer.starts_with("HTTP/1.1 101 "));
        assert!(answer.contains("Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n"));
        assert!(answer.contains("Sec-WebSocket-Protocol: ZWS2.0/NULL\r\n"));
        let (mut input, mut output) = (BytesMut::new(), BytesMut::new());
        let mut server = upgrade(Role::Server, &mut output);
        for (index, byte) in REQUEST.bytes().enumerate() {
            input.extend_from_slice(&[byte]);
            let whole = server.receive(&mut input, &mut output);
            assert_eq!(whole, Ok(index + 1 == REQUEST.len()));
        }
        assert_eq!(output, answer.as_bytes());
    }

    #[test]
    fn a_client_takes_the_answer_to_its_own_request_only() {
        let answer = ask(REQUEST).1;
        let check = |answer: &str| {
            let (mut input, mut output) = (BytesMut::from(answer), BytesMut::new());
            let mut client = upgrade(Role::Client, &mut output);
            assert_eq!(ask(std::str::from_utf8(&output).unwrap()).0, Ok(true));
            client.receive(&mut input, &mut output)
        };
        assert_eq!(check(&answer), Ok(true));
        use WebSocketError::{NoCommonSubprotocol, NotHttp, Refused, WrongAnswer};
        for (from, to, error) in [
            ("s3pP", "S3pP", WrongAnswer),
            ("Upgrade: websocket", "Upgrade: h2c", WrongAnswer),
            ("ZWS2.0/NULL", "ZWS2.0", NoCommonSubprotocol),
            ("101 Switching", "404 Switching", Refused(404)),
            ("HTTP/1.1", "HTTP/2.0", NotHttp),
        ] {
            assert_eq!(check(&answer.replace(from, to)), Err(error), "{from}");
        }
    }

    #[test]
    fn a_wrong_request_is_refused_with_a_status() {
        use WebSocketError::{HeadTooLarge, NoCommonSubprotocol, NoUpgrade, NotHttp, WrongPath};
        let fields = "X: y\r\n".repeat(70) + "Host";
        let long = format!("X: {}\r\nHost", "y".repeat(9_000));
        for (from, to, error, status) in [
            ("GET", "PUT", NotHttp, "400"),
            ("GET", "\u{1}", NotHttp, "400"),
            ("Host:", "Ho st:", NotHttp, "400"),
            ("/zeromq", "/other", WrongPath, "404"),
            ("Version: 13", "Version: 8", NoUpgrade, "426"),
            ("Upgrade: websocket", "Upgrade: h2c", NoUpgrade, "426"),
            ("dGhlIH", "", NoUpgrade, "426"),
            ("ZWS2.0/NULL", "ZWS2.0/CURVE", NoCommonSubprotocol, "400"),
            ("Host", &fields, HeadTooLarge, "431"),
            ("Host", &long, HeadTooLarge, "431"),
        ] {
            let (outcome, answer) = ask(&REQUEST.replacen(from, to, 1));
            assert_eq!(outcome, Err(error), "{from} {to}");
            assert!(
                answer.starts_with(&format!("HTTP/1.1 {status} ")),
                "{answer}"
            );
        }
    }
}
