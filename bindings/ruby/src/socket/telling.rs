//! A socket that waits says why nothing comes, once.

use std::time::Instant;

use magnus::value::ReprValue as _;
use magnus::{Error, Module as _, RModule, Ruby, Value};
use sealwire::ConnectionFailure;
use sealwire::waits::Waited;

use super::Socket;
use crate::waiting;

impl Socket {
    /// Waits for what `attempt` gives, or until the deadline is over: `None` then. The logger hears of
    /// the first failed handshake meanwhile.
    ///
    /// The logger is a program's: it may use this socket. So nothing waits while it runs, and
    /// `attempt` begins again after it.
    pub(super) fn wait<T>(
        &self,
        ruby: &Ruby,
        socket: &sealwire::Socket,
        mut attempt: impl AsyncFnMut() -> T,
        deadline: Option<Instant>,
    ) -> Result<Option<T>, Error> {
        while !self.first_failure.is_told() {
            let next = self.first_failure.or(socket, attempt());
            match waiting::before(ruby, next, deadline)? {
                Some(Waited::Done(value)) => return Ok(Some(value)),
                Some(Waited::Failed(failure)) => self.tell(ruby, &failure)?,
                None => return Ok(None),
            }
        }
        waiting::before(ruby, attempt(), deadline)
    }

    fn tell(&self, ruby: &Ruby, failure: &ConnectionFailure) -> Result<(), Error> {
        let kind = self.socket_type.get().map_or("socket", |kind| kind.name());
        let text = format!("a {kind} waits, and a connection of it failed: {failure}");
        let sealwire: RModule = ruby.class_object().const_get("Sealwire")?;
        sealwire.funcall::<_, _, Value>("tell", (text,))?;
        Ok(())
    }
}
