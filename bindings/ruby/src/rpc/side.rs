//! What clients and servers have in common.

use std::future::Future;
use std::time::Duration;

use magnus::typed_data::Obj;
use magnus::{Error, RArray, RHash, Ruby, Value};
use sealwire_rpc::{Client, Counters, Limits, Server, handler};

use super::conn::Conn;
use super::limits;
use crate::made::{self, Made, Named};
use crate::monitor::Monitor;
use crate::waiting;

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

/// One of them as an object of Ruby holds it.
pub(super) struct Side<E>(Made<Attended<E>>);

/// With the inbox of its requests, if it has one.
struct Attended<E> {
    end: E,
    inbox: Option<handler::Inbox>,
}

/// Ends the threads of Ruby that serve it.
impl<E> Drop for Attended<E> {
    fn drop(&mut self) {
        if let Some(inbox) = &self.inbox {
            inbox.close();
        }
    }
}

impl<E: End> Named for Attended<E> {
    const NAME: &'static str = E::NAME;
}

impl<E> Default for Side<E> {
    fn default() -> Self {
        Side(Made::default())
    }
}

impl<E: End> Side<E> {
    pub(super) fn set(
        &self,
        ruby: &Ruby,
        end: E,
        inbox: Option<handler::Inbox>,
    ) -> Result<(), Error> {
        self.0.set(ruby, Attended { end, inbox })
    }

    pub(super) fn get(&self, ruby: &Ruby) -> Result<&E, Error> {
        Ok(&self.0.get(ruby)?.end)
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

/// A builder with the options by name, and the limits that are among them. `set` gives a builder back unchanged
/// where the name is not one of its own.
pub(super) fn configured<B>(
    ruby: &Ruby,
    builder: B,
    options: RHash,
    set: impl Fn(B, &str, Value) -> Result<Result<B, B>, Error>,
) -> Result<(B, Limits), Error> {
    let mut limits = Limits::default();
    let builder = made::configured(builder, options, |builder, name, value| {
        set(builder, name, value)?.or_else(|unchanged| {
            limits::set(ruby, &mut limits, name, value)?;
            Ok(unchanged)
        })
    })?;
    Ok((builder, limits))
}
