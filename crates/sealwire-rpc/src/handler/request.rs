//! What a peer asks and says, as its handler gets it.

use std::time::{Duration, Instant};

use crate::conn::Conn;
use crate::counters::count;
use crate::proto::{Answered, Asked, Body, Metadata, Protocol, ServedKey};
use crate::status::{Code, Error, Status};
use crate::stream;

/// A request of a peer. Dropped without an answer it is answered with an internal error.
pub struct Request {
    conn: Conn,
    key: ServedKey,
    body: Body,
    /// By the clock of the hub.
    due: Option<Duration>,
    streams: bool,
    answered: bool,
}

impl Request {
    pub(crate) fn new(conn: Conn, asked: Asked) -> Self {
        Request {
            conn,
            key: asked.key,
            body: asked.body,
            due: asked.due,
            streams: asked.streams,
            answered: false,
        }
    }

    /// Returns the body of the request.
    pub fn body(&self) -> &Body {
        &self.body
    }

    /// Returns what the caller, or its interceptors, sent beside the body. It is theirs to choose: only the
    /// connection says who they are.
    pub fn metadata(&self) -> Metadata<'_> {
        self.body.metadata()
    }

    /// Returns the connection it came through, to call its peer or to see who that is.
    pub fn conn(&self) -> &Conn {
        &self.conn
    }

    /// Returns the time at which the caller stops waiting, at most an eighth later than the caller said;
    /// `None` for never.
    pub fn deadline(&self) -> Option<Instant> {
        self.due.map(|due| self.conn.link().hub().at(due))
    }

    /// Returns how long the caller still waits, from now; `None` without a limit.
    pub fn time_left(&self) -> Option<Duration> {
        let left = |due: Duration| due.saturating_sub(self.now());
        self.due.map(left)
    }

    /// Returns whether the call has streams: [`send`](Request::send) and [`next`](Request::next).
    pub fn has_streams(&self) -> bool {
        self.streams
    }

    /// Returns whether the caller has stopped waiting.
    pub fn is_cancelled(&self) -> bool {
        let cancelled = || self.conn.served(|proto| proto.is_cancelled(self.key));
        self.is_overdue() || cancelled().unwrap_or(true)
    }

    fn is_overdue(&self) -> bool {
        self.due.is_some_and(|due| due <= self.now())
    }

    fn now(&self) -> Duration {
        self.conn.link().hub().now()
    }

    /// Waits until the caller has taken its request back.
    pub async fn cancelled(&self) {
        self.conn.cancelled(self.key).await;
    }

    /// Receives the next item of the caller; `None` if it sends no more. It has said so, or it is gone or has
    /// stopped waiting: then [`is_cancelled`](Request::is_cancelled) is true, and items may be missing.
    pub async fn next(&self) -> Option<Body> {
        let key = self.key;
        stream::next(self.conn.link(), |proto, waker| {
            proto.poll_served_item(key, waker)
        })
        .await
    }

    /// Receives the next item of the caller, waiting at most `limit` for it; `None` as for
    /// [`next`](Request::next).
    ///
    /// # Errors
    ///
    /// [`Error::TimedOut`] if none comes within `limit`: the call goes on.
    pub async fn next_timeout(&self, limit: Duration) -> Result<Option<Body>, Error> {
        match self.next_no_wait() {
            Err(Error::WouldBlock) => {
                stream::next_within(self.conn.link(), limit, self.next()).await
            }
            done => done,
        }
    }

    /// Receives the next item of the caller if it is here, wherever the handler runs; `None` as for
    /// [`next`](Request::next).
    ///
    /// # Errors
    ///
    /// [`Error::WouldBlock`] if it is not.
    pub fn next_no_wait(&self) -> Result<Option<Body>, Error> {
        stream::next_no_wait(self.conn.link(), |proto, waker| {
            proto.poll_served_item(self.key, waker)
        })
    }

    /// Sends an item to the caller, waiting for it to want one.
    ///
    /// # Errors
    ///
    /// [`Error::StreamEnded`] if the caller has gone, [`Error::TooLarge`] if it does not take an item of this
    /// size.
    pub async fn send(&self, item: &[u8]) -> Result<(), Error> {
        let key = self.key;
        let attempt = |proto: &mut Protocol, waker: &std::task::Waker| {
            proto.send_served_item(key, item, waker)
        };
        stream::send(self.conn.link(), attempt).await
    }

    /// Sends an item to the caller, waiting at most `limit` for it to want one.
    ///
    /// # Errors
    ///
    /// [`Error::Congested`] if it wants none within `limit`. Otherwise those of [`send`](Request::send).
    pub async fn send_timeout(&self, item: &[u8], limit: Duration) -> Result<(), Error> {
        match self.send_no_wait(item) {
            Err(Error::WouldBlock) => {
                stream::send_within(self.conn.link(), limit, self.send(item)).await
            }
            done => done,
        }
    }

    /// Sends an item to the caller if it wants one now, wherever the handler runs.
    ///
    /// # Errors
    ///
    /// [`Error::WouldBlock`] if it does not. Otherwise those of [`send`](Request::send).
    pub fn send_no_wait(&self, item: &[u8]) -> Result<(), Error> {
        stream::send_no_wait(self.conn.link(), |proto, waker| {
            proto.send_served_item(self.key, item, waker)
        })
    }

    /// Answers with this body. An answer after the deadline is not sent: nobody waits for it.
    ///
    /// # Errors
    ///
    /// * [`Error::TooLarge`] if the caller does not take a body of this size; it gets an error instead.
    /// * [`Error::WouldBlock`] if the caller reads no answers and too many bytes of them wait already
    ///   ([`answer_budget`](crate::Limits::answer_budget)); it gets an error instead.
    /// * [`Error::Forked`] in a child of the process that got the request.
    pub fn reply(mut self, body: &[u8]) -> Result<(), Error> {
        self.answered = true;
        if self.is_overdue() {
            self.answer_overdue();
            return Ok(());
        }
        match self
            .conn
            .served(|proto| proto.reply_and_release(self.key, body))
        {
            None => Err(Error::Forked),
            Some(Answered::NotRead) => {
                self.answer_error(&Status::from(Code::RESOURCE_EXHAUSTED));
                Err(Error::WouldBlock)
            }
            Some(Answered::Sent) => Ok(()),
            Some(Answered::TooLate) => {
                self.too_late();
                Ok(())
            }
            Some(Answered::TooLarge { size, limit }) => {
                self.answer_error(&Status::new(
                    Code::OUT_OF_RANGE,
                    format!("the reply of {size} bytes is larger than the {limit} that are taken"),
                ));
                Err(Error::TooLarge { size, limit })
            }
        }
    }

    /// Answers with an error.
    pub fn fail(mut self, status: impl Into<Status>) {
        self.answered = true;
        if self.is_overdue() {
            return self.answer_overdue();
        }
        self.answer_error(&status.into());
    }

    /// Answers with the outcome of a handler: its body, or its error.
    pub fn answer<R: AsRef<[u8]>>(self, outcome: Result<R, Status>) {
        match outcome {
            // The caller has been told what is wrong with the reply.
            Ok(reply) => drop(self.reply(reply.as_ref())),
            Err(status) => self.fail(status),
        }
    }

    fn answer_error(&self, status: &Status) {
        let answered = |proto: &mut Protocol| proto.fail_and_release(self.key, status);
        if self.conn.served(answered) == Some(Answered::TooLate) {
            self.too_late();
        }
    }

    /// The caller's own clock has ended the call, whether its word about that is here yet or not.
    fn answer_overdue(&self) {
        let status = Status::from(Code::DEADLINE_EXCEEDED);
        self.conn
            .served(|proto| proto.fail_and_release(self.key, &status));
        self.too_late();
    }

    fn too_late(&self) {
        count(&self.conn.link().hub().counters.answers_too_late);
    }
}

