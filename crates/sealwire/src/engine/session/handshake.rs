//! From the first byte to a peer that the socket has taken: asks who must decide about it, and
//! applies the decision.

use std::sync::{Arc, Weak};

use sealwire_zmtp::connection::PeerInfo;
use sealwire_zmtp::error::Refusal;
use sealwire_zmtp::mechanism::Claim;
use sealwire_zmtp::{Error as ProtocolError, Event as ProtocolEvent, Mechanism};

use super::Session;
use super::end::End;
use super::pipe_end::PipeEnd;
use super::standing::{Attached, Review, Standing};
use crate::account::Kind;
use crate::auth::{Status, Verdict};
use crate::core::Holder;
use crate::engine::decisions::{Answer, Applicant, Inquiry};
use crate::engine::reactor::Reactor;
use crate::engine::session_key::Origin;
use crate::failure::FailureCause;
use crate::monitor::{Event, add};
use crate::pattern::{Dismissal, Provenance};
use crate::peer::{Approval, Peer};
use crate::security::Decider;
use crate::zap;

impl Session {
    pub(super) fn take_events(&mut self, reactor: &mut Reactor) -> Result<(), End> {
        if !self.protocol.has_handshake() && !self.standing.is_attached() {
            self.ready_or_moving(None, reactor)?;
        }
        while !self.standing.is_attached() {
            if self.standing.is_moving() {
                return Ok(());
            }
            match self.protocol.poll_event() {
                Some(ProtocolEvent::Ready(info)) => self.ready_or_moving(Some(info), reactor)?,
                Some(ProtocolEvent::Authorize(claim)) => self.ask_about(claim, reactor)?,
                Some(ProtocolEvent::Warning(warning)) => self.identity.warn(warning),
                Some(_) => {}
                None => return Ok(()),
            }
        }
        self.deliver(reactor.now());
        Ok(())
    }

    /// Asks those who decide about peers.
    fn ask_about(&mut self, claim: Claim, reactor: &mut Reactor) -> Result<(), End> {
        let mut review = Review {
            decided_at: self.identity.core.clients.revising.count(),
            ..Review::default()
        };
        let mechanism = self.protocol.mechanism();
        let decider = mechanism.and_then(|it| self.identity.options.security.decider(it));
        let applicant = match (claim, decider) {
            (Claim::Address, _) => None,
            (Claim::Key(credentials), Some(Decider::Keys(authenticator))) => {
                Some(Applicant::Key(authenticator.clone(), credentials))
            }
            (Claim::Password(shown), Some(Decider::Passwords(authenticator))) => {
                let revises = authenticator.revision().is_some();
                review.shown = revises.then(|| (*shown).clone());
                Some(Applicant::Password(authenticator.clone(), shown))
            }
            // Nobody decides about such a claim: the peer is not let in.
            (Claim::Key(_) | Claim::Password(_), _) => {
                return Err(End::Failed(FailureCause::Internal));
            }
        };
        let admission = self.identity.options.admission.clone();
        let groups = match admission {
            Some(_) => self.transport.groups(),
            None => Vec::new(),
        };
        let inquiry = Inquiry {
            admission,
            zap: mechanism
                .and_then(|it| self.zap_request(it, decider, applicant.as_ref(), reactor)),
            applicant,
            address: self.identity.ends.remote.clone(),
            process: self.transport.process(),
            groups,
        };
        let answer = reactor
            .decisions
            .ask(self.identity.core.id(), self.identity.key, inquiry);
        let verdict = match answer {
            Answer::Now(verdict) => Some(verdict),
            Answer::Later(question) => {
                review.question = Some(question);
                None
            }
        };
        self.standing = Standing::Reviewed(review);
        match verdict {
            Some(verdict) => self.decided(verdict, reactor),
            None => Ok(()),
        }
    }

    pub(in crate::engine) fn decided(
        &mut self,
        verdict: Verdict,
        reactor: &mut Reactor,
    ) -> Result<(), End> {
        let Some(review) = self.standing.review() else {
            return Ok(());
        };
        review.question = None;
        // libzmq ends the connection silently where its handler did not decide.
        let as_libzmq = self.identity.options.as_libzmq;
        let mut silent = false;
        let (reason, status, cause) = match verdict {
            Verdict::Allowed { user_id, metadata } => {
                review.approval = Some(Approval {
                    user_id: user_id.clone(),
                    metadata,
                    credentials: review.shown.take(),
                });
                return self
                    .protocol
                    .authorize(Ok(user_id), reactor.now())
                    .map_err(|error| self.fail(error));
            }
            Verdict::Refused { reason, status } => {
                let cause = ProtocolError::Refused(Refusal::new(&reason));
                (reason, status.code(), cause.into())
            }
            Verdict::RefusedByZap {
                status,
                text,
                fault,
            } => {
                silent = as_libzmq && fault.is_some();
                let cause = FailureCause::RefusedByZap {
                    status,
                    text,
                    fault,
                };
                (status.to_string(), status, cause)
            }
        };
        let told = match self.tells_reasons() {
            _ if silent => None,
            true => Some(reason),
            false if status == Status::Temporary.code() => None,
            false => Some(status.to_string()),
        };
        if let Some(told) = told {
            self.protocol.reject(&told);
            self.flush_error();
        }
        Err(End::Failed(cause))
    }

