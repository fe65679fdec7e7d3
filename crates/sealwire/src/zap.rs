//! Asks the ZAP handler of a context about a peer, and reads its answer.
//! [`auth::zap`](crate::auth::zap) says what a handler is and what it is asked. This module does not
//! interpret the mechanism's credentials.

use std::sync::Arc;
use std::time::Duration;

use sealwire_zmtp::wire::metadata::Metadata;
use sealwire_zmtp::{Mechanism, SocketType};

use crate::auth::Verdict;
use crate::auth::zap::Fault;
use crate::core::{ContextCore, SocketCore};
use crate::endpoint::Endpoint;
use crate::error::Error;
use crate::inproc;
use crate::message::Message;
use crate::monitor::Event;
use crate::options::SocketOptions;

const NAME: &str = "zeromq.zap.01";
const VERSION: &[u8] = b"1.0";

/// Whether a handler is bound in the context of this socket, or was when this was asked before: one
/// that went away must not open the door.
pub(crate) fn has_handler(core: &SocketCore, inproc: &inproc::Registry) -> bool {
    core.clients.has_had_zap_handler(inproc.is_bound(NAME))
}

/// Says once that everybody is let in, where that is so and a handler could change it.
pub(crate) fn warn_of_anyone(
    core: &SocketCore,
    options: &SocketOptions,
    inproc: &inproc::Registry,
    endpoint: &Endpoint,
) {
    let open = options.security.leaves_it_to_zap()
        && options.zap_domain.is_none()
        && !has_handler(core, inproc);
    if open && core.clients.is_to_warn_of_anyone() {
        let endpoint = endpoint.clone();
        core.hub.emit(Event::AnyoneAllowed { endpoint });
    }
}

/// One question to the handler.
pub(crate) struct Request {
    pub(crate) context: Arc<ContextCore>,
    pub(crate) inproc: Arc<inproc::Registry>,
    /// Whether a handler is bound, or was.
    pub(crate) has_handler: bool,
    pub(crate) limit: Duration,
    pub(crate) domain: String,
    pub(crate) address: String,
    pub(crate) routing_id: Vec<u8>,
    pub(crate) mechanism: Mechanism,
    pub(crate) credentials: Vec<Vec<u8>>,
}

impl Request {
    /// Asks, and waits for the answer. **Blocks**, no longer than the limit.
    pub(crate) fn ask(self) -> Verdict {
        if !self.inproc.is_bound(NAME) {
            let fault = match self.has_handler {
                true => Fault::Gone,
                false => Fault::NoHandler,
            };
            return Verdict::undecided(fault, None);
        }
        // Digits, as handlers in C take it for a text.
        let id = self.context.next_number().to_string().into_bytes();
        match self.exchange(&id) {
            Ok(reply) => read(&reply, &id),
            Err(Error::RequestLost) => Verdict::undecided(Fault::Gone, None),
            Err(Error::TimedOut { .. }) => {
                let limit = format!("{:?}", self.limit);
                Verdict::undecided(Fault::NoAnswer, Some(&limit))
            }
            Err(error) => Verdict::undecided(Fault::NotAsked, Some(&error)),
        }
    }

    fn exchange(&self, id: &[u8]) -> Result<Message, Error> {
        let caller = Caller::connect(&self.context, &self.inproc)?;
        let address = self.address.as_bytes();
        let mut request = Message::multipart([
            VERSION,
            id,
            self.domain.as_bytes(),
            address,
            &self.routing_id,
            self.mechanism.name().as_bytes(),
        ]);
        for credential in &self.credentials {
            request.push_back(&credential[..]);
        }
        caller.core.send_within(request, Some(self.limit))?;
        caller.core.recv_within(Some(self.limit))
    }
}

/// A REQ socket for one question, without a handle: those stand above.
struct Caller<'a> {
    core: Arc<SocketCore>,
    inproc: &'a inproc::Registry,
}

impl<'a> Caller<'a> {
    fn connect(
        context: &Arc<ContextCore>,
        inproc: &'a Arc<inproc::Registry>,
    ) -> Result<Self, Error> {
        let options = SocketOptions::new(SocketType::Req);
        let core = SocketCore::new(context.clone(), options)?;
        let caller = Caller { core, inproc };
        inproc.connect(
            &caller.core,
            &caller.core.options(),
            NAME,
            context.next_number(),
            None,
        )?;
        Ok(caller)
    }
}

impl Drop for Caller<'_> {
    fn drop(&mut self) {
        // Nothing lingers: who asked has the answer, or wants it no more.
        self.core.begin_close(None);
        self.inproc.close(&self.core);
        self.inproc.abort(&self.core);
    }
}

