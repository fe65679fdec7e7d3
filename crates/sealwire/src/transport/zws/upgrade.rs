//! The HTTP/1.1 upgrade that opens a WebSocket (RFC 6455, section 4).

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use bytes::{Buf as _, BytesMut};
use sha1::{Digest as _, Sha1};

use super::{Role, Terms, WebSocketError};
use crate::limits::{MAX_UPGRADE_FIELDS, MAX_UPGRADE_HEAD};
use crate::options::WebAccess;
use crate::reach::is_loopback_host;

/// How the first record of TLS begins: an alert or a handshake.
const TLS_RECORDS: [u8; 2] = [0x15, 0x16];
const GUID: &[u8] = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

/// What the request is about. Its parts hold visible ASCII characters only, so that none can end a
/// line of the request.
#[derive(Debug, Clone)]
pub(crate) struct Address {
    /// Name or address and port, as in the field `Host`.
    authority: String,
    path: String,
    is_loopback: bool,
}

impl Address {
    /// `host` without brackets. Characters that a request cannot carry are written as `%XX`.
    pub(crate) fn new(host: &str, port: u16, path: &str) -> Self {
        let authority = match host.contains(':') {
            true => format!("[{}]:{port}", encoded(host)),
            false => format!("{}:{port}", encoded(host)),
        };
        Address {
            authority,
            path: encoded(path),
            is_loopback: is_loopback_host(host),
        }
    }
}

fn encoded(text: &str) -> String {
    use std::fmt::Write as _;
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_graphic() {
            encoded.push(byte.into());
        } else {
            write!(encoded, "%{byte:02X}").expect("strings grow");
        }
    }
    encoded
}

