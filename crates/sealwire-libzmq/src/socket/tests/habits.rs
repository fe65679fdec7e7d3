//! What programs for libzmq have come to rely on.

use super::*;

#[test]
fn a_subscriber_takes_any_number_of_topics() {
    let context = Context::without_rules();
    let publisher = context.open_briefly(SocketType::XPub);
    publisher.bind("inproc://topics").unwrap();
    let subscriber = context.open_briefly(SocketType::Sub);
    subscriber.connect("inproc://topics").unwrap();
    // A publisher of ours would take some 32,000 from one peer.
    for topic in 0..40_000_u32 {
        let topic = topic.to_be_bytes();
        subscriber.set(number::SUBSCRIBE, Some(&topic)).unwrap();
    }
    // The publisher has been asked for the last ones, or for everything.
    while publisher.receive(0).unwrap().as_bytes() != b"\x01" {}
    for topic in [0, 39_999, 40_000, 20_000_u32] {
        let topic = &topic.to_be_bytes()[..];
        publisher.send(&mut Frames::single(topic), 0).unwrap();
    }
    for topic in [0, 39_999, 20_000_u32] {
        assert_eq!(receive(&subscriber), topic.to_be_bytes());
    }
}

#[test]
fn a_routing_id_may_begin_with_a_zero_octet() {
    let context = Context::without_rules();
    for endpoint in ["tcp://127.0.0.1:*", "inproc://zero"] {
        let router = context.open_briefly(SocketType::Router);
        router.bind(endpoint).unwrap();
        for own in [&b"\0\0\0\0\x01"[..], b"\0"] {
            let dealer = context.open_briefly(SocketType::Dealer);
            dealer.set(number::ROUTING_ID, Some(own)).unwrap();
            dealer.connect(&router.last_endpoint()).unwrap();
            send(&dealer, &["question"]);
            assert_eq!(receive(&router), own);
            assert_eq!(receive(&router), b"question");
            router.send(&mut Frames::single(own), SNDMORE).unwrap();
            send(&router, &["answer"]);
            assert_eq!(receive(&dealer), b"answer");
            dealer.close();
        }
        router.close();
    }
}

#[test]
fn the_largest_size_is_that_of_a_part_and_who_sends_more_comes_again() {
    let context = Context::without_rules();
    for endpoint in ["tcp://127.0.0.1:*", "ws://127.0.0.1:*"] {
        let pull = context.open_briefly(SocketType::Pull);
        let limit = 100_i64.to_ne_bytes();
        pull.set(number::MAXMSGSIZE, Some(&limit)).unwrap();
        pull.bind(endpoint).unwrap();
        let push = context.open_briefly(SocketType::Push);
        push.connect(&pull.last_endpoint()).unwrap();
        let (part, more) = ("x".repeat(100), "x".repeat(101));
        send(&push, &[&part, &part, &part]);
        for _ in 0..3 {
            assert_eq!(receive(&pull), part.as_bytes());
        }
        send(&push, &[&more]);
        // Sent while the connection ends, some of these are lost, as with libzmq.
        let begun = Instant::now();
        let arrived = loop {
            send(&push, &["after"]);
            match pull.receive(DONTWAIT) {
                Ok(message) => break message,
                Err(error) => assert_eq!(error, Errno::AGAIN),
            }
            assert!(begun.elapsed() < TIMEOUT, "nothing arrives");
            thread::yield_now();
        };
        assert_eq!(arrived.as_bytes(), b"after");
    }
}

#[test]
fn a_message_is_empty_after_a_receive_that_found_none() {
    let context = Context::without_rules();
    let pull = context.open_briefly(SocketType::Pull);
    pull.bind("inproc://none").unwrap();
    let mut message = Msg::new();
    message.fill(&mut "the last one".into(), None, false);
    assert_eq!(pull.receive_into(&mut message, DONTWAIT), Err(Errno::AGAIN));
    assert!(message.as_bytes().is_empty());
    message.fill(&mut "the last one".into(), None, false);
    let push = context.open_briefly(SocketType::Push);
    let unsupported = push.receive_into(&mut message, DONTWAIT);
    assert_eq!(unsupported, Err(Errno::NOTSUP));
    assert_eq!(message.as_bytes(), b"the last one");
}

#[test]
fn a_stream_gives_as_much_at_once_as_libzmq_reads() {
    let context = Context::without_rules();
    let stream = context.open_briefly(SocketType::Stream);
    stream.bind("tcp://127.0.0.1:*").unwrap();
    let at = stream.last_endpoint();
    let mut peer = TcpStream::connect(at.strip_prefix("tcp://").unwrap()).unwrap();
    let bytes: Vec<u8> = (0..100_000_u32).map(|it| it as u8).collect();
    std::io::Write::write_all(&mut peer, &bytes).unwrap();
    let mut got = Vec::new();
    while got.len() < bytes.len() {
        receive(&stream);
        let part = receive(&stream);
        assert!(part.len() <= 8_192, "{}", part.len());
        got.extend(part);
    }
    assert_eq!(got, bytes);
}
