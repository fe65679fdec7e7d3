//! One manipulation of one message.

use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread;

use sealwire::Monitor;
use sealwire::blocking::Socket;
use sealwire_relay::{
    Carried, Direction, Format, Manipulation, Material, Outcome, Recording, Relay, Script,
    counting, honest, since,
};

use super::conversation::{Conversation, Flow};
use super::protocol::Protocol;
use super::seen::{Seen, wait_for};
use crate::support::{self, eventually};

/// Messages before the one that is tampered with.
const UNTOUCHED: usize = 2;
/// Messages of a flow that does not wait for answers.
const MESSAGES: usize = 5;
const FORGED: &str = "forged";

pub(super) struct Attempt<'p> {
    pub(super) protocol: &'p Protocol,
    pub(super) flow: Flow,
    pub(super) manipulation: Manipulation,
    pub(super) expected: Outcome,
}

/// How it ended, and what was delivered after the untouched messages.
struct End<'s> {
    seen: Seen,
    /// The number of the frame that should not verify.
    frame: u64,
    delivered: Vec<String>,
    conversation: Conversation<'s>,
}

impl Attempt<'_> {
    pub(super) fn run(&self) {
        let what = self.what();
        let (server, address) = self.protocol.server(self.flow.types().0);
        let at_server = server.monitor();
        let end = match self.manipulation {
            Manipulation::Replay => self.replay(&server, &at_server, address),
            _ => self.tamper(&server, &at_server, address),
        };
        if self.expected == Outcome::Garbled {
            assert!(
                self.expected.covers(end.seen.outcome),
                "{what}: {:?}",
                end.seen
            );
        } else {
            let names_frame = self.expected == Outcome::NotAuthentic
                && !matches!(self.protocol.format, Format::Tls);
            let expected = Seen {
                outcome: self.expected,
                frame: names_frame.then_some(end.frame),
            };
            assert_eq!(end.seen, expected, "{what}: {:?}", end.delivered);
        }
        let whole = match self.expected {
            Outcome::Delivered => self.forgery(),
            _ => self.honest_part(),
        };
        let all = end.delivered == whole;
        let fits = all || self.may_lack() && whole.starts_with(&end.delivered);
        assert!(fits, "{what}: {:?}", end.delivered);
        let more = end.conversation.try_next();
        assert_eq!(more, None, "{what}");
        let returns =
            (self.manipulation, self.expected) == (Manipulation::Reflect, Outcome::Delivered);
        if let Some(returned) = returns.then(|| end.conversation.returned()).flatten() {
            let sent = texts("message").nth(UNTOUCHED);
            assert_eq!(Some(returned), sent, "{what}");
        }
        let other = self.protocol.client(self.flow.types().1);
        let before = end
            .conversation
            .serves(&other, &self.protocol.endpoint(address));
        assert!(before.is_empty(), "{what}: {before:?} as well");
    }

    fn what(&self) -> String {
        let Attempt {
            protocol,
            flow,
            manipulation,
            ..
        } = self;
        format!("{}, {flow:?}: {manipulation}", protocol.name)
    }

    fn tamper<'s>(&self, server: &'s Socket, at_server: &Monitor, address: SocketAddr) -> End<'s> {
        let by_client = self.flow.direction() == Direction::ToServer;
        let switch = Arc::<AtomicBool>::default();
        let spliced = match self.manipulation {
            Manipulation::Splice => self.record(server, address).1,
            _ => Vec::new(),
        };
        let forged = self.protocol.format.forge(by_client, FORGED.as_bytes());
        let material = Material { spliced, forged };
        let script = self.manipulation.script(self.place(), material);
        let [passed, passed_back] = [(); 2].map(|()| Arc::<AtomicUsize>::default());
        // Units of either direction before the one that it is done to.
        let units = Arc::<OnceLock<[usize; 2]>>::default();
        let note = {
            let place = self.place();
            let (passed, passed_back) = (passed.clone(), passed_back.clone());
            let (units, mut script) = (units.clone(), script.expect("it is done to a unit"));
            let noting: Script = Box::new(move |index, unit| {
                let act = script(index, unit);
                if index == place {
                    let before = passed.load(Ordering::SeqCst) - 1;
                    let noted = units.set([before, passed_back.load(Ordering::SeqCst)]);
                    noted.expect("it is done once");
                }
                act
            });
            noting
        };
        let script = counting(&passed, since(&switch, note));
        let back = counting(&passed_back, honest());
        let scripts = match by_client {
            true => [script, back],
            false => [back, script],
        };
        let (conversation, at_client, carried) = self.connect(server, address, scripts);
        let sent: Vec<_> = texts("message").collect();
        for text in &sent[..UNTOUCHED] {
            conversation.exchange(text);
        }
        switch.store(true, Ordering::SeqCst);
        let takes_turns = self.flow.takes_turns();
        let end = if takes_turns { UNTOUCHED + 1 } else { MESSAGES };
        for text in &sent[UNTOUCHED..end] {
            conversation.send(text);
            // Messages that are sent at once may share a record of TLS.
            eventually("the unit comes by", || units.get().is_some());
        }

        // The peer that gets the bytes notices.
        let reflected = self.manipulation == Manipulation::Reflect;
        let (monitor, of) = match by_client == reflected {
            true => (&at_client, None),
            false => (at_server, Some(carried.address)),
        };
        let [before, back] = units.get().expect("it came by").map(|units| units as u64);
        let frame = match self.manipulation {
            Manipulation::Reflect => back,
            Manipulation::Repeat => before + 1,
            _ => before,
        };
        let mut delivered = Vec::new();
        let seen = wait_for(
            || self.what(),
            || {
                let seen = Seen::next(monitor, of);
                delivered.extend(std::iter::from_fn(|| conversation.try_next()));
                if self.expected == Outcome::Delivered {
                    // Where nothing is, the next client's message comes first.
                    return (delivered == self.forgery()).then_some(Outcome::Delivered.into());
                }
                let honest = self.honest_part().starts_with(&delivered);
                if honest {
                    seen
                } else {
                    Some(Outcome::Delivered.into())
                }
            },
        );
        if seen.outcome != Outcome::Delivered && !self.may_lack() {
            while delivered.len() < self.honest_part().len() {
                delivered.push(conversation.next());
            }
        }
        End {
            seen,
            frame: frame.saturating_sub(self.handshake_units()),
            delivered,
            conversation,
        }
    }

    /// Plays what a client sent to the same server again.
    fn replay<'s>(&self, server: &'s Socket, at_server: &Monitor, address: SocketAddr) -> End<'s> {
        let (recording, _) = self.record(server, address);
        let stream = TcpStream::connect(address).unwrap();
        let of = Some(stream.local_addr().unwrap());
        let mut delivered = Vec::new();
        let seen = thread::scope(|scope| {
            let playing = scope.spawn(|| recording.play(&stream, &self.protocol.format));
            let seen = wait_for(
                || self.what(),
                || {
                    let seen = Seen::next(at_server, of);
                    while let Ok(message) = server.try_recv() {
                        delivered.extend(support::texts(&message).pop());
                        if self.flow.takes_turns() {
                            server.send("reply").unwrap();
                        }
                    }
                    let all = self.expected == Outcome::Delivered && delivered == self.forgery();
                    seen.or(all.then_some(Outcome::Delivered.into()))
                },
            );
            playing.join().unwrap().unwrap();
            seen
        });
        let client = self.protocol.client(self.flow.types().1);
        End {
            seen,
            frame: 0,
            delivered,
            conversation: Conversation::new(self.flow, server, client),
        }
    }

    /// A connection with messages like those of the other: all of it, and the unit that is tampered with there.
    fn record(&self, server: &Socket, address: SocketAddr) -> (Recording, Vec<u8>) {
        let recording = Recording::default();
        let scripts = [Direction::ToServer, Direction::ToClient];
        let scripts = scripts.map(|direction| recording.script(direction));
        let (conversation, _at_client, _carried) = self.connect(server, address, scripts);
        let sent = || recording.sent(self.flow.direction());
        let mut before = 0;
        for text in texts("another").take(UNTOUCHED + 1) {
            before = sent().len();
            conversation.exchange(&text);
        }
        let unit = sent()[before + self.place()].clone();
        conversation.leave(UNTOUCHED + 1);
        (recording, unit)
    }

    /// A client behind a relay.
    fn connect<'s>(
        &self,
        server: &'s Socket,
        address: SocketAddr,
        [to_server, to_client]: [Script; 2],
    ) -> (Conversation<'s>, Monitor, Carried) {
        let relay = Relay::before(address, self.protocol.format.clone());
        let client = self.protocol.client(self.flow.types().1);
        let monitor = client.monitor();
        let mut conversation = Conversation::new(self.flow, server, client);
        let endpoint = self.protocol.endpoint(relay.address());
        conversation.client.connect(endpoint).unwrap();
        let carried = relay.carry(to_server, to_client);
        conversation.begin();
        (conversation, monitor, carried)
    }

    /// Which of a message's units it is done to: where an envelope has one of its own, to that where it is sealed and
    /// another frame shows what happened, and to what is in it otherwise.
    fn place(&self) -> usize {
        let to_content = matches!(self.expected, Outcome::LikeAnEnd | Outcome::Delivered);
        usize::from(to_content && self.has_envelope())
    }

    /// Whether a message has an envelope that is a unit of its own. A record of TLS holds both.
    fn has_envelope(&self) -> bool {
        self.flow.takes_turns() && !self.is_in_records()
    }

    /// The messages delivered where tampering is noticed: those that are whole before it.
    fn honest_part(&self) -> Vec<String> {
        let whole = match self.manipulation {
            Manipulation::End => 1,
            Manipulation::Repeat => usize::from(!self.has_envelope()),
            _ => 0,
        };
        texts("message").skip(UNTOUCHED).take(whole).collect()
    }

    /// Whether less than that may be delivered: a subscription that ends before XPUB is asked is not told of, and TLS
    /// gives nothing of what comes with a record that it refuses.
    fn may_lack(&self) -> bool {
        self.flow == Flow::Subscribe
            || self.is_in_records() && self.manipulation == Manipulation::Repeat
    }

    /// Units before the first frame of a socket, in each direction: a greeting and two commands, and before them the
    /// head of an HTTP request or response.
    fn handshake_units(&self) -> u64 {
        match self.protocol.format {
            Format::WebSocket => 4,
            _ => 3,
        }
    }

    fn is_in_records(&self) -> bool {
        matches!(self.protocol.format, Format::Tls)
    }

    /// The messages delivered where nothing is protected.
    fn forgery(&self) -> Vec<String> {
        let takes_turns = self.flow.takes_turns();
        let mut rest: Vec<_> = texts("message").skip(UNTOUCHED).collect();
        if takes_turns {
            rest.truncate(1);
        }
        match self.manipulation {
            // Its envelope waits for it, and nothing follows.
            Manipulation::Reorder | Manipulation::Shorten if takes_turns => rest.clear(),
            // Content without an envelope means nothing.
            Manipulation::Repeat if takes_turns => {}
            // It takes the envelope, and leaves none for what was sent.
            Manipulation::Inject if takes_turns => rest = vec![FORGED.to_owned()],
            Manipulation::Drop | Manipulation::Reflect => drop(rest.remove(0)),
            Manipulation::Repeat => rest.insert(0, rest[0].clone()),
            Manipulation::Reorder => rest.swap(0, 1),
            // The flags of the next frame take the place of the last byte.
            Manipulation::Shorten => rest = vec!["message \0".to_owned()],
            Manipulation::Splice => rest[0] = texts("another").nth(UNTOUCHED).unwrap(),
            Manipulation::Inject => rest.insert(0, FORGED.to_owned()),
            Manipulation::Flip => rest[0] = "message 3".to_owned(),
            // What the client says before the server does.
            Manipulation::Replay if self.flow == Flow::Route => rest = vec!["hello".to_owned()],
            Manipulation::Replay if self.flow == Flow::Reply => {
                rest = vec!["request".to_owned(); UNTOUCHED + 1];
            }
            Manipulation::Replay => rest = texts("another").take(UNTOUCHED + 1).collect(),
            Manipulation::Cut | Manipulation::End => {}
        }
        rest
    }
}

/// Messages of a connection: as long as those of another.
fn texts(word: &str) -> impl Iterator<Item = String> {
    (0..MESSAGES).map(move |number| format!("{word} {number}"))
}
