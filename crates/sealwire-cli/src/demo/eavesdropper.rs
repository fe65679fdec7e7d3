//! What someone on the path learns from the recorded bytes.

use super::handshake::Sent;
use super::people::{Exchange, People};
use super::relay::Recording;
use super::stage::Stage;
use crate::exit::{Code, Failure};

/// Handshake commands that each side sends.
const COMMANDS: usize = 2;
/// Bytes of a recorded frame that are shown.
const SHOWN: usize = 96;

pub(super) fn listen(
    stage: &mut Stage,
    recording: &Recording,
    exchange: &Exchange,
    people: &People,
) -> Result<(), Failure> {
    let overhead = people.mechanism.overhead();
    let explained = people.mechanism.explains_overhead();
    stage.scene("What an eavesdropper sees of it")?;
    for (bytes, text, who) in [
        (&recording.to_server, exchange.question, "alice"),
        (&recording.to_client, exchange.answer, "the server"),
    ] {
        let sent = Sent::parse(bytes)
            .ok_or_else(|| Failure::new(Code::Failed, "the recorded bytes are not ZMTP"))?;
        // REQ and REP put an empty frame in front of each message.
        let Some([envelope, body]) = sent.frames.get(COMMANDS..COMMANDS + 2) else {
            return Err(Failure::new(
                Code::Failed,
                "two frames should follow the handshake",
            ));
        };
        stage.say(format_args!("{who} says \"{text}\"; on the wire:"))?;
        stage.dump(body.whole, SHOWN)?;
        let (said, sent) = (text.len(), body.body.len());
        stage.claim(
            envelope.body.len() == overhead && sent == said + overhead,
            format_args!("{said} bytes of text took {sent}: {explained}"),
        )?;
        stage.claim(
            !recording.contains(text.as_bytes()),
            "the text is nowhere in the recorded bytes",
        )?;
    }
    let names = [
        ("alice's", people.alice.public()),
        ("the server's", people.server_keys.public()),
    ];
    for (whose, key) in names {
        stage.claim(
            !recording.contains(key.as_bytes()),
            format_args!("{whose} public key is not in them either"),
        )?;
    }
    stage.say("What does show: addresses, sizes, and times.")
}
