//! Sending and receiving.

use std::collections::VecDeque;
use std::time::Duration;

use magnus::typed_data::Obj;
use magnus::{Error, RArray, Ruby, Value};
use sealwire::{Error as Failed, Message as Inner, Operation, blocking};

use super::{Socket, with_timeout};
use crate::message::{Message, outgoing};
use crate::{errors, gvl, waiting};

/// How long a thread that waits for a message serves its connection itself, which makes an answer
/// that comes at once come sooner. It cannot be interrupted meanwhile.
const OWN_SERVICE: Duration = Duration::from_millis(2);

/// Messages of more bytes than this are sealed while other threads of Ruby run.
const LARGE: usize = 32 * 1024;

impl Socket {
    pub(super) fn push(ruby: &Ruby, this: Obj<Self>, message: Value) -> Result<Obj<Self>, Error> {
        this.send_within(ruby, message, None)?;
        Ok(this)
    }

    pub(super) fn send(ruby: &Ruby, this: Obj<Self>, args: &[Value]) -> Result<Obj<Self>, Error> {
        if let [message] = args {
            this.send_within(ruby, *message, None)?;
        } else {
            let (message, limit) = with_timeout::<(Value,)>(ruby, args)?;
            this.send_within(ruby, message.0, limit)?;
        }
        Ok(this)
    }

    /// `limit` is the one that was given, if any was.
    fn send_within(
        &self,
        ruby: &Ruby,
        message: Value,
        limit: Option<Option<Duration>>,
    ) -> Result<(), Error> {
        let socket = self.socket(ruby)?;
        let Err(refused) = Self::try_once(ruby, socket, outgoing(message)?) else {
            return Ok(());
        };
        let Failed::WouldBlock = refused.error() else {
            return Err(errors::raised(ruby, refused.error()));
        };
        let limit = limit.unwrap_or_else(|| self.send_timeout.get());
        let deadline = waiting::deadline(limit);
        let message = refused.into_message();
        // Copies no payload.
        let sent = self.wait(
            ruby,
            socket,
            async || socket.send(message.clone()).await,
            deadline,
        )?;
        // Another attempt for want of time tells why there was no room.
        let sent = sent.unwrap_or_else(|| blocking(socket).send_timeout(message, Duration::ZERO));
        sent.map_err(|refused| raised_within(ruby, refused.into(), limit.unwrap_or_default()))
    }

    fn try_once(
        ruby: &Ruby,
        socket: &sealwire::Socket,
        message: Inner,
    ) -> Result<(), sealwire::SendError> {
        if message.size() > LARGE {
            gvl::lent(ruby, || socket.try_send(message))
        } else {
            socket.try_send(message)
        }
    }

    /// `false` when there is no room.
    pub(super) fn try_send(ruby: &Ruby, this: &Self, message: Value) -> Result<bool, Error> {
        let socket = this.socket(ruby)?;
        match Self::try_once(ruby, socket, outgoing(message)?) {
            Ok(()) => Ok(true),
            Err(refused) => match refused.error() {
                Failed::WouldBlock => Ok(false),
                error => Err(errors::raised(ruby, error)),
            },
        }
    }

    /// Sends messages in order and gives their number: fewer than there were where the time ran out
    /// or the next cannot be sent, an error where none was sent.
    pub(super) fn send_many(ruby: &Ruby, this: &Self, args: &[Value]) -> Result<usize, Error> {
        let (messages, limit) = with_timeout::<(RArray,)>(ruby, args)?;
        let mut queue =
            (messages.0.into_iter().map(outgoing)).collect::<Result<VecDeque<Inner>, Error>>()?;
        let count = queue.len();
        let socket = this.socket(ruby)?;
        let limit = limit.unwrap_or_else(|| this.send_timeout.get());
        let deadline = waiting::deadline(limit);
        // Large ones are sealed here.
        let tried = gvl::lent(ruby, || socket.try_send_many(&mut queue));
        let outcome = match tried {
            Ok(_) if queue.is_empty() => return Ok(count),
            Ok(_) => this.wait(
                ruby,
                socket,
                async || socket.send_many(&mut queue).await,
                deadline,
            )?,
            Err(error) => Some(Err(error)),
        };
        match (outcome, count - queue.len()) {
            (_, sent @ 1..) => Ok(sent),
            (Some(outcome), _) => outcome.map_err(|error| errors::raised(ruby, &error)),
            (None, _) => {
                let limit = limit.unwrap_or_default();
                Err(errors::timed_out(ruby, Operation::Send, limit, socket))
            }
        }
    }

