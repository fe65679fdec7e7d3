//! The program's commands for the socket types of which only libzmq's drafts have the other end.

use interop::{LIBZMQ_DRAFTS, Own, Peer, SEALWIRE, describe};

const TEXT: &str = "hello";

/// A peer that is bound, with where that is.
fn peer(socket_type: &str, script: &[&str]) -> (Peer, String) {
    let bound = ["--type", socket_type, "--bind", "tcp://127.0.0.1:0"];
    let arguments = bound.iter().chain(script).map(|&word| word.into());
    let mut peer = Peer::start(LIBZMQ_DRAFTS, arguments.collect());
    let endpoint = peer.endpoint();
    (peer, endpoint)
}

/// What the program prints of one message.
fn printed(own: &Own) -> String {
    let message = own.message();
    let frames = message["frames"].as_array().expect("a list");
    let text = |frame: &serde_json::Value| frame["text"].as_str().expect("text").to_owned();
    frames.iter().map(text).collect::<Vec<_>>().join(" ")
}

#[test]
fn asks_libzmqs_servers_channels_and_peers() {
    if !LIBZMQ_DRAFTS.is_there() || !SEALWIRE.is_there() {
        return;
    }
    for (theirs, ours) in [
        ("server", "client"),
        ("channel", "channel"),
        ("peer", "peer"),
    ] {
        let (mut peer, endpoint) = peer(theirs, &["--recv", "1", "--echo"]);
        let own = Own::start(&[ours, "-c", &endpoint, "-d", TEXT, "-n", "1"]);
        assert_eq!(peer.message(), [describe(TEXT.as_bytes())], "{ours}");
        assert_eq!(printed(&own), TEXT, "{ours}");
        peer.finish();
    }
}

#[test]
fn answers_libzmqs_clients() {
    if !LIBZMQ_DRAFTS.is_there() || !SEALWIRE.is_there() {
        return;
    }
    let (mut peer, endpoint) = peer("client", &["--send", "1", "--recv", "1"]);
    let own = Own::start(&["server", "-c", &endpoint, "-d", TEXT, "-n", "1"]);
    assert_eq!(peer.message(), [describe(TEXT.as_bytes())]);
    assert_eq!(own.message()["peer"]["socket_type"], "CLIENT");
    peer.finish();
}

#[test]
fn sends_to_libzmqs_gathers_and_dishes() {
    if !LIBZMQ_DRAFTS.is_there() || !SEALWIRE.is_there() {
        return;
    }
    let (mut gather, endpoint) = peer("gather", &["--recv", "1"]);
    let _own = Own::start(&["scatter", "-c", &endpoint, "-d", TEXT]);
    assert_eq!(gather.message(), [describe(TEXT.as_bytes())]);
    gather.finish();

    // It waits for a member, so the first message arrives.
    let dish = ["--subscribe", "news", "--recv", "1"];
    let (mut dish, endpoint) = peer("dish", &dish);
    let _own = Own::start(&["radio", "-c", &endpoint, "-g", "news", "-d", TEXT]);
    assert_eq!(dish.message(), [describe(TEXT.as_bytes())]);
    assert_eq!(dish.event("message")["group"], "news");
    dish.finish();
}

#[test]
fn receives_from_libzmqs_scatters_and_radios() {
    if !LIBZMQ_DRAFTS.is_there() || !SEALWIRE.is_there() {
        return;
    }
    let (scatter, endpoint) = peer("scatter", &["--send", "1"]);
    let own = Own::start(&["gather", "-c", &endpoint, "-n", "1"]);
    assert_eq!(own.message()["bytes"], 16);
    scatter.finish();

    // The peer repeats a message until somebody has it.
    let (_radio, endpoint) = peer("radio", &["--topic", "news", "--send", "1"]);
    let own = Own::start(&["dish", "-c", &endpoint, "-j", "news", "-n", "1"]);
    let message = own.message();
    assert_eq!(message["frames"][0]["text"], "news");
    assert_eq!(message["peer"]["socket_type"], "RADIO");
}
