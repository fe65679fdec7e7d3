//! Patterns of endpoints.
//!
//! They are compared part by part, not as one text: the text of an endpoint may come from somebody else, who must not be
//! able to write a host that a pattern for others fits.

use std::fmt;
use std::io;
use std::net::IpAddr;
use std::str::FromStr;

use sealwire::Endpoint;

use crate::host;
use crate::socket_file::{FilePattern, SocketFile};
use crate::wildcard::fits;

/// A pattern: `TRANSPORT://HOST:PORT`, with a path for `ws`, or `ipc://NAME`. `*` stands for any characters of one part: of a
/// host for those between two dots, of a path for those between two slashes. Alone it stands for any host, port or
/// name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Pattern {
    text: String,
    parts: Parts,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Parts {
    Network {
        transport: Transport,
        host: String,
        port: String,
        /// `None` for any.
        path: Option<String>,
    },
    /// Any name.
    AnyIpc,
    File(FilePattern),
    /// With its `@`.
    Abstract(String),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Transport {
    Tcp,
    Ws,
    Udp,
}

/// An endpoint, as patterns look at it.
#[derive(Debug)]
pub(crate) struct Subject<'a> {
    endpoint: &'a Endpoint,
    /// That of `ipc`; `None` where the system is to name one.
    file: Option<io::Result<SocketFile>>,
}

impl<'a> Subject<'a> {
    pub(crate) fn of(endpoint: &'a Endpoint) -> Self {
        let file = match endpoint {
            Endpoint::Ipc(path) if path.as_os_str() != "*" => Some(SocketFile::of(path)),
            _ => None,
        };
        Subject { endpoint, file }
    }

    pub(crate) fn endpoint(&self) -> &'a Endpoint {
        self.endpoint
    }
}

impl Pattern {
    /// Whether it names an endpoint. A file has many paths: for a rule that gives keys one of them is enough, and plain
    /// text (`strictly`) is for the file itself.
    ///
    /// # Errors
    ///
    /// Where nobody can say which file it is.
    pub(crate) fn fits<'a>(
        &self,
        subject: &'a Subject<'_>,
        strictly: bool,
    ) -> Result<bool, &'a io::Error> {
        match (&self.parts, &subject.file) {
            (Parts::File(pattern), Some(file)) => {
                let file = file.as_ref()?;
                Ok(match strictly {
                    true => pattern.names_strictly(file),
                    false => pattern.names(file),
                })
            }
            _ => Ok(self.names(subject.endpoint)),
        }
    }

    /// The same for other endpoints than files.
    fn names(&self, endpoint: &Endpoint) -> bool {
        match (&self.parts, endpoint) {
            (Parts::AnyIpc, Endpoint::Ipc(_) | Endpoint::IpcAbstract(_)) => true,
            (Parts::Abstract(name), Endpoint::IpcAbstract(own)) => {
                fits(name, format!("@{own}"), "/")
            }
            (Parts::AnyIpc | Parts::File(_) | Parts::Abstract(_), _) => false,
            (
                Parts::Network {
                    transport,
                    host,
                    port,
                    path,
                },
                _,
            ) => {
                let (theirs, their_host, their_port, their_path) = match endpoint {
                    Endpoint::Tcp { host, port } | Endpoint::TcpFrom { host, port, .. } => {
                        (Transport::Tcp, host, port, "")
                    }
                    Endpoint::Ws { host, port, path } => (Transport::Ws, host, port, path.as_str()),
                    Endpoint::Udp { host, port, .. } => (Transport::Udp, host, port, ""),
                    _ => return false,
                };
                *transport == theirs
                    && host::fits(host, their_host)
                    && fits(port, their_port.to_string(), "")
                    && path.as_ref().is_none_or(|path| fits(path, their_path, "/"))
            }
        }
    }

    /// Whether somebody can be connected to there.
    pub(crate) fn can_be_connected_to(&self) -> bool {
        !matches!(&self.parts, Parts::Network { port, .. } if port == "0")
    }

    /// Whether what it names can carry a mechanism: datagrams cannot.
    pub(crate) fn carries_mechanisms(&self) -> bool {
        !matches!(
            self.parts,
            Parts::Network {
                transport: Transport::Udp,
                ..
            }
        )
    }
}

