//! What a subscriber is charged with for its topics is at least what they take.
//!
//! A binary of its own: what the process has allocated is counted, to within 64 KiB.

#[path = "support/counting.rs"]
#[expect(dead_code, reason = "this counts what is in use")]
mod counting;
#[expect(dead_code, reason = "the suite uses the rest")]
mod support;

use counting::in_use;
use sealwire::account::Kind;
use sealwire::blocking::Socket;
use sealwire::{Context, SocketBuilder, SocketType};
use support::{eventually, options};

/// One more than fits into a table of 8,192 places: all tables have just doubled.
const TOPICS: u32 = 7_169;
/// What does not depend on the number of topics: queues and lists that grow once.
const CONNECTION: usize = 64 << 10;

fn bytes_of(action: impl FnOnce()) -> usize {
    let before = in_use();
    action();
    in_use().saturating_sub(before)
}

fn subscribe_to_all(subscriber: &Socket) {
    for topic in 0..TOPICS {
        subscriber.subscribe(topic.to_be_bytes()).unwrap();
    }
}

type Options = fn(SocketBuilder) -> SocketBuilder;

#[test]
fn short_topics_take_no_more_than_they_are_charged_with() {
    let modes: [(&str, Options); 4] = [
        ("XPUB", |builder| builder),
        ("verbose", |builder| builder.xpub_verbose(true)),
        ("verboser", |builder| builder.xpub_verboser(true)),
        ("manual", |builder| builder.xpub_manual(true)),
    ];
    let before = in_use();
    for (mode, with_options) in modes {
        // Its I/O thread frees what a context had, in its own time.
        eventually("the context before it is freed", || {
            in_use() < before + CONNECTION
        });
        let context = Context::new().unwrap();
        let make = |socket_type| options(socket_type).context(&context);
        let publisher = with_options(make(SocketType::XPub));
        let publisher = publisher.build_blocking().unwrap();
        let [alone, connected] = [(); 2].map(|()| make(SocketType::Sub).build_blocking().unwrap());
        publisher.bind("inproc://topics").unwrap();
        connected.connect("inproc://topics").unwrap();
        eventually("connected", || publisher.peers().len() == 1);

        // In this process there is the subscriber's own share too.
        let own = bytes_of(|| subscribe_to_all(&alone));
        let both = bytes_of(|| subscribe_to_all(&connected));
        let account = publisher.peers()[0].clone();
        let charged = account.account().held(Kind::Subscriptions);
        let taken = both.saturating_sub(own + CONNECTION);
        println!("{mode}: {taken} bytes taken, {charged} charged");
        assert!(taken > 1 << 20, "{mode}: {taken} bytes are not all");
        assert!(
            taken <= charged,
            "{mode}: {taken} bytes taken, {charged} charged"
        );
    }
}
