//! RADIO and DISH: a radio sends to groups, and dishes join those that they want.
//!
//! As with PUB and SUB, what is sent to a group without members is dropped, so this radio sends
//! again and again.
//!
//! ```text
//! cargo run -p sealwire --example radio_dish
//! ```

use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use sealwire::auth::AllowAnyone;
use sealwire::blocking::Socket;
use sealwire::{Error, Generate as _, KeyPair, Message, Security, SocketType};

fn main() -> Result<(), Error> {
    let keys = KeyPair::generate();
    let radio = Socket::builder(SocketType::Radio)
        .security(Security::blake3_server(keys.clone(), AllowAnyone))
        .build_blocking()?;
    let endpoint = radio.bind("tcp://127.0.0.1:0")?;
    let (stop, stopped) = mpsc::channel::<()>();
    let sending = thread::spawn(move || -> Result<(), Error> {
        loop {
            radio.send(Message::to_group("sport", "a goal"))?;
            radio.send(Message::to_group("weather", "it rains"))?;
            let pause = stopped.recv_timeout(Duration::from_millis(5));
            if pause == Err(RecvTimeoutError::Disconnected) {
                return Ok(());
            }
        }
    });

    let dish = Socket::builder(SocketType::Dish)
        .security(Security::blake3_client(keys.public()))
        .build_blocking()?;
    // Groups are compared whole, topics of PUB and SUB by their beginning.
    dish.join("weather")?;
    dish.connect(endpoint)?;
    let message = dish.recv()?;
    let group = String::from_utf8_lossy(message.group().unwrap_or_default());
    println!("{group}: {}", String::from_utf8_lossy(message.as_bytes()));

    drop(stop);
    sending.join().expect("the radio does not panic")
}