/// Whether some port is written so.
fn names_a_port(port: &str) -> bool {
    match port.contains('*') {
        true => (0..=u16::MAX).any(|number| fits(port, number.to_string(), "")),
        false => port
            .parse::<u16>()
            .is_ok_and(|number| number.to_string() == port),
    }
}

impl FromStr for Pattern {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let error = |what: &str| Err(format!("{text:?} {what}"));
        let Some((transport, rest)) = text.split_once("://") else {
            return error(
                "is not a pattern of endpoints; write tcp://HOST:PORT, ws://HOST:PORT or ipc://PATH",
            );
        };
        if rest.is_empty() || rest.contains(|c: char| c.is_control() || c.is_whitespace()) {
            return error("names nothing; write a host and port, or a path");
        }
        let transport = match transport {
            "ipc" => {
                let parts = match (rest, rest.strip_prefix('@')) {
                    ("*", _) => Parts::AnyIpc,
                    (name, Some(_)) => Parts::Abstract(name.into()),
                    (path, None) => match FilePattern::new(path) {
                        Ok(pattern) => Parts::File(pattern),
                        Err(why) => return error(why),
                    },
                };
                return Ok(Pattern {
                    text: text.into(),
                    parts,
                });
            }
            "tcp" => Transport::Tcp,
            "ws" => Transport::Ws,
            "udp" => Transport::Udp,
            "inproc" => return error("never leaves the process; take the rule out"),
            _ => return error("has another transport than tcp, ws, udp and ipc"),
        };
        let (authority, path) = match (transport, rest.find('/')) {
            (Transport::Ws, Some(slash)) => (&rest[..slash], Some(rest[slash..].to_owned())),
            _ => (rest, None),
        };
        let Some((host, port)) = authority.rsplit_once(':') else {
            return error("has no port; write one, or :* for any");
        };
        let bracketed = host
            .strip_prefix('[')
            .and_then(|host| host.strip_suffix(']'));
        let host = match bracketed {
            Some(address) if address.parse::<IpAddr>().is_ok() => address,
            None if !host.is_empty()
                && !host.contains([':', '/', ';', '[', ']', '@', '?', '#']) =>
            {
                host
            }
            _ => return error("has no valid host; write a name, an address, [IPv6] or *"),
        };
        if !host::may_be(host) {
            return error(
                "has no valid host; an address has four numbers up to 255, without a 0 in front, or * for any",
            );
        }
        if port.is_empty() || !port.bytes().all(|it| it == b'*' || it.is_ascii_digit()) {
            return error("has no valid port; write a number, or * for any");
        }
        if !names_a_port(port) {
            return error("has no valid port; the largest is 65535, and none begins with a 0");
        }
        Ok(Pattern {
            text: text.into(),
            parts: Parts::Network {
                transport,
                host: host.into(),
                port: port.into(),
                path,
            },
        })
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_fit_what_they_name_and_nothing_else() {
        for (pattern, fitting, others) in [
            (
                "tcp://*:5555",
                &[
                    "tcp://*:5555",
                    "tcp://0.0.0.0:5555",
                    "tcp://[::1]:5555",
                    "tcp://a.b.c:5555",
                ][..],
                &["tcp://*:5556", "tcp://*:55555", "ws://*:5555", "ipc://*"][..],
            ),
            (
                "tcp://db.example:*",
                &[
                    "tcp://db.example:1",
                    "tcp://DB.Example:2",
                    "tcp://db.example.:2",
                    "tcp://eth0:0;db.example:3",
                ],
                &[
                    "tcp://db.example.org:1",
                    "tcp://xdb.example:1",
                    "tcp://db.example:0;evil:1",
                ],
            ),
            (
                "tcp://*.example:1",
                &["tcp://db.example:1"],
                &[
                    "tcp://example:1",
                    "tcp://a.db.example:1",
                    "tcp://db.example.org:1",
                ],
            ),
            (
                "tcp://db-*.example:1",
                &["tcp://db-1.example:1"],
                &["tcp://db-.evil.example:1"],
            ),
            (
                "tcp://10.0.0.*:1",
                &["tcp://10.0.0.7:1", "tcp://[::ffff:10.0.0.7]:1"],
                &[
                    "tcp://10.0.0.evil:1",
                    "tcp://10.0.0.1.evil:1",
                    "tcp://10.0.1.7:1",
                ],
            ),
            (
                "tcp://127.0.0.1:1",
                &[
                    "tcp://127.0.0.1:1",
                    "tcp://[::ffff:127.0.0.1]:1",
                    "tcp://127.1:1",
                    "tcp://0x7f000001:1",
                ],
                &["tcp://localhost:1", "tcp://127.2:1"],
            ),
            (
                "tcp://[::1]:1",
                &["tcp://[::1]:1", "tcp://[0:0::1]:1", "tcp://[::1%lo]:1"],
                &["tcp://[::2]:1"],
            ),
            (
                "tcp://a:55*",
                &["tcp://a:5512", "tcp://a:55"],
                &["tcp://a:5", "tcp://a:155"],
            ),
            ("tcp://a:0", &["tcp://a:*", "tcp://a:0"], &["tcp://a:1"]),
            (
                "ws://a:1",
                &["ws://a:1", "ws://a:1/any/path"],
                &["ws://a:2/1", "tcp://a:1"],
            ),
            (
                "ws://a:1/x/*",
                &["ws://a:1/x/y"],
                &["ws://a:1", "ws://a:1/x/y/z", "ws://a:1/y"],
            ),
            ("ws://a:1/", &["ws://a:1/"], &["ws://a:1/x"]),
            (
                "tcp://db.example.:1",
                &["tcp://db.example:1"],
                &["tcp://db.example.org:1"],
            ),
            (
                "ipc:///run/*.sock",
                &["ipc:///run/a.sock", "ipc:////run/./a.sock"],
                &["ipc:///run/b/a.sock", "ipc://@run"],
            ),
            (
                "ipc://*",
                &["ipc:///run/a.sock", "ipc://@name", "ipc://*"],
                &["inproc://a", "tcp://a:1"],
            ),
            (
                "ipc://@na*",
                &["ipc://@name"],
                &["ipc://name", "ipc://@other", "tcp://name:1"],
            ),
            (
                "udp://*:1",
                &["udp://239.0.0.1:1", "udp://eth0;239.0.0.1:1"],
                &["tcp://a:1"],
            ),
        ] {
            let parsed: Pattern = pattern.parse().unwrap();
            let fits = |pattern: &Pattern, text: &str| {
                let endpoint = text.parse().unwrap();
                pattern.fits(&Subject::of(&endpoint), false).unwrap()
            };
            for text in fitting {
                assert!(fits(&parsed, text), "{pattern} {text}");
            }
            for text in others {
                assert!(!fits(&parsed, text), "{pattern} {text}");
            }
        }
    }

