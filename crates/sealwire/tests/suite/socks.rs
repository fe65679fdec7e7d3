//! Connections through a SOCKS5 proxy: one that relays, and ones that refuse in every way.

use std::io::{self, Read as _, Write as _};
use std::net::{Ipv6Addr, Shutdown, TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use crate::support::{self, await_event, every_mechanism, options};
use sealwire::options::{OptionsError, ReconnectStop, SocksProxy};
use sealwire::{
    ConnectionFailure, Endpoint, Error, Event, FailureCause, PeerAddress, Security, SocketType,
    SocksError, SocksRefusal,
};

/// What a client asked the proxy for: the kind of address, the address, and what it logged in with.
#[derive(Debug, PartialEq, Eq)]
struct Asked {
    kind: u8,
    host: Vec<u8>,
    login: Vec<u8>,
}

/// A proxy that connects to the asked port on loopback, whatever the host, and hands its own words
/// out a byte at a time.
struct Relay {
    port: u16,
    asked: Receiver<Asked>,
}

impl Relay {
    fn new(wants_login: bool) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let (sender, asked) = channel();
        thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                let sender = sender.clone();
                thread::spawn(move || {
                    // A client that goes away ends its own connection only.
                    let _ = relay(client, wants_login, |asked| drop(sender.send(asked)));
                });
            }
        });
        Relay { port, asked }
    }

    fn proxy(&self) -> SocksProxy {
        SocksProxy::new("127.0.0.1", self.port)
    }
}

fn read<const N: usize>(stream: &mut TcpStream) -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    stream.read_exact(&mut bytes)?;
    Ok(bytes)
}

fn read_text(stream: &mut TcpStream) -> io::Result<Vec<u8>> {
    let [length] = read(stream)?;
    let mut bytes = vec![0; length.into()];
    stream.read_exact(&mut bytes)?;
    Ok(bytes)
}

fn relay(mut client: TcpStream, wants_login: bool, tell: impl FnOnce(Asked)) -> io::Result<()> {
    client.set_nodelay(true)?;
    let drip = |mut client: &TcpStream, bytes: &[u8]| {
        bytes.iter().try_for_each(|byte| client.write_all(&[*byte]))
    };
    assert_eq!(read(&mut client)?, [5]);
    let methods = read_text(&mut client)?;
    let method = if wants_login { 2 } else { 0 };
    assert!(methods.contains(&method), "{methods:?}");
    drip(&client, &[5, method])?;
    let mut login = Vec::new();
    if wants_login {
        assert_eq!(read(&mut client)?, [1]);
        login = read_text(&mut client)?;
        login.push(b':');
        login.extend(read_text(&mut client)?);
        drip(&client, &[1, 0])?;
    }
    let [version, command, _, kind] = read(&mut client)?;
    assert_eq!((version, command), (5, 1));
    let host = match kind {
        1 => read::<4>(&mut client)?.to_vec(),
        4 => read::<16>(&mut client)?.to_vec(),
        _ => read_text(&mut client)?,
    };
    let port = u16::from_be_bytes(read(&mut client)?);
    tell(Asked { kind, host, login });
    let server = TcpStream::connect(("127.0.0.1", port))?;
    drip(&client, &[5, 0, 0, 3, 5])?;
    // The peer's first bytes come right behind the reply.
    (&client).write_all(b"relay\0\0")?;
    let back = (server.try_clone()?, client.try_clone()?);
    thread::spawn(move || copy(back.0, back.1));
    copy(client, server);
    Ok(())
}

fn copy(mut from: TcpStream, mut to: TcpStream) {
    let _ = io::copy(&mut from, &mut to);
    let _ = to.shutdown(Shutdown::Write);
}

fn port(endpoint: &Endpoint) -> u16 {
    match endpoint {
        Endpoint::Tcp { port, .. } | Endpoint::Ws { port, .. } => *port,
        other => panic!("{other} has no port"),
    }
}

