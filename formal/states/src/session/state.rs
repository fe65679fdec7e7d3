//! The state of the model `session`, what can happen in it, and what its properties ask.

use std::collections::VecDeque;

use super::side::{Side, Unit};
use super::{LINGER, SILENCE, SessionModel, Without, ticks};

/// The socket that connects and sends, and the one that listens.
pub(super) const A: usize = 0;
pub(super) const B: usize = 1;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Closing {
    Open,
    /// Since then.
    Lingering(u8),
    Ended,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Socket {
    pub(super) closing: Closing,
    /// What works for it: itself until it closes, a listener or connector, sessions.
    pub(super) attachments: i8,
    /// Its sessions by their slots, which are used again.
    pub(super) slots: Vec<Option<Side>>,
    /// A bit for each connection that has ended here.
    pub(super) ended: u16,
    pub(super) twice: bool,
}

/// A connection between them.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Link {
    pub(super) id: u8,
    /// To A and to B.
    pub(super) towards: [VecDeque<Unit>; 2],
    pub(super) cut: bool,
    /// When both ends stopped to hear of each other.
    pub(super) half_open: Option<u8>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Connector {
    /// It connects then.
    Waiting(u8),
    Connected,
    Gone,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct State {
    pub(super) now: u8,
    pub(super) sockets: [Socket; 2],
    pub(super) links: Vec<Link>,
    pub(super) next_id: u8,
    pub(super) connector: Connector,
    /// Questions about peers of B: slot and connection id.
    pub(super) questions: Vec<(usize, u8)>,
    /// Places among the connections that B's process accepted.
    pub(super) places: u8,
    pub(super) paused: bool,
    pub(super) cut_short: bool,
    pub(super) to_send: u8,
    pub(super) sent: u8,
    pub(super) backlog: u8,
    pub(super) unsent: u8,
    pub(super) unconfirmed: u8,
    pub(super) delivered: u8,
    pub(super) cuts: u8,
    pub(super) half_opens: u8,
    pub(super) pauses: u8,
    pub(super) refusals: u8,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Action {
    Tick,
    Send,
    Close(usize),
    Connect,
    /// A message goes from the pipe to the protocol.
    StageMessage(usize),
    Write(usize, usize),
    Receive(usize, usize),
    /// The engine finds that the connection is cut.
    FindCut(usize, usize),
    /// A thread of the application finds it, and leaves the end to the engine.
    ThreadFindsCut(usize, usize),
    Revisit(usize, usize),
    Timer(usize, usize),
    /// All is sent: the peer is told.
    Finish(usize, usize),
    /// The peer had ended its half, and has what was on its way to it.
    Flushed(usize, usize),
    Decide {
        question: usize,
        allowed: bool,
    },
    Abandon(usize),
    Cut,
    HalfOpen,
    Pause,
    Resume,
}

impl State {
    pub(super) fn new(model: &SessionModel) -> Self {
        let socket = Socket {
            closing: Closing::Open,
            attachments: 2,
            slots: Vec::new(),
            ended: 0,
            twice: false,
        };
        State {
            now: 0,
            sockets: [socket.clone(), socket],
            links: Vec::new(),
            next_id: 0,
            connector: Connector::Waiting(0),
            questions: Vec::new(),
            places: 0,
            paused: false,
            cut_short: false,
            to_send: model.sends,
            sent: 0,
            backlog: 0,
            unsent: 0,
            unconfirmed: 0,
            delivered: 0,
            cuts: model.cuts,
            half_opens: model.half_opens,
            pauses: model.pauses,
            refusals: model.refusals,
        }
    }

    pub(super) fn side(&mut self, socket: usize, slot: usize) -> Option<&mut Side> {
        self.sockets[socket].slots.get_mut(slot)?.as_mut()
    }

    pub(super) fn sides(&self) -> impl Iterator<Item = (usize, usize, &Side)> {
        let sockets = self.sockets.iter().enumerate();
        sockets.flat_map(|(socket, it)| {
            let slots = it.slots.iter().enumerate();
            slots.filter_map(move |(slot, side)| Some((socket, slot, side.as_ref()?)))
        })
    }

    pub(super) fn link(&self, id: u8) -> Option<&Link> {
        self.links.iter().find(|it| it.id == id)
    }

    pub(super) fn is_open(&self, socket: usize) -> bool {
        self.sockets[socket].closing == Closing::Open
    }

    pub(super) fn has_ended(&self, socket: usize) -> bool {
        self.sockets[socket].closing == Closing::Ended
    }

    pub(super) fn actions(&self, model: &SessionModel, actions: &mut Vec<Action>) {
        // Timers that are due, and work that can be done at once, come before the next tick.
        let before = actions.len();
        for (socket, slot, side) in self.sides() {
            let cut = self.link(side.id).is_none_or(|link| link.cut);
            if side.phase.has_ended() {
                actions.push(Action::Revisit(socket, slot));
                continue;
            }
            if cut {
                actions.push(Action::FindCut(socket, slot));
                if side.is_ready() && side.phase.is_open() {
                    actions.push(Action::ThreadFindsCut(socket, slot));
                }
            }
            let writes = !side.pending.is_empty() && !side.phase.is_finished();
            if writes && !cut {
                actions.push(Action::Write(socket, slot));
            }
            if side.is_attached() && side.pipe > 0 && !side.phase.is_finished() {
                actions.push(Action::StageMessage(slot));
            }
            if side.phase.is_flushing() && side.pending.is_empty() {
                actions.push(Action::Flushed(socket, slot));
            }
            if side.phase.is_finishing() && self.has_nothing_to_send(socket, side) {
                actions.push(Action::Finish(socket, slot));
            }
            let due = match model.lacks(Without::HeardWhileAwaited) {
                true => side
                    .liveness
                    .next_timeout()
                    .into_iter()
                    .chain(side.phase.until())
                    .min(),
                false => side.due(),
            };
            let lingers = model.lacks(Without::LingerEnds) && side.phase.until().is_some();
            if due.is_some_and(|at| at <= ticks(self.now)) && !lingers {
                actions.push(Action::Timer(socket, slot));
            }
        }
        for socket in [A, B] {
            let over = matches!(self.sockets[socket].closing, Closing::Lingering(since) if since + LINGER <= self.now);
            if over && !model.lacks(Without::LingerEnds) {
                actions.push(Action::Abandon(socket));
            }
        }
        if matches!(self.connector, Connector::Waiting(at) if at <= self.now) {
            actions.push(Action::Connect);
        }
        let acts = actions.len() > before;
        self.receives(actions);
        let urgent = if model.prompt {
            actions.len() > before
        } else {
            acts
        };
        let closed = !self.is_open(A) && !self.is_open(B);
        let ended = self.has_ended(A) && self.has_ended(B);
        let ticks =
            self.now < model.ticks || (closed && !ended && self.now < model.ticks + LINGER + 1);
        if !urgent && ticks {
            actions.push(Action::Tick);
        }
        self.others(model, actions);
    }

    /// What arrives.
    pub(super) fn receives(&self, actions: &mut Vec<Action>) {
        for (socket, slot, side) in self.sides() {
            let reads = socket == A || !self.paused || side.phase.is_finished();
            let reads = reads && !side.phase.is_flushing();
            let comes = |link: &Link| !link.cut && !link.towards[socket].is_empty();
            if reads && self.link(side.id).is_some_and(comes) && !side.phase.has_ended() {
                actions.push(Action::Receive(socket, slot));
            }
        }
    }

    /// What applications and the network do, at any time.
    pub(super) fn others(&self, model: &SessionModel, actions: &mut Vec<Action>) {
        for question in 0..self.questions.len() {
            actions.push(Action::Decide {
                question,
                allowed: true,
            });
            if self.refusals > 0 {
                actions.push(Action::Decide {
                    question,
                    allowed: false,
                });
            }
        }
        if self.to_send > 0 && self.is_open(A) {
            actions.push(Action::Send);
        }
        for socket in [A, B] {
            let may_close = model.closes_early || self.now >= model.ticks;
            if may_close && self.is_open(socket) {
                actions.push(Action::Close(socket));
            }
        }
        let whole = self
            .links
            .iter()
            .any(|it| !it.cut && it.half_open.is_none());
        if whole && self.cuts > 0 {
            actions.push(Action::Cut);
        }
        if whole && self.half_opens > 0 {
            actions.push(Action::HalfOpen);
        }
        if self.pauses > 0 && !self.paused && self.is_open(B) {
            actions.push(Action::Pause);
        }
        if self.paused {
            actions.push(Action::Resume);
        }
    }

    pub(super) fn has_nothing_to_send(&self, socket: usize, side: &Side) -> bool {
        let settled = side.is_ready() || socket == B || self.backlog == 0;
        settled && side.pipe == 0 && side.pending.is_empty()
    }

    // What the properties ask.

    pub(super) fn counted(&self) -> u8 {
        self.delivered + self.unsent
    }

    pub(super) fn counts_no_more(&self) -> bool {
        self.counted() <= self.sent
    }

    pub(super) fn counts_no_less(&self) -> bool {
        self.sent <= self.counted() + self.unconfirmed
    }

    pub(super) fn verdicts_fit(&self) -> bool {
        let mut asked = self
            .sides()
            .filter_map(|(_, _, side)| Some((side.id, side.verdict?)));
        asked.all(|(id, verdict)| id == verdict)
    }

    pub(super) fn ended_twice(&self) -> bool {
        self.sockets.iter().any(|it| it.twice)
    }

    pub(super) fn holds_nothing(&self) -> bool {
        let ended = |it: &Socket| it.closing == Closing::Ended && it.attachments == 0;
        self.sockets.iter().all(ended) && self.sides().next().is_none() && self.places == 0
    }

    pub(super) fn closes_in_time(&self) -> bool {
        let in_time = |it: &Socket| match it.closing {
            Closing::Lingering(since) => self.now <= since + LINGER,
            Closing::Open | Closing::Ended => true,
        };
        self.sockets.iter().all(in_time)
    }

    pub(super) fn ends_when_silent(&self) -> bool {
        self.sides().all(|(socket, _, side)| {
            let since = self.link(side.id).and_then(|link| link.half_open);
            // While it is not read, silence is not a fault of the peer.
            let excused = socket == B && self.paused;
            excused || since.is_none_or(|since| self.now <= since + SILENCE)
        })
    }

    pub(super) fn was_cut_short(&self) -> bool {
        self.cut_short
    }
}
