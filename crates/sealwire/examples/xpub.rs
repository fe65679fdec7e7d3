//! XPUB: a publisher that sees subscriptions, and sends the latest value to each new subscriber.
//!
//! ```text
//! cargo run -p sealwire --example xpub
//! ```

use std::collections::BTreeMap;

use sealwire::auth::AllowAnyone;
use sealwire::blocking::Socket;
use sealwire::{Error, Generate as _, KeyPair, Message, Security, SocketType};

fn main() -> Result<(), Error> {
    let keys = KeyPair::generate();
    let publisher = Socket::builder(SocketType::XPub)
        .security(Security::blake3_server(keys.clone(), AllowAnyone))
        // Without it only the first subscription to a topic is received.
        .xpub_verbose(true)
        .build_blocking()?;
    let endpoint = publisher.bind("tcp://127.0.0.1:0")?;
    let latest = BTreeMap::from([("indoors", "21.5"), ("outdoors", "-3")]);

    for topic in ["indoors", "outdoors"] {
        let subscriber = Socket::builder(SocketType::Sub)
            .security(Security::blake3_client(keys.public()))
            .build_blocking()?;
        subscriber.subscribe(topic)?;
        subscriber.connect(&endpoint)?;

        // A subscription is a message: 1 (0 when it ends) and the topic.
        let wanted = loop {
            match publisher.recv()?.as_bytes() {
                [1, topic @ ..] => break String::from_utf8_lossy(topic).into_owned(),
                _ => continue,
            }
        };
        if let Some(value) = latest.get(&*wanted) {
            publisher.send(Message::multipart([&*wanted, value]))?;
        }
        let message = subscriber.recv()?;
        let value = message.frame(1).unwrap_or_default();
        println!("{topic}: {}", String::from_utf8_lossy(value));
    }
    Ok(())
}
