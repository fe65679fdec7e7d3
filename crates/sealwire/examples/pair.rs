//! PAIR: two sockets that talk to each other and to nobody else, in any order.
//!
//! ```text
//! cargo run -p sealwire --example pair
//! ```

use sealwire::auth::AllowedKeys;
use sealwire::blocking::Socket;
use sealwire::{Error, Generate as _, KeyPair, Message, Security, SocketType};

fn main() -> Result<(), Error> {
    let (left_keys, right_keys) = (KeyPair::generate(), KeyPair::generate());
    let allowed = AllowedKeys::new().allow(right_keys.public());
    let left = Socket::builder(SocketType::Pair)
        .security(Security::blake3_server(left_keys.clone(), allowed))
        .build_blocking()?;
    let right = Socket::builder(SocketType::Pair)
        .security(Security::blake3_client_with_keys(
            left_keys.public(),
            right_keys,
        ))
        .build_blocking()?;
    right.connect(left.bind("tcp://127.0.0.1:0")?)?;

    // Both may send at any time, as many messages as they like.
    right.send("one")?;
    right.send("two")?;
    left.send(Message::multipart(["a message", "of two frames"]))?;

    for _ in 0..2 {
        println!("left has {}", left.recv()?.as_str().unwrap_or("?"));
    }
    let message = right.recv()?;
    println!(
        "right has {} frames, {} bytes",
        message.len(),
        message.size()
    );
    Ok(())
}
