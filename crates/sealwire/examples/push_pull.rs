//! PUSH and PULL: tasks are shared out among workers, and results are collected.
//!
//! ```text
//! tasks (PUSH) ──▶ workers (PULL, PUSH) ──▶ results (PULL)
//! cargo run -p sealwire --example push_pull
//! ```

use std::thread;

use sealwire::auth::AllowedKeys;
use sealwire::blocking::Socket;
use sealwire::{Endpoint, Error, Generate as _, KeyPair, PublicKey, Security, SocketType};

const TASKS: u64 = 100;

fn main() -> Result<(), Error> {
    let server_keys = KeyPair::generate();
    let workers_keys = [KeyPair::generate(), KeyPair::generate()];
    let allowed: AllowedKeys = workers_keys.iter().map(KeyPair::public).collect();

    let bind = |socket_type| {
        let security = Security::blake3_server(server_keys.clone(), allowed.clone());
        let socket = Socket::builder(socket_type)
            .security(security)
            .build_blocking()?;
        let endpoint = socket.bind("tcp://127.0.0.1:0")?;
        Ok::<_, Error>((socket, endpoint))
    };
    let (tasks, tasks_endpoint) = bind(SocketType::Push)?;
    let (results, results_endpoint) = bind(SocketType::Pull)?;

    let mut running = Vec::new();
    let mut sources = Vec::new();
    for keys in workers_keys {
        let [source, sink] = connect_worker(
            server_keys.public(),
            keys,
            [&tasks_endpoint, &results_endpoint],
        )?;
        sources.push(source.clone());
        running.push(thread::spawn(move || work(&source, &sink)));
    }

    // Each task goes to one worker whose queue has room. `send` waits while none has.
    for number in 1..=TASKS {
        tasks.send(number.to_string())?;
    }
    let mut sum = 0;
    for _ in 0..TASKS {
        let square: u64 = results.recv()?.as_str().unwrap_or("").parse().unwrap_or(0);
        sum += square;
    }
    println!("the sum of the squares from 1 to {TASKS} is {sum}");

    // Closing a socket ends the loops over its messages.
    for source in sources {
        source.close()?;
    }
    for worker in running {
        worker.join().expect("a worker does not panic")?;
    }
    Ok(())
}

/// A worker's sockets: where tasks come from, and where results go.
fn connect_worker(
    server: PublicKey,
    keys: KeyPair,
    endpoints: [&Endpoint; 2],
) -> Result<[Socket; 2], Error> {
    let security = Security::from(Security::blake3_client_with_keys(server, keys));
    let connect = |socket_type, endpoint: &Endpoint| {
        let socket = Socket::builder(socket_type)
            .security(security.clone())
            .build_blocking()?;
        socket.connect(endpoint)?;
        Ok::<_, Error>(socket)
    };
    Ok([
        connect(SocketType::Pull, endpoints[0])?,
        connect(SocketType::Push, endpoints[1])?,
    ])
}

fn work(source: &Socket, sink: &Socket) -> Result<(), Error> {
    for task in source.incoming() {
        let number: u64 = task?.as_str().unwrap_or("").parse().unwrap_or(0);
        sink.send((number * number).to_string())?;
    }
    Ok(())
}
