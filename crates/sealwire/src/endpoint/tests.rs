//! Texts of endpoints, and endpoints made by hand.

use super::*;

#[test]
fn text_and_value_agree() {
    for text in [
        "tcp://127.0.0.1:5555",
        "tcp://[::1]:5555",
        "tcp://[fe80::1%eth0]:1",
        "tcp://example.org:65535",
        "tcp://*:0",
        "tcp://192.0.2.7:0;192.0.2.1:5555",
        "tcp://[2001:db8::7]:6000;[2001:db8::1]:5555",
        "tcp://eth0:0;example.org:5555",
        "tcp://*:6000;example.org:5555",
        "udp://127.0.0.1:5555",
        "udp://eth0;239.0.0.1:5555",
        "udp://192.0.2.1;239.0.0.1:5555",
        "udp://eth0;[ff02::1]:5555",
        "udp://*:0",
        "ipc:///run/app.sock",
        "ipc://relative.sock",
        "ipc://@app",
        "inproc://name",
    ] {
        let endpoint: Endpoint = text.parse().unwrap();
        assert_eq!(endpoint.to_string(), text);
    }
    assert_eq!("tcp://a:*".parse(), "tcp://a:0".parse::<Endpoint>());
    assert_eq!(
        "tcp://eth0:*;a:1".parse(),
        "tcp://eth0:0;a:1".parse::<Endpoint>()
    );
}

#[test]
fn what_is_not_built_in_names_its_feature() {
    for (transport, built_in) in [("ws", cfg!(feature = "ws")), ("wss", cfg!(feature = "wss"))] {
        let parsed = format!("{transport}://a:1/").parse::<Endpoint>();
        match parsed {
            Ok(endpoint) => assert!(built_in && endpoint.to_string().starts_with(transport)),
            Err(error) => {
                assert!(!built_in);
                assert_eq!(error, EndpointError::NotBuiltIn { transport });
                assert!(
                    error
                        .to_string()
                        .contains(&format!("feature '{transport}'"))
                );
            }
        }
    }
}

#[cfg(feature = "ws")]
#[test]
fn a_websocket_has_a_path() {
    for text in ["ws://127.0.0.1:80/", "ws://[::1]:80/a/b", "ws://*:0/zeromq"] {
        let endpoint: Endpoint = text.parse().unwrap();
        assert_eq!(endpoint.to_string(), text);
    }
    assert_eq!("ws://a:1".parse(), "ws://a:1/".parse::<Endpoint>());
    for path in ["/a b", "/a\r\nHost: x", "/a?b", "/a#b", "/\u{e9}"] {
        let parsed = format!("ws://a:1{path}").parse::<Endpoint>();
        assert!(matches!(parsed, Err(EndpointError::Path(_))), "{path}");
    }
    let parsed = "ws://a\r\nb:1/".parse::<Endpoint>();
    assert!(matches!(parsed, Err(EndpointError::Host(_))));
    assert!(matches!(
        "ws://a/".parse::<Endpoint>(),
        Err(EndpointError::Port(_))
    ));
}

