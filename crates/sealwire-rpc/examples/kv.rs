//! A key-value store, and a client for it, over connections on which both sides know each other.
//!
//! ```text
//! cargo run -p sealwire-rpc --features serde --example kv -- serve tcp://127.0.0.1:5558
//! cargo run -p sealwire-rpc --features serde --example kv -- tcp://127.0.0.1:5558 SERVER_KEY put colour blue
//! cargo run -p sealwire-rpc --features serde --example kv -- tcp://127.0.0.1:5558 SERVER_KEY get colour
//! ```
//!
//! Without arguments it serves and calls itself once.

use std::collections::BTreeMap;
use std::error::Error;
use std::sync::{PoisonError, RwLock};
use std::time::Duration;

use sealwire::auth::AllowAnyone;
use sealwire::{Generate as _, KeyPair, PublicKey, Security};
use sealwire_rpc::{Client, Code, Server, Status, service};

service! {
    /// What the store can do.
    pub trait KeyValue {
        /// The value under a key.
        get(key: String) -> Vec<u8>;
        /// Sets the value under a key; gives the one before.
        put(key: String, value: Vec<u8>) -> Option<Vec<u8>>;
        /// Takes a key out; whether it was there.
        remove(key: String) -> bool;
        /// Keys that begin so, in order, up to a number of them.
        list(prefix: String, limit: u32) -> Vec<String>;
    }
}

/// Bytes of a value at most.
const MAX_VALUE: usize = 1 << 20;
/// Keys at most.
const MAX_KEYS: usize = 100_000;

#[derive(Default)]
struct Store {
    values: RwLock<BTreeMap<String, Vec<u8>>>,
}

impl KeyValue for Store {
    fn get(&self, key: String) -> Result<Vec<u8>, Status> {
        let values = self.values.read().unwrap_or_else(PoisonError::into_inner);
        let value = values.get(&key).cloned();
        value.ok_or_else(|| Status::new(Code::NOT_FOUND, format!("there is no {key}")))
    }

    fn put(&self, key: String, value: Vec<u8>) -> Result<Option<Vec<u8>>, Status> {
        if value.len() > MAX_VALUE {
            return Err(Status::new(
                Code::INVALID_ARGUMENT,
                "a value has at most 1 MiB",
            ));
        }
        let mut values = self.values.write().unwrap_or_else(PoisonError::into_inner);
        if values.len() >= MAX_KEYS && !values.contains_key(&key) {
            return Err(Status::new(Code::RESOURCE_EXHAUSTED, "the store is full"));
        }
        Ok(values.insert(key, value))
    }

    fn remove(&self, key: String) -> Result<bool, Status> {
        let mut values = self.values.write().unwrap_or_else(PoisonError::into_inner);
        Ok(values.remove(&key).is_some())
    }

    fn list(&self, prefix: String, limit: u32) -> Result<Vec<String>, Status> {
        let values = self.values.read().unwrap_or_else(PoisonError::into_inner);
        let from = values.range(prefix.clone()..).map(|(key, _)| key);
        let found = from.take_while(|key| key.starts_with(&prefix));
        Ok(found.take(limit as usize).cloned().collect())
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        [] => {
            let (server, key) = serve("tcp://127.0.0.1:0")?;
            let endpoint = server.1.clone();
            call(&endpoint, key, &["put", "colour", "blue"])?;
            call(&endpoint, key, &["get", "colour"])?;
            server.0.shutdown_blocking(Duration::from_secs(3));
            Ok(())
        }
        ["serve", endpoint] => {
            let (server, key) = serve(endpoint)?;
            println!("serving on {} as {key}", server.1);
            loop {
                std::thread::park();
            }
        }
        [endpoint, key, ref rest @ ..] => call(endpoint, key.parse()?, rest),
        _ => Err("see the head of this file for how to call it".into()),
    }
}

fn serve(endpoint: &str) -> Result<((Server, String), PublicKey), Box<dyn Error>> {
    let keys = KeyPair::generate();
    let key = keys.public();
    // A real one would read its key from a file and let in the keys of a list.
    let server = Server::builder(Security::blake3_server(keys, AllowAnyone))
        .build(Store::default().inline())?;
    let bound = server.bind(endpoint)?.to_string();
    Ok(((server, bound), key))
}

fn call(endpoint: &str, key: PublicKey, request: &[&str]) -> Result<(), Box<dyn Error>> {
    let security = Security::blake3_client_with_keys(key, KeyPair::generate());
    let client = Client::builder(security).build(endpoint)?.blocking();
    let store = KeyValueClient::new(client);
    match *request {
        ["get", key] => println!("{}", String::from_utf8_lossy(&store.get(key.into())?)),
        ["put", key, value] => {
            let before = store.put(key.into(), value.into())?;
            println!("{}", if before.is_some() { "replaced" } else { "new" });
        }
        ["remove", key] => println!("{}", store.remove(key.into())?),
        ["list", prefix] => {
            for key in store.list(prefix.into(), 1_000)? {
                println!("{key}");
            }
        }
        _ => return Err("get KEY, put KEY VALUE, remove KEY or list PREFIX".into()),
    }
    Ok(())
}