    pub(super) fn receive(ruby: &Ruby, this: &Self, args: &[Value]) -> Result<Obj<Message>, Error> {
        let limit = if args.is_empty() {
            None
        } else {
            with_timeout::<()>(ruby, args)?.1
        };
        let socket = this.socket(ruby)?;
        let message = match socket.try_recv() {
            Err(Failed::WouldBlock) => {
                let limit = limit.unwrap_or_else(|| this.recv_timeout.get());
                let deadline = waiting::deadline(limit);
                let received = match waiting::attempt(ruby, own_service(socket, limit))? {
                    Some(received) => received,
                    None => {
                        match this.wait(
                            ruby,
                            socket,
                            async || this.reading.open(socket.recv()).await,
                            deadline,
                        )? {
                            Some(Some(received)) => received,
                            Some(None) => return Err(errors::read_closed(ruby)),
                            // Another attempt for want of time tells why nothing came.
                            None => blocking(socket).recv_timeout(Duration::ZERO),
                        }
                    }
                };
                received.map_err(|error| raised_within(ruby, error, limit.unwrap_or_default()))?
            }
            tried => tried.map_err(|error| errors::raised(ruby, &error))?,
        };
        Ok(Message::wrap(ruby, message))
    }

    /// `nil` when there is none.
    pub(super) fn try_receive(ruby: &Ruby, this: &Self) -> Result<Option<Obj<Message>>, Error> {
        match this.socket(ruby)?.try_recv() {
            Ok(message) => Ok(Some(Message::wrap(ruby, message))),
            Err(Failed::WouldBlock) => Ok(None),
            Err(error) => Err(errors::raised(ruby, &error)),
        }
    }

    /// Waits for one, then takes up to so many that are there.
    pub(super) fn receive_many(ruby: &Ruby, this: &Self, args: &[Value]) -> Result<RArray, Error> {
        let (most, limit) = with_timeout::<(usize,)>(ruby, args)?;
        let limit = limit.unwrap_or_else(|| this.recv_timeout.get());
        let socket = this.socket(ruby)?;
        let mut messages = Vec::new();
        let received = {
            let taken = async || {
                this.reading
                    .open(socket.recv_many(&mut messages, most.0))
                    .await
            };
            this.wait(ruby, socket, taken, waiting::deadline(limit))?
        };
        let received = match received {
            Some(Some(received)) => received,
            Some(None) => return Err(errors::read_closed(ruby)),
            None => blocking(socket).recv_many_timeout(&mut messages, most.0, Duration::ZERO),
        };
        received.map_err(|error| raised_within(ruby, error, limit.unwrap_or_default()))?;
        let messages = messages.into_iter();
        Ok(ruby.ary_from_iter(messages.map(|message| Message::wrap(ruby, message))))
    }
}

/// The method with limits.
fn blocking(socket: &sealwire::Socket) -> blocking::Socket {
    blocking::Socket::from(socket.clone())
}

/// An error, where one of time is about the whole limit.
fn raised_within(ruby: &Ruby, mut error: Failed, whole: Duration) -> Error {
    match &mut error {
        Failed::TimedOut { limit, .. } => {
            *limit = whole;
            errors::expired(ruby, error)
        }
        _ => errors::raised(ruby, &error),
    }
}

/// Receives for a moment as threads of Rust do.
fn own_service(
    socket: &sealwire::Socket,
    limit: Option<Duration>,
) -> impl FnOnce() -> Option<Result<Inner, Failed>> + Send + use<> {
    let socket = blocking(socket);
    let limit = limit.map_or(OWN_SERVICE, |limit| limit.min(OWN_SERVICE));
    move || match socket.recv_timeout(limit) {
        Err(Failed::TimedOut { .. }) => None,
        received => Some(received),
    }
}
