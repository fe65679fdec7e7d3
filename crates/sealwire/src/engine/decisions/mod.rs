//! Threads for authenticators that may block, so that one slow decision delays no connection
//! but its own.

mod desk;
mod revisions;

use std::sync::{Arc, Weak};

use sealwire_zmtp::mechanism::Credentials;

use self::desk::{Ask, Busy, Desk};
use self::revisions::Revisions;
use super::mailbox::{Command, Mailbox};
use super::session_key::SessionKey;
use super::world::World;
use crate::auth::{
    Admission, Client, Decision, GuardedAuthenticator, GuardedPlainAuthenticator, Guest,
    PlainClient, PlainCredentials, Status, Verdict, undecided,
};
use crate::core::SocketCore;
use crate::guard;
use crate::peer::{PeerAddress, ProcessCredentials};
use crate::zap;

/// What a question leads to.
pub(super) enum Answer {
    Now(Verdict),
    /// It comes as [`Command::Decided`], unless this is dropped first.
    Later(Pending),
}

/// A question not yet answered. Dropping it withdraws the question.
pub(super) struct Pending(#[expect(dead_code, reason = "it is held, not read")] Arc<()>);

/// What there is to decide about a peer: at the door, by the authenticator, then by the ZAP
/// handler. Each that is there must allow it.
pub(super) struct Inquiry {
    pub(super) admission: Option<Admission>,
    pub(super) applicant: Option<Applicant>,
    pub(super) zap: Option<zap::Request>,
    pub(super) address: PeerAddress,
    pub(super) process: Option<ProcessCredentials>,
    /// For an admission, which alone asks for them.
    pub(super) groups: Vec<u32>,
}

impl Inquiry {
    fn may_block(&self) -> bool {
        self.zap.is_some()
            || self.admission.is_some()
            || self.applicant.as_ref().is_some_and(Applicant::may_block)
    }

    /// Decides, also where what others have written panics.
    fn decide_guarded(self) -> Verdict {
        let address = self.address.clone();
        guard::contain_unlogged(move || self.decide()).unwrap_or_else(|| undecided(&address).into())
    }

    fn decide(self) -> Verdict {
        if let Some(admission) = &self.admission {
            let decision = admission.decide(&Guest {
                address: &self.address,
                process: self.process,
                groups: &self.groups,
            });
            if let Decision::Refuse { .. } = decision {
                return decision.into();
            }
        }
        let first = match &self.applicant {
            Some(applicant) => applicant.decide(&self.address, self.process).into(),
            None => Decision::from(true).into(),
        };
        match (first, self.zap) {
            (Verdict::Allowed { user_id: named, .. }, Some(request)) => match request.ask() {
                Verdict::Allowed { user_id, metadata } => Verdict::Allowed {
                    user_id: user_id.or(named),
                    metadata,
                },
                refused => refused,
            },
            (verdict, _) => verdict,
        }
    }
}

/// A peer that asks to be let in, and the authenticator to ask about it.
pub(super) enum Applicant {
    Key(GuardedAuthenticator, Box<Credentials>),
    Password(GuardedPlainAuthenticator, Box<PlainCredentials>),
}

impl Applicant {
    /// What a ZAP handler gets to see.
    pub(super) fn zap_credentials(&self) -> Vec<Vec<u8>> {
        match self {
            Applicant::Key(_, credentials) => vec![credentials.public_key.as_bytes().to_vec()],
            Applicant::Password(_, credentials) => vec![
                credentials.username().to_vec(),
                credentials.password().to_vec(),
            ],
        }
    }

    /// What the peer calls itself, where it has said so already.
    pub(super) fn routing_id(&self) -> &[u8] {
        match self {
            Applicant::Key(_, credentials) => &credentials.routing_id,
            Applicant::Password(..) => &[],
        }
    }

    fn may_block(&self) -> bool {
        match self {
            Applicant::Key(authenticator, _) => authenticator.may_block(),
            Applicant::Password(authenticator, _) => authenticator.may_block(),
        }
    }

    fn decide(&self, address: &PeerAddress, process: Option<ProcessCredentials>) -> Decision {
        match self {
            Applicant::Key(authenticator, credentials) => authenticator.decide(&Client {
                public_key: credentials.public_key,
                address,
                metadata: &credentials.metadata,
                process,
            }),
            Applicant::Password(authenticator, credentials) => authenticator.decide(&PlainClient {
                credentials,
                address,
                process,
            }),
        }
    }
}

/// A question about a peer, for the threads that may block.
struct Question {
    /// Gone once nobody wants to know any more.
    wanted: Weak<()>,
    session: SessionKey,
    inquiry: Box<Inquiry>,
    mailbox: Arc<Mailbox>,
}

impl Ask for Question {
    fn answer(self) {
        let verdict = self.inquiry.decide_guarded();
        self.mailbox.post(Command::Decided(self.session, verdict));
    }

    fn is_wanted(&self) -> bool {
        self.wanted.strong_count() > 0
    }
}

/// Threads are started as they are needed and end with the I/O thread.
pub(super) struct Decisions {
    mailbox: Arc<Mailbox>,
    world: Arc<dyn World>,
    desk: Desk<Question>,
    revisions: Revisions,
}

impl Decisions {
    pub(super) fn new(mailbox: Arc<Mailbox>, world: Arc<dyn World>) -> Self {
        Decisions {
            mailbox,
            world,
            desk: Desk::new(),
            revisions: Revisions::default(),
        }
    }

    /// The decision about a peer of this socket, if it can be made here and now.
    pub(super) fn ask(&self, socket: u64, session: SessionKey, inquiry: Inquiry) -> Answer {
        if !inquiry.may_block() {
            return Answer::Now(inquiry.decide_guarded());
        }
        let wanted = Arc::new(());
        let question = Question {
            wanted: Arc::downgrade(&wanted),
            session,
            inquiry: Box::new(inquiry),
            mailbox: self.mailbox.clone(),
        };
        match self.desk.ask(&*self.world, socket, question) {
            Ok(()) => Answer::Later(Pending(wanted)),
            Err(Busy) => {
                let busy = "the server cannot decide now";
                Answer::Now(Decision::refuse_as(Status::Temporary, busy).into())
            }
        }
    }

    /// Lets these sockets look after their clients.
    pub(super) fn revise(&self, sockets: &[Weak<SocketCore>]) {
        self.revisions.revise(&*self.world, sockets);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Parting;

    impl Drop for Parting {
        fn drop(&mut self) {
            panic!("the end of what was given to ask");
        }
    }

    /// A socket may be gone before the question about its client is answered.
    #[test]
    fn what_ends_with_the_last_question_may_panic() {
        let parting = Parting;
        let inquiry = Inquiry {
            admission: Some(Admission::new(move |_: &Guest<'_>| {
                let _parting = &parting;
                true
            })),
            applicant: None,
            zap: None,
            address: PeerAddress::Tcp(([127, 0, 0, 1], 1).into()),
            process: None,
            groups: Vec::new(),
        };
        let verdict = inquiry.decide_guarded();
        assert!(!matches!(verdict, Verdict::Allowed { .. }));
    }
}
