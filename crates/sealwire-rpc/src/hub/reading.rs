//! Reading: by the hub's own thread, and on a client by one that waits for an answer where there is one
//! ([`Handover`]).

use std::future::Future;
use std::pin::pin;
use std::sync::{Arc, Mutex, OnceLock};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use sealwire::{Error as SocketError, Message, blocking, waits};

use super::Hub;
use super::handover::{Handover, Sleeper, Ticket};
use super::links::HubLink;
use crate::limits::RESUMED_AT_A_TIME;
use crate::link::{Received, end_batch, is_in_batch, process_for};
use crate::lock::lock;
use crate::proto::Side;
use crate::seat::Seat;
use crate::status::Error;

/// Messages taken from the socket at a time.
const BATCH: usize = 512;
/// How often a client's own thread asks whether callers still read.
const LEASE: Duration = Duration::from_millis(2);
/// Longest wait for messages while requests wait for their peer to read its answers.
const CHECK_FOR_ROOM: Duration = Duration::from_millis(2);

/// What reading needs; the thread that holds it reads.
#[derive(Default)]
pub(super) struct ReaderState {
    pub(super) batch: Vec<Message>,
    touched: Vec<Arc<HubLink>>,
    /// Those whose requests wait for them to read.
    paused: Vec<Arc<HubLink>>,
}

/// Whether this thread processes a batch of messages, or may not wait for another reason: what it would
/// wait for would not come.
pub(crate) fn must_not_wait() -> bool {
    is_in_batch() || waits::must_not_wait()
}

/// The choice of the reader, and what reading takes.
pub(super) struct Reading {
    socket: blocking::Socket,
    pub(super) reader: Mutex<ReaderState>,
    handover: Handover<Arc<Seat>>,
    /// Where the hub's own thread sleeps while callers read.
    own: OnceLock<Arc<Seat>>,
}

impl Reading {
    pub(super) fn of(socket: &sealwire::Socket) -> Self {
        Reading {
            socket: blocking::Socket::from(socket.clone()),
            reader: Mutex::default(),
            handover: Handover::new(),
            own: OnceLock::new(),
        }
    }

    /// Wakes the hub's own thread to end.
    pub(super) fn end(&self) {
        wake(self.own.get().cloned());
    }
}

/// A thread that reads or waits to, until it leaves, also by a panic.
struct ReaderCandidate<'a> {
    handover: &'a Handover<Arc<Seat>>,
    ticket: Ticket,
}

impl<'a> ReaderCandidate<'a> {
    fn enter(handover: &'a Handover<Arc<Seat>>, seat: &Arc<Seat>) -> Self {
        let ticket = handover.enter(seat.clone());
        ReaderCandidate { handover, ticket }
    }

    fn reads(&self) -> bool {
        self.handover.reads(self.ticket)
    }
}

impl Drop for ReaderCandidate<'_> {
    fn drop(&mut self) {
        wake(self.handover.leave(self.ticket));
    }
}

impl Sleeper for Arc<Seat> {
    fn is_woken(&self) -> bool {
        Seat::is_woken(self)
    }
}

fn wake(chosen: Option<Arc<Seat>>) {
    if let Some(seat) = chosen {
        seat.wake_up();
    }
}

impl Hub {
    fn process(self: &Arc<Self>, reader: &mut ReaderState) {
        let now = self.now();
        process_for::<Hub>(None);
        let mut current: Option<Arc<HubLink>> = None;
        for message in reader.batch.drain(..) {
            let Some(peer) = message.peer() else { continue };
            let routing_id = peer.connection_routing_id();
            if current
                .as_ref()
                .is_none_or(|link| link.routing_id() != routing_id)
            {
                if let Some(link) = current.take() {
                    reader.touched.push(link);
                }
                current = self.admission.link(routing_id);
                process_for(current.as_deref());
            }
            if message.is_empty() {
                // Nothing of the peer's: what it sends has a frame.
                if let Some(link) = current.take() {
                    reader.touched.push(link);
                }
                process_for::<Hub>(None);
                self.connection_changed(peer);
                continue;
            }
            let Some(link) = &current else {
                self.greeted(peer, message.as_bytes());
                continue;
            };
            let Some(frame) = message.into_frames().pop_front() else {
                continue;
            };
            match link.receive(frame, now) {
                Ok(Received::Nothing) => {}
                Ok(Received::Request(asked)) => self.options.upcalls.request(link, asked),
                Ok(Received::OneWay(body)) => self.options.upcalls.message(link, body),
                Ok(Received::Paused) => reader.paused.push(link.clone()),
                Err(violation) => self.violated(routing_id, violation),
            }
        }
        end_batch();
        for link in reader.touched.drain(..).chain(current) {
            link.flush();
        }
    }