    /// Whether the peer is told why it is refused.
    fn tells_reasons(&self) -> bool {
        self.protocol
            .mechanism()
            .is_some_and(Mechanism::tells_reasons)
    }

    /// The question for the ZAP handler, where there is one.
    fn zap_request(
        &self,
        mechanism: Mechanism,
        decider: Option<Decider<'_>>,
        applicant: Option<&Applicant>,
        reactor: &Reactor,
    ) -> Option<zap::Request> {
        let options = &self.identity.options;
        let has_handler = || zap::has_handler(&self.identity.core, &reactor.inproc);
        // libzmq asks where there is somebody to ask, and always about passwords.
        let lenient = options.as_libzmq && !options.zap_enforced;
        if lenient && mechanism != Mechanism::Plain && !has_handler() {
            return None;
        }
        let domain = match &options.zap_domain {
            // NULL peers are not asked about where there is no name for them.
            Some(domain) if applicant.is_none() && domain.is_empty() => return None,
            Some(domain) => domain.clone(),
            None if decider.is_some_and(Decider::leaves_it_to_zap)
                && (has_handler() || options.as_libzmq) =>
            {
                String::new()
            }
            None => return None,
        };
        let remote = &self.identity.ends.remote;
        let as_libzmq = || remote.as_libzmq(self.transport.process());
        let address = options.as_libzmq.then(as_libzmq).flatten();
        Some(zap::Request {
            context: self.identity.core.context().clone(),
            inproc: reactor.inproc.clone(),
            has_handler: has_handler(),
            limit: options.zap_timeout,
            domain,
            address: address.unwrap_or_else(|| remote.for_zap()),
            routing_id: match options.as_libzmq {
                true => options.routing_id.clone(),
                false => applicant.map_or_else(Vec::new, |it| it.routing_id().to_vec()),
            },
            mechanism,
            credentials: applicant.map_or_else(Vec::new, Applicant::zap_credentials),
        })
    }

    /// Messages may flow. `None` where no protocol says who the peer is.
    pub(super) fn ready(
        &mut self,
        info: Option<Arc<PeerInfo>>,
        reactor: &mut Reactor,
    ) -> Result<(), End> {
        let Some(review) = self.standing.review() else {
            return Ok(());
        };
        let (approval, decided_at) = (review.approval.take(), review.decided_at);
        let (connection, ends) = (self.identity.key.connection, self.identity.ends.clone());
        let (routing_id, process) = (
            self.identity.core.context().routing_ids().assign(),
            self.transport.process(),
        );
        let peer = Arc::new(match info {
            Some(info) => Peer::wire(connection, ends, routing_id, info, approval, process),
            None => Peer::raw(connection, ends, routing_id, process),
        });
        self.hold(&peer)?;
        // The thread that drives a session holds it.
        let Some(link) = self.link.as_ref().and_then(Weak::upgrade) else {
            return Err(End::Failed(FailureCause::Internal));
        };
        let provenance = Provenance {
            routing_id: None,
            connector: self.identity.origin.connector(),
            listener: self.identity.origin.listener(),
            options: Arc::downgrade(&self.identity.options),
            undecided: false,
        };
        match (self.identity.core).attach(peer.clone(), link, provenance) {
            Ok(pipe) => {
                let pipe = PipeEnd::new(pipe, self.bursts.clone());
                let attached = Attached::new(pipe, peer.clone(), reactor.now());
                self.standing = Standing::Attached(attached);
            }
            Err(reason) => return Err(self.reject(reason)),
        }
        self.identity
            .core
            .clients
            .revising
            .attached_after(decided_at);
        self.transport.trust();
        self.permits.became_ready();
        add(&self.identity.core.counters.handshakes_completed, 1);
        self.identity.core.hub.emit(Event::Ready { peer });
        if self.identity.core.is_closing() {
            self.finish(reactor.now());
        }
        self.review_terms(reactor.now());
        reactor.became_ready(self.identity.origin, self.identity.key);
        Ok(())
    }

    /// Counts an accepted connection among those of its key.
    fn hold(&mut self, peer: &Peer) -> Result<(), End> {
        let holder = match self.identity.origin {
            Origin::Listener { .. } => Holder::of(peer),
            Origin::Connector { .. } => None,
        };
        let Some(holder) = holder else { return Ok(()) };
        let core = &self.identity.core;
        let limit = self.identity.options.connections_of_a_key();
        if self.permits.hold(&core.clients, holder, limit) {
            peer.account().set(Kind::Connections, 1);
            return Ok(());
        }
        core.counters.excesses.note(Kind::Connections);
        // It may pass.
        if self.tells_reasons() {
            let reason = "the limit of connections of this key is reached";
            self.reject(Dismissal::Because(reason));
        }
        Err(End::Failed(FailureCause::KeyLimit { limit }))
    }

    /// Tells the peer why it is turned away and ends.
    pub(in crate::engine) fn reject(&mut self, reason: Dismissal) -> End {
        self.protocol.reject(&reason.to_string());
        self.flush_error();
        End::Failed(reason.cause())
    }
}
