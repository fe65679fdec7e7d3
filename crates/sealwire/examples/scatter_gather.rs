//! SCATTER and GATHER: as PUSH and PULL, with messages of one frame.
//!
//! ```text
//! cargo run -p sealwire --example scatter_gather
//! ```

use sealwire::auth::AllowAnyone;
use sealwire::blocking::Socket;
use sealwire::{Error, Generate as _, KeyPair, Security, SocketType};

fn main() -> Result<(), Error> {
    let keys = KeyPair::generate();
    let gather = Socket::builder(SocketType::Gather)
        .security(Security::blake3_server(keys.clone(), AllowAnyone))
        .build_blocking()?;
    let endpoint = gather.bind("tcp://127.0.0.1:0")?;

    // What each of them sends arrives in order, both in any.
    for name in ["first", "second"] {
        let scatter = Socket::builder(SocketType::Scatter)
            .security(Security::blake3_client(keys.public()))
            .build_blocking()?;
        scatter.connect(&endpoint)?;
        scatter.send(format!("from the {name}"))?;
        // Waits until everything is sent.
        scatter.close()?;
    }
    for _ in 0..2 {
        println!("{}", gather.recv()?.as_str().unwrap_or("?"));
    }
    Ok(())
}