    /// Gives requests to the handler that have waited for their peer to read.
    fn resume(&self, reader: &mut ReaderState) {
        let now = self.now();
        reader.paused.retain(|link| {
            process_for(Some(link));
            let requests = (0..RESUMED_AT_A_TIME).map_while(|_| link.next_request(now));
            requests.for_each(|asked| self.options.upcalls.request(link, asked));
            let waits = link.check_paused();
            end_batch();
            link.flush();
            waits
        });
    }

    /// Reads once. A caller does until it is woken at its seat. `false` when the socket is closed.
    fn read_once(self: &Arc<Self>, caller: Option<&Seat>) -> bool {
        let reader = &mut *lock(&self.reading.reader);
        let paused = !reader.paused.is_empty();
        let deadline = paused.then(|| Instant::now() + CHECK_FOR_ROOM);
        let socket = &self.reading.socket;
        let batch = &mut reader.batch;
        let taken = match caller {
            None => waits::recv_many_unless(socket, batch, BATCH, deadline, || false),
            Some(seat) => seat.read(socket, || {
                waits::recv_many_unless(socket, batch, BATCH, deadline, || seat.is_woken())
            }),
        };
        self.process_taken(reader, taken.map(drop))
    }

    /// What follows each attempt to receive, and waits for nothing: processes what was taken, and gives those
    /// requests to the handler that waited and may go. `false` when the socket is closed.
    pub(super) fn process_taken(
        self: &Arc<Self>,
        reader: &mut ReaderState,
        taken: Result<(), SocketError>,
    ) -> bool {
        match taken {
            Ok(()) => self.process(reader),
            Err(SocketError::EngineFailed) => {
                self.fail();
                return false;
            }
            Err(_) => return false,
        }
        if !reader.paused.is_empty() {
            self.resume(reader);
        }
        true
    }

    /// What the hub's own thread does.
    pub(super) fn read_until_end(self: Arc<Self>) {
        Seat::of_this_thread(|seat, _| {
            let _ = self.reading.own.set(seat.clone());
            while !self.has_ended() {
                if !self.reading.handover.own_reads() {
                    seat.sleep(Some(Instant::now() + LEASE));
                } else if self.read_once(None) {
                    wake(self.reading.handover.share());
                } else {
                    break;
                }
            }
        });
        self.reading_is_over();
    }

    /// Nothing is read any more.
    pub(super) fn reading_is_over(&self) {
        self.end();
        self.close_all_links();
        // They hold this hub, which holds them here.
        let paused = std::mem::take(&mut lock(&self.reading.reader).paused);
        drop(paused);
    }

    /// Runs a future on this thread, which reads while it waits if it may.
    ///
    /// # Errors
    ///
    /// [`Error::WouldDeadlock`] on a thread that would wait for itself.
    pub(crate) fn block_on<F: Future>(self: &Arc<Self>, future: F) -> Result<F::Output, Error> {
        if must_not_wait() {
            return Err(Error::WouldDeadlock);
        }
        let mut future = pin!(future);
        Seat::of_this_thread(|seat, waker| {
            let mut context = Context::from_waker(waker);
            let mut place = None;
            loop {
                if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
                    return Ok(output);
                }
                if !self.is_read_by_callers() {
                    place = None;
                    seat.sleep(None);
                    continue;
                }
                let place = place
                    .get_or_insert_with(|| ReaderCandidate::enter(&self.reading.handover, seat));
                if !place.reads() {
                    seat.sleep(None);
                } else if !self.read_once(Some(seat)) {
                    self.end();
                }
            }
        })
    }

    /// Whether threads that wait for answers read. A server's do not, and without a connection nobody
    /// would answer them.
    fn is_read_by_callers(&self) -> bool {
        self.options.link.side == Side::Client && self.link_count() > 0 && !self.has_ended()
    }
}
