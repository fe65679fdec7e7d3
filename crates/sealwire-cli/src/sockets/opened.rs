//! A socket with its endpoints and its reporter, from its making to its end.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use sealwire::blocking::Socket;
use sealwire::{
    ConnectionFailure, Counters, Endpoint, Error, Event, Message, Monitor, Peer, SocketBuilder,
    SocketType, waits,
};

use super::options::{ConnectionOptions, EndpointOptions};
use crate::exit::{Code, Failure};
use crate::interrupt::{self, Stop};
use crate::report::Reporter;
use crate::security_options::warn_of_plain_text;
use crate::service::doors::Doors;
use crate::service::given_up::{self, Kind};
use crate::service::renewal::Renewed;
use crate::service::{alive, notify};

/// An open socket of a command.
pub(super) struct Opened {
    pub(super) socket: Socket,
    /// Events from the beginning on, to wait for peers.
    events: Monitor,
    reporter: Reporter,
    timeout: Option<Duration>,
    linger: Option<Duration>,
    state: Arc<State>,
}

/// What the thread that stops the command has to know, and notes.
#[derive(Default)]
struct State {
    /// Nothing has begun: no peer is there.
    awaits_peers: AtomicBool,
    /// As the stop began.
    counters: OnceLock<Counters>,
}

/// Where a command listens, in words.
pub(crate) fn listening(endpoints: &[Endpoint]) -> String {
    let endpoints: Vec<_> = endpoints.iter().map(Endpoint::to_string).collect();
    match endpoints.is_empty() {
        true => "connected".to_owned(),
        false => format!("listening on {}", endpoints.join(", ")),
    }
}

/// Types that end their half of each connection, so that their peers send no more.
fn drains(socket_type: SocketType) -> bool {
    use SocketType::{Dish, Gather, Pull, Sub};
    matches!(socket_type, Pull | Gather | Sub | Dish)
}

/// Has the socket take nothing new.
fn begin_to_stop(socket: &Socket, state: &State) {
    state.counters.get_or_init(|| socket.counters());
    if state.awaits_peers.load(Ordering::SeqCst) {
        let _ = socket.clone().close_with_linger(Duration::ZERO);
    } else if drains(socket.socket_type()) {
        let _ = socket.drain(interrupt::left());
    } else {
        for endpoint in socket.bound_endpoints() {
            let _ = socket.unbind(endpoint);
        }
        waits::wake_receivers(socket);
    }
}

impl Opened {
    /// Makes the socket, binds and connects it.
    pub(super) fn new(
        socket_type: SocketType,
        options: &ConnectionOptions,
    ) -> Result<Self, Failure> {
        Self::with(socket_type, options, |builder| builder)
    }

    /// The same for a socket that is `shaped` further.
    pub(super) fn with(
        socket_type: SocketType,
        options: &ConnectionOptions,
        shaped: impl FnOnce(SocketBuilder) -> SocketBuilder,
    ) -> Result<Self, Failure> {
        options.check(socket_type)?;
        let (endpoints, report) = (&options.endpoints, options.report);
        let command = socket_type.name().to_ascii_lowercase();
        options.service.serve_sockets(&command, report)?;
        let doors = options.listening.doors(&endpoints.bind)?;
        let everywhere = doors.endpoints().iter().chain(&endpoints.connect);
        let security = options.security.choice().security(everywhere.clone())?;
        warn_of_plain_text(report, &security, everywhere.clone());
        let everywhere: Vec<_> = everywhere.cloned().collect();
        let mut builder = Socket::builder(socket_type)
            .security(security)
            .max_message_size(endpoints.max_size)
            .router_mandatory(socket_type == SocketType::Router);
        if let Some(timeout) = endpoints.timeout {
            builder = builder.send_timeout(timeout).receive_timeout(timeout);
        }
        if let Some(routing_id) = &endpoints.routing_id {
            builder = builder.routing_id(routing_id.as_bytes());
        }
        let builder = options.tuning.apply(builder, endpoints.timeout);
        let builder = options.listening.apply(builder);
        let builder = options
            .tls
            .apply(builder, &endpoints.bind, &endpoints.connect)?;
        let builder = options.ipc.apply(options.web.apply(builder));
        let socket = shaped(builder).build_blocking()?;
        let reporter = Reporter::watch(&socket, report, None)?;
        let events = socket.monitor();
        let chosen = options.security.clone();
        let renewed = Renewed {
            socket: socket.clone(),
            security: Box::new(move || chosen.choice().security(&everywhere)),
            tls: options.tls.clone(),
        };
        options.renewal.renew_sockets(vec![renewed], report)?;
        // A program that sees it listen may interrupt it at once.
        let state = Arc::<State>::default();
        let (begins, of_begin, broken_off) = (socket.clone(), state.clone(), socket.clone());
        interrupt::finish_on_signal(Stop {
            grace: options.service.grace,
            begin: Box::new(move || begin_to_stop(&begins, &of_begin)),
            break_off: Box::new(move || {
                let _ = broken_off.close_with_linger(Duration::ZERO);
            }),
            json: report.json,
        })?;
        let opened = Opened {
            socket,
            events,
            reporter,
            timeout: endpoints.timeout,
            linger: options.tuning.linger().or(endpoints.timeout),
            state,
        };
        opened.begin(doors, endpoints).inspect_err(|_| {
            // Files of its endpoints are gone before the program is.
            let _ = opened.socket.clone().close_with_linger(Duration::ZERO);
        })?;
        Ok(opened)
    }

