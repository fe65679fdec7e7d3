//! libzmq and omq behind a published SOCKS5 proxy, with every mechanism; and what that proxy refuses.

use std::net::{TcpListener, TcpStream};

use interop::Side::Theirs;
use interop::{LIBZMQ, MICROSOCKS, OMQ, Path, Proxy, Transport, await_failure, options};
use sealwire::options::SocksProxy;
use sealwire::{ConnectionFailure, FailureCause, PeerAddress, SocketType, SocksError};

#[test]
fn every_mechanism_passes_with_and_without_a_login() {
    if !MICROSOCKS.is_there() {
        return;
    }
    let open = Proxy::start(None);
    let closed = Proxy::start(Some(("alice", "s3cret")));
    let paths = [
        Path::null(LIBZMQ, Transport::Tcp, Theirs),
        Path::plain(LIBZMQ, Theirs, Theirs),
        Path::curve(LIBZMQ, Theirs, Theirs),
        Path::blake3(OMQ, Theirs, Theirs),
    ];
    for path in paths.into_iter().filter(|path| path.program.is_there()) {
        for proxy in [
            open.option(),
            open.option().with_login("not", "asked for"),
            closed.option().with_login("alice", "s3cret"),
        ] {
            let ours = options(SocketType::Req).socks_proxy(proxy);
            let link = path.open(ours, &["--type", "rep", "--recv", "1"]);
            let question = vec![b'?'; 100_000];
            link.ours.send(question.clone()).unwrap();
            let answer = link.ours.recv().unwrap();
            assert!(answer.as_bytes() == question, "{path}");
            let address = answer.peer().unwrap().address();
            assert!(matches!(address, PeerAddress::Proxied { .. }), "{address}");
        }
    }
}

#[test]
fn the_proxy_resolves_names() {
    if !MICROSOCKS.is_there() || !LIBZMQ.is_there() {
        return;
    }
    let proxy = Proxy::start(None);
    let path = Path::null(LIBZMQ, Transport::Tcp, Theirs);
    let link = path.open(options(SocketType::Pair), &["--type", "rep", "--recv", "1"]);
    let (_, port) = link.endpoint.rsplit_once(':').unwrap();
    let ours = options(SocketType::Req).socks_proxy(proxy.option());
    let ours = ours.build_blocking().unwrap();
    ours.connect(format!("tcp://localhost:{port}")).unwrap();
    ours.send("by name").unwrap();
    assert_eq!(ours.recv().unwrap().as_bytes(), b"by name");
}

fn failure(proxy: SocksProxy, endpoint: &str) -> ConnectionFailure {
    let socket = options(SocketType::Push).socks_proxy(proxy);
    let socket = socket.build_blocking().unwrap();
    let monitor = socket.monitor();
    socket.connect(endpoint).unwrap();
    await_failure(&monitor)
}

#[test]
fn what_the_proxy_refuses_is_named() {
    if !MICROSOCKS.is_there() {
        return;
    }
    let closed = Proxy::start(Some(("alice", "s3cret")));
    // A port in use by a connection has no listener.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let holder = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let nobody = format!("tcp://{}", holder.local_addr().unwrap());

    let wrong = failure(closed.option().with_login("alice", "guess"), &nobody);
    let FailureCause::Proxy(SocksError::WrongLogin) = wrong.cause() else {
        panic!("{wrong}")
    };
    let none = failure(closed.option(), &nobody);
    let FailureCause::Proxy(SocksError::NoCommonMethod) = none.cause() else {
        panic!("{none}")
    };
    let refused = failure(closed.option().with_login("alice", "s3cret"), &nobody);
    let FailureCause::Proxy(SocksError::Refused(_)) = refused.cause() else {
        panic!("{refused}")
    };
    assert!(refused.to_string().contains("refused"), "{refused}");
}
