//! What clients and servers have in common.

use std::future::Future;
use std::sync::OnceLock;
use std::time::Duration;

use magnus::r_hash::ForEach;
use magnus::typed_data::Obj;
use magnus::{Error, RArray, RHash, Ruby, Symbol, Value};
use sealwire_rpc::{Client, Counters, Limits, Server, handler};

use super::conn::Conn;
use super::limits;
use crate::context::Context;
use crate::monitor::Monitor;
use crate::process::{self, OfProcess};
use crate::{errors, waiting};

/// A client or server of Rust.
pub(super) trait End {
    const NAME: &'static str;

    fn connections(&self) -> Vec<sealwire_rpc::Conn>;
    fn counters(&self) -> Counters;
    fn monitor(&self) -> sealwire::Monitor;
    fn shutdown(&self, limit: Duration) -> impl Future<Output = bool> + Send;
}

macro_rules! ends {
    ($($end:ident $name:literal),*) => {$(
        impl End for $end {
            const NAME: &'static str = $name;

            fn connections(&self) -> Vec<sealwire_rpc::Conn> {
                self.connections()
            }

            fn counters(&self) -> Counters {
                self.counters()
            }

            fn monitor(&self) -> sealwire::Monitor {
                self.monitor()
            }

            fn shutdown(&self, limit: Duration) -> impl Future<Output = bool> + Send {
                self.shutdown(limit)
            }
        }
    )*};
}

ends!(Client "client", Server "server");

/// One of them as an object of Ruby holds it, which is empty until it is initialized.
pub(super) struct Side<E>(OnceLock<OfProcess<Made<E>>>);

struct Made<E> {
    end: E,
    inbox: Option<handler::Inbox>,
}

/// Ends the threads of Ruby that serve it.
impl<E> Drop for Made<E> {
    fn drop(&mut self) {
        if let Some(inbox) = &self.inbox {
            inbox.close();
        }
    }
}

impl<E> Default for Side<E> {
    fn default() -> Self {
        Side(OnceLock::new())
    }
}

impl<E: End> Side<E> {
    pub(super) fn set(
        &self,
        ruby: &Ruby,
        end: E,
        inbox: Option<handler::Inbox>,
    ) -> Result<(), Error> {
        let made = self.0.set(OfProcess::new(Made { end, inbox }));
        made.map_err(|_| errors::state(ruby, format!("the {} was made already", E::NAME)))
    }

    pub(super) fn get(&self, ruby: &Ruby) -> Result<&E, Error> {
        let made = self.0.get();
        let missing = || errors::state(ruby, format!("the {} was not initialized", E::NAME));
        Ok(&made.ok_or_else(missing)?.get(ruby)?.end)
    }

    pub(super) fn connections(&self, ruby: &Ruby) -> Result<RArray, Error> {
        let connections = self.get(ruby)?.connections().into_iter();
        Ok(ruby.ary_from_iter(connections.map(|conn| Conn::wrap(ruby, conn))))
    }

    pub(super) fn counters(&self, ruby: &Ruby) -> Result<RHash, Error> {
        Ok(super::counters(ruby, self.get(ruby)?.counters()))
    }

    pub(super) fn monitor(&self, ruby: &Ruby) -> Result<Obj<Monitor>, Error> {
        Ok(Monitor::wrap(ruby, self.get(ruby)?.monitor()))
    }

    /// Whether the time was enough for what is under way.
    pub(super) fn shutdown(&self, ruby: &Ruby, limit: Value) -> Result<bool, Error> {
        let limit = limits::time(ruby, "timeout", limit)?;
        waiting::forever(ruby, self.get(ruby)?.shutdown(limit))
    }
}

/// The one that was given, or that of the process.
pub(super) fn context(
    ruby: &Ruby,
    given: Option<Obj<Context>>,
) -> Result<sealwire::Context, Error> {
    match given {
        Some(context) => Ok(context.checked(ruby)?.get(ruby)?.clone()),
        None => process::context().map_err(|error| errors::raised(ruby, &error)),
    }
}

/// A builder with the options by name, and the limits that are among them. `set` gives a builder back unchanged
/// where the name is not one of its own.
pub(super) fn configured<B>(
    ruby: &Ruby,
    builder: B,
    options: RHash,
    set: impl Fn(B, &str, Value) -> Result<Result<B, B>, Error>,
) -> Result<(B, Limits), Error> {
    let mut limits = Limits::default();
    let mut builder = Some(builder);
    options.foreach(|name: Symbol, value: Value| {
        let (name, before) = (name.name()?, builder.take());
        // It is gone only where an error has ended this.
        let Some(before) = before else {
            return Ok(ForEach::Stop);
        };
        builder = Some(match set(before, &name, value)? {
            Ok(changed) => changed,
            Err(unchanged) => {
                limits::set(ruby, &mut limits, &name, value)?;
                unchanged
            }
        });
        Ok(ForEach::Continue)
    })?;
    let builder = builder.expect("foreach has raised what took it");
    Ok((builder, limits))
}
