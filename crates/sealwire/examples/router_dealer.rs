//! ROUTER and DEALER: many questions under way at once, answered in any order.
//!
//! ```text
//! cargo run -p sealwire --example router_dealer
//! ```

use std::thread;

use sealwire::auth::AllowedKeys;
use sealwire::blocking::Socket;
use sealwire::{Error, Generate as _, KeyPair, Message, Security, SocketType};

fn main() -> Result<(), Error> {
    let server_keys = KeyPair::generate();
    let clients = [("alice", KeyPair::generate()), ("bob", KeyPair::generate())];
    let mut allowed = AllowedKeys::new();
    for (name, keys) in &clients {
        allowed = allowed.allow_as(keys.public(), *name);
    }
    let server = Socket::builder(SocketType::Router)
        .security(Security::blake3_server(server_keys.clone(), allowed))
        .build_blocking()?;
    let endpoint = server.bind("tcp://127.0.0.1:0")?;

    let serving = thread::spawn(move || -> Result<(), Error> {
        let mut questions = Vec::new();
        for _ in 0..6 {
            questions.push(server.recv()?);
        }
        // The latest first: the order is the server's affair.
        for question in questions.into_iter().rev() {
            // Any client can choose any routing id. The name is what its key proves.
            let name = question
                .peer()
                .and_then(|peer| peer.user_id().map(str::to_owned));
            let [routing_id, number, text] = question.frames() else {
                continue;
            };
            let text = String::from_utf8_lossy(text).to_uppercase();
            let answer = format!("{text}, {}", name.unwrap_or_default());
            // The first frame says to whom it goes, and does not go itself.
            server.send(Message::multipart([
                routing_id.clone(),
                number.clone(),
                answer.into(),
            ]))?;
        }
        server.close()
    });

    let mut asking = Vec::new();
    for (_, keys) in clients {
        let client = Socket::builder(SocketType::Dealer)
            .security(Security::blake3_client_with_keys(
                server_keys.public(),
                keys,
            ))
            .build_blocking()?;
        client.connect(&endpoint)?;
        asking.push(thread::spawn(move || ask(&client)));
    }
    for client in asking {
        client.join().expect("a client does not panic")?;
    }
    serving.join().expect("the server does not panic")
}

/// Asks three questions at once. A number of its own tells which answer belongs to which.
fn ask(client: &Socket) -> Result<(), Error> {
    let questions = ["who", "where", "when"];
    for (number, question) in questions.iter().enumerate() {
        client.send(Message::multipart([
            number.to_string(),
            (*question).to_owned(),
        ]))?;
    }
    for _ in questions {
        let message = client.recv()?;
        let [number, answer] = message.frames() else {
            continue;
        };
        let number: usize = String::from_utf8_lossy(number).parse().unwrap_or(0);
        println!(
            "{}: {}",
            questions[number % 3],
            String::from_utf8_lossy(answer)
        );
    }
    Ok(())
}
