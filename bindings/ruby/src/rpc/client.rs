//! The calling side.

use std::sync::OnceLock;

use magnus::r_hash::ForEach;
use magnus::typed_data::Obj;
use magnus::{
    Class as _, Error, Module as _, RArray, RHash, RModule, RString, Ruby, Symbol, TryConvert as _,
    Value, method,
};
use sealwire_rpc::{ClientBuilder, Limits, handler};

use super::conn::Conn;
use super::inbox::Inbox;
use super::stream::Stream;
use super::{errors, limits};
use crate::classes;
use crate::context::Context;
use crate::monitor::Monitor;
use crate::process::OfProcess;
use crate::security::Security;
use crate::waiting;

#[magnus::wrap(class = "Sealwire::RPC::Client", free_immediately, size)]
#[derive(Default)]
pub(crate) struct Client(OnceLock<OfProcess<Made>>);

struct Made {
    client: sealwire_rpc::Client,
    inbox: Option<handler::Inbox>,
}

/// Ends the threads of Ruby that serve it.
impl Drop for Made {
    fn drop(&mut self) {
        if let Some(inbox) = &self.inbox {
            inbox.close();
        }
    }
}

pub(super) fn define(ruby: &Ruby, rpc: RModule) -> Result<(), Error> {
    let class = classes::define::<Client>(ruby, rpc, "Client")?;
    class.define_alloc_func::<Client>();
    class.define_private_method("make", method!(Client::make, 5))?;
    class.define_method("request", method!(Client::request, -1))?;
    class.define_method("send", method!(Client::send, 1))?;
    class.define_private_method("start", method!(Client::start, -1))?;
    class.define_method("conn", method!(Client::conn, 0))?;
    class.define_method("connections", method!(Client::connections, 0))?;
    class.define_method("counters", method!(Client::counters, 0))?;
    class.define_method("monitor", method!(Client::monitor, 0))?;
    class.define_private_method("shutdown", method!(Client::shutdown, 1))
}

impl Client {
    fn make(
        ruby: &Ruby,
        this: &Self,
        endpoint: String,
        security: &Security,
        context: Option<Obj<Context>>,
        inbox: Option<Obj<Inbox>>,
        options: RHash,
    ) -> Result<(), Error> {
        let context = super::server::context(ruby, context)?;
        let builder = sealwire_rpc::Client::builder(security.inner())
            .socket(|socket| socket.context(&context));
        let mut builder = configured(ruby, builder, options)?;
        let inbox = inbox.map(|inbox| inbox.0.clone());
        if let Some(inbox) = &inbox {
            builder = builder.handler(inbox.clone());
        }
        let client = builder.build(endpoint.as_str());
        let client = client.map_err(|error| errors::raised(ruby, &error))?;
        let made = this.0.set(OfProcess::new(Made { client, inbox }));
        made.map_err(|_| crate::errors::state(ruby, "the client was made already".into()))
    }

    fn get(&self, ruby: &Ruby) -> Result<&sealwire_rpc::Client, Error> {
        let made = self.0.get();
        let missing = || crate::errors::state(ruby, "the client was not initialized".into());
        Ok(&made.ok_or_else(missing)?.get(ruby)?.client)
    }

    fn request(ruby: &Ruby, this: &Self, args: &[Value]) -> Result<RString, Error> {
        let (body, options) = super::call(ruby, args)?;
        let call = this.get(ruby)?.request_with(&body, options);
        super::answered(ruby, waiting::forever(ruby, call)?)
    }

    fn send(ruby: &Ruby, this: &Self, body: RString) -> Result<(), Error> {
        let body = super::bytes(body);
        let outcome = waiting::forever(ruby, this.get(ruby)?.send(&body))?;
        super::sent(ruby, outcome)
    }

    fn start(ruby: &Ruby, this: &Self, args: &[Value]) -> Result<Obj<Stream>, Error> {
        let (body, options) = super::call(ruby, args)?;
        let client = this.get(ruby)?;
        let opening = async { client.conn().await?.open(&body, options).await };
        Stream::opened(ruby, waiting::forever(ruby, opening)?)
    }

    fn conn(ruby: &Ruby, this: &Self) -> Result<Obj<Conn>, Error> {
        match waiting::forever(ruby, this.get(ruby)?.conn())? {
            Ok(conn) => Ok(Conn::wrap(ruby, conn)),
            Err(error) => Err(errors::raised(ruby, &error)),
        }
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

    /// Whether the time was enough for the calls under way.
    fn shutdown(ruby: &Ruby, this: &Self, limit: Value) -> Result<bool, Error> {
        let limit = limits::time(ruby, "timeout", limit)?;
        waiting::forever(ruby, this.get(ruby)?.shutdown(limit))
    }
}

/// With the options by name.
fn configured(ruby: &Ruby, builder: ClientBuilder, options: RHash) -> Result<ClientBuilder, Error> {
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
            "calls_per_connection" => before.calls_per_connection(usize::try_convert(value)?),
            "dial_attempts" => before.dial_attempts(u32::try_convert(value)?),
            "dial_timeout" => before.dial_limit(limits::time(ruby, &name, value)?),
            "handshake_timeout" => before.handshake_limit(limits::time(ruby, &name, value)?),
            "retries" => before.retries(u32::try_convert(value)?),
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
