//! One bit of a message is changed on its way.

use sealwire::{Error, FailureCause, ProtocolError};

use super::people::People;
use super::relay::Relay;
use super::stage::Stage;
use crate::exit::Failure;

pub(super) fn flip_a_bit(stage: &mut Stage, people: &People, relay: &Relay) -> Result<(), Failure> {
    stage.scene("Someone flips one bit")?;
    let client = people.client(stage, &people.alice)?;
    client.connect(relay.endpoint().as_str())?;
    client.send("first").map_err(Error::from)?;
    people.server.recv()?;
    people.server.send("received").map_err(Error::from)?;
    client.recv()?;

    relay.flip_a_bit();
    client.send("Send 100 to Bob").map_err(Error::from)?;
    let failure =
        stage.await_failure(&people.server_events, "the change to be noticed", |cause| {
            matches!(
                cause,
                FailureCause::Protocol(ProtocolError::FrameNotVerified { .. })
            )
        })?;
    stage.fact("the server", &failure)?;
    stage.claim(
        failure.was_ready(),
        "the server noticed and ended the connection",
    )?;
    stage.claim(
        matches!(people.server.try_recv(), Err(Error::WouldBlock)),
        "nothing of the changed message was delivered",
    )?;
    stage.claim(
        matches!(client.recv(), Err(Error::RequestLost)),
        "alice is told that her request was lost",
    )?;
    Ok(client.close()?)
}
