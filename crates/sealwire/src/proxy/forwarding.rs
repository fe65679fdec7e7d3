//! One direction of a proxy: messages that were taken from one side and have not gone out on the
//! other.

use super::Proxy;
use super::refusals::Refusals;
use super::steering::Direction;
use crate::error::Error;
use crate::message::Message;
use crate::socket::blocking::Socket;

/// Messages taken at a time.
const BATCH: usize = 256;

/// What a step came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    /// There may be more to do at once.
    Moved,
    /// Nothing can be moved until the side that is waited for says so.
    Waits,
    /// The proxy has ended, and so has this direction.
    Over,
}

pub(crate) struct Forwarding<'a> {
    from: &'a Socket,
    to: &'a Socket,
    capture: Option<&'a Socket>,
    way: Direction,
    refusals: Refusals,
    /// Messages that were taken and not yet shown to anybody, the next one last.
    taken: Vec<Message>,
    /// The one that is to go out now, and its size.
    next: Option<(Message, usize)>,
    /// The socket types do not have this direction: PUSH has nothing to receive.
    is_missing: bool,
}

impl<'a> Forwarding<'a> {
    pub(super) fn new(proxy: &Proxy<'a>, [from, to]: [&'a Socket; 2], way: Direction) -> Self {
        Forwarding {
            from,
            to,
            capture: proxy.capture,
            way,
            refusals: Refusals::default(),
            taken: Vec::with_capacity(BATCH),
            next: None,
            is_missing: false,
        }
    }

    /// Moves messages until the proxy ends. Blocks. When it fails it closes both sockets, so that the other
    /// direction ends too.
    pub(super) fn run(mut self) -> Result<(), Error> {
        loop {
            let (from, to) = (self.from, self.to);
            let step = match self.holds_messages() {
                true => to.wait_to_send(|| self.attempt()),
                false => from.wait_to_receive(|| self.attempt()),
            };
            match step.inspect_err(|_| self.close_sockets())? {
                Step::Over => return Ok(()),
                Step::Moved | Step::Waits => {}
            }
        }
    }

    fn attempt(&mut self) -> Result<Option<Step>, Error> {
        let step = self.step()?;
        Ok((step != Step::Waits).then_some(step))
    }

    /// Moves what can be moved now, and waits for nobody: passes on what was taken, or else takes what
    /// there is. When it fails it closes both sockets.
    pub(crate) fn step(&mut self) -> Result<Step, Error> {
        let step = match self.holds_messages() {
            true => self.pass_on(),
            false => self.take(),
        };
        step.inspect_err(|_| self.close_sockets())
    }

    fn holds_messages(&self) -> bool {
        self.next.is_some() || !self.taken.is_empty()
    }

    fn close_sockets(&self) {
        for socket in [self.from, self.to] {
            socket.begin_close();
        }
    }

    fn take(&mut self) -> Result<Step, Error> {
        match self.way.steering.reading() {
            None => return Ok(Step::Over),
            Some(may_read) if !may_read || self.is_missing => {
                return self.from.check_open().map(|()| Step::Waits);
            }
            Some(_) => {}
        }
        match self.from.try_recv_many(&mut self.taken, BATCH) {
            Ok(0) => return Ok(Step::Waits),
            Ok(_) => self.taken.reverse(),
            Err(Error::Unsupported(_)) => self.is_missing = true,
            // One peer went away.
            Err(Error::RequestLost) => {}
            Err(error) => return Err(error),
        }
        Ok(Step::Moved)
    }

    fn pass_on(&mut self) -> Result<Step, Error> {
        while let Some((message, size)) = self.next.take().or_else(|| self.show_next()) {
            let Err(error) = self.to.try_send(message) else {
                self.way.sent(size);
                continue;
            };
            match error.error() {
                Error::WouldBlock if !self.way.steering.terminated() => {
                    self.next = Some((error.into_message(), size));
                    return Ok(Step::Waits);
                }
                // Ended with messages in hand.
                Error::WouldBlock => self.to.count_dropped_at_send(1),
                Error::Closed | Error::Forked | Error::System(_) => {
                    self.to.count_dropped_at_send(1 + self.taken.len());
                    self.taken.clear();
                    return Err(error.into());
                }
                error => self.refusals.note(self.to, error),
            }
        }
        Ok(Step::Moved)
    }

    /// The next of those that were taken, once it is counted and the capture has it.
    fn show_next(&mut self) -> Option<(Message, usize)> {
        let message = Message::from(self.taken.pop()?.into_frames());
        let size = message.size();
        self.way.received(size);
        // Forwarding waits for nobody who listens in.
        if let Some(capture) = self.capture
            && capture.try_send(message.clone()).is_err()
        {
            capture.count_dropped_at_send(1);
        }
        Some((message, size))
    }
}