impl Drop for Request {
    fn drop(&mut self) {
        if !self.answered {
            self.answer_error(&Status::new(Code::INTERNAL, "the handler gave no answer"));
        }
        self.conn.served(|proto| proto.release(self.key));
    }
}

impl std::fmt::Debug for Request {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Request")
            .field("body", &self.body)
            .field("peer", &self.conn.peer().to_string())
            .finish()
    }
}

/// A one-way message of a peer.
pub struct OneWay {
    conn: Conn,
    body: Body,
}

impl OneWay {
    pub(crate) fn new(conn: Conn, body: Body) -> Self {
        OneWay { conn, body }
    }

    /// Returns the body of the message.
    pub fn body(&self) -> &Body {
        &self.body
    }

    /// Returns what the sender, or its interceptors, sent beside the body.
    pub fn metadata(&self) -> Metadata<'_> {
        self.body.metadata()
    }

    /// Returns the connection it came through.
    pub fn conn(&self) -> &Conn {
        &self.conn
    }
}

impl Drop for OneWay {
    fn drop(&mut self) {
        self.conn.served(|proto| proto.one_way_done(&self.body));
    }
}

impl std::fmt::Debug for OneWay {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OneWay")
            .field("body", &self.body)
            .field("peer", &self.conn.peer().to_string())
            .finish()
    }
}
