//! What a request asks for, and the answer to it: no I/O.

use std::net::{IpAddr, SocketAddr};

use httparse::{EMPTY_HEADER, Request, Status};

/// The only path that has something.
pub(super) const PATH: &str = "/metrics";

/// Bytes that the head of a request may have.
pub(super) const MAX_HEAD: usize = 8 * 1024;

/// Fields that the head of a request may have.
const MAX_FIELDS: usize = 64;

/// That of version 0.0.4 of the text format.
const MEDIA_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// Names that a request may have for this server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum HostNames {
    /// Addresses and `localhost`. A page of the web whose name leads to this machine has another, so that a browser
    /// here reads nothing for it.
    OfThisMachine,
    /// All.
    Any,
}

/// The decision about a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Answer {
    /// The numbers; `GET` has them in its body, `HEAD` has no body.
    Metrics { has_body: bool },
    /// It is none that this server answers.
    Refusal(Refusal),
}

/// Why a request is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Refusal {
    Malformed,
    NoHost,
    NotFound,
    Method,
    HeadTooLarge,
    OtherHost,
}

impl Refusal {
    /// The status line's code and reason, and what to do instead.
    fn words(self) -> (&'static str, &'static str) {
        match self {
            Refusal::Malformed => ("400 Bad Request", "this is not a request of HTTP/1"),
            Refusal::NoHost => ("400 Bad Request", "HTTP/1.1 requires one field 'Host'"),
            Refusal::NotFound => ("404 Not Found", "metrics are at /metrics"),
            Refusal::Method => ("405 Method Not Allowed", "use GET"),
            Refusal::HeadTooLarge => (
                "431 Request Header Fields Too Large",
                "a request has up to 8192 bytes and 64 fields",
            ),
            Refusal::OtherHost => (
                "421 Misdirected Request",
                "ask for an IP address or localhost; --metrics-plain-text allows other names",
            ),
        }
    }
}

/// Reads what has come of a request; `None` while more of its head is to come.
pub(super) fn answer(bytes: &[u8], names: HostNames) -> Option<Answer> {
    let mut fields = [EMPTY_HEADER; MAX_FIELDS];
    let mut request = Request::new(&mut fields);
    let refused = |refusal| Some(Answer::Refusal(refusal));
    match request.parse(bytes) {
        Ok(Status::Complete(head)) if head > MAX_HEAD => return refused(Refusal::HeadTooLarge),
        Ok(Status::Complete(_)) => {}
        Ok(Status::Partial) if bytes.len() >= MAX_HEAD => return refused(Refusal::HeadTooLarge),
        Ok(Status::Partial) => return None,
        Err(httparse::Error::TooManyHeaders) => return refused(Refusal::HeadTooLarge),
        Err(_) => return refused(Refusal::Malformed),
    }
    let mut hosts = request
        .headers
        .iter()
        .filter(|field| field.name.eq_ignore_ascii_case("host"))
        .map(|field| field.value);
    match (hosts.next(), hosts.next()) {
        (Some(_), Some(_)) => return refused(Refusal::NoHost),
        // Before HTTP/1.1 there was no such field.
        (None, _) if request.version == Some(0) => {}
        (None, _) => return refused(Refusal::NoHost),
        (Some(host), None) if names == HostNames::OfThisMachine && !is_of_this_machine(host) => {
            return refused(Refusal::OtherHost);
        }
        (Some(_), None) => {}
    }
    let path = request.path.unwrap_or_default();
    if path.split('?').next() != Some(PATH) {
        return refused(Refusal::NotFound);
    }
    match request.method {
        Some("GET") => Some(Answer::Metrics { has_body: true }),
        Some("HEAD") => Some(Answer::Metrics { has_body: false }),
        _ => refused(Refusal::Method),
    }
}

/// Whether a name and perhaps a port are not those of somebody else.
fn is_of_this_machine(host: &[u8]) -> bool {
    let Ok(host) = std::str::from_utf8(host) else {
        return false;
    };
    if host.parse::<SocketAddr>().is_ok() {
        return true;
    }
    let is_port = |port: &str| port.bytes().all(|digit| digit.is_ascii_digit());
    let name = match host.rsplit_once(':') {
        Some((name, port)) if is_port(port) => name,
        _ => host,
    };
    let bare = name
        .strip_prefix('[')
        .and_then(|name| name.strip_suffix(']'));
    name.eq_ignore_ascii_case("localhost") || bare.unwrap_or(name).parse::<IpAddr>().is_ok()
}

/// The head of an answer with these numbers.
pub(super) fn head_of_metrics(length: usize) -> String {
    head("200 OK", MEDIA_TYPE, "", length)
}

/// A whole answer without numbers.
pub(super) fn refusal(refusal: Refusal) -> String {
    let (status, words) = refusal.words();
    let more = match refusal {
        Refusal::Method => "Allow: GET, HEAD\r\n",
        _ => "",
    };
    in_words(status, more, words)
}

/// A whole answer where there are no numbers, and why.
pub(super) fn unavailable(why: &str) -> String {
    in_words("503 Service Unavailable", "", why)
}

fn in_words(status: &str, more: &str, words: &str) -> String {
    let body = format!("{words}\n");
    head(status, "text/plain; charset=utf-8", more, body.len()) + &body
}

