//! A socket with its endpoints and its reporter, from its making to its end.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use sealwire::blocking::Socket;
use sealwire::{ConnectionFailure, Error, Event, Monitor, Peer, SocketBuilder, SocketType};

use super::options::ConnectionOptions;
use crate::exit::{Code, Failure};
use crate::interrupt;
use crate::report::Reporter;
use crate::security_options::exposed;

/// An open socket of a command.
pub(super) struct Opened {
    pub(super) socket: Socket,
    /// Events from the beginning on, to wait for peers.
    events: Monitor,
    reporter: Reporter,
    timeout: Option<Duration>,
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
        let everywhere = endpoints.bind.iter().chain(&endpoints.connect);
        let security = options.security.choice().security(everywhere.clone())?;
        for endpoint in exposed(&security, everywhere) {
            report.warn(format!(
                "{endpoint} without encryption: anyone on the path can read and write (see \
                 'Security' in --help)"
            ));
        }
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
        let builder = options
            .tls
            .apply(builder, &endpoints.bind, &endpoints.connect)?;
        let builder = options.ipc.apply(options.web.apply(builder));
        let socket = shaped(builder).build_blocking()?;
        let reporter = Reporter::watch(&socket, report, None)?;
        let events = socket.monitor();
        // A program that sees it listen may interrupt it at once.
        interrupt::close_on_interrupt(vec![socket.clone()])?;
        for endpoint in &endpoints.bind {
            interrupt::binding(|| socket.bind(endpoint.clone()))?;
        }
        for endpoint in &endpoints.connect {
            socket.connect(endpoint.clone())?;
        }
        Ok(Opened {
            socket,
            events,
            reporter,
            timeout: endpoints.timeout,
        })
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
        } = self;
        drop(events);
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
