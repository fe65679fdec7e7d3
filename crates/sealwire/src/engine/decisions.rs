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
};
use crate::peer::PeerAddress;

/// How many decisions can be under way at the same time in one context.
const THREADS: usize = 4;
/// How many more clients of one context can wait for theirs, with up to 4 KiB each. Anyone who
/// knows a server's public key can make it ask.
const MAX_WAITING: usize = 1_024;

/// What a question leads to.
pub(super) enum Answer {
    Now(Decision),
    /// It comes as [`Command::Decided`], unless this is dropped first.
    Later(Pending),
}

/// A question not yet answered. Dropping it withdraws the question.
pub(super) struct Pending(#[expect(dead_code, reason = "it is held, not read")] Arc<()>);

struct Question {
    /// Gone once nobody wants to know any more.
    wanted: Weak<()>,
    session: SessionKey,
    applicant: Applicant,
    address: PeerAddress,
}

/// Who asks to be let in, and whom to ask about it.
pub(super) enum Applicant {
    Key(SharedAuthenticator, Box<Credentials>),
    Password(SharedPlainAuthenticator, Box<PlainCredentials>),
}

impl Applicant {
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
    pub(super) fn ask(
        &self,
        session: SessionKey,
        applicant: Applicant,
        address: &PeerAddress,
    ) -> Answer {
        if !applicant.may_block() {
            return Answer::Now(applicant.decide(address));
        }
        let wanted = Arc::new(());
        let question = Question {
            wanted: Arc::downgrade(&wanted),
            session,
            applicant,
            address: address.clone(),
        };
        let questions = self.questions.get_or_init(|| self.start());
        match questions.try_send(question) {
            Ok(()) => Answer::Later(Pending(wanted)),
            Err(_) => Answer::Now(Decision::refuse("the server cannot decide now")),
        }
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
        let Ok(Question {
            wanted,
            session,
            applicant,
            address,
        }) = next
        else {
            return;
        };
        if wanted.strong_count() == 0 {
            continue;
        }
        let decision = applicant.decide(&address);
        mailbox.post(Command::Decided(session, decision));
    }
}