pub(super) struct Upgrade {
    role: Role,
    address: Address,
    subprotocol: String,
    access: Arc<WebAccess>,
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
        terms: &Terms,
        nonce: [u8; 16],
        output: &mut BytesMut,
    ) -> Self {
        let key = BASE64.encode(nonce);
        let subprotocol = terms.subprotocol();
        if role == Role::Client {
            let Address {
                authority, path, ..
            } = &address;
            let request = format!(
                "GET {path} HTTP/1.1\r\nHost: {authority}\r\nUpgrade: websocket\r\n\
                 Connection: Upgrade\r\nSec-WebSocket-Key: {key}\r\n\
                 Sec-WebSocket-Protocol: {subprotocol}\r\nSec-WebSocket-Version: 13\r\n\r\n"
            );
            output.extend_from_slice(request.as_bytes());
        }
        Upgrade {
            role,
            address,
            subprotocol,
            access: terms.access.clone(),
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
        // Bytes that cannot become a head are refused at once.
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
                Some(end) if end <= MAX_UPGRADE_HEAD => {
                    let head = input.split_to(end);
                    match self.role {
                        Role::Server => self.request(&head),
                        Role::Client => self.answer(&head).map(|()| String::new()),
                    }
                }
                None if input.len() < MAX_UPGRADE_HEAD => return Ok(false),
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
        let mut fields = [httparse::EMPTY_HEADER; MAX_UPGRADE_FIELDS];
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
        self.check_access(&fields)?;
        let path = request.path.unwrap_or_default();
        if path.split('?').next() != Some(&self.address.path) {
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

    /// Refuses web pages that are not allowed, before they learn anything else.
    fn check_access(&self, fields: &Fields<'_>) -> Result<(), WebSocketError> {
        if fields.all("Origin").next().is_some() {
            fields
                .only("Origin")
                .filter(|origin| self.access.admits_origin(origin))
                .ok_or(WebSocketError::OriginNotAllowed)?;
        }
        if self.address.is_loopback {
            fields
                .only("Host")
                .filter(|host| self.access.admits_host(host))
                .ok_or(WebSocketError::HostNotAllowed)?;
        }
        Ok(())
    }

    /// Checks a server's answer.
    fn answer(&self, head: &[u8]) -> Result<(), WebSocketError> {
        let mut fields = [httparse::EMPTY_HEADER; MAX_UPGRADE_FIELDS];
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
        WebSocketError::OriginNotAllowed | WebSocketError::HostNotAllowed => "403 Forbidden",
        WebSocketError::NoUpgrade => {
            "426 Upgrade Required\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13"
        }
        _ => "400 Bad Request",
    };
    let reason = match error {
        WebSocketError::OriginNotAllowed => "This origin is not allowed.\n",
        WebSocketError::HostNotAllowed => "This host name is not allowed.\n",
        _ => "",
    };
    let length = reason.len();
    format!(
        "HTTP/1.1 {status}\r\nConnection: close\r\nContent-Type: text/plain\r\n\
         Content-Length: {length}\r\n\r\n{reason}"
    )
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
    use sealwire_zmtp::Mechanism;

    use super::*;

    const REQUEST: &str = "GET /zeromq HTTP/1.1\r\nHost: server.example.com\r\n\
        Upgrade: websocket\r\nConnection: keep-alive, Upgrade\r\n\
        Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\
        Sec-WebSocket-Protocol: ZWS2.0, ZWS2.0/NULL\r\nSec-WebSocket-Version: 13\r\n\r\n";

    fn terms(access: WebAccess) -> Terms {
        Terms {
            mechanism: Mechanism::Null,
            as_server: false,
            max_message_size: 0,
            bounds_parts: false,
            access: Arc::new(access),
        }
    }

    fn upgrade(role: Role, output: &mut BytesMut) -> Upgrade {
        let address = Address::new("server.example.com", 80, "/zeromq");
        let nonce = *b"the sample nonce";
        Upgrade::new(role, address, &terms(WebAccess::default()), nonce, output)
    }

    fn answer(mut server: Upgrade, request: &str) -> (Result<bool, WebSocketError>, String) {
        let (mut input, mut output) = (BytesMut::from(request), BytesMut::new());
        let outcome = server.receive(&mut input, &mut output);
        (outcome, String::from_utf8(output.to_vec()).unwrap())
    }

    fn ask(request: &str) -> (Result<bool, WebSocketError>, String) {
        answer(upgrade(Role::Server, &mut BytesMut::new()), request)
    }

    /// Asks a server that is bound to this host.
    fn ask_at(host: &str, access: WebAccess, request: &str) -> Result<bool, WebSocketError> {
        let address = Address::new(host, 80, "/zeromq");
        let mut output = BytesMut::new();
        let server = Upgrade::new(Role::Server, address, &terms(access), [0; 16], &mut output);
        let (outcome, answer) = answer(server, request);
        assert_eq!(
            answer.starts_with("HTTP/1.1 403 Forbidden\r\n"),
            matches!(
                outcome,
                Err(WebSocketError::OriginNotAllowed | WebSocketError::HostNotAllowed)
            ),
            "{answer}"
        );
        outcome
    }

    #[test]
    fn web_pages_are_refused_unless_allowed() {
        use WebSocketError::OriginNotAllowed;
        let with = |origin: &str| REQUEST.replace("Host:", &format!("Origin: {origin}\r\nHost:"));
        for host in ["127.0.0.1", "*", "192.0.2.1"] {
            let access = WebAccess {
                origins: vec!["https://good.example".into()],
                hosts: vec!["server.example.com".into()],
                ..WebAccess::default()
            };
            let ask = |request: &str| ask_at(host, access.clone(), request);
            assert_eq!(ask(REQUEST), Ok(true));
            assert_eq!(ask(&with("https://good.example")), Ok(true));
            let twice = "https://good.example\r\nOrigin: https://good.example";
            for origin in ["https://evil.example", "null", "", "*", twice] {
                assert_eq!(ask(&with(origin)), Err(OriginNotAllowed), "{origin}");
            }
            let any = WebAccess {
                any_origin: true,
                ..access.clone()
            };
            let outcome = ask_at(host, any, &with("https://evil.example"));
            assert_eq!(outcome, Ok(true));
        }
    }

    #[test]
    fn a_loopback_listener_is_not_asked_under_another_name() {
        use WebSocketError::HostNotAllowed;
        let with = |host: &str| REQUEST.replace("server.example.com", host);
        let ask = |bound, host| ask_at(bound, WebAccess::default(), &with(host));
        for bound in ["127.0.0.1", "::1", "localhost"] {
            assert_eq!(ask(bound, "evil.example"), Err(HostNotAllowed));
            assert_eq!(ask(bound, "evil.example:80"), Err(HostNotAllowed));
            for host in ["127.0.0.1:80", "[::1]:80", "localhost"] {
                assert_eq!(ask(bound, host), Ok(true));
            }
            let access = WebAccess {
                hosts: vec!["proxy.example".into()],
                ..WebAccess::default()
            };
            assert_eq!(ask_at(bound, access, &with("proxy.example")), Ok(true));
        }
        for bound in ["*", "192.0.2.1"] {
            assert_eq!(ask(bound, "server.example.com"), Ok(true));
        }
    }

    /// Endpoints with such characters are refused where they are used; this is the second lock.
    #[test]
    fn nothing_in_an_address_ends_a_line_of_the_request() {
        let address = Address::new("a\r\nX: y", 80, "/p q\r\n\r\nGET /\u{e9}\0");
        let mut output = BytesMut::new();
        let nonce = *b"the sample nonce";
        let terms = terms(WebAccess::default());
        Upgrade::new(Role::Client, address, &terms, nonce, &mut output);
        let request = std::str::from_utf8(&output).unwrap();
        let (first, rest) = request.split_once("\r\n").unwrap();
        assert_eq!(first, "GET /p%20q%0D%0A%0D%0AGET%20/%C3%A9%00 HTTP/1.1");
        assert!(rest.starts_with("Host: [a%0D%0AX:%20y]:80\r\nUpgrade: websocket\r\n"));
        assert_eq!(request.matches("\r\n").count(), 8);
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