    fn begin(&self, doors: Doors, endpoints: &EndpointOptions) -> Result<(), Failure> {
        let awaits_connection = doors.is_empty() && !endpoints.are_all_udp();
        let bound = doors.open(&self.socket)?;
        if awaits_connection {
            notify::awaiting_connection("connecting");
        }
        for endpoint in &endpoints.connect {
            self.socket.connect(endpoint.clone())?;
        }
        if !awaits_connection {
            notify::ready(&listening(&bound));
        }
        notify::watch(alive::engine)
    }

    /// Waits for something that comes before everything else; a stop ends it at once.
    pub(super) fn while_awaiting<T>(
        &self,
        wait: impl FnOnce() -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        self.state.awaits_peers.store(true, Ordering::SeqCst);
        if interrupt::requested() {
            return Err(Failure::stopped());
        }
        let outcome = wait();
        self.state.awaits_peers.store(false, Ordering::SeqCst);
        outcome
    }

    /// Receives up to `limit` messages. 0 once the program is to stop and nothing more is there.
    pub(super) fn receive(&self, batch: &mut Vec<Message>, limit: usize) -> Result<usize, Error> {
        if drains(self.socket.socket_type()) {
            return match self.socket.recv_many(batch, limit) {
                Err(Error::Drained { cut_off }) if interrupt::requested() => {
                    given_up::count(Kind::CutOff, cut_off as u64);
                    Ok(0)
                }
                received => received,
            };
        }
        let deadline = self
            .timeout
            .and_then(|time| Instant::now().checked_add(time));
        let over = interrupt::requested;
        let received = waits::recv_many_unless(&self.socket, batch, limit, deadline, over)?;
        if received > 0 {
            return Ok(received);
        }
        let waiting = match interrupt::requested() && interrupt::left().is_zero() {
            // Those that are left are counted when it is closed.
            true => return Ok(0),
            false => self.socket.recv_many_timeout(batch, limit, Duration::ZERO),
        };
        match waiting {
            Err(Error::TimedOut { .. }) if interrupt::requested() => Ok(0),
            Err(Error::TimedOut {
                operation,
                presence,
                last_failure,
                ..
            }) => Err(Error::TimedOut {
                operation,
                limit: self.timeout.unwrap_or_default(),
                presence,
                last_failure,
            }),
            received => received,
        }
    }

    /// Receives one; `None` once the program is to stop and nothing more is there.
    pub(super) fn receive_one(&self) -> Result<Option<Message>, Error> {
        let mut batch = Vec::with_capacity(1);
        self.receive(&mut batch, 1)?;
        Ok(batch.pop())
    }

