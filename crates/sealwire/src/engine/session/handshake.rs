//! From the first byte to a peer that the socket has taken: whom to ask about it, and what became
//! of that.

use std::sync::Arc;

use sealwire_zmtp::connection::{PeerInfo, Warning};
use sealwire_zmtp::error::Refusal;
use sealwire_zmtp::{Error as ProtocolError, Event as ProtocolEvent};

use super::{End, Session};
use crate::auth::{Verdict, zap};
use crate::engine::decisions::{Answer, Applicant, Inquiry};
use crate::engine::io_thread::Reactor;
use crate::monitor::{Event, FailureCause, add};
use crate::peer::{Approval, Peer};
use crate::security::Kind;

impl Session {
    pub(super) fn take_events(&mut self, reactor: &mut Reactor) -> Result<(), End> {
        if self.protocol.is_raw() && self.attached.is_none() {
            self.ready(None, reactor)?;
        }
        while self.attached.is_none() && self.unapproved.is_none() {
            match self.protocol.poll_event() {
                Some(ProtocolEvent::Ready(info)) => self.established(info, reactor)?,
                Some(ProtocolEvent::Authenticate(credentials)) => {
                    let (Kind::Server { authenticator, .. }
                    | Kind::CurveServer { authenticator, .. }) = &self.core.options().security.0
                    else {
                        unreachable!("only servers are asked about keys")
                    };
                    let applicant = Applicant::Key(authenticator.clone(), credentials);
                    self.ask_about(applicant, reactor)?;
                }
                Some(ProtocolEvent::AuthenticatePassword(shown)) => {
                    let Kind::PlainServer { authenticator } = &self.core.options().security.0
                    else {
                        unreachable!("only PLAIN servers are asked about passwords")
                    };
                    let applicant = Applicant::Password(authenticator.clone(), shown);
                    self.ask_about(applicant, reactor)?;
                }
                Some(ProtocolEvent::Warning(warning)) => self.warn(warning),
                Some(_) => {}
                None => return Ok(()),
            }
        }
        self.deliver(reactor.now());
        Ok(())
    }

    fn ask_about(&mut self, applicant: Applicant, reactor: &mut Reactor) -> Result<(), End> {
        let mechanism = self.core.options().security.mechanism();
        let (routing_id, proof) = (applicant.routing_id(), applicant.zap_credentials());
        let inquiry = Inquiry {
            zap: self.zap_request(mechanism, routing_id, proof),
            applicant: Some(applicant),
            address: self.address.clone(),
        };
        self.ask(inquiry, reactor)
    }

    /// Asks whoever decides about peers.
    fn ask(&mut self, inquiry: Inquiry, reactor: &mut Reactor) -> Result<(), End> {
        match reactor.decisions.ask(self.key, inquiry) {
            Answer::Now(verdict) => self.decided(verdict, reactor),
            Answer::Later(question) => {
                self.question = Some(question);
                Ok(())
            }
        }
    }

    pub(in crate::engine) fn decided(
        &mut self,
        verdict: Verdict,
        reactor: &mut Reactor,
    ) -> Result<(), End> {
        self.question = None;
        let (reason, cause) = match verdict {
            Verdict::Allowed { user_id, metadata } => {
                self.approval = Some(Approval {
                    user_id: user_id.clone(),
                    metadata,
                });
                if let Some(info) = self.unapproved.take() {
                    self.input_wanted(reactor.now());
                    return self.ready(Some(info), reactor);
                }
                return self
                    .protocol
                    .authorize(Ok(user_id), reactor.now())
                    .map_err(|error| self.fail(error));
            }
            Verdict::Refused { reason, status } => {
                let cause = ProtocolError::Refused(Refusal::new(&reason));
                let told = match self.core.options().security.mechanism() {
                    "CURVE" | "PLAIN" => status.code().to_string(),
                    _ => reason,
                };
                (told, Some(cause.into()))
            }
            Verdict::RefusedByZap { status, text } => {
                let cause = FailureCause::RefusedByZap { status, text };
                (status.to_string(), Some(cause))
            }
        };
        let error = self.protocol.reject(&reason);
        self.last_words();
        let cause = cause.or(error.map(Into::into));
        Err(cause.map_or(End::Clean, End::Failed))
    }

    /// The question for the ZAP handler, where there is one for this mechanism.
    fn zap_request(
        &self,
        mechanism: &'static str,
        routing_id: &[u8],
        credentials: Vec<Vec<u8>>,
    ) -> Option<zap::Request> {
        let options = self.core.options();
        let domain = options.zap_domain.as_ref()?;
        if mechanism == "NULL" && domain.is_empty() {
            return None;
        }
        Some(zap::Request {
            context: self.core.context().clone(),
            limit: options.zap_timeout,
            domain: domain.clone(),
            address: self.address.for_zap(),
            routing_id: routing_id.to_vec(),
            mechanism,
            credentials,
        })
    }

    /// The protocol's handshake is done. NULL has not asked anyone on its way: that is done now,
    /// and nothing is read from the peer until the answer is there.
    fn established(&mut self, info: Arc<PeerInfo>, reactor: &mut Reactor) -> Result<(), End> {
        let request = match info.mechanism {
            "NULL" => self.zap_request("NULL", &info.routing_id, Vec::new()),
            _ => None,
        };
        if request.is_none() {
            return self.ready(Some(info), reactor);
        }
        self.unapproved = Some(info);
        self.paused = true;
        self.protocol.set_reading(false, reactor.now());
        let inquiry = Inquiry {
            applicant: None,
            zap: request,
            address: self.address.clone(),
        };
        self.ask(inquiry, reactor)
    }

    /// Messages may flow. `None` where no protocol says who the peer is.
    fn ready(&mut self, info: Option<Arc<PeerInfo>>, reactor: &mut Reactor) -> Result<(), End> {
        let approval = self.approval.take();
        let (address, connection) = (self.address.clone(), self.key.connection);
        let process = self.stream.process();
        let peer = Arc::new(match info {
            Some(info) => Peer::wire(address, connection, info, approval, process),
            None => Peer::raw(address, connection, process),
        });
        let link = self
            .shared
            .upgrade()
            .expect("who drives a session holds it");
        let connector = self.origin.connector();
        match self.core.attach(peer.clone(), link, connector) {
            Ok(pipe) => {
                self.attached = Some((pipe, peer.clone()));
                // A backlog may have moved into the pipe as it was attached.
                self.output_waiting = true;
            }
            Err(reason) => return Err(self.reject(reason)),
        }
        self.stream.trust();
        self.ready_since = Some(reactor.now());
        add(&self.core.counters.handshakes_completed, 1);
        self.core.hub.emit(Event::Ready { peer });
        if self.core.is_closing() {
            self.finish(reactor.now());
        }
        reactor.became_ready(self.origin, self.key);
        Ok(())
    }

    pub(super) fn warn(&self, warning: Warning) {
        self.core.hub.emit(Event::Warning {
            connection: self.key.connection,
            address: self.address.clone(),
            warning,
        });
    }

    /// Tells the peer why it is turned away and ends.
    pub(in crate::engine) fn reject(&mut self, reason: &'static str) -> End {
        self.protocol.reject(reason);
        self.last_words();
        End::Failed(FailureCause::Rejected(reason))
    }
}
