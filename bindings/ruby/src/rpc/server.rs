//! The answering side.

use std::sync::OnceLock;

use magnus::r_hash::ForEach;
use magnus::typed_data::Obj;
use magnus::{
    Class as _, Error, Module as _, RArray, RHash, RModule, Ruby, Symbol, TryConvert as _, Value,
    method,
};
use sealwire_rpc::{Limits, ServerBuilder, handler};

use super::conn::Conn;
use super::inbox::Inbox;
use super::limits;
use crate::context::Context;
use crate::monitor::Monitor;
use crate::process::{self, OfProcess};
use crate::security::Security;
use crate::{classes, errors, gvl, waiting};

#[magnus::wrap(class = "Sealwire::RPC::Server", free_immediately, size)]
#[derive(Default)]
pub(crate) struct Server(OnceLock<OfProcess<Made>>);

struct Made {
    server: sealwire_rpc::Server,
    inbox: handler::Inbox,
}

/// Ends the threads of Ruby that serve it.
impl Drop for Made {
    fn drop(&mut self) {
        self.inbox.close();
    }
}

pub(super) fn define(ruby: &Ruby, rpc: RModule) -> Result<(), Error> {
    let class = classes::define::<Server>(ruby, rpc, "Server")?;
    class.define_alloc_func::<Server>();
    class.define_private_method("make", method!(Server::make, 4))?;
    class.define_method("bind", method!(Server::bind, 1))?;
    class.define_method("connections", method!(Server::connections, 0))?;
    class.define_method("counters", method!(Server::counters, 0))?;
    class.define_method("monitor", method!(Server::monitor, 0))?;
    class.define_private_method("end_within", method!(Server::end_within, 1))
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

impl Server {
    fn make(
        ruby: &Ruby,
        this: &Self,
        security: &Security,
        context: Option<Obj<Context>>,
        inbox: &Inbox,
        options: RHash,
    ) -> Result<(), Error> {
        let context = self::context(ruby, context)?;
        let builder = sealwire_rpc::Server::builder(security.inner())
            .socket(|socket| socket.context(&context));
        let builder = configured(ruby, builder, options)?;
        let inbox = inbox.0.clone();
        let server = builder.build(inbox.clone());
        let server = server.map_err(|error| errors::raised(ruby, &error))?;
        let made = this.0.set(OfProcess::new(Made { server, inbox }));
        made.map_err(|_| errors::state(ruby, "the server was made already".into()))
    }

    fn get(&self, ruby: &Ruby) -> Result<&sealwire_rpc::Server, Error> {
        let made = self.0.get();
        let missing = || errors::state(ruby, "the server was not initialized".into());
        Ok(&made.ok_or_else(missing)?.get(ruby)?.server)
    }

    /// Gives the endpoint with the port that was chosen, if that was left open.
    fn bind(ruby: &Ruby, this: &Self, endpoint: String) -> Result<String, Error> {
        let server = this.get(ruby)?;
        // Names may have to be resolved.
        let bound = gvl::lent(ruby, || server.bind(endpoint.as_str()));
        let bound = bound.map_err(|error| errors::raised(ruby, &error))?;
        Ok(bound.to_string())
    }

    fn connections(ruby: &Ruby, this: &Self) -> Result<RArray, Error> {
        let connections = this.get(ruby)?.connections().into_iter();
        Ok(ruby.ary_from_iter(connections.map(|conn| Conn::wrap(ruby, conn))))
    }

    fn counters(ruby: &Ruby, this: &Self) -> Result<RHash, Error> {
        Ok(super::counters(ruby, this.get(ruby)?.counters()))
    }

    fn monitor(ruby: &Ruby, this: &Self) -> Result<Obj<Monitor>, Error> {
        Ok(Monitor::wrap(ruby, this.get(ruby)?.monitor()))
    }

    /// Whether the time was enough for the requests under way.
    fn end_within(ruby: &Ruby, this: &Self, limit: Value) -> Result<bool, Error> {
        let limit = limits::time(ruby, "timeout", limit)?;
        waiting::forever(ruby, this.get(ruby)?.shutdown(limit))
    }
}

/// With the options by name.
fn configured(ruby: &Ruby, builder: ServerBuilder, options: RHash) -> Result<ServerBuilder, Error> {
    let mut limits = Limits::default();
    let mut builder = Some(builder);
    options.foreach(|name: Symbol, value: Value| {
        let (name, before) = (name.name()?, builder.take());
        // It is gone only where an error has ended this.
        let Some(before) = before else {
            return Ok(ForEach::Stop);
        };
        builder = Some(match &*name {
            "max_connections" => before.max_connections(usize::try_convert(value)?),
            "connection_wait" => before.connection_wait(limits::time(ruby, &name, value)?),
            "handshake_timeout" => before.handshake_limit(limits::time(ruby, &name, value)?),
            _ => {
                limits::set(ruby, &mut limits, &name, value)?;
                before
            }
        });
        Ok(ForEach::Continue)
    })?;
    let builder = builder.expect("foreach has raised what took it");
    Ok(builder.limits(limits))
}