#[test]
fn every_mechanism_goes_through_a_proxy_that_resolves_the_name() {
    let transports: &[&str] = if cfg!(feature = "ws") {
        &["tcp", "ws"]
    } else {
        &["tcp"]
    };
    for (_, server, client) in every_mechanism() {
        for (transport, wants_login) in transports.iter().flat_map(|t| [(t, false), (t, true)]) {
            let relay = Relay::new(wants_login);
            let rep = options(SocketType::Rep).security(server.clone());
            // The request names what the client connects to.
            #[cfg(feature = "ws")]
            let rep = rep.ws_allow_host("only-the-proxy.knows.invalid");
            let rep = rep.build_blocking().unwrap();
            let bound = rep.bind(format!("{transport}://127.0.0.1:*")).unwrap();
            let proxy = relay.proxy().with_login("alice", "secret");
            let req = options(SocketType::Req)
                .security(client.clone())
                .socks_proxy(proxy)
                .build_blocking()
                .unwrap();
            let host = "only-the-proxy.knows.invalid";
            let port = port(&bound);
            req.connect(format!("{transport}://{host}:{port}")).unwrap();
            for size in [0, 1, 300, 1_000_000] {
                req.send(vec![7; size]).unwrap();
                let request = rep.recv().unwrap();
                assert_eq!(
                    request.peer().unwrap().mechanism(),
                    server.mechanisms().next()
                );
                rep.send(request).unwrap();
                let answer = req.recv().unwrap();
                assert_eq!(answer.as_bytes(), vec![7; size]);
                let there = PeerAddress::Proxied {
                    host: host.into(),
                    port,
                };
                assert_eq!(*answer.peer().unwrap().address(), there);
            }
            let login = if wants_login { "alice:secret" } else { "" };
            let asked = Asked {
                kind: 3,
                host: host.into(),
                login: login.into(),
            };
            assert_eq!(relay.asked.recv().unwrap(), asked);
        }
    }
}

#[test]
fn addresses_are_handed_over_as_addresses() {
    for (text, kind, octets) in [
        ("127.0.0.1", 1, vec![127, 0, 0, 1]),
        ("[::1]", 4, Ipv6Addr::LOCALHOST.octets().to_vec()),
    ] {
        let relay = Relay::new(false);
        let pull = options(SocketType::Pull).build_blocking().unwrap();
        let bound = pull.bind("tcp://127.0.0.1:*").unwrap();
        let push = options(SocketType::Push).socks_proxy(relay.proxy());
        let push = push.build_blocking().unwrap();
        let port = port(&bound);
        push.connect(format!("tcp://{text}:{port}")).unwrap();
        push.send("through").unwrap();
        assert_eq!(pull.recv().unwrap().as_bytes(), b"through");
        let asked = relay.asked.recv().unwrap();
        assert_eq!((asked.kind, asked.host), (kind, octets));
    }
}

#[test]
fn a_proxy_is_found_by_its_name_and_again_after_a_restart_of_the_peer() {
    let relay = Relay::new(false);
    let pull = options(SocketType::Pull).build_blocking().unwrap();
    let bound = pull.bind("tcp://127.0.0.1:*").unwrap();
    let push = options(SocketType::Push)
        .socks_proxy(SocksProxy::new("localhost", relay.port))
        .build_blocking()
        .unwrap();
    push.connect(&bound).unwrap();
    push.send("first").unwrap();
    assert_eq!(pull.recv().unwrap().as_bytes(), b"first");
    let monitor = push.monitor();
    pull.close().unwrap();
    await_event(&monitor, "the end", |event| {
        matches!(event, Event::Disconnected { .. } | Event::Failed(_)).then_some(())
    });
    let pull = options(SocketType::Pull).build_blocking().unwrap();
    pull.bind(&bound).unwrap();
    push.send("second").unwrap();
    assert_eq!(pull.recv().unwrap().as_bytes(), b"second");
}

#[test]
fn local_transports_need_no_proxy() {
    for endpoint in [
        format!("ipc://@socks-{}", std::process::id()),
        "inproc://socks".into(),
    ] {
        let pull = options(SocketType::Pull).build_blocking().unwrap();
        let bound = pull.bind(endpoint).unwrap();
        let push = options(SocketType::Push)
            .socks_proxy(SocksProxy::new("no-such-host.invalid", 1))
            .build_blocking()
            .unwrap();
        push.connect(bound).unwrap();
        push.send("direct").unwrap();
        assert_eq!(pull.recv().unwrap().as_bytes(), b"direct");
    }
}

/// Connects through a proxy once and gives back why that failed.
fn failure_with(proxy: SocksProxy, limit: Duration) -> ConnectionFailure {
    let socket = options(SocketType::Push)
        .security(Security::plain_text())
        .socks_proxy(proxy)
        .connect_timeout(limit)
        .reconnect_stop(ReconnectStop::ALWAYS)
        .build_blocking()
        .unwrap();
    let monitor = socket.monitor();
    socket.connect("tcp://host.invalid:7").unwrap();
    let failure = await_event(&monitor, "the failure", |event| match event {
        Event::Failed(failure) => Some(failure.clone()),
        _ => None,
    });
    await_event(&monitor, "the end of the attempts", |event| {
        matches!(event, Event::GaveUp { .. }).then_some(())
    });
    failure
}

/// A proxy that answers with these bytes and then, unless it stays, ends the connection.
fn scripted(answer: &'static [u8], stays: bool) -> SocksProxy {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        let (mut client, _) = listener.accept().unwrap();
        // The client may leave in the middle of it.
        let _ = client.write_all(answer);
        if !stays {
            let _ = client.shutdown(Shutdown::Write);
        }
        // Closing with bytes unread would be a reset that overtakes the answer.
        let _ = io::copy(&mut client, &mut io::sink());
    });
    SocksProxy::new("127.0.0.1", port).with_login("user", "wrong")
}

