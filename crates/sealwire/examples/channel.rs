//! CHANNEL: as PAIR, with messages of one frame.
//!
//! ```text
//! cargo run -p sealwire --example channel
//! ```

use sealwire::auth::AllowAnyone;
use sealwire::blocking::Socket;
use sealwire::{Error, Generate as _, KeyPair, Security, SocketType};

fn main() -> Result<(), Error> {
    let keys = KeyPair::generate();
    let left = Socket::builder(SocketType::Channel)
        .security(Security::blake3_server(keys.clone(), AllowAnyone))
        .build_blocking()?;
    let right = Socket::builder(SocketType::Channel)
        .security(Security::blake3_client(keys.public()))
        .build_blocking()?;
    right.connect(left.bind("tcp://127.0.0.1:0")?)?;

    right.send("to the left")?;
    left.send("to the right")?;
    println!("left has {}", left.recv()?.as_str().unwrap_or("?"));
    println!("right has {}", right.recv()?.as_str().unwrap_or("?"));
    Ok(())
}
