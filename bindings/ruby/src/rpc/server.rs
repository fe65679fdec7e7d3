//! The answering side.

use magnus::scan_args::{get_kwargs, scan_args};
use magnus::typed_data::Obj;
use magnus::value::ReprValue as _;
use magnus::{
    Class as _, Error, Module as _, RArray, RHash, RModule, Ruby, TryConvert as _, Value, method,
};

use super::inbox::Inbox;
use super::limits;
use super::side::{self, Side};
use crate::context::Context;
use crate::descriptor::Given;
use crate::monitor::Monitor;
use crate::security::Security;
use crate::{classes, errors, gvl};

#[magnus::wrap(class = "Sealwire::RPC::Server", free_immediately, size)]
#[derive(Default)]
pub(crate) struct Server(Side<sealwire_rpc::Server>);

pub(super) fn define(ruby: &Ruby, rpc: RModule) -> Result<(), Error> {
    let class = classes::define::<Server>(ruby, rpc, "Server")?;
    class.define_alloc_func::<Server>();
    class.define_private_method("make", method!(Server::make, 4))?;
    class.define_method("bind", method!(Server::bind, 1))?;
    class.define_method("bind_listener", method!(Server::bind_listener, -1))?;
    class.define_method("connections", method!(Server::connections, 0))?;
    class.define_method("counters", method!(Server::counters, 0))?;
    class.define_method("monitor", method!(Server::monitor, 0))?;
    class.define_private_method("end_within", method!(Server::end_within, 1))
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
        let context = Context::or_shared(ruby, context)?;
        let builder = sealwire_rpc::Server::builder(security.inner())
            .socket(|socket| socket.context(&context));
        let (builder, limits) =
            side::configured(ruby, builder, options, |builder, name, value| {
                Ok(Ok(match name {
                    "max_connections" => builder.max_connections(usize::try_convert(value)?),
                    "connection_wait" => builder.connection_wait(limits::time(ruby, name, value)?),
                    "handshake_timeout" => {
                        builder.handshake_limit(limits::time(ruby, name, value)?)
                    }
                    "reuse_port" => {
                        let shared = value.to_bool();
                        builder.socket(|socket| socket.reuse_port(shared))
                    }
                    _ => return Ok(Err(builder)),
                }))
            })?;
        let inbox = inbox.0.clone();
        let server = builder.limits(limits).build(inbox.clone());
        let server = server.map_err(|error| errors::raised(ruby, &error))?;
        this.0.set(ruby, server, Some(inbox))
    }

    /// Gives the endpoint with the port that was chosen, if that was left open.
    fn bind(ruby: &Ruby, this: &Self, endpoint: String) -> Result<String, Error> {
        let server = this.0.get(ruby)?;
        // Names may have to be resolved.
        let bound = gvl::lent(ruby, || server.bind(endpoint.as_str()));
        let bound = bound.map_err(|error| errors::raised(ruby, &error))?;
        Ok(bound.to_string())
    }

    /// Gives the endpoint of a listening socket that somebody else opened. It is closed, as this has it then.
    fn bind_listener(ruby: &Ruby, this: &Self, args: &[Value]) -> Result<String, Error> {
        let scanned = scan_args::<(Value,), (), (), (), RHash, ()>(args)?;
        let keywords =
            get_kwargs::<_, (), (Option<Option<String>>,), ()>(scanned.keywords, &[], &["ws"])?;
        let server = this.0.get(ruby)?;
        let given = Given::new(ruby, scanned.required.0)?;
        given.bind(ruby, keywords.optional.0.flatten(), None, |listener| {
            let bound = server.bind_listener(listener);
            bound.map_err(|error| errors::raised(ruby, &error))
        })
    }

    fn connections(ruby: &Ruby, this: &Self) -> Result<RArray, Error> {
        this.0.connections(ruby)
    }

    fn counters(ruby: &Ruby, this: &Self) -> Result<RHash, Error> {
        this.0.counters(ruby)
    }

    fn monitor(ruby: &Ruby, this: &Self) -> Result<Obj<Monitor>, Error> {
        this.0.monitor(ruby)
    }

    fn end_within(ruby: &Ruby, this: &Self, limit: Value) -> Result<bool, Error> {
        this.0.shutdown(ruby, limit)
    }
}
