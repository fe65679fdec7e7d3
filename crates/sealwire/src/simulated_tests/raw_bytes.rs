//! STREAM to STREAM: bytes without a protocol, which nobody counts. A connection delivers a prefix of what was
//! sent over it.

use std::collections::BTreeMap;

use super::everything::{QUIET, try_recv, wait};
use super::*;

/// The parts of a message: who it is from or for, and the bytes; none where a connection begins or ends.
fn parts(message: &Message) -> (Vec<u8>, &[u8]) {
    let [id, bytes] = message.frames() else {
        panic!("not an id and bytes: {message:?}")
    };
    (id.to_vec(), bytes)
}

/// Connections of the sender, and bytes sent over each; each begins with its number.
fn bytes_of(connection: u8, from: usize, length: usize) -> Vec<u8> {
    let byte = |at: usize| match at {
        0 => connection,
        _ => (at ^ at >> 8) as u8 ^ connection,
    };
    (from..from + length).map(byte).collect()
}

fn raw(plan: Plan) {
    // Without heartbeats nobody would learn of a connection that is silent.
    let trouble = Trouble {
        half_open: 0,
        strangers: 0,
        ..plan.trouble
    };
    let mut scene = scene(plan.seed, trouble);
    let socket = |context: &Context| {
        Socket::builder(SocketType::Stream)
            .context(context)
            .security(Security::plain_text())
            .reconnect(Duration::from_millis(10), Duration::from_secs(1))
            .linger(Duration::from_secs(1))
            .build()
            .unwrap()
    };
    let contexts = [1, 2].map(|host| scene.context(host));
    let [receiver, sender] = [0, 1].map(|index: usize| socket(&contexts[index]));
    let endpoint = receiver.bind(format!("tcp://{}:5555", address(1))).unwrap();
    sender.connect(endpoint).unwrap();
    // The connection of the sender, and how much went over each so far.
    let (mut current, mut sent) = (None::<Vec<u8>>, Vec::<usize>::new());
    let mut received = BTreeMap::<Vec<u8>, Vec<u8>>::new();
    let take = |received: &mut BTreeMap<_, Vec<u8>>| {
        while let Some(message) = try_recv(&receiver) {
            let (id, bytes) = parts(&message);
            received.entry(id).or_default().extend(bytes);
        }
    };
    let mut send = |sent: &mut Vec<usize>, scene: &Scene| {
        while let Some(message) = try_recv(&sender) {
            let (id, bytes) = parts(&message);
            assert!(bytes.is_empty(), "nobody sends this way");
            match current.take() {
                Some(ended) if ended == id => {}
                _ => {
                    current = Some(id);
                    sent.push(0);
                }
            }
        }
        let connection = sent.len() as u8;
        let (Some(id), Some(length)) = (&current, sent.last_mut()) else {
            return false;
        };
        let size = 1 + scene.below(5_000) as usize;
        let bytes = bytes_of(connection, *length, size);
        let message = Message::multipart([id.clone(), bytes]);
        match sender.try_send(message).map_err(Error::from) {
            Ok(()) => {}
            Err(Error::WouldBlock | Error::Unroutable(_)) => return false,
            Err(error) => panic!("{error}"),
        }
        *length += size;
        true
    };
    let mut done = 0;
    while done < plan.messages {
        match scene.below(6) {
            0 => done += u64::from(send(&mut sent, &scene)),
            1 if !scene.is_stalled() => take(&mut received),
            _ => scene.step(),
        }
    }
    scene.calm();
    wait(&mut scene, QUIET, |_| take(&mut received));
    while !send(&mut sent, &scene) {
        scene.step();
    }
    wait(&mut scene, QUIET, |_| take(&mut received));
    for bytes in received.values().filter(|bytes| !bytes.is_empty()) {
        let connection = bytes[0];
        let most = sent[usize::from(connection) - 1];
        assert!(bytes.len() <= most, "more than was sent");
        assert!(
            *bytes == bytes_of(connection, 0, bytes.len()),
            "other bytes"
        );
    }
    let last = received
        .values()
        .find(|bytes| bytes.first() == Some(&(sent.len() as u8)));
    assert_eq!(
        last.map(Vec::len),
        sent.last().copied(),
        "the last connection"
    );
    drop((receiver, sender, contexts));
    scene.end();
}

#[test]
fn what_comes_over_a_connection_is_a_prefix_of_what_was_sent() {
    check(&[], seeds(100), raw);
}
