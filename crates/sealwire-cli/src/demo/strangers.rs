//! Someone who is not allowed asks to be let in.

use sealwire::{Error, FailureCause, ProtocolError};

use super::people::People;
use super::stage::Stage;
use crate::exit::Failure;

pub(super) fn knock(stage: &mut Stage, people: &People) -> Result<(), Failure> {
    stage.scene("A client that is not allowed")?;
    stage.say("Mallory knows the server's public key, but hers is not on its list.")?;
    let client = people.client(stage, &people.mallory)?;
    let client_events = client.monitor();
    client.connect(format!("tcp://{}", people.server_address).as_str())?;
    client.send("Let me in").map_err(Error::from)?;

    let at_server = stage.await_failure(&people.server_events, "the refusal", |cause| {
        matches!(cause, FailureCause::Protocol(ProtocolError::Refused(_)))
    })?;
    stage.fact("the server", &at_server)?;
    let at_client = stage.await_failure(&client_events, "its arrival", |cause| {
        matches!(
            cause,
            FailureCause::Protocol(ProtocolError::PeerRefused { .. })
        )
    })?;
    stage.fact("mallory", &at_client)?;
    let told = people.mechanism.tells_a_stranger();
    stage.claim(
        at_server
            .to_string()
            .contains("this key is not allowed here")
            && at_client.to_string().contains(told),
        "both sides know that she was refused, and why",
    )?;
    stage.claim(
        matches!(people.server.try_recv(), Err(Error::WouldBlock)),
        "her message was not delivered",
    )?;
    // Her message was never sent, and is not to be.
    match client.close() {
        Ok(()) | Err(Error::Unsent(_)) => Ok(()),
        Err(error) => Err(error.into()),
    }
}
