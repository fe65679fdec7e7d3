//! The steps of the model `session`.

use std::mem;

use super::side::{Side, Stage, Unit};
use super::state::{A, Action, B, Closing, Connector, Link, State};
use super::{ANSWER, End, LINGER, SessionModel, Without, ticks};
use crate::stand_ins::error::Step;
use crate::stand_ins::wire::command::heartbeat::{Ping, Pong};

impl State {
    pub(super) fn take(&mut self, model: &SessionModel, action: Action) {
        match action {
            Action::Tick => self.now += 1,
            Action::Send => {
                self.to_send -= 1;
                self.sent += 1;
                let ready = self.sockets[A].slots.iter_mut().flatten();
                match ready.into_iter().find(|side| side.is_attached()) {
                    Some(side) => side.pipe += 1,
                    None => self.backlog += 1,
                }
            }
            Action::Close(socket) => self.close(model, socket),
            Action::Connect => self.connect(model),
            Action::StageMessage(slot) => {
                if let Some(side) = self.side(A, slot) {
                    side.stage_message();
                }
            }
            Action::Write(socket, slot) => self.write(socket, slot),
            Action::Receive(socket, slot) => self.receive(model, socket, slot),
            Action::FindCut(socket, slot) => self.end(model, socket, slot),
            Action::ThreadFindsCut(socket, slot) => {
                if let Some(side) = self.side(socket, slot) {
                    side.phase.end(End::Failed);
                }
            }
            Action::Revisit(socket, slot) => {
                let end = self
                    .side(socket, slot)
                    .and_then(|side| side.phase.take_end());
                if end.is_some() {
                    self.end(model, socket, slot);
                }
            }
            Action::Timer(socket, slot) => self.timer(model, socket, slot),
            Action::Finish(socket, slot) => {
                let heard_until = Some(ticks(self.now + ANSWER));
                if let Some(side) = self.side(socket, slot) {
                    side.phase.all_is_sent(heard_until);
                    let id = side.id;
                    self.put(id, 1 - socket, Unit::End);
                }
            }
            Action::Flushed(socket, slot) => self.end(model, socket, slot),
            Action::Decide { question, allowed } => {
                let (slot, id) = self.questions.remove(question);
                self.refusals -= u8::from(!allowed);
                self.decided(model, slot, id, allowed);
            }
            Action::Abandon(socket) => {
                if socket == A {
                    self.unsent += mem::take(&mut self.backlog);
                    self.remove_connector();
                }
                for slot in 0..self.sockets[socket].slots.len() {
                    self.end(model, socket, slot);
                }
                self.end_if_done(socket);
            }
            Action::Cut | Action::HalfOpen => {
                let now = self.now;
                let mut links = self.links.iter_mut();
                if let Some(link) = links.find(|it| !it.cut && it.half_open.is_none()) {
                    link.towards = Default::default();
                    match action {
                        Action::Cut => {
                            self.cuts -= 1;
                            link.cut = true;
                        }
                        _ => {
                            self.half_opens -= 1;
                            link.half_open = Some(now);
                        }
                    }
                }
            }
            Action::Pause | Action::Resume => {
                let pauses = action == Action::Pause;
                self.pauses -= u8::from(pauses);
                self.paused = pauses;
                let now = ticks(self.now);
                for side in self.sockets[B].slots.iter_mut().flatten() {
                    side.liveness.set_reading(!pauses, now);
                }
            }
        }
        self.forget_links();
    }

    /// Links that neither end has any more.
    fn forget_links(&mut self) {
        let ids: Vec<_> = self.sides().map(|(_, _, side)| side.id).collect();
        self.links.retain(|link| ids.contains(&link.id));
    }

    fn add_session(&mut self, model: &SessionModel, socket: usize, id: u8) -> usize {
        let mut side = Side::new(model, id, self.now);
        side.liveness
            .set_reading(socket == A || !self.paused, ticks(self.now));
        let socket = &mut self.sockets[socket];
        socket.attachments += 1;
        match socket.slots.iter().position(Option::is_none) {
            Some(slot) => {
                socket.slots[slot] = Some(side);
                slot
            }
            None => {
                socket.slots.push(Some(side));
                socket.slots.len() - 1
            }
        }
    }

