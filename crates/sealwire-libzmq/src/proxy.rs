//! Passing messages between two sockets, with a copy of each for a third, under the control of a fourth.

use std::collections::VecDeque;
use std::sync::Arc;

use sealwire::Message;
use sealwire_zmtp::Frames;

use crate::errno::Errno;
use crate::polling::{Item, Source, poll};
use crate::socket::{DONTWAIT, POLLIN, POLLOUT, SNDMORE, Socket};

/// Messages that are passed on before the other direction has its turn.
const BURST: usize = 1000;

/// Numbers and bytes of messages, part by part.
#[derive(Default, Clone, Copy)]
struct Passed {
    messages: u64,
    bytes: u64,
}

impl Passed {
    fn of(messages: &VecDeque<Message>) -> Self {
        let parts = messages.iter().map(|message| message.len() as u64);
        let bytes = messages.iter().map(|message| message.size() as u64);
        Passed {
            messages: parts.sum(),
            bytes: bytes.sum(),
        }
    }

    fn add(&mut self, more: Passed) {
        self.messages += more.messages;
        self.bytes += more.bytes;
    }

    fn without(self, rest: Passed) -> Passed {
        Passed {
            messages: self.messages - rest.messages,
            bytes: self.bytes - rest.bytes,
        }
    }
}

/// A socket with what came from it and went to it.
struct Side {
    socket: Arc<Socket>,
    received: Passed,
    sent: Passed,
}

impl Side {
    fn of(socket: Arc<Socket>) -> Self {
        Side {
            socket,
            received: Passed::default(),
            sent: Passed::default(),
        }
    }
}

/// What the control says.
#[derive(PartialEq)]
enum State {
    Active,
    Paused,
    Terminated,
}

/// `zmq_proxy_steerable`; `zmq_proxy` without a control.
///
/// # Errors
///
/// `ETERM` when the context ends, `EINTR` when a signal handler has run while it waited, `ENOTSOCK`, and those of sending and
/// receiving. What could not be passed on is received again.
pub(crate) fn run(
    frontend: Arc<Socket>,
    backend: Arc<Socket>,
    capture: Option<&Socket>,
    control: Option<Arc<Socket>>,
) -> Result<(), Errno> {
    let alone = Arc::ptr_eq(&frontend, &backend);
    let mut sides = [Side::of(frontend), Side::of(backend)];
    let mut state = State::Active;
    while state != State::Terminated {
        let (from, to) = wait(&sides, control.as_ref(), &state, alone)?;
        if let Some(control) = &control
            && control.events() & POLLIN != 0
        {
            state = apply(control, state, &sides)?;
        }
        if state != State::Active {
            continue;
        }
        for direction in [0, 1] {
            if from[direction] && to[direction] {
                pass(&mut sides, direction, capture)?;
            }
            if alone {
                break;
            }
        }
    }
    Ok(())
}

/// For each direction whether there is something to receive, and room for it.
fn readiness(sides: &[Side; 2], alone: bool) -> ([bool; 2], [bool; 2]) {
    let events = sides.each_ref().map(|side| side.socket.events());
    let [front, back] = events.map(|events| events & POLLOUT != 0);
    // A single socket answers what it has received, and has room for that only then.
    let room = [back || alone, front || alone];
    (events.map(|events| events & POLLIN != 0), room)
}

/// Waits for something to do, and returns the readiness then.
fn wait(
    sides: &[Side; 2],
    control: Option<&Arc<Socket>>,
    state: &State,
    alone: bool,
) -> Result<([bool; 2], [bool; 2]), Errno> {
    let (readable, room) = readiness(sides, alone);
    let ready = (readable[0] && room[0]) || (readable[1] && room[1]);
    if ready && *state == State::Active && control.is_none() {
        return Ok((readable, room));
    }
    let mut items = Vec::with_capacity(3);
    if *state == State::Active {
        for (index, side) in sides.iter().enumerate() {
            // Where the other side has something and this one no room, room is waited for.
            let other = readable[1 - index] && !room[1 - index];
            let own = !readable[index] || room[index];
            let events = if own { POLLIN } else { 0 } | if other { POLLOUT } else { 0 };
            items.push(item(&side.socket, events));
            if alone {
                break;
            }
        }
    }
    if let Some(control) = control {
        items.push(item(control, POLLIN));
    }
    poll(&mut items, None)?;
    Ok(readiness(sides, alone))
}

fn item(socket: &Arc<Socket>, events: i16) -> Item<'static> {
    Item {
        source: Source::Socket(socket.clone()),
        events,
        happened: 0,
    }
}

/// Passes on what is there, up to a burst of it.
fn pass(sides: &mut [Side; 2], direction: usize, capture: Option<&Socket>) -> Result<(), Errno> {
    let mut left = BURST;
    while left > 0 {
        let mut messages = match sides[direction].socket.receive_whole() {
            Ok(messages) => messages,
            Err(Errno::AGAIN) => return Ok(()),
            Err(error) => return Err(error),
        };
        left = left.saturating_sub(messages.len());
        let all = Passed::of(&messages);
        let captured = match capture {
            Some(capture) => capture.send_whole(&mut messages.clone()),
            None => Ok(()),
        };
        let sent = captured.and_then(|()| sides[1 - direction].socket.send_whole(&mut messages));
        let passed = all.without(Passed::of(&messages));
        sides[direction].received.add(passed);
        sides[1 - direction].sent.add(passed);
        if sent.is_err() {
            sides[direction].socket.return_whole(messages);
            return sent;
        }
    }
    Ok(())
}

/// Reads a command, and answers it where that is asked for.
fn apply(control: &Socket, state: State, sides: &[Side; 2]) -> Result<State, Errno> {
    let command = match control.receive(DONTWAIT) {
        Ok(command) => command,
        Err(Errno::AGAIN) => return Ok(state),
        Err(error) => return Err(error),
    };
    let answer = |part: &[u8], flags| control.send(&mut Frames::single(part), flags);
    let next = match command.as_bytes() {
        b"STATISTICS" => {
            let [front, back] = sides;
            let all = [front.received, front.sent, back.received, back.sent];
            let numbers: Vec<u64> = all.iter().flat_map(|it| [it.messages, it.bytes]).collect();
            for (index, number) in numbers.iter().enumerate() {
                let flags = if index + 1 < numbers.len() {
                    SNDMORE
                } else {
                    0
                };
                answer(&number.to_ne_bytes(), flags)?;
            }
            return Ok(state);
        }
        b"PAUSE" => State::Paused,
        b"RESUME" => State::Active,
        b"TERMINATE" => State::Terminated,
        // As libzmq, which does what it did before.
        _ => state,
    };
    if control.answers() {
        answer(&[], 0)?;
    }
    Ok(next)
}
