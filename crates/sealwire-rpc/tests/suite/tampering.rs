//! Manipulations of one message of calls, one-way messages and streams, and how that ends on both sides.
//!
//! Two messages arrive untouched, then someone does something to the third. The receiver, or the sender where its own
//! message comes back, names the frame; every open call ends with [`Error::ConnectionLost`] and none with the answer
//! of another; handlers have seen what was sent before; and the client goes on over another connection.
//!
//! The table is the column of `docs/threats.md`. An end looks like one to the sockets; calls are lost as in all others.

use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::thread;

use sealwire::auth::AllowedKeys;
use sealwire::{Event, FailureCause, Generate as _, KeyPair, Monitor, ProtocolError, Security};
use sealwire_relay::{
    Direction, Format, Manipulation, Material, Outcome, Recording, Relay, SEALED, Script, counting,
    honest, page, since,
};
use sealwire_rpc::blocking::{CallStream, Conn};
use sealwire_rpc::{
    Body, Call, CallOptions, Client, Error, Handler, Limits, OneWay, Request, Server,
};
use sealwire_zmtp::error::CloseKind;

use crate::support::{TIMEOUT, bind, eventually, patient};

/// Messages before the one that is tampered with.
const UNTOUCHED: usize = 2;
const MESSAGES: usize = 5;
/// Units before the first frame of a socket, in each direction: a greeting and two commands.
const HANDSHAKE_UNITS: usize = 3;

/// What carries the messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// A call each: requests one way, replies the other.
    Call,
    OneWay,
    /// Items of one call, which the handler sends back.
    Stream,
}

const FLOWS: [(Kind, Direction); 5] = [
    (Kind::Call, Direction::ToServer),
    (Kind::Call, Direction::ToClient),
    (Kind::OneWay, Direction::ToServer),
    (Kind::Stream, Direction::ToServer),
    (Kind::Stream, Direction::ToClient),
];

#[test]
fn every_message_of_calls_and_streams() {
    for (kind, direction) in FLOWS {
        for (manipulation, outcome) in SEALED {
            let attempt = Attempt {
                kind,
                direction,
                manipulation,
            };
            let scene = Scene::new();
            match manipulation {
                Manipulation::Replay => attempt.replay(&scene),
                _ => attempt.tamper(&scene, outcome),
            }
        }
    }
    let test = "tampering::every_message_of_calls_and_streams";
    page::agrees("RPC", &SEALED, test);
}

/// What the end of a stream looks like to its handler where nobody touches it.
#[test]
fn a_stream_that_is_whole_is_not_taken_for_one_that_is_cut() {
    let scene = Scene::new();
    let client = scene.client([honest(), honest()]);
    let talk = Talk::begin(&scene, Kind::Stream, &client);
    for said in texts("message") {
        talk.exchange(&said);
    }
    let stream = talk.stream.unwrap();
    stream.finish();
    // Dropped without an answer, the request is answered with an error.
    assert!(matches!(stream.answer(), Err(Error::Remote(_))));
    assert_eq!(*scene.log.streams.lock().unwrap(), [false]);
}

/// What handlers were given.
#[derive(Default)]
struct Log {
    arrived: Mutex<Vec<String>>,
    /// Of each stream that is over, whether its caller is gone.
    streams: Mutex<Vec<bool>>,
}

impl Log {
    fn note(&self, body: &Body) {
        self.arrived.lock().unwrap().push(text(body));
    }

    fn arrived(&self) -> Vec<String> {
        self.arrived.lock().unwrap().clone()
    }
}

/// Sends everything back.
struct Echo(Arc<Log>);

impl Handler for Echo {
    fn request(&self, request: Request) {
        let log = self.0.clone();
        if !request.has_streams() {
            log.note(request.body());
            let body = request.body().clone();
            request.reply(&body).unwrap();
            return;
        }
        thread::spawn(move || {
            let items = request.blocking();
            while let Some(item) = items.next().unwrap() {
                log.note(&item);
                // Its caller may be gone.
                let _ = items.send(&item);
            }
            log.streams.lock().unwrap().push(request.is_cancelled());
        });
    }