    fn connect(&mut self, model: &SessionModel) {
        if !self.is_open(B) {
            // Nobody listens.
            self.connector = Connector::Waiting(self.now + 1);
            return;
        }
        let id = self.next_id;
        self.next_id += 1;
        self.connector = Connector::Connected;
        self.links.push(Link {
            id,
            towards: Default::default(),
            cut: false,
            half_open: None,
        });
        let slot = self.add_session(model, A, id);
        if let Some(side) = self.side(A, slot) {
            side.pending.push_back(Unit::Hello);
        }
        self.add_session(model, B, id);
        self.places += 1;
    }

    fn put(&mut self, id: u8, to: usize, unit: Unit) {
        let mut links = self.links.iter_mut();
        if let Some(link) = links.find(|it| it.id == id && !it.cut && it.half_open.is_none()) {
            link.towards[to].push_back(unit);
        }
    }

    fn write(&mut self, socket: usize, slot: usize) {
        let by = ticks(self.now + ANSWER);
        let Some(side) = self.side(socket, slot) else {
            return;
        };
        if let Some(unit) = side.pending.pop_front() {
            side.taken += 1;
            side.phase.takes(Some(by));
            let id = side.id;
            self.put(id, 1 - socket, unit);
        }
    }

    fn receive(&mut self, model: &SessionModel, socket: usize, slot: usize) {
        let now = self.now;
        let Some(side) = self.side(socket, slot) else {
            return;
        };
        let id = side.id;
        let Some(link) = self.links.iter_mut().find(|it| it.id == id) else {
            return;
        };
        let Some(unit) = link.towards[socket].pop_front() else {
            return;
        };
        let Some(side) = self.side(socket, slot) else {
            return;
        };
        if unit == Unit::End {
            return self.peer_ended(model, socket, slot);
        }
        side.heard = now;
        if side.phase.is_finished() {
            return side.phase.heard(Some(ticks(now + ANSWER)));
        }
        side.liveness.heard(ticks(now));
        match unit {
            Unit::Hello => {
                side.stage = Stage::Asked;
                self.questions.push((slot, id));
            }
            Unit::Ready => self.ready(model, A, slot),
            Unit::Message => self.delivered += 1,
            Unit::Ping(context) => {
                side.liveness.pinged(Ping {
                    ttl: None,
                    context: &context,
                });
                if let Some(context) = side.liveness.take_owed_pong() {
                    let context = context.as_slice().try_into().expect("eight bytes");
                    side.pending.push_back(Unit::Pong(context));
                }
            }
            Unit::Pong(context) => {
                let taken = side.taken;
                side.liveness.ponged(Pong { context: &context }, taken);
            }
            Unit::End => {}
        }
    }

    /// Staged messages go out first. The socket does not wait for that.
    fn peer_ended(&mut self, model: &SessionModel, socket: usize, slot: usize) {
        let by = ticks(self.now + ANSWER);
        let Some(side) = self.side(socket, slot) else {
            return;
        };
        let owes = side.is_ready() && !side.pending.is_empty();
        if !(owes && side.phase.flush(Some(by))) {
            return self.end(model, socket, slot);
        }
        self.backlog += mem::take(&mut side.pipe);
        if socket == A {
            self.reconnect();
        }
    }

    fn reconnect(&mut self) {
        if self.connector == Connector::Connected {
            self.connector = Connector::Waiting(self.now + 1);
        }
    }

    fn decided(&mut self, model: &SessionModel, slot: usize, id: u8, allowed: bool) {
        let by_slot = model.lacks(Without::ConnectionId);
        let Some(side) = self.side(B, slot).filter(|side| side.id == id || by_slot) else {
            return;
        };
        if side.stage == Stage::Ready {
            return;
        }
        if !allowed {
            return self.end(model, B, slot);
        }
        side.verdict = Some(id);
        side.pending.push_back(Unit::Ready);
        self.ready(model, B, slot);
    }

    /// Messages may flow, if the socket takes the peer.
    fn ready(&mut self, model: &SessionModel, socket: usize, slot: usize) {
        let now = self.now;
        let welcome =
            self.is_open(socket) || (socket == A && self.backlog > 0 && !self.has_ended(A));
        if !welcome {
            return self.end(model, socket, slot);
        }
        let closes = !self.is_open(socket);
        let backlog = match socket {
            A => mem::take(&mut self.backlog),
            _ => 0,
        };
        let Some(side) = self.side(socket, slot) else {
            return;
        };
        side.stage = Stage::Ready;
        side.liveness.established(&model.config(), 1, ticks(now));
        side.pipe += backlog;
        if closes {
            side.phase.finish(ticks(now + LINGER));
        }
    }

