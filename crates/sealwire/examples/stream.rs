//! STREAM: TCP with programs that know no ZeroMQ, here with a client of HTTP/1.0. **Not encrypted.**
//!
//! ```text
//! cargo run -p sealwire --example stream
//! ```

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::thread;

use sealwire::blocking::Socket;
use sealwire::{Endpoint, Error, Frame, Message, Security, SocketType};

fn main() -> Result<(), Error> {
    let server = Socket::builder(SocketType::Stream)
        .security(Security::plain_text())
        .build_blocking()?;
    let Endpoint::Tcp { port, .. } = server.bind("tcp://127.0.0.1:0")? else {
        unreachable!("a TCP endpoint was bound");
    };
    let serving = thread::spawn(move || serve(&server));

    let mut client = TcpStream::connect(("127.0.0.1", port)).expect("the server listens");
    client
        .write_all(b"GET / HTTP/1.0\r\n\r\n")
        .expect("it reads");
    let mut answer = String::new();
    client.read_to_string(&mut answer).expect("it answers");
    // Closing the server's socket waits for this side to close too, up to its linger time.
    drop(client);
    println!("{}", answer.lines().last().unwrap_or_default());
    serving.join().expect("the server does not panic")
}

/// Answers one request.
fn serve(server: &Socket) -> Result<(), Error> {
    let mut request = Vec::new();
    loop {
        // Each message has the id of the connection and some of its bytes: none when it begins
        // or ends, and however many came together otherwise.
        let message = server.recv()?;
        let [id, bytes] = message.frames() else {
            continue;
        };
        request.extend_from_slice(bytes);
        if request.ends_with(b"\r\n\r\n") {
            let answer = "HTTP/1.0 200 OK\r\n\r\nhello, browser";
            server.send(Message::multipart([id.clone(), answer.into()]))?;
            // An empty body ends the connection once everything is sent.
            return Ok(server.send(Message::multipart([id.clone(), Frame::from("")]))?);
        }
    }
}
