//! The bytes that go in come out, on both sides, over many connections at once.

use std::io::{Read as _, Write as _};
use std::net::Shutdown;
use std::sync::mpsc;
use std::thread;

use serde_json::Value;

use super::ends::{TIMEOUT, Tunnel, content, dial, echo, exchange, service};

#[test]
fn many_connections_at_once_each_get_their_own_bytes_back() {
    let tunnel = Tunnel::to(&service(echo));
    let clients: Vec<_> = (0..16_usize)
        .map(|client| {
            let entry = tunnel.entry.clone();
            thread::spawn(move || {
                let text = content(client * 70_000 + client);
                let (received, ended) = exchange(dial(&entry), text.clone());
                assert!(ended.is_ok(), "{client}: {ended:?}");
                assert!(received == text, "{client}");
            })
        })
        .collect();
    for client in clients {
        client.join().expect("no panic");
    }
}

#[test]
fn an_end_is_carried_through_while_the_other_way_stays_open() {
    // Answers only when everything has come.
    let tunnel = Tunnel::to(&service(|mut socket| {
        let mut text = Vec::new();
        socket.read_to_end(&mut text).expect("the end");
        for piece in text.chunks(1_000) {
            socket.write_all(piece).expect("it reads");
        }
    }));
    let text = content(100_000);
    let (received, ended) = exchange(dial(&tunnel.entry), text.clone());
    assert!(ended.is_ok() && received == text);

    // And the other way round: the service ends first.
    let (heard, hears) = mpsc::channel();
    let tunnel = Tunnel::to(&service(move |mut socket| {
        socket.write_all(b"welcome").expect("it reads");
        socket.shutdown(Shutdown::Write).expect("a socket");
        let mut text = String::new();
        socket.read_to_string(&mut text).expect("the end");
        heard.send(text).expect("somebody waits");
    }));
    let mut socket = dial(&tunnel.entry);
    let mut text = String::new();
    socket.read_to_string(&mut text).expect("the end");
    assert_eq!(text, "welcome");
    socket.write_all(b"thanks").expect("still open");
    drop(socket);
    assert_eq!(hears.recv_timeout(TIMEOUT).as_deref(), Ok("thanks"));
}

#[test]
fn small_pieces_go_at_once() {
    let tunnel = Tunnel::to(&service(echo));
    let mut socket = dial(&tunnel.entry);
    for piece in [&b"a"[..], b"bc", b"", b"defg"] {
        socket.write_all(piece).expect("it reads");
        let mut back = vec![0; piece.len()];
        socket.read_exact(&mut back).expect("before the end");
        assert_eq!(back, piece);
    }
}

#[test]
fn a_reset_is_carried_through_as_a_reset() {
    let tunnel = Tunnel::with(
        &service(|socket| {
            let socket = socket2::Socket::from(socket);
            let mut first = [std::mem::MaybeUninit::uninit(); 1];
            assert_eq!(socket.recv(&mut first).expect("a byte"), 1);
            socket
                .set_linger(Some(std::time::Duration::ZERO))
                .expect("a socket");
        }),
        &[],
        &[],
    );
    let mut socket = dial(&tunnel.entry);
    socket.write_all(b"x").expect("it reads");
    assert!(socket.read(&mut [0]).is_err(), "no clean end");
}

#[test]
fn scripts_learn_who_connected_and_how_much_went_through() {
    let report = ["--json", "-v"];
    let mut tunnel = Tunnel::with(&service(echo), &report, &report);
    let (received, ended) = exchange(dial(&tunnel.entry), content(1_000));
    assert!(ended.is_ok() && received.len() == 1_000);
    for (running, sent) in [
        (&mut tunnel.listener, 1_000),
        (&mut tunnel.connector, 1_000),
    ] {
        let ready: Value = serde_json::from_str(&running.await_line("ready")).expect("JSON");
        assert_eq!(ready["public_key"].as_str().expect("a key").len(), 64);
        let end = running.await_line("disconnected");
        let end: Value = serde_json::from_str(&end).expect("JSON");
        assert_eq!(end["connection"], ready["connection"]);
        assert_eq!(
            (&end["sent"], &end["received"]),
            (&sent.into(), &1_000.into())
        );
    }
}
