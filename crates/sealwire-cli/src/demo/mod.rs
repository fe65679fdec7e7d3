//! `sealwire demo`: a server, a client it allows and one it does not, over real TCP.
//!
//! Each line of the demonstration that starts with a tick is a claim that was checked on what
//! really happened: on the bytes that a relay between client and server recorded, on the messages
//! that arrived, on the events of both sides. A claim that does not hold makes the program fail.

mod eavesdropper;
mod handshake;
mod mechanism;
mod people;
mod relay;
mod stage;
mod strangers;
mod tampering;
mod throughput;

use clap::Args;

use crate::exit::Failure;
use mechanism::DemoMechanism;
use people::People;
use relay::Relay;
use stage::Stage;

/// Options of the demonstration.
#[derive(Debug, Args)]
pub(crate) struct DemoOptions {
    /// The mechanism to show
    #[arg(long, value_enum, default_value = "blake3")]
    mechanism: DemoMechanism,
}

/// Plays all scenes.
pub(crate) fn run(options: &DemoOptions) -> Result<(), Failure> {
    let mechanism = options.mechanism;
    let mut stage = Stage::new();
    let people = People::introduce(&mut stage, mechanism)?;
    let relay = Relay::start(people.server_address)?;
    let exchange = people.talk(&mut stage, &relay)?;
    let recording = relay.recording(0);
    handshake::show(&mut stage, &recording, mechanism)?;
    eavesdropper::listen(&mut stage, &recording, &exchange, &people)?;
    tampering::flip_a_bit(&mut stage, &people, &relay)?;
    strangers::knock(&mut stage, &people)?;
    throughput::run(&mut stage, mechanism)?;
    stage.end()
}