#[test]
fn what_a_proxy_does_wrong_is_named() {
    use SocksError::*;
    let cases: [(&'static [u8], SocksError); 12] = [
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", NotSocks5),
        (&[0, 0x5b], NotSocks5),
        (&[5, 0xff], NoCommonMethod),
        (&[5, 1], WrongMethod(1)),
        (&[5, 2, 1, 1], WrongLogin),
        (&[5, 2, 9, 0], NotSocks5),
        (&[5, 0, 5, 1, 0, 1], Refused(SocksRefusal::GeneralFailure)),
        (&[5, 0, 5, 2, 0, 1], Refused(SocksRefusal::NotAllowed)),
        (&[5, 0, 5, 4, 0, 1], Refused(SocksRefusal::HostUnreachable)),
        (&[5, 2, 1, 0, 5, 77], Refused(SocksRefusal::Other(77))),
        (&[5, 0, 5, 0, 0, 9], BadReply(9)),
        (&[5, 0, 5, 0, 0, 1, 127], Closed),
    ];
    for (answer, error) in cases {
        let failure = failure_with(scripted(answer, false), support::TIMEOUT);
        let FailureCause::Proxy(found) = failure.cause() else {
            panic!("{failure}")
        };
        assert_eq!(*found, error, "{answer:?}");
        assert!(matches!(failure.address(), PeerAddress::Proxied { .. }));
        assert!(failure.to_string().contains("SOCKS5 proxy"), "{failure}");
        assert!(!failure.to_string().contains("wrong\""), "{failure}");
    }
}

#[test]
fn a_proxy_that_falls_silent_is_given_up() {
    for said in [&b""[..], &[5], &[5, 2], &[5, 0, 5, 0, 0]] {
        let failure = failure_with(scripted(said, true), Duration::from_millis(50));
        let timed_out = matches!(failure.cause(), FailureCause::Proxy(SocksError::TimedOut));
        // Where the machine is that slow, not even the connection to the proxy was made.
        let unreached = matches!(failure.cause(), FailureCause::Connect(error)
            if error.kind() == io::ErrorKind::TimedOut);
        assert!(timed_out || unreached, "{failure}");
    }
}

#[test]
fn a_proxy_that_is_not_there_is_named() {
    // A port in use by a connection has no listener.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let holder = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let port = holder.local_addr().unwrap().port();
    let failure = failure_with(SocksProxy::new("127.0.0.1", port), support::TIMEOUT);
    assert!(
        matches!(failure.cause(), FailureCause::Connect(error)
            if error.kind() == io::ErrorKind::ConnectionRefused),
        "{failure}"
    );
    let proxy = format!("SOCKS5 proxy 127.0.0.1:{port}");
    assert!(failure.to_string().contains(&proxy), "{failure}");
}

#[test]
fn a_refusal_in_the_peers_name_stops_as_a_refusal() {
    for (reply, stops) in [(&[5, 0, 5, 5][..], true), (&[5, 0, 5, 1], false)] {
        let socket = options(SocketType::Push)
            .security(Security::plain_text())
            .socks_proxy(scripted(reply, false))
            .reconnect_stop(ReconnectStop {
                connection_refused: true,
                ..ReconnectStop::default()
            })
            .build_blocking()
            .unwrap();
        let monitor = socket.monitor();
        socket.connect("tcp://host.invalid:7").unwrap();
        let stopped = await_event(&monitor, "what follows", |event| match event {
            Event::GaveUp { .. } => Some(true),
            Event::Retrying { .. } => Some(false),
            _ => None,
        });
        assert_eq!(stopped, stops);
    }
}

#[test]
fn a_proxy_that_cannot_be_is_refused() {
    let refused = |proxy| options(SocketType::Push).socks_proxy(proxy).build();
    assert!(matches!(
        refused(SocksProxy::new("", 1)),
        Err(Error::Options(OptionsError::SocksAddress))
    ));
    assert!(matches!(
        refused(SocksProxy::new("host", 1).with_login("x".repeat(256), "")),
        Err(Error::Options(OptionsError::SocksLogin))
    ));
    let named = options(SocketType::Push)
        .security(Security::plain_text())
        .socks_proxy(SocksProxy::new("127.0.0.1", 9))
        .reconnect_stop(ReconnectStop::ALWAYS)
        .build_blocking()
        .unwrap();
    let monitor = named.monitor();
    // Never sent; the proxy is not even asked.
    named
        .connect(format!("tcp://{}:1", "x".repeat(256)))
        .unwrap();
    let failure = await_event(&monitor, "the failure", |event| match event {
        Event::Failed(failure) => Some(failure.clone()),
        _ => None,
    });
    assert!(
        matches!(
            failure.cause(),
            FailureCause::Proxy(SocksError::NameTooLong)
        ),
        "{failure}"
    );
}
