//! Threads for authenticators that may block, so that one slow decision delays no connection
//! but its own.

use std::sync::mpsc::{self, Receiver, SyncSender};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};
use std::thread;

use sealwire_zmtp::connection::Credentials;

use super::mailbox::{Command, Mailbox};
use super::session::SessionKey;
use crate::auth::{Client, Decision, SharedAuthenticator, Verdict, zap};
use crate::peer::PeerAddress;

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
    pub(super) authenticator: Option<(SharedAuthenticator, Credentials)>,
    pub(super) zap: Option<zap::Request>,
    pub(super) address: PeerAddress,
}

impl Inquiry {
    fn may_block(&self) -> bool {
        let slow = |(authenticator, _): &(SharedAuthenticator, _)| authenticator.may_block();
        self.zap.is_some() || self.authenticator.as_ref().is_some_and(slow)
    }

    fn decide(self) -> Verdict {
        let first = match &self.authenticator {
            Some((authenticator, credentials)) => {
                decide(authenticator, credentials, &self.address).into()
            }
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

struct Question {
    /// Gone once nobody wants to know any more.
    wanted: Weak<()>,
    session: SessionKey,
    inquiry: Inquiry,
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
        let question = Question {
            wanted: Arc::downgrade(&wanted),
            session,
            inquiry,
        };
        let questions = self.questions.get_or_init(|| self.start());
        match questions.try_send(question) {
            Ok(()) => Answer::Later(Pending(wanted)),
            Err(_) => Answer::Now(Decision::refuse("the server cannot decide now").into()),
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
            inquiry,
        }) = next
        else {
            return;
        };
        if wanted.strong_count() == 0 {
            continue;
        }
        mailbox.post(Command::Decided(session, inquiry.decide()));
    }
}

fn decide(
    authenticator: &SharedAuthenticator,
    credentials: &Credentials,
    address: &PeerAddress,
) -> Decision {
    authenticator.decide(&Client {
        public_key: credentials.public_key,
        address,
        metadata: &credentials.metadata,
    })
}
