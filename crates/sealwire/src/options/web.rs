//! Which web pages and host names a WebSocket listener accepts.
//!
//! Browsers let any page open a WebSocket to any address, `127.0.0.1` included, and name the page in
//! the field `Origin`. The field `Host` gives away a page that had its own name resolved to a
//! loopback address (DNS rebinding).

use super::OptionsError;
use crate::endpoint::port_of;
use crate::reach::is_loopback_host;

#[derive(Debug, Clone, Default)]
pub(crate) struct WebAccess {
    pub(crate) origins: Vec<String>,
    pub(crate) any_origin: bool,
    pub(crate) hosts: Vec<String>,
}

impl WebAccess {
    pub(super) fn validate(&self) -> Result<(), OptionsError> {
        if let Some(origin) = self.origins.iter().find(|origin| !is_origin(origin)) {
            return Err(OptionsError::Origin(origin.clone()));
        }
        match self.hosts.iter().find(|host| !is_host(host)) {
            Some(host) => Err(OptionsError::HostName(host.clone())),
            None => Ok(()),
        }
    }

    /// Whether a page of this origin may connect.
    pub(crate) fn admits_origin(&self, origin: &[u8]) -> bool {
        let is = |allowed: &String| allowed.as_bytes().eq_ignore_ascii_case(origin);
        self.any_origin || self.origins.iter().any(is)
    }

    /// Whether a loopback listener may be addressed by this value of `Host`.
    pub(crate) fn admits_host(&self, field: &[u8]) -> bool {
        let Some(host) = std::str::from_utf8(field).ok().and_then(without_port) else {
            return false;
        };
        is_loopback_host(host)
            || self
                .hosts
                .iter()
                .any(|allowed| allowed.eq_ignore_ascii_case(host))
    }
}

/// The name or address before the port, without brackets.
fn without_port(field: &str) -> Option<&str> {
    let is_port = |port: &str| port_of(port).is_some();
    if let Some(rest) = field.strip_prefix('[') {
        let (host, port) = rest.split_once(']')?;
        let port = port.strip_prefix(':').map_or(port.is_empty(), is_port);
        return port.then_some(host);
    }
    match field.split_once(':') {
        None => Some(field),
        Some((host, port)) => is_port(port).then_some(host),
    }
}

/// `scheme://host` or `scheme://host:port`, as browsers write it. `null` is what every page in a
/// sandbox sends, so it names nobody.
fn is_origin(origin: &str) -> bool {
    let Some((scheme, authority)) = origin.split_once("://") else {
        return false;
    };
    let of_scheme = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.');
    !scheme.is_empty()
        && scheme.bytes().all(of_scheme)
        && without_port(authority).is_some_and(is_host)
}

/// A name or an address without brackets and port.
fn is_host(host: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_graphic() && !b"/?#@*[]\\".contains(&byte);
    !host.is_empty() && host.bytes().all(fits)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn access(origins: &[&str], hosts: &[&str]) -> WebAccess {
        let owned = |texts: &[&str]| texts.iter().map(|&text| text.into()).collect();
        WebAccess {
            origins: owned(origins),
            any_origin: false,
            hosts: owned(hosts),
        }
    }

    #[test]
    fn origins_are_compared_as_a_whole() {
        let access = access(&["https://app.example.org", "http://localhost:8000"], &[]);
        assert_eq!(access.validate(), Ok(()));
        for (origin, admitted) in [
            ("https://app.example.org", true),
            ("HTTPS://App.example.org", true),
            ("http://localhost:8000", true),
            ("http://app.example.org", false),
            ("https://app.example.org:444", false),
            ("https://app.example.org.evil.example", false),
            ("https://evil.example/https://app.example.org", false),
            ("http://localhost", false),
            ("null", false),
            ("", false),
        ] {
            assert_eq!(
                access.admits_origin(origin.as_bytes()),
                admitted,
                "{origin}"
            );
        }
    }

    #[test]
    fn a_loopback_listener_is_addressed_as_such() {
        let access = access(&[], &["myhost"]);
        for (field, admitted) in [
            ("localhost", true),
            ("LOCALHOST:8080", true),
            ("127.0.0.1", true),
            ("127.8.8.8:65535", true),
            ("[::1]:80", true),
            ("[::1]", true),
            ("[::ffff:127.0.0.1]:80", true),
            ("myhost:80", true),
            ("evil.example:80", false),
            ("localhost.evil.example", false),
            ("127.0.0.1.evil.example:80", false),
            ("192.0.2.1:80", false),
            ("0.0.0.0:80", false),
            ("127.0.0.1:80:80", false),
            ("localhost:+80", false),
            ("[::1]:+80", false),
            ("[::1]evil.example", false),
            ("[::1", false),
            ("", false),
        ] {
            assert_eq!(access.admits_host(field.as_bytes()), admitted, "{field}");
        }
    }

    #[test]
    fn what_is_no_origin_or_name_is_refused() {
        for origin in [
            "null",
            "*",
            "https://*",
            "example.org",
            "https://a/",
            "https://a b",
            "https://a:+1",
            "://a",
            "https://a\r\nX: y",
        ] {
            let refused = access(&[origin], &[]).validate();
            assert_eq!(refused, Err(OptionsError::Origin(origin.into())));
        }
        for host in ["*", "", "a/b", "[::1]", "a b"] {
            let refused = access(&[], &[host]).validate();
            assert_eq!(refused, Err(OptionsError::HostName(host.into())));
        }
    }
}