fn read(reply: &Message, id: &[u8]) -> Verdict {
    let [version, reply_id, status, text, user_id, metadata] = reply.frames() else {
        return Verdict::undecided(Fault::Frames, None);
    };
    if version.as_slice() != VERSION {
        return Verdict::undecided(Fault::Version, None);
    }
    if reply_id.as_slice() != id {
        return Verdict::undecided(Fault::RequestId, None);
    }
    let refused = |status| Verdict::RefusedByZap {
        status,
        text: String::from_utf8_lossy(text).into_owned(),
        fault: None,
    };
    match status.as_slice() {
        b"200" => match Metadata::parse(metadata) {
            Ok(metadata) => Verdict::Allowed {
                user_id: Some(String::from_utf8_lossy(user_id).into_owned())
                    .filter(|user_id| !user_id.is_empty()),
                metadata: Some(metadata),
            },
            Err(error) => Verdict::undecided(Fault::Metadata, Some(&error)),
        },
        b"300" => refused(300),
        b"400" => refused(400),
        b"500" => refused(500),
        _ => Verdict::undecided(Fault::Status, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::auth::zap::ENDPOINT;
    use crate::context::Context;
    use crate::socket::blocking::Socket;

    fn question(context: &Context) -> Request {
        Request {
            context: context.core().clone(),
            inproc: context.inproc().clone(),
            has_handler: true,
            limit: Duration::from_millis(1),
            domain: String::new(),
            address: "127.0.0.1".into(),
            routing_id: Vec::new(),
            mechanism: Mechanism::Null,
            credentials: Vec::new(),
        }
    }

    #[test]
    fn a_question_without_an_answer_leaves_no_connection_behind() {
        let context = Context::new().unwrap();
        let handler = Socket::builder(SocketType::Router).context(&context);
        let handler = handler.build_blocking().unwrap();
        handler.bind(ENDPOINT).unwrap();
        match question(&context).ask() {
            Verdict::RefusedByZap { status, fault, .. } => {
                assert_eq!((status, fault), (300, Some(Fault::NoAnswer)));
            }
            other => panic!("{other:?}"),
        }
        // A name, the delimiter of REQ, and the question.
        let question = handler.recv().unwrap();
        assert_eq!(question.frames()[2].as_slice(), VERSION);
        // Handlers in C read it as a text.
        let id = question.frames()[3].as_slice();
        assert!(
            !id.is_empty() && id.iter().all(u8::is_ascii_digit),
            "{id:?}"
        );
        assert!(handler.peers().is_empty());
    }

    fn verdict(frames: &[&[u8]]) -> Verdict {
        read(&Message::multipart(frames.iter().copied()), b"id")
    }

    #[test]
    fn answers_are_read_strictly() {
        let metadata = b"\x04Role\0\0\0\x05admin";
        match verdict(&[b"1.0", b"id", b"200", b"OK", b"alice", metadata]) {
            Verdict::Allowed {
                user_id,
                metadata: Some(metadata),
            } => {
                assert_eq!(user_id.as_deref(), Some("alice"));
                assert_eq!(metadata.get("role"), Some(&b"admin"[..]));
            }
            other => panic!("{other:?}"),
        }
        let refused = |frames: &[&[u8]]| match verdict(frames) {
            Verdict::RefusedByZap { status, fault, .. } => (status, fault),
            other => panic!("{other:?}"),
        };
        for code in [300, 400, 500] {
            let text = code.to_string();
            let frames = [b"1.0", &b"id"[..], text.as_bytes(), b"no", b"", b""];
            assert_eq!(refused(&frames), (code, None));
        }
        let faulty = |frames: &[&[u8]], fault| {
            assert_eq!(refused(frames), (500, Some(fault)));
        };
        faulty(&[], Fault::Frames);
        faulty(&[b"1.0", b"id", b"200", b"", b""], Fault::Frames);
        faulty(&[b"1.0", b"id", b"200", b"", b"", b"", b""], Fault::Frames);
        faulty(&[b"2.0", b"id", b"200", b"", b"", b""], Fault::Version);
        faulty(&[b"1.0", b"other", b"200", b"", b"", b""], Fault::RequestId);
        faulty(&[b"1.0", b"id", b"201", b"", b"", b""], Fault::Status);
        faulty(&[b"1.0", b"id", b"200", b"", b"", b"\x09"], Fault::Metadata);
    }

    #[test]
    fn a_handler_that_is_gone_is_told_from_one_that_never_was() {
        let context = Context::new().unwrap();
        for (has_handler, expected) in [(true, Fault::Gone), (false, Fault::NoHandler)] {
            let request = Request {
                has_handler,
                ..question(&context)
            };
            match request.ask() {
                Verdict::RefusedByZap { status, fault, .. } => {
                    assert_eq!((status, fault), (300, Some(expected)));
                }
                other => panic!("{other:?}"),
            }
        }
    }
}
