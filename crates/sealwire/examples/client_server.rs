//! CLIENT and SERVER: as DEALER and ROUTER, with messages of one frame.
//!
//! ```text
//! cargo run -p sealwire --example client_server
//! ```

use sealwire::auth::AllowAnyone;
use sealwire::blocking::Socket;
use sealwire::{Error, Generate as _, KeyPair, Message, Security, SocketType};

fn main() -> Result<(), Error> {
    let keys = KeyPair::generate();
    let server = Socket::builder(SocketType::Server)
        .security(Security::blake3_server(keys.clone(), AllowAnyone))
        .build_blocking()?;
    let endpoint = server.bind("tcp://127.0.0.1:0")?;
    let client = Socket::builder(SocketType::Client)
        .security(Security::blake3_client(keys.public()))
        .build_blocking()?;
    client.connect(endpoint)?;

    client.send("count to three")?;
    let request = server.recv()?;
    println!(
        "the server has: {}",
        String::from_utf8_lossy(request.as_bytes())
    );

    // A server answers by the routing id of the connection, as often as it likes.
    let routing_id = request.routing_id().expect("SERVER puts it in front");
    for answer in ["one", "two", "three"] {
        server.send(Message::with_routing_id(routing_id, answer))?;
    }
    for _ in 0..3 {
        println!("the client has: {}", client.recv()?.as_str().unwrap_or("?"));
    }
    Ok(())
}
