//! DGRAM: the one draft type with parts, and for one thread.

use super::*;

/// Where a socket is bound, with the zero octet.
fn address(socket: *mut c_void) -> Vec<u8> {
    let (mut text, mut size) = ([0_u8; 64], 64);
    let value = text.as_mut_ptr().cast();
    let done = zmq_getsockopt(socket, number::LAST_ENDPOINT, value, &raw mut size);
    assert_eq!(done, 0, "{}", zmq_errno());
    text["udp://".len()..size].to_vec()
}

/// As libzmq's own test has it, and more.
#[test]
fn a_dgram_talks_in_parts_and_is_for_one_thread() {
    let mut scene = Scene::new();
    let [one, other] = [DGRAM, DGRAM].map(|socket_type| scene.socket(socket_type));
    assert_eq!(get(one, number::TYPE), DGRAM);
    assert_eq!(get(one, number::THREAD_SAFE), 0);
    assert!(get(one, number::FD) >= 0);
    let any = c"udp://127.0.0.1:*";
    assert_eq!(
        errno(|| zmq_connect(one, c"udp://127.0.0.1:9".as_ptr())),
        Errno::NOCOMPATPROTO
    );
    // Not before it is bound.
    assert_eq!(
        errno(|| send(one, b"127.0.0.1:9", SNDMORE | DONTWAIT)),
        Errno::AGAIN
    );
    assert_eq!(get(one, number::EVENTS), 0);
    for socket in [one, other] {
        assert_eq!(zmq_bind(socket, any.as_ptr()), 0);
        assert_eq!(get(socket, number::EVENTS), c_int::from(POLLOUT));
    }
    let [here, there] = [address(one), address(other)];

    // With the zero octet or without.
    for address in [&there[..], &there[..there.len() - 1]] {
        assert_eq!(send(one, address, SNDMORE), address.len() as c_int);
        assert_eq!(send(one, b"question", 0), 8);
        assert_eq!(receive(other), here, "with a zero octet, for C");
        assert_eq!(get(other, number::RCVMORE), 1);
        assert_eq!(receive(other), b"question");
        assert_eq!(get(other, number::RCVMORE), 0);
    }
    assert_eq!(send(other, &here, SNDMORE), here.len() as c_int);
    assert_eq!(send(other, b"answer", 0), 6);
    assert_eq!(receive(one), there);
    assert_eq!(receive(one), b"answer");

    // An address without a body, and a body that is not the last part, are refused; what stands goes on.
    assert_eq!(errno(|| send(one, &there, 0)), Errno::INVAL);
    assert!(send(one, &there, SNDMORE) > 0);
    assert_eq!(errno(|| send(one, b"part", SNDMORE)), Errno::INVAL);
    assert_eq!(send(one, b"whole", 0), 5);
    assert_eq!(receive(other), here);
    assert_eq!(receive(other), b"whole");

    // Other texts are taken, and their messages dropped. A part that is too large is refused: libzmq writes it over its
    // memory.
    for nowhere in [&b"nowhere"[..], b"localhost:9", b"127.0.0.1:0", b""] {
        assert_eq!(send(one, nowhere, SNDMORE), nowhere.len() as c_int);
        assert_eq!(send(one, b"lost", 0), 4);
    }
    assert!(send(one, &there, SNDMORE) > 0);
    assert_eq!(errno(|| send(one, &[0; 8_193], 0)), Errno::INVAL);
    assert_eq!(send(one, b"next", 0), 4);
    assert_eq!(receive(other), here);
    assert_eq!(receive(other), b"next");
    assert_eq!(errno(|| receive_now(other)), Errno::AGAIN);

    assert_eq!(errno(|| zmq_bind(one, any.as_ptr())), Errno::INVAL);
    let elsewhere = scene.socket(DGRAM);
    for endpoint in [c"tcp://127.0.0.1:*", c"inproc://a-dgram"] {
        let refused = errno(|| zmq_bind(elsewhere, endpoint.as_ptr()));
        assert_eq!(refused, Errno::NOCOMPATPROTO);
    }
}
