//! Listening sockets that somebody else opened: objects with `fileno`, and numbers of descriptors.

use std::os::fd::{BorrowedFd, FromRawFd as _, IntoRawFd as _, OwnedFd, RawFd};

use magnus::value::ReprValue as _;
use magnus::{Error, Integer, Object as _, RArray, RModule, Ruby, Value, function};
use sealwire::{Endpoint, Listener};

use crate::errors;

/// A descriptor that Ruby has still.
pub(crate) struct Given {
    object: Value,
    number: RawFd,
}

impl Given {
    pub(crate) fn new(ruby: &Ruby, object: Value) -> Result<Self, Error> {
        let number: RawFd = match Integer::from_value(object) {
            Some(number) => number.to_i32()?,
            None => object.funcall("fileno", ())?,
        };
        match number {
            0.. => Ok(Given { object, number }),
            _ => Err(errors::argument(
                ruby,
                format!("{number} is not a file descriptor"),
            )),
        }
    }

    /// Another descriptor of the same socket.
    fn duplicate(&self, ruby: &Ruby) -> Result<Listener, Error> {
        // SAFETY: not -1. It is used for this call alone, which says so when nothing is open there; Ruby does not run
        // meanwhile.
        let duplicate = unsafe { BorrowedFd::borrow_raw(self.number) }.try_clone_to_owned();
        let duplicate =
            duplicate.map_err(|error| errors::raised(ruby, &sealwire::Error::System(error)))?;
        Ok(duplicate.into())
    }

    /// The same, for a WebSocket where one of these paths is there.
    fn listener(
        &self,
        ruby: &Ruby,
        ws: Option<String>,
        wss: Option<String>,
    ) -> Result<Listener, Error> {
        match (ws, wss) {
            (None, None) => self.duplicate(ruby),
            (Some(path), None) => Ok(self.duplicate(ruby)?.over_ws(path)),
            (None, Some(path)) => Ok(self.duplicate(ruby)?.over_wss(path)),
            (Some(_), Some(_)) => {
                let problem = "a listener is ws: or wss:, not both";
                Err(errors::argument(ruby, problem))
            }
        }
    }

    /// Binds to it by `bind`, and closes what Ruby has. After an exception that is as it was.
    pub(crate) fn bind(
        self,
        ruby: &Ruby,
        ws: Option<String>,
        wss: Option<String>,
        bind: impl FnOnce(Listener) -> Result<Endpoint, Error>,
    ) -> Result<String, Error> {
        let bound = bind(self.listener(ruby, ws, wss)?)?;
        self.close()?;
        Ok(bound.to_string())
    }

    /// Closes what Ruby has, as the socket has it now.
    fn close(self) -> Result<(), Error> {
        if Integer::from_value(self.object).is_none() {
            return self.object.funcall::<_, _, Value>("close", ()).map(drop);
        }
        // SAFETY: it was open when it was duplicated, and a number that is given to `bind_listener` is given away.
        drop(unsafe { OwnedFd::from_raw_fd(self.number) });
        Ok(())
    }
}

/// The sockets that a service manager opened for this process: pairs of a name or nil and a descriptor.
fn passed_listeners(ruby: &Ruby) -> Result<RArray, Error> {
    let passed = Listener::passed().map_err(|error| errors::raised(ruby, &error.into()))?;
    let given = passed.into_iter().map(|listener| {
        let name = listener.name().map(str::to_owned);
        (name, OwnedFd::from(listener).into_raw_fd())
    });
    Ok(ruby.ary_from_iter(given))
}

pub(crate) fn define(sealwire: RModule) -> Result<(), Error> {
    sealwire.define_singleton_method("passed_listeners", function!(passed_listeners, 0))
}
