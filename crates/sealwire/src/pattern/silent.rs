//! A peer for tests that takes nothing by itself and remembers why it had to go.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use sealwire_zmtp::SocketType;

use super::high_water_mark::{HighWaterMarks, Room};
use super::link::{Dismissal, Link};
use super::pipes::{PipeId, Pipes, Provenance, Sole};
use super::{Item, Pattern, pattern};
use crate::account::{Account, Kind};
use crate::endpoint::Endpoint;
use crate::options::SocketOptions;
use crate::peer::{Peer, PeerAddress};

#[derive(Default)]
pub(super) struct Silent {
    dismissals: Mutex<Vec<String>>,
}

impl Link for Silent {
    fn output_ready(&self, _alone: bool) {}
    fn input_wanted(&self) {}
    fn finish(&self) {}

    fn disconnect(&self, reason: Dismissal) {
        self.dismissals.lock().unwrap().push(reason.to_string());
    }
}

/// The pipes of a socket of this type.
pub(super) struct Scene {
    pub(super) pipes: Pipes,
    options: SocketOptions,
    connections: u64,
    /// The time, in seconds.
    pub(super) now: Arc<AtomicU64>,
}

/// One peer of it.
pub(super) struct End {
    pub(super) id: PipeId,
    pub(super) peer: Arc<Peer>,
    link: Arc<Silent>,
}

impl Scene {
    pub(super) fn new(options: SocketOptions) -> Self {
        let now = Arc::<AtomicU64>::default();
        let clock = now.clone();
        Scene {
            now,
            pipes: Pipes::new(
                Sole::past(&*pattern(&options, |_| {}).unwrap()),
                Arc::new(move || Duration::from_secs(clock.load(Ordering::Relaxed))),
            ),
            options,
            connections: 0,
        }
    }

    /// A peer over TCP comes.
    pub(super) fn attach(&mut self, pattern: &mut dyn Pattern, address: &str) -> End {
        self.attach_at(pattern, PeerAddress::Tcp(address.parse().unwrap()))
    }

    /// A peer at this address comes.
    pub(super) fn attach_at(&mut self, pattern: &mut dyn Pattern, address: PeerAddress) -> End {
        self.connections += 1;
        let endpoint = Endpoint::Inproc("peer".into());
        let peer = Peer::datagram(endpoint, address, self.connections, SocketType::Pair);
        let peer = Arc::new(peer);
        let link = Arc::new(Silent::default());
        let marks = HighWaterMarks::of(&self.options);
        let id = self
            .pipes
            .insert(peer.clone(), link.clone(), marks, Provenance::default());
        pattern.attached(&mut self.pipes, id).unwrap();
        End { id, peer, link }
    }

    /// It goes.
    pub(super) fn detach(&mut self, pattern: &mut dyn Pattern, end: &End) {
        let (mut unsent, _) = self.pipes.end(end.id);
        pattern.detached(&mut self.pipes, end.id, &mut unsent);
        self.pipes.release(end.id);
    }

    /// What its link takes, in words.
    pub(super) fn take(&mut self, end: &End) -> Vec<String> {
        let mut items = VecDeque::new();
        let mut all = Vec::new();
        loop {
            let room = Room::of_bytes(usize::MAX);
            self.pipes.take_outbound(end.id, &mut items, room);
            if items.is_empty() {
                return all;
            }
            all.extend(items.drain(..).map(|item| match item {
                Item::Subscribe(topic) => format!("+{}", String::from_utf8_lossy(&topic)),
                Item::Cancel(topic) => format!("-{}", String::from_utf8_lossy(&topic)),
                Item::Message(frames) if self.options.socket_type == SocketType::Dgram => {
                    let frames = frames.frames().iter();
                    let texts = frames.map(|frame| String::from_utf8_lossy(frame).into_owned());
                    texts.collect::<Vec<_>>().join(" ")
                }
                other => format!("{} message", other.messages().0),
            }));
        }
    }
}

impl End {
    pub(super) fn account(&self) -> &Account {
        self.peer.account()
    }

    pub(super) fn held(&self, kind: Kind) -> usize {
        self.account().held(kind)
    }

    /// Why it was to go.
    pub(super) fn dismissed(&self, scene: &mut Scene) -> Vec<String> {
        if let Some(signals) = scene.pipes.take_signals() {
            signals.deliver();
        }
        self.link.dismissals.lock().unwrap().clone()
    }
}