    /// Waits until `enough` peers are there, within the timeout. A peer that has just come counts
    /// even if it has left already: what it sent is still to be read.
    pub(super) fn wait_for_peers(
        &self,
        what: &str,
        mut enough: impl FnMut(&[Arc<Peer>]) -> bool,
    ) -> Result<(), Failure> {
        self.wait_until(what, |event| {
            let mut peers = self.socket.peers();
            if let Some(Event::Ready { peer }) = event
                && !peers
                    .iter()
                    .any(|other| other.connection() == peer.connection())
            {
                peers.push(peer.clone());
            }
            enough(&peers)
        })
    }

    /// Waits until this many peers have subscribed to something, within the timeout.
    pub(super) fn wait_for_subscribers(&self, wanted: usize) -> Result<(), Failure> {
        let mut subscribers = HashSet::new();
        self.wait_until("not enough subscribers came", |event| {
            if let Some(Event::Subscribed { peer }) = event {
                subscribers.insert(peer.connection());
            }
            subscribers.len() >= wanted
        })
    }

    /// Asks at once, and after each event, whether what is waited for has come.
    fn wait_until(
        &self,
        what: &str,
        has_come: impl FnMut(Option<&Event>) -> bool,
    ) -> Result<(), Failure> {
        self.while_awaiting(|| self.wait_for_events(what, has_come))
    }

    fn wait_for_events(
        &self,
        what: &str,
        mut has_come: impl FnMut(Option<&Event>) -> bool,
    ) -> Result<(), Failure> {
        let deadline = self.timeout.map(|timeout| Instant::now() + timeout);
        let mut last_failure: Option<ConnectionFailure> = None;
        let mut event = None;
        while !has_come(event.as_ref()) {
            event = match deadline {
                None => self.events.wait_next(),
                Some(deadline) => {
                    let left = deadline.saturating_duration_since(Instant::now());
                    self.events.wait_next_timeout(left)
                }
            };
            match &event {
                Some(Event::Failed(failure)) => last_failure = Some(failure.clone()),
                Some(Event::Ready { .. }) => last_failure = None,
                Some(_) => {}
                None if interrupt::requested() => return Err(Error::Closed.into()),
                None => {
                    let timeout = self.timeout.unwrap_or_default();
                    let message = format!("{what} within {timeout:?}");
                    return Err(Failure::wait_failed(
                        Code::TimedOut,
                        &message,
                        last_failure.as_ref(),
                    ));
                }
            }
        }
        Ok(())
    }

    /// Ends the command: sends what is queued, closes the socket, and turns what happened into
    /// its result.
    pub(super) fn close(self, outcome: Result<(), Failure>) -> Result<(), Failure> {
        let Opened {
            socket,
            events,
            reporter,
            timeout: _,
            linger,
            state,
        } = self;
        drop(events);
        if interrupt::requested() {
            close_stopped(socket, linger, &state);
            reporter.finish_stopped();
            return outcome.and(Err(Failure::stopped()));
        }
        let closed = socket.close();
        let last_failure = reporter.finish();
        outcome?;
        match closed {
            Err(error @ Error::Unsent(_)) => Err(Failure::wait_failed(
                Code::Lost,
                &error.to_string(),
                last_failure.as_ref(),
            )),
            closed => Ok(closed?),
        }
    }
}

/// Closes a socket within what is left of the time, and counts what was given up.
fn close_stopped(socket: Socket, linger: Option<Duration>, state: &State) {
    let before = state.counters.get_or_init(|| socket.counters());
    let linger = linger.unwrap_or(Duration::MAX).min(interrupt::left());
    let closed = socket.clone().close_with_linger(linger);
    let after = socket.counters();
    if let Err(Error::Unsent(messages)) = closed {
        // Those of connections that broke before were lost then.
        let since = after.dropped_unsent.saturating_sub(before.dropped_unsent);
        given_up::count(Kind::Unsent, since.min(messages as u64));
    }
    let unread = after.dropped_unread.saturating_sub(before.dropped_unread);
    given_up::count(Kind::Unread, unread);
}

/// Sends a message, which is given up if it is not taken before the end of a stop.
pub(super) fn send(socket: &Socket, message: Message) -> Result<(), Failure> {
    match socket.send(message).map_err(Error::from) {
        Err(Error::Closed) if interrupt::requested() => {
            given_up::count(Kind::Unsent, 1);
            Err(Failure::stopped())
        }
        sent => Ok(sent?),
    }
}