fn head(status: &str, media_type: &str, more: &str, length: usize) -> String {
    format!(
        "HTTP/1.1 {status}\r\nContent-Type: {media_type}\r\nContent-Length: {length}\r\n{more}Cache-Control: \
         no-store\r\nX-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const METRICS: Option<Answer> = Some(Answer::Metrics { has_body: true });

    fn refused(refusal: Refusal) -> Option<Answer> {
        Some(Answer::Refusal(refusal))
    }

    fn here(request: &str) -> Option<Answer> {
        answer(request.as_bytes(), HostNames::OfThisMachine)
    }

    #[test]
    fn a_request_is_answered_once_its_head_is_there() {
        let whole = "GET /metrics HTTP/1.1\r\nHost: 127.0.0.1:9090\r\nAccept: */*\r\n\r\n";
        for end in 0..whole.len() {
            assert_eq!(here(&whole[..end]), None, "{end}");
        }
        assert_eq!(here(whole), METRICS);
        assert_eq!(here(&format!("{whole}body")), METRICS);
        assert_eq!(here(&whole.replace("/metrics", "/metrics?name=a")), METRICS);
        let head = here(&whole.replace("GET", "HEAD"));
        assert_eq!(head, Some(Answer::Metrics { has_body: false }));
        // HTTP/1.0 may have no host.
        assert_eq!(here("GET /metrics HTTP/1.0\r\n\r\n"), METRICS);
    }

    #[test]
    fn what_is_not_served_is_refused_with_its_reason() {
        let host = "Host: localhost\r\n\r\n";
        for (request, refusal) in [
            (format!("GET / HTTP/1.1\r\n{host}"), Refusal::NotFound),
            (format!("GET /metric HTTP/1.1\r\n{host}"), Refusal::NotFound),
            (
                format!("GET /metricss HTTP/1.1\r\n{host}"),
                Refusal::NotFound,
            ),
            (format!("POST / HTTP/1.1\r\n{host}"), Refusal::NotFound),
            (format!("POST /metrics HTTP/1.1\r\n{host}"), Refusal::Method),
            (format!("get /metrics HTTP/1.1\r\n{host}"), Refusal::Method),
            ("GET /metrics HTTP/1.1\r\n\r\n".into(), Refusal::NoHost),
            (
                format!("GET /metrics HTTP/1.1\r\nHost: ::1\r\n{host}"),
                Refusal::NoHost,
            ),
            ("GET /metrics\r\n\r\n".into(), Refusal::Malformed),
            ("\u{16}\u{3}\u{1}".into(), Refusal::Malformed),
            ("GET /metrics HTTP/2.0\r\n".into(), Refusal::Malformed),
        ] {
            assert_eq!(here(&request), refused(refusal), "{request}");
        }
    }

    #[test]
    fn a_head_is_bounded_in_bytes_and_in_fields() {
        let start = "GET /metrics HTTP/1.1\r\nHost: localhost\r\nA: ";
        let size = |padding: usize| format!("{start}{}\r\n\r\n", "b".repeat(padding));
        let most = MAX_HEAD - size(0).len();
        assert_eq!(here(&size(most)), METRICS);
        assert_eq!(here(&size(most + 1)), refused(Refusal::HeadTooLarge));
        let open = format!("{start}{}", "b".repeat(MAX_HEAD - start.len()));
        assert_eq!(here(&open), refused(Refusal::HeadTooLarge));
        assert_eq!(here(&open[..MAX_HEAD - 1]), None);
        let fields = |count: usize| {
            let fields = "A: b\r\n".repeat(count - 1);
            here(&format!(
                "GET /metrics HTTP/1.1\r\nHost: localhost\r\n{fields}\r\n"
            ))
        };
        assert_eq!(fields(MAX_FIELDS), METRICS);
        assert_eq!(fields(MAX_FIELDS + 1), refused(Refusal::HeadTooLarge));
        let (_, words) = Refusal::HeadTooLarge.words();
        assert!(words.contains(&format!("{MAX_HEAD} bytes and {MAX_FIELDS} fields")));
    }

    #[test]
    fn a_name_that_leads_here_is_not_served_unless_that_is_wanted() {
        let request = |host: &str| format!("GET /metrics HTTP/1.1\r\nHost: {host}\r\n\r\n");
        for host in [
            "127.0.0.1",
            "127.0.0.1:1",
            "[::1]",
            "[::1]:9090",
            "localhost",
            "LocalHost:80",
        ] {
            assert_eq!(here(&request(host)), METRICS, "{host}");
        }
        for host in [
            "example.org",
            "example.org:9090",
            "localhost.example.org",
            "127.0.0.1.example.org",
            "",
        ] {
            assert_eq!(here(&request(host)), refused(Refusal::OtherHost), "{host}");
            let anyone = answer(request(host).as_bytes(), HostNames::Any);
            assert_eq!(anyone, METRICS, "{host}");
        }
    }

    #[test]
    fn each_answer_ends_the_connection_and_has_the_length_of_its_body() {
        let all = [
            refusal(Refusal::Method),
            refusal(Refusal::NotFound),
            unavailable("the context has ended"),
        ];
        for answer in all {
            let (head, body) = answer.split_once("\r\n\r\n").unwrap();
            let length = format!("Content-Length: {}", body.len());
            assert!(head.lines().any(|line| line == length), "{answer}");
            assert!(
                head.lines().any(|line| line == "Connection: close"),
                "{answer}"
            );
            let allows = head.lines().any(|line| line == "Allow: GET, HEAD");
            assert_eq!(allows, head.starts_with("HTTP/1.1 405 "), "{answer}");
        }
    }
}