    fn message(&self, message: OneWay) {
        self.0.note(message.body());
    }
}

/// A server, and the keys of its client.
struct Scene {
    client: Security,
    server: Server,
    address: SocketAddr,
    log: Arc<Log>,
    at_server: Monitor,
}

/// Limits under which no side says anything by itself.
fn limits() -> Limits {
    let mut limits = patient();
    limits.read = 10 * TIMEOUT;
    limits
}

impl Scene {
    fn new() -> Self {
        let [server, client] = [(); 2].map(|()| KeyPair::generate());
        let allowed = AllowedKeys::new().allow(client.public());
        let known = server.public();
        let log = Arc::<Log>::default();
        let server = Server::builder(Security::blake3_server(server, allowed))
            .limits(limits())
            .handshake_limit(TIMEOUT)
            .build(Echo(log.clone()))
            .unwrap();
        let endpoint = bind(&server).to_string();
        Scene {
            client: Security::blake3_client_with_keys(known, client).into(),
            address: endpoint.trim_start_matches("tcp://").parse().unwrap(),
            at_server: server.monitor(),
            server,
            log,
        }
    }

    /// A client whose first connection goes through a relay with these scripts.
    fn client(&self, scripts: [Script; 2]) -> Client {
        let relay = Relay::before(self.address, Format::Zmtp);
        let endpoint = relay.endpoint();
        let mut first = Some(scripts);
        relay.carry_all(move || first.take().unwrap_or_else(|| [honest(), honest()]));
        Client::builder(self.client.clone())
            .limits(limits())
            .dial_limit(TIMEOUT)
            .handshake_limit(TIMEOUT)
            .max_connections(1)
            .build(endpoint)
            .unwrap()
    }
}

/// What a client says over one connection.
struct Talk<'s> {
    scene: &'s Scene,
    kind: Kind,
    conn: Conn,
    stream: Option<CallStream>,
    calls: Vec<Result<Call, Error>>,
}

impl<'s> Talk<'s> {
    fn begin(scene: &'s Scene, kind: Kind, client: &Client) -> Self {
        let conn = client.blocking().conn().unwrap();
        let stream =
            (kind == Kind::Stream).then(|| conn.open(b"", CallOptions::default()).unwrap());
        Talk {
            scene,
            kind,
            conn,
            stream,
            calls: Vec::new(),
        }
    }

    /// Sends a message and waits until all has happened that follows from it.
    fn exchange(&self, said: &str) {
        match &self.stream {
            Some(stream) => {
                stream.send(said.as_bytes()).unwrap();
                assert_eq!(text(&stream.next().unwrap().unwrap()), said);
            }
            None if self.kind == Kind::Call => {
                assert_eq!(text(&self.conn.request(said.as_bytes()).unwrap()), said);
            }
            None => {
                self.conn.send(said.as_bytes()).unwrap();
                let last = || self.scene.log.arrived().pop();
                eventually("it arrives", || last().as_deref() == Some(said));
            }
        }
    }

    /// Sends a message. The connection may be over by now.
    fn send(&mut self, said: &str) {
        let body = said.as_bytes();
        let sent = match (&self.stream, self.kind) {
            (Some(stream), _) => stream.send(body),
            (None, Kind::Call) => {
                self.calls
                    .push(self.conn.start(body, CallOptions::default()));
                Ok(())
            }
            (None, _) => self.conn.send(body),
        };
        let over = [
            Error::StreamEnded,
            Error::ConnectionLost {
                may_have_run: false,
            },
        ];
        assert!(sent.as_ref().is_ok_and(|()| true) || over.contains(&sent.unwrap_err()));
    }

