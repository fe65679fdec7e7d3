//! The proxy that connections are made through.

use std::fmt;
use std::io;
use std::str::FromStr;

use zeroize::Zeroizing;

use super::OptionsError;
use crate::endpoint::port_of;
use crate::reach::is_loopback_host;

/// Longest name, username or password: SOCKS5 has one octet for their length.
const MAX_TEXT: usize = u8::MAX as usize;

/// A SOCKS5 proxy (RFC 1928) that `tcp`, `ws` and `wss` connections are made through (libzmq's
/// `SOCKS_PROXY`, `SOCKS_USERNAME`, `SOCKS_PASSWORD`).
///
/// The proxy resolves the names of endpoints. It sees where a connection leads and all that goes
/// through it, as every router on the way does.
///
/// ```
/// use sealwire::options::SocksProxy;
/// let proxy = SocksProxy::new("127.0.0.1", 1080).with_login("user", "password");
/// assert_eq!("[::1]:1080".parse::<SocksProxy>()?.to_string(), "SOCKS5 proxy ::1:1080");
/// # Ok::<(), sealwire::options::OptionsError>(())
/// ```
#[derive(Clone)]
pub struct SocksProxy {
    host: String,
    port: u16,
    login: Option<(String, Zeroizing<Vec<u8>>)>,
}

impl SocksProxy {
    /// A proxy at this name or IP address (IPv6 without brackets) and port.
    pub fn new(host: impl Into<String>, port: u16) -> Self {
        SocksProxy {
            host: host.into(),
            port,
            login: None,
        }
    }

    /// A username of 1 to 255 bytes and a password of up to 255 (RFC 1929) for a proxy that asks
    /// for them. They are not encrypted on their way to the proxy.
    #[must_use]
    pub fn with_login(mut self, username: impl Into<String>, password: impl Into<Vec<u8>>) -> Self {
        self.login = Some((username.into(), Zeroizing::new(password.into())));
        self
    }

    pub(super) fn validate(&self) -> Result<(), OptionsError> {
        if self.host.is_empty() || self.port == 0 {
            return Err(OptionsError::SocksAddress);
        }
        match &self.login {
            Some((username, password))
                if !(1..=MAX_TEXT).contains(&username.len()) || password.len() > MAX_TEXT =>
            {
                Err(OptionsError::SocksLogin)
            }
            _ => Ok(()),
        }
    }

    pub(crate) fn address(&self) -> (&str, u16) {
        (&self.host, self.port)
    }

    /// Returns whether bytes leave the machine on their way to the proxy. The text decides, as for
    /// endpoints.
    pub(crate) fn leaves_the_machine(&self) -> bool {
        !is_loopback_host(&self.host)
    }

    pub(crate) fn login(&self) -> Option<(&str, &[u8])> {
        let (username, password) = self.login.as_ref()?;
        Some((username, password))
    }

    /// The same error, said of the proxy.
    pub(crate) fn blame(&self, error: io::Error) -> io::Error {
        io::Error::new(error.kind(), format!("{self}: {error}"))
    }
}

/// `HOST:PORT`, with or without brackets around an IPv6 address.
impl FromStr for SocksProxy {
    type Err = OptionsError;

    fn from_str(text: &str) -> Result<Self, OptionsError> {
        let (host, port) = text.rsplit_once(':').ok_or(OptionsError::SocksAddress)?;
        let port = port_of(port).ok_or(OptionsError::SocksAddress)?;
        let bare = host
            .strip_prefix('[')
            .and_then(|host| host.strip_suffix(']'));
        let proxy = SocksProxy::new(bare.unwrap_or(host), port);
        proxy.validate().map(|()| proxy)
    }
}

impl fmt::Display for SocksProxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SOCKS5 proxy {}:{}", self.host, self.port)
    }
}

/// Without the password.
impl fmt::Debug for SocksProxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SocksProxy")
            .field("host", &self.host)
            .field("port", &self.port)
            .field("username", &self.login().map(|(username, _)| username))
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_password_does_not_show() {
        let proxy = SocksProxy::new("proxy", 1080).with_login("user", "secret");
        let text = format!("{proxy:?} {proxy}");
        assert!(text.contains("user") && !text.contains("secret"), "{text}");
        assert!(!text.contains(&format!("{:?}", b"secret")), "{text}");
    }

    #[test]
    fn an_address_has_a_host_and_a_port() {
        for (text, address) in [
            ("proxy:1080", ("proxy", 1080)),
            ("[::1]:1080", ("::1", 1080)),
            ("::1:1080", ("::1", 1080)),
        ] {
            assert_eq!(text.parse::<SocksProxy>().unwrap().address(), address);
        }
        for text in [
            "",
            "proxy",
            "proxy:",
            ":1080",
            "[]:1080",
            "proxy:0",
            "proxy:+1080",
            "proxy:-1",
            "proxy:65536",
            "proxy:none",
        ] {
            let refused = text.parse::<SocksProxy>().unwrap_err();
            assert_eq!(refused, OptionsError::SocksAddress, "{text}");
        }
    }

    #[test]
    fn what_cannot_be_sent_is_refused() {
        let proxy = SocksProxy::new("proxy", 1080);
        assert_eq!(proxy.validate(), Ok(()));
        let long = "x".repeat(256);
        for (proxy, error) in [
            (SocksProxy::new("", 1080), OptionsError::SocksAddress),
            (SocksProxy::new("proxy", 0), OptionsError::SocksAddress),
            (proxy.clone().with_login("", "x"), OptionsError::SocksLogin),
            (
                proxy.clone().with_login(&*long, "x"),
                OptionsError::SocksLogin,
            ),
            (
                proxy.clone().with_login("x", &*long),
                OptionsError::SocksLogin,
            ),
        ] {
            assert_eq!(proxy.validate(), Err(error));
        }
    }
}
