//! REQ and REP: a client asks, a server answers, one question after the other.
//!
//! ```text
//! cargo run -p sealwire --example req_rep
//! ```

use std::thread;

use sealwire::auth::AllowedKeys;
use sealwire::blocking::Socket;
use sealwire::{Error, Generate as _, KeyPair, Security, SocketType};

fn main() -> Result<(), Error> {
    // A key pair is an identity. `sealwire keygen` writes them to files.
    let (server_keys, alice) = (KeyPair::generate(), KeyPair::generate());

    // The server lets in the keys that it is given, each with a name.
    let allowed = AllowedKeys::new().allow_as(alice.public(), "alice");
    let server = Socket::builder(SocketType::Rep)
        .security(Security::blake3_server(server_keys.clone(), allowed))
        .build_blocking()?;
    // Port 0 takes a free one; `bind` returns which.
    let endpoint = server.bind("tcp://127.0.0.1:0")?;

    // The client knows the server's public key beforehand.
    let client = Socket::builder(SocketType::Req)
        .security(Security::blake3_client_with_keys(
            server_keys.public(),
            alice,
        ))
        .build_blocking()?;
    client.connect(endpoint)?;

    let serving = thread::spawn(move || -> Result<(), Error> {
        for _ in 0..2 {
            let request = server.recv()?;
            // The name comes from the handshake, not from the message.
            let who = request.peer().and_then(|peer| peer.user_id());
            println!(
                "{} says {}",
                who.unwrap_or("?"),
                request.as_str().unwrap_or("?")
            );
            // REP answers the request that it received last, and its sender only.
            server.send(format!("{} bytes", request.size()))?;
        }
        Ok(())
    });

    for question in ["hello", "good night"] {
        client.send(question)?;
        println!("the answer: {}", client.recv()?.as_str().unwrap_or("?"));
    }
    serving.join().expect("the server does not panic")
}