    #[test]
    fn what_is_not_a_pattern_is_refused() {
        for (text, why) in [
            ("", "is not a pattern"),
            ("*", "is not a pattern"),
            ("tcp:*:1", "is not a pattern"),
            ("tcp://", "names nothing"),
            ("tcp://a b:1", "names nothing"),
            ("ipc://", "names nothing"),
            ("inproc://a", "never leaves"),
            ("pgm://a:1", "another transport"),
            ("wss://a:1", "another transport"),
            ("*://a:1", "another transport"),
            ("tcp://a", "no port"),
            ("tcp://:1", "no valid host"),
            ("tcp://::1:1", "no valid host"),
            ("tcp://[db]:1", "no valid host"),
            ("tcp://eth0:0;a:1", "no valid host"),
            ("tcp://a/b:1", "no valid host"),
            ("tcp://a:", "no valid port"),
            ("tcp://a:x", "no valid port"),
            ("tcp://a:65536", "no valid port"),
            ("tcp://a:07795", "no valid port"),
            ("tcp://a:+7795", "no valid port"),
            ("tcp://a:7777*7", "no valid port"),
            ("tcp://127.0.0.01:1", "no valid host"),
            ("tcp://127.1:1", "no valid host"),
            ("tcp://*.*:1", "no valid host"),
            ("tcp://10.0.*:1", "no valid host"),
            ("tcp://10.0.0.27*7:1", "no valid host"),
            ("tcp://10.0.0.256:1", "no valid host"),
            ("ipc:///run/../a", "goes up"),
            ("ipc://run/a", "whole path"),
            ("ipc://./a", "whole path"),
            ("ipc://*.sock", "whole path"),
        ] {
            let message = text.parse::<Pattern>().unwrap_err();
            assert!(message.contains(why), "{text}: {message}");
        }
    }
}