/// Endpoints can be made without parsing, and what parsing refuses must not be used.
#[test]
fn what_is_made_by_hand_is_held_to_the_same() {
    use EndpointError::*;
    let (port, path) = (1, "/".to_owned());
    for host in [
        "",
        "a b",
        "a\r\nX: y",
        "a\0",
        "a\u{85}b",
        "a\u{2028}b",
        "a/b",
        "a@b",
        "a;b",
        "[::1]",
        "a:b",
        "::1:2:x",
    ] {
        let host = host.to_owned();
        for endpoint in [
            Endpoint::Tcp {
                host: host.clone(),
                port,
            },
            Endpoint::TcpFrom {
                source: TcpSource {
                    host: "a".into(),
                    port,
                },
                host: host.clone(),
                port,
            },
            Endpoint::TcpFrom {
                source: TcpSource {
                    host: host.clone(),
                    port,
                },
                host: "a".into(),
                port,
            },
            Endpoint::Ws {
                host: host.clone(),
                port,
                path: path.clone(),
            },
            Endpoint::Wss {
                host: host.clone(),
                port,
                path: path.clone(),
            },
            Endpoint::Udp {
                interface: None,
                host: host.clone(),
                port,
            },
            Endpoint::Udp {
                interface: Some(host.clone()),
                host: "a".into(),
                port,
            },
        ] {
            let error = endpoint.validate().unwrap_err();
            assert!(matches!(error, Host(_)), "{endpoint:?}");
            assert!(
                !error.to_string().contains(char::is_control),
                "{endpoint:?}"
            );
        }
    }
    for path in ["", "a", "/a b", "/a\r\nHost: b", "/a?b", "/a#b", "/\u{e9}"] {
        let (host, path) = ("a".to_owned(), path.to_owned());
        let endpoint = Endpoint::Ws { host, port, path };
        assert!(matches!(endpoint.validate(), Err(Path(_))), "{endpoint:?}");
    }
    for endpoint in [
        Endpoint::Ipc("a\nb".into()),
        Endpoint::IpcAbstract("a\u{1b}b".into()),
        Endpoint::Inproc("a\rb".into()),
    ] {
        let error = endpoint.validate().unwrap_err();
        assert!(matches!(error, ControlCharacters(_)), "{endpoint:?}");
        assert!(!error.to_string().contains(char::is_control));
    }
    for endpoint in [
        Endpoint::Ipc("".into()),
        Endpoint::Ipc("x".repeat(108).into()),
        Endpoint::IpcAbstract("a\0b".into()),
    ] {
        assert!(
            matches!(endpoint.validate(), Err(Length { .. })),
            "{endpoint:?}"
        );
    }
    assert_eq!(Endpoint::Ipc("a b".into()).validate(), Ok(()));
    assert_eq!(
        Endpoint::Tcp {
            host: "m\u{fc}nchen.example".into(),
            port
        }
        .validate(),
        Ok(())
    );
}

#[test]
fn no_error_commands_a_terminal() {
    for text in [
        "\u{1b}[2J",
        "\u{1b}[2J://a",
        "tcp://a:\u{1b}[2J",
        "tcp://\u{1b}[2J:1",
        "tcp://::\u{1b}:1",
        "tcp://\u{1b};a:1",
        "tcp://\u{1b}:0;a:1",
        "udp://\u{1b};a:1",
        "ipc://\u{1b}[2J",
        "inproc://\u{1b}[2J",
    ] {
        let error = text.parse::<Endpoint>().unwrap_err().to_string();
        assert!(!error.contains(char::is_control), "{error:?}");
    }
}

#[test]
fn mistakes_are_named() {
    use EndpointError::*;
    let error = |text: &str| text.parse::<Endpoint>().unwrap_err();
    assert!(matches!(error("localhost:5555"), NoTransport(_)));
    assert!(matches!(error("://localhost:5555"), NoTransport(_)));
    assert!(matches!(error("http://a:1"), UnknownTransport(_)));
    assert!(matches!(error("tcp://localhost"), Port(_)));
    assert!(matches!(error("tcp://localhost:70000"), Port(_)));
    assert!(matches!(error("tcp://localhost:+5555"), Port(_)));
    assert!(matches!(error("tcp://:5555"), Host(_)));
    assert!(matches!(error("tcp://::1:5555"), Brackets(_)));
    for source in [
        "",
        "eth0",
        "eth0:",
        ":0",
        "eth0:70000",
        "::1:0",
        "eth0:0;b:0",
    ] {
        let text = format!("tcp://{source};a:1");
        assert!(matches!(error(&text), Source(_)), "{text}");
    }
    assert!(matches!(error("tcp://eth0:0;a"), Port(_)));
    assert!(matches!(error("tcp://eth0:0;:1"), Host(_)));
    assert!(matches!(error("udp://127.0.0.1"), Port(_)));
    assert!(matches!(error("udp://;239.0.0.1:1"), Host(_)));
    assert!(matches!(error("ipc://"), Length { .. }));
    assert!(matches!(
        error(&format!("ipc://{}", "x".repeat(108))),
        Length { .. }
    ));
    assert!(matches!(error("inproc://"), Length { .. }));
}
