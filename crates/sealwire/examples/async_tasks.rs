//! The async API: the same sockets for tasks, here on tokio; any executor will do.
//!
//! ```text
//! cargo run -p sealwire --example async_tasks
//! ```

use sealwire::auth::AllowAnyone;
use sealwire::{Error, Generate as _, KeyPair, Security, Socket, SocketType};

#[tokio::main]
async fn main() -> Result<(), Error> {
    let keys = KeyPair::generate();
    let server = Socket::builder(SocketType::Rep)
        .security(Security::blake3_server(keys.clone(), AllowAnyone))
        .build()?;
    let endpoint = server.bind("tcp://127.0.0.1:0")?;
    let client = Socket::builder(SocketType::Req)
        .security(Security::blake3_client(keys.public()))
        .build()?;
    client.connect(endpoint)?;

    let serving = tokio::spawn(async move {
        let request = server.recv().await?;
        server.send(format!("{} bytes", request.size())).await?;
        // Waits until the answer is sent. Dropping the socket would leave that to the I/O thread.
        server.close().await
    });
    client.send("hello").await?;
    println!(
        "the answer: {}",
        client.recv().await?.as_str().unwrap_or("?")
    );
    serving.await.expect("the server does not panic")
}
