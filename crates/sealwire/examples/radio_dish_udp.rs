//! RADIO and DISH over UDP: datagrams without a connection, **not encrypted**, from anybody.
//!
//! Datagrams may be lost, so this radio sends again and again.
//!
//! ```text
//! cargo run -p sealwire --example radio_dish_udp
//! ```

use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use sealwire::blocking::Socket;
use sealwire::{Error, Message, Security, SocketType};

fn main() -> Result<(), Error> {
    // `udp` has no handshake, so plain text is all there is.
    let dish = Socket::builder(SocketType::Dish)
        .security(Security::plain_text())
        .build_blocking()?;
    dish.join("weather")?;
    let endpoint = dish.bind("udp://127.0.0.1:*")?;

    let radio = Socket::builder(SocketType::Radio)
        .security(Security::plain_text())
        .build_blocking()?;
    radio.connect(endpoint)?;
    let (stop, stopped) = mpsc::channel::<()>();
    let sending = thread::spawn(move || -> Result<(), Error> {
        loop {
            radio.send(Message::to_group("weather", "it rains"))?;
            let pause = stopped.recv_timeout(Duration::from_millis(5));
            if pause == Err(RecvTimeoutError::Disconnected) {
                return Ok(());
            }
        }
    });

    let message = dish.recv()?;
    let group = String::from_utf8_lossy(message.group().unwrap_or_default());
    println!("{group}: {}", String::from_utf8_lossy(message.as_bytes()));
    drop(stop);
    sending.join().expect("the radio does not panic")
}
