//! XSUB and XPUB: a forwarder between publishers and subscribers, who need not know each other.
//!
//! ```text
//! PUB ──▶ XSUB  forwarder  XPUB ──▶ SUB
//! cargo run -p sealwire --example forwarder
//! ```

use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use sealwire::auth::AllowAnyone;
use sealwire::blocking::Socket;
use sealwire::{Error, Generate as _, KeyPair, Message, Security, SocketType, proxy};

fn main() -> Result<(), Error> {
    // The forwarder decrypts and encrypts again: its machine sees every message.
    let keys = KeyPair::generate();
    let bind = |socket_type| {
        let security = Security::blake3_server(keys.clone(), AllowAnyone);
        let socket = Socket::builder(socket_type)
            .security(security)
            .build_blocking()?;
        let endpoint = socket.bind("tcp://127.0.0.1:0")?;
        Ok::<_, Error>((socket, endpoint))
    };
    let (inward, for_publishers) = bind(SocketType::XSub)?;
    let (outward, for_subscribers) = bind(SocketType::XPub)?;
    let connect = |socket_type| {
        let security = Security::blake3_client(keys.public());
        Socket::builder(socket_type)
            .security(security)
            .build_blocking()
    };

    let forwarding = thread::spawn({
        let (inward, outward) = (inward.clone(), outward.clone());
        move || proxy(&inward, &outward)
    });

    let publisher = connect(SocketType::Pub)?;
    publisher.connect(for_publishers)?;
    let (stop, stopped) = mpsc::channel::<()>();
    let publishing = thread::spawn(move || -> Result<(), Error> {
        loop {
            publisher.send(Message::multipart(["news", "it rains"]))?;
            let pause = stopped.recv_timeout(Duration::from_millis(5));
            if pause == Err(RecvTimeoutError::Disconnected) {
                return Ok(());
            }
        }
    });

    // The subscription passes the forwarder too, so that publishers send only what is wanted.
    let subscriber = connect(SocketType::Sub)?;
    subscriber.subscribe("news")?;
    subscriber.connect(for_subscribers)?;
    let message = subscriber.recv()?;
    println!(
        "news: {}",
        String::from_utf8_lossy(message.frame(1).unwrap_or_default())
    );

    drop(stop);
    publishing.join().expect("the publisher does not panic")?;
    // Closing one of its sockets ends a forwarder.
    inward.close()?;
    let ended = forwarding.join().expect("the forwarder does not panic");
    assert!(matches!(ended, Err(Error::Closed)));
    Ok(())
}
