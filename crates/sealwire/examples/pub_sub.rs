//! PUB and SUB: a publisher sends to subscribers, by topic.
//!
//! A publisher does not wait for subscribers: what nobody has subscribed to yet is dropped. So
//! this one tells what is new again and again, as a source of measurements would. The example `xpub`
//! shows how to send the latest value to each new subscriber.
//!
//! ```text
//! cargo run -p sealwire --example pub_sub
//! ```

use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use sealwire::auth::AllowAnyone;
use sealwire::blocking::Socket;
use sealwire::{Error, Generate as _, KeyPair, Message, Security, SocketType};

fn main() -> Result<(), Error> {
    // Everybody who knows the publisher's public key may subscribe.
    let keys = KeyPair::generate();
    let publisher = Socket::builder(SocketType::Pub)
        .security(Security::blake3_server(keys.clone(), AllowAnyone))
        .build_blocking()?;
    let endpoint = publisher.bind("tcp://127.0.0.1:0")?;

    let (stop, stopped) = mpsc::channel::<()>();
    let publishing = thread::spawn(move || -> Result<(), Error> {
        for number in 0_u64.. {
            // The first frame is the topic, for subscribers compare the message's beginning.
            publisher.send(Message::multipart(["indoors", "21.5"]))?;
            publisher.send(Message::multipart([
                "outdoors".to_owned(),
                format!("{number}"),
            ]))?;
            let pause = stopped.recv_timeout(Duration::from_millis(5));
            if pause == Err(RecvTimeoutError::Disconnected) {
                break;
            }
        }
        Ok(())
    });

    let subscriber = Socket::builder(SocketType::Sub)
        .security(Security::blake3_client(keys.public()))
        .build_blocking()?;
    // Publishers filter: what is not subscribed to is not sent.
    subscriber.subscribe("in")?;
    subscriber.connect(endpoint)?;
    for _ in 0..3 {
        let message = subscriber.recv()?;
        let [topic, value] = message.frames() else {
            continue;
        };
        println!(
            "{}: {}",
            String::from_utf8_lossy(topic),
            String::from_utf8_lossy(value)
        );
    }

    drop(stop);
    publishing.join().expect("the publisher does not panic")
}
