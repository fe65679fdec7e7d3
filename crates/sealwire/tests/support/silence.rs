//! A peer that falls silent, though its connection stays.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use sealwire::{Event, ProtocolError, SocketBuilder};
use sealwire_relay::{Act, Format, Relay, Script, since};

use super::await_event;

/// Connects a socket to the server at this address, lets all bytes vanish and waits until heartbeats notice.
pub(crate) fn is_noticed(server: SocketAddr, scheme: &str, connecting: SocketBuilder) {
    let relay = Relay::before(server, Format::Pieces);
    let silent = Arc::<AtomicBool>::default();
    let vanish = || -> Script { since(&silent, Box::new(|_, _| Act::drop())) };
    let beat = Duration::from_millis;
    let connecting = connecting
        .heartbeat(beat(20))
        .heartbeat_timeout(beat(500))
        .build_blocking()
        .unwrap();
    let monitor = connecting.monitor();
    let endpoint = format!("{scheme}://{}", relay.address());
    connecting.connect(endpoint).unwrap();
    let _carried = relay.carry(vanish(), vanish());
    await_event(&monitor, "ready", |event| {
        matches!(event, Event::Ready { .. }).then_some(())
    });
    silent.store(true, Ordering::SeqCst);
    let cause = await_event(&monitor, "silence is noticed", |event| match event {
        Event::Failed(failure) if failure.was_ready() => Some(failure.cause().to_string()),
        _ => None,
    });
    assert_eq!(cause, ProtocolError::HeartbeatTimeout.to_string());
}