    /// What came back, in order, once the connection is over; and that every call says that it was lost.
    fn end(self) -> Vec<String> {
        let mut came_back = Vec::new();
        let mut lost = Vec::new();
        if let Some(stream) = self.stream {
            while let Some(item) = stream.next().unwrap() {
                came_back.push(text(&item));
            }
            lost.push(stream.answer().unwrap_err());
        }
        for call in self.calls {
            match call.and_then(Call::wait) {
                Ok(reply) => came_back.push(text(&reply)),
                Err(error) => lost.push(error),
            }
        }
        for (number, error) in lost.into_iter().enumerate() {
            let is_first = number == 0;
            let Error::ConnectionLost { may_have_run } = error else {
                panic!("{error}")
            };
            assert!(may_have_run || !is_first);
        }
        came_back
    }
}

#[derive(Debug, Clone, Copy)]
struct Attempt {
    kind: Kind,
    direction: Direction,
    manipulation: Manipulation,
}

impl Attempt {
    fn tamper(self, scene: &Scene, expected: Outcome) {
        let spliced = match self.manipulation {
            Manipulation::Splice => self.record(scene).1,
            _ => Vec::new(),
        };
        let before = scene.log.arrived().len();
        let (switch, units) = (Arc::<AtomicBool>::default(), Arc::default());
        let client = scene.client(self.scripts(spliced, &switch, &units));
        let at_client = client.monitor();
        let mut talk = Talk::begin(scene, self.kind, &client);
        let sent: Vec<_> = texts("message").collect();
        for said in &sent[..UNTOUCHED] {
            talk.exchange(said);
        }
        switch.store(true, Ordering::SeqCst);
        // A reflected message is found at once, so that nothing may follow.
        let reflected = self.manipulation == Manipulation::Reflect;
        let end = if reflected { UNTOUCHED + 1 } else { MESSAGES };
        for said in &sent[UNTOUCHED..end] {
            talk.send(said);
        }

        let to_server = self.direction == Direction::ToServer;
        let monitor = if to_server == reflected {
            &at_client
        } else {
            &scene.at_server
        };
        let (outcome, frame) = how_it_ends(monitor);
        assert_eq!(outcome, expected, "{self:?}");
        if expected == Outcome::NotAuthentic {
            let [passed, passed_back]: [usize; 2] = *units.get().expect("it came by");
            let number = match self.manipulation {
                Manipulation::Reflect => passed_back,
                Manipulation::Repeat => passed + 1,
                _ => passed,
            };
            let number = number - HANDSHAKE_UNITS;
            assert_eq!(frame, Some(number as u64), "{self:?}");
        }

        let came_back = talk.end();
        eventually("the client knows", || client.connections().is_empty());
        // Behind all of the first connection.
        let answer = client.blocking().request(b"honest");
        assert_eq!(answer.as_deref(), Ok(&b"honest"[..]), "{self:?}");
        if self.kind == Kind::Stream {
            let ends = || scene.log.streams.lock().unwrap().len();
            let all = 1 + usize::from(self.manipulation == Manipulation::Splice);
            eventually("the handler ends", || ends() == all);
            let ends = scene.log.streams.lock().unwrap();
            assert!(ends.iter().all(|gone| *gone), "{self:?}: a whole stream");
        }
        let mut arrived = scene.log.arrived().split_off(before);
        arrived.retain(|text| text != "honest");
        let whole = UNTOUCHED + self.whole();
        if to_server {
            assert_eq!(arrived, sent[..whole], "{self:?}");
            let answered = &arrived[UNTOUCHED..];
            assert!(answered.starts_with(&came_back), "{self:?}: {came_back:?}");
        } else {
            assert!(sent.starts_with(&arrived), "{self:?}: {arrived:?}");
            assert_eq!(came_back, sent[UNTOUCHED..whole], "{self:?}");
        }
        client.blocking().shutdown(TIMEOUT);
        scene.server.shutdown_blocking(TIMEOUT);
    }

    /// Messages that are whole before the tampering is found.
    fn whole(self) -> usize {
        match self.manipulation {
            Manipulation::Repeat | Manipulation::End => 1,
            _ => 0,
        }
    }

