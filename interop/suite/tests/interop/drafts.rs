//! libzmq's draft socket types over TCP and Unix sockets: every pairing, every mechanism, either
//! side server, either side bound.

use std::time::Duration;

use interop::Side::{Ours, Theirs};
use interop::{
    LIBZMQ_DRAFTS, Link, Path, Protection, Shape, Transport, await_ready, describe, is_sync,
    options, sync,
};
use sealwire::{Message, SocketType};

/// Messages of these types have one part.
const SHAPE: Shape = Shape {
    parts: 1,
    sizes: &[0, 1, 70, 223, 224, 255, 256, 65_536, 1 << 20],
};
const GROUP: &str = "news";
/// Time between two of the messages by which a RADIO finds its listeners.
const SYNC_PERIOD: Duration = Duration::from_millis(10);

fn paths() -> Vec<Path> {
    let mut paths = Vec::new();
    if !LIBZMQ_DRAFTS.is_there() {
        return paths;
    }
    for binds in [Ours, Theirs] {
        paths.push(Path::null(LIBZMQ_DRAFTS, Transport::Ipc, binds));
        for protection in [
            Protection::Null,
            Protection::Plain { server: Ours },
            Protection::Plain { server: Theirs },
            Protection::Curve { server: Ours },
            Protection::Curve { server: Theirs },
        ] {
            paths.push(Path::tcp(LIBZMQ_DRAFTS, binds, protection));
        }
    }
    paths
}

fn messages() -> impl Iterator<Item = Vec<u8>> {
    (0..SHAPE.sizes.len()).map(|index| SHAPE.message("", index).remove(0))
}

/// Opens a link over each path with these types and runs the test on it.
fn each(ours: SocketType, script: &[&str], test: impl Fn(&Path, &mut Link)) {
    let count = SHAPE.sizes.len().to_string();
    let sizes = SHAPE.sizes_argument();
    let script: Vec<_> = script
        .iter()
        .flat_map(|&word| match word {
            "SEND" => vec!["--send", &count, "--size", &sizes],
            "RECV" => vec!["--recv", &count],
            word => vec![word],
        })
        .collect();
    for path in paths() {
        let mut link = path.open(options(ours), &script);
        test(&path, &mut link);
        assert_eq!(link.ours.counters().handshakes_failed, 0, "{path}");
        link.peer.finish();
    }
}

/// The peer sends back what it was sent; `address` says to whom.
fn ask(path: &Path, link: &mut Link, address: impl Fn(Vec<u8>) -> Message) {
    for body in messages() {
        link.ours.send(address(body.clone())).unwrap();
        assert_eq!(link.peer.message(), [describe(&body)], "{path}");
        let answer = link.ours.recv().unwrap();
        assert!(answer.frames().last().unwrap().as_slice() == body, "{path}");
    }
}

/// Sends each message of the peer back to it, with its routing id if it has one.
fn answer(path: &Path, link: &mut Link, frames: usize) {
    for body in messages() {
        let question = link.ours.recv().unwrap();
        assert_eq!(question.frames().len(), frames, "{path}");
        assert!(question.as_bytes() == body, "{path}");
        link.ours
            .send(Message::from(question.into_frames()))
            .unwrap();
        assert_eq!(link.peer.message(), [describe(&body)], "{path}");
    }
}

#[test]
fn our_client_and_a_server_of_libzmq() {
    let script = ["--type", "server", "RECV", "--echo"];
    each(SocketType::Client, &script, |path, link| {
        ask(path, link, Message::from)
    });
}

#[test]
fn our_server_and_a_client_of_libzmq() {
    let script = ["--type", "client", "SEND", "RECV"];
    each(SocketType::Server, &script, |path, link| {
        answer(path, link, 2)
    });
}

#[test]
fn channels() {
    let echo = ["--type", "channel", "RECV", "--echo"];
    each(SocketType::Channel, &echo, |path, link| {
        ask(path, link, Message::from)
    });
    let asks = ["--type", "channel", "SEND", "RECV"];
    each(SocketType::Channel, &asks, |path, link| {
        answer(path, link, 1)
    });
}

#[test]
fn our_scatter_and_a_gather_of_libzmq() {
    each(
        SocketType::Scatter,
        &["--type", "gather", "RECV"],
        |path, link| {
            for body in messages() {
                link.ours.send(body.clone()).unwrap();
                assert_eq!(link.peer.message(), [describe(&body)], "{path}");
            }
        },
    );
}

#[test]
fn our_gather_and_a_scatter_of_libzmq() {
    each(
        SocketType::Gather,
        &["--type", "scatter", "SEND"],
        |path, link| {
            for body in messages() {
                assert!(link.ours.recv().unwrap().as_bytes() == body, "{path}");
            }
        },
    );
}

#[test]
fn our_radio_and_a_dish_of_libzmq() {
    let script = ["--type", "dish", "--subscribe", GROUP, "RECV"];
    each(SocketType::Radio, &script, |path, link| {
        while !link.peer.prints("synced", SYNC_PERIOD) {
            link.ours.send(Message::to_group(GROUP, sync(""))).unwrap();
        }
        for body in messages() {
            link.ours
                .send(Message::to_group("other", "nobody asked"))
                .unwrap();
            link.ours
                .send(Message::to_group(GROUP, body.clone()))
                .unwrap();
            assert_eq!(link.peer.message(), [describe(&body)], "{path}");
        }
        assert_eq!(link.peer.event("message")["group"], GROUP);
    });
}

#[test]
fn our_dish_and_a_radio_of_libzmq() {
    let script = ["--type", "radio", "--topic", GROUP, "SEND"];
    each(SocketType::Dish, &script, |path, link| {
        link.ours.join(GROUP).unwrap();
        for body in messages() {
            let message = loop {
                let message = link.ours.recv().unwrap();
                if !is_sync(&message.frames()[1..]) {
                    break message;
                }
                link.peer.tell();
            };
            assert_eq!(message.group(), Some(GROUP.as_bytes()), "{path}");
            assert!(message.as_bytes() == body, "{path}");
        }
    });
}

/// The connecting side speaks first: it alone knows a routing id to send to.
#[test]
fn peers() {
    for path in paths() {
        let count = SHAPE.sizes.len().to_string();
        let sizes = SHAPE.sizes_argument();
        let script = match path.binds {
            Ours => vec![
                "--type", "peer", "--send", &count, "--size", &sizes, "--recv", &count,
            ],
            Theirs => vec!["--type", "peer", "--recv", &count, "--echo"],
        };
        let mut link = path.open(options(SocketType::Peer), &script);
        let routing_id = await_ready(&link.monitor).connection_routing_id();
        match path.binds {
            Ours => answer(&path, &mut link, 2),
            Theirs => ask(&path, &mut link, |body| {
                Message::with_routing_id(routing_id, body)
            }),
        }
        link.peer.finish();
    }
}
