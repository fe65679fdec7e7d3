//! Threads for authenticators that may block, so that one slow decision delays no connection
//! but its own.

use std::sync::mpsc::{self, Receiver, SyncSender};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};
use std::thread;

use sealwire_zmtp::connection::Credentials;

use super::mailbox::{Command, Mailbox};
use super::session::SessionKey;
use crate::auth::{
    Client, Decision, PlainClient, PlainCredentials, SharedAuthenticator, SharedPlainAuthenticator,
    Verdict, zap,
};
use crate::peer::PeerAddress;
use crate::socket::SocketCore;

/// How many decisions can be under way at the same time in one context.
const THREADS: usize = 4;
/// How many more clients of one context can wait for theirs, with up to 4 KiB each. Anyone who
/// knows a server's public key can make it ask.
const MAX_WAITING: usize = 1_024;

/// What a question leads to.
pub(super) enum Answer {
    Now(Verdict),
    /// It comes as [`Command::Decided`], unless this is dropped first.
    Later(Pending),
}

/// A question not yet answered. Dropping it withdraws the question.
pub(super) struct Pending(#[expect(dead_code, reason = "it is held, not read")] Arc<()>);

/// What there is to decide about a peer: by the authenticator, then by the ZAP handler. Whoever is
/// there must allow it.
pub(super) struct Inquiry {
    pub(super) applicant: Option<Applicant>,
    pub(super) zap: Option<zap::Request>,
    pub(super) address: PeerAddress,
}

impl Inquiry {
    fn may_block(&self) -> bool {
        self.zap.is_some() || self.applicant.as_ref().is_some_and(Applicant::may_block)
    }

    fn decide(self) -> Verdict {
        let first = match &self.applicant {
            Some(applicant) => applicant.decide(&self.address).into(),
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

/// Who asks to be let in, and whom to ask about it.
pub(super) enum Applicant {
    Key(SharedAuthenticator, Box<Credentials>),
    Password(SharedPlainAuthenticator, Box<PlainCredentials>),
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

    fn decide(&self, address: &PeerAddress) -> Decision {
        match self {
            Applicant::Key(authenticator, credentials) => authenticator.decide(&Client {
                public_key: credentials.public_key,
                address,
                metadata: &credentials.metadata,
            }),
            Applicant::Password(authenticator, credentials) => authenticator.decide(&PlainClient {
                credentials,
                address,
            }),
        }
    }
}

enum Question {
    Peer {
        /// Gone once nobody wants to know any more.
        wanted: Weak<()>,
        session: SessionKey,
        inquiry: Box<Inquiry>,
    },
    /// Whether these sockets' clients are all still allowed.
    Revision(Vec<Weak<SocketCore>>),
}

/// Started with the first question; the threads end with the I/O thread.
pub(super) struct Decisions {
    mailbox: Arc<Mailbox>,
    questions: OnceLock<SyncSender<Question>>,
}

impl Decisions {
    pub(super) fn new(mailbox: Arc<Mailbox>) -> Self {
        Decisions {
            mailbox,
            questions: OnceLock::new(),
        }
    }

    /// The decision, if it can be made here and now.
    pub(super) fn ask(&self, session: SessionKey, inquiry: Inquiry) -> Answer {
        if !inquiry.may_block() {
            return Answer::Now(inquiry.decide());
        }
        let wanted = Arc::new(());
        let question = Question::Peer {
            wanted: Arc::downgrade(&wanted),
            session,
            inquiry: Box::new(inquiry),
        };
        let questions = self.questions.get_or_init(|| self.start());
        match questions.try_send(question) {
            Ok(()) => Answer::Later(Pending(wanted)),
            Err(_) => Answer::Now(Decision::refuse("the server cannot decide now").into()),
        }
    }

    /// Lets these sockets look after their clients, unless the threads are busy.
    pub(super) fn revise(&self, sockets: Vec<Weak<SocketCore>>) {
        let questions = self.questions.get_or_init(|| self.start());
        // When the queue is full the next period will do.
        let _ = questions.try_send(Question::Revision(sockets));
    }

    fn start(&self) -> SyncSender<Question> {
        let (sender, receiver) = mpsc::sync_channel(MAX_WAITING);
        let receiver = Arc::new(Mutex::new(receiver));
        for number in 0..THREADS {
            let (receiver, mailbox) = (receiver.clone(), self.mailbox.clone());
            let spawned = thread::Builder::new()
                .name(format!("sealwire-auth-{number}"))
                .spawn(move || answer(&receiver, &mailbox));
            if let Err(error) = spawned {
                tracing::error!(target: "sealwire", %error, "cannot start an authenticator thread");
            }
        }
        sender
    }
}

fn answer(questions: &Mutex<Receiver<Question>>, mailbox: &Mailbox) {
    loop {
        let next = questions
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .recv();
        match next {
            Err(_) => return,
            Ok(Question::Peer {
                wanted,
                session,
                inquiry,
            }) => {
                if wanted.strong_count() > 0 {
                    mailbox.post(Command::Decided(session, inquiry.decide()));
                }
            }
            Ok(Question::Revision(sockets)) => {
                for core in sockets.iter().filter_map(Weak::upgrade) {
                    core.revise_clients();
                }
            }
        }
    }
}