    /// `units` is set to how many passed in either direction before the one that it is done to.
    fn scripts(
        self,
        spliced: Vec<u8>,
        switch: &Arc<AtomicBool>,
        units: &Arc<OnceLock<[usize; 2]>>,
    ) -> [Script; 2] {
        let to_server = self.direction == Direction::ToServer;
        let forged = Format::Zmtp.forge(to_server, b"\x02\0\0\0\0\0forged");
        let script = self.manipulation.script(0, Material { spliced, forged });
        let mut script = script.expect("it is done to a unit");
        let [passed, passed_back] = [(); 2].map(|()| Arc::<AtomicUsize>::default());
        let (units, seen) = (units.clone(), [passed.clone(), passed_back.clone()]);
        let noting: Script = Box::new(move |index, unit| {
            if index == 0 {
                let [passed, passed_back] = seen.each_ref().map(|seen| seen.load(Ordering::SeqCst));
                units.set([passed - 1, passed_back]).expect("once");
            }
            script(index, unit)
        });
        let tampering = counting(&passed, since(switch, noting));
        let back = counting(&passed_back, honest());
        match to_server {
            true => [tampering, back],
            false => [back, tampering],
        }
    }

    /// What a client said on another connection, and the unit in the place of the one that is tampered with.
    fn record(self, scene: &Scene) -> (Recording, Vec<u8>) {
        let recording = Recording::default();
        let directions = [Direction::ToServer, Direction::ToClient];
        let client = scene.client(directions.map(|direction| recording.script(direction)));
        let talk = Talk::begin(scene, self.kind, &client);
        let mut before = 0;
        for said in texts("another").take(UNTOUCHED + 1) {
            before = recording.sent(self.direction).len();
            talk.exchange(&said);
        }
        let unit = recording.sent(self.direction)[before].clone();
        drop(talk);
        client.blocking().shutdown(TIMEOUT);
        how_it_ends(&scene.at_server);
        (recording, unit)
    }

    fn replay(self, scene: &Scene) {
        let (recording, _) = self.record(scene);
        let arrived = scene.log.arrived();
        let stream = TcpStream::connect(scene.address).unwrap();
        recording.play(&stream, &Format::Zmtp).unwrap();
        let (outcome, _) = how_it_ends(&scene.at_server);
        assert_eq!(outcome, Outcome::Refused, "{self:?}");
        let client = scene.client([honest(), honest()]);
        client.blocking().request(b"honest").unwrap();
        let now = scene.log.arrived();
        assert_eq!(now, [&arrived[..], &["honest".to_owned()]].concat());
        scene.server.shutdown_blocking(TIMEOUT);
    }
}

/// Of the next connection that ends; and the number of the frame that did not verify.
fn how_it_ends(monitor: &Monitor) -> (Outcome, Option<u64>) {
    loop {
        let event = monitor.wait_next_timeout(TIMEOUT).expect("an end");
        let failure = match event {
            Event::Disconnected { .. } => return (Outcome::LikeAnEnd, None),
            Event::Failed(failure) => failure,
            _ => continue,
        };
        return match failure.cause() {
            _ if !failure.was_ready() => (Outcome::Refused, None),
            FailureCause::Protocol(ProtocolError::FrameNotVerified { index, .. }) => {
                (Outcome::NotAuthentic, Some(*index))
            }
            FailureCause::Protocol(ProtocolError::Closed(CloseKind::MidMessage)) => {
                (Outcome::CutShort, None)
            }
            FailureCause::Protocol(ProtocolError::Closed(_)) | FailureCause::Transport(_) => {
                (Outcome::LikeAnEnd, None)
            }
            other => panic!("{other}"),
        };
    }
}

/// Messages of a connection: as long as those of another.
fn texts(word: &str) -> impl Iterator<Item = String> {
    (0..MESSAGES).map(move |number| format!("{word} {number}"))
}

fn text(body: &Body) -> String {
    String::from_utf8(body.to_vec()).unwrap()
}