    fn timer(&mut self, model: &SessionModel, socket: usize, slot: usize) {
        let (now, at) = (self.now, ticks(self.now));
        let Some(side) = self.side(socket, slot) else {
            return;
        };
        if side.phase.until().is_some_and(|until| until <= at) {
            return self.end(model, socket, slot);
        }
        let taken = side.taken;
        if side.liveness.check(at, Step, taken).is_err() {
            let heard = side.heard + ANSWER > now;
            let cut_short = side.phase.is_finished() && heard;
            self.cut_short |= cut_short;
            return self.end(model, socket, slot);
        }
        if side.liveness.take_due_pong(at) {
            // It answers nothing: nobody has sent so much that this would confirm anything.
            side.pending.push_back(Unit::Pong([u8::MAX; 8]));
        }
        let pending = side.pending.len();
        if let Some((_, context)) = side.liveness.take_due_ping(at, taken, pending) {
            let extra = match model.lacks(Without::Context) {
                true => 1 + u64::from(side.pipe),
                false => 0,
            };
            let context = u64::from_be_bytes(context) + extra;
            side.pending.push_back(Unit::Ping(context.to_be_bytes()));
        }
    }

    fn close(&mut self, model: &SessionModel, socket: usize) {
        let until = ticks(self.now + LINGER);
        let waiting = socket == A && self.backlog > 0;
        self.sockets[socket].closing = Closing::Lingering(self.now);
        for slot in 0..self.sockets[socket].slots.len() {
            match self.side(socket, slot) {
                Some(side) if side.is_ready() || waiting => side.phase.finish(until),
                Some(_) => self.end(model, socket, slot),
                None => {}
            }
        }
        match socket {
            A if !waiting => self.remove_connector(),
            A => {}
            // Its listener.
            _ => self.sockets[B].attachments -= 1,
        }
        self.sockets[socket].attachments -= 1;
        self.end_if_done(socket);
    }

    fn remove_connector(&mut self) {
        if self.connector != Connector::Gone {
            self.connector = Connector::Gone;
            self.sockets[A].attachments -= 1;
        }
    }

    fn end_if_done(&mut self, socket: usize) {
        let it = &mut self.sockets[socket];
        if matches!(it.closing, Closing::Lingering(_)) && it.attachments == 0 {
            it.closing = Closing::Ended;
            if socket == A {
                self.unsent += mem::take(&mut self.backlog);
            }
        }
    }

    /// Ends a session, and tells everybody.
    fn end(&mut self, model: &SessionModel, socket: usize, slot: usize) {
        let it = &mut self.sockets[socket];
        let Some(place) = it.slots.get_mut(slot) else {
            return;
        };
        let Some(mut side) = place.take() else { return };
        if model.lacks(Without::Taking) {
            side.phase.over();
            *place = Some(side.clone());
        }
        it.twice |= it.ended & (1 << side.id) != 0;
        it.ended |= 1 << side.id;
        it.attachments -= 1;
        self.put(side.id, 1 - socket, Unit::End);
        if socket == A {
            let parted = side.phase.is_flushing();
            self.give_up(model, side);
            if !parted {
                self.reconnect();
            }
        } else if side.is_ready() || !model.lacks(Without::Permit) {
            self.places -= 1;
        }
        self.end_if_done(socket);
    }

    /// Counts the messages that the sending session leaves undone.
    fn give_up(&mut self, model: &SessionModel, side: Side) {
        let progress = side.progress();
        let left = side.ledger.close(progress);
        let (unsent, unconfirmed) = (left.unsent as u8, left.unconfirmed as u8);
        match model.without {
            Some(Without::WrittenApart) => self.unsent += unsent + unconfirmed,
            Some(Without::Counting) => self.unconfirmed += unconfirmed,
            _ => {
                self.unsent += unsent;
                self.unconfirmed += unconfirmed;
            }
        }
        self.backlog += side.pipe;
        if !self.is_open(A) && self.sockets[A].attachments <= 1 {
            self.unsent += mem::take(&mut self.backlog);
        }
    }
}
