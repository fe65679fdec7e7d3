//! The calling side.

use magnus::typed_data::Obj;
use magnus::{
    Class as _, Error, Module as _, RArray, RHash, RModule, RString, Ruby, TryConvert as _, Value,
    method,
};

use super::calling::Call;
use super::conn::Conn;
use super::inbox::Inbox;
use super::side::{self, Side};
use super::stream::Stream;
use super::{errors, limits};
use crate::classes;
use crate::context::Context;
use crate::monitor::Monitor;
use crate::security::Security;
use crate::waiting;

#[magnus::wrap(class = "Sealwire::RPC::Client", free_immediately, size)]
#[derive(Default)]
pub(crate) struct Client(Side<sealwire_rpc::Client>);

pub(super) fn define(ruby: &Ruby, rpc: RModule) -> Result<(), Error> {
    let class = classes::define::<Client>(ruby, rpc, "Client")?;
    class.define_alloc_func::<Client>();
    class.define_private_method("make", method!(Client::make, 5))?;
    class.define_method("request", method!(Client::request, -1))?;
    class.define_method("send", method!(Client::send, -1))?;
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
        let context = Context::or_shared(ruby, context)?;
        let builder = sealwire_rpc::Client::builder(security.inner())
            .socket(|socket| socket.context(&context));
        let (builder, limits) =
            side::configured(ruby, builder, options, |builder, name, value| {
                Ok(Ok(match name {
                    "max_connections" => builder.max_connections(usize::try_convert(value)?),
                    "calls_per_connection" => {
                        builder.calls_per_connection(usize::try_convert(value)?)
                    }
                    "dial_attempts" => builder.dial_attempts(u32::try_convert(value)?),
                    "dial_timeout" => builder.dial_limit(limits::time(ruby, name, value)?),
                    "handshake_timeout" => {
                        builder.handshake_limit(limits::time(ruby, name, value)?)
                    }
                    "retries" => builder.retries(u32::try_convert(value)?),
                    _ => return Ok(Err(builder)),
                }))
            })?;
        let mut builder = builder.limits(limits);
        let inbox = inbox.map(|inbox| inbox.0.clone());
        if let Some(inbox) = &inbox {
            builder = builder.handler(inbox.clone());
        }
        let client = builder.build(endpoint.as_str());
        let client = client.map_err(|error| errors::raised(ruby, &error))?;
        this.0.set(ruby, client, inbox)
    }

    fn request(ruby: &Ruby, this: &Self, args: &[Value]) -> Result<RString, Error> {
        let call = Call::new(ruby, args)?;
        let answer = this.0.get(ruby)?.request_with(&call.body, call.options());
        super::answered(ruby, waiting::forever(ruby, answer)?)
    }

    fn send(ruby: &Ruby, this: &Self, args: &[Value]) -> Result<(), Error> {
        let message = Call::one_way(ruby, args)?;
        let client = this.0.get(ruby)?;
        let sending = client.send_with(&message.body, message.options());
        let outcome = waiting::forever(ruby, sending)?;
        super::sent(ruby, outcome)
    }

    fn start(ruby: &Ruby, this: &Self, args: &[Value]) -> Result<Obj<Stream>, Error> {
        let call = Call::new(ruby, args)?;
        let client = this.0.get(ruby)?;
        let opening = async { client.conn().await?.open(&call.body, call.options()).await };
        Stream::opened(ruby, waiting::forever(ruby, opening)?)
    }

    fn conn(ruby: &Ruby, this: &Self) -> Result<Obj<Conn>, Error> {
        match waiting::forever(ruby, this.0.get(ruby)?.conn())? {
            Ok(conn) => Ok(Conn::wrap(ruby, conn)),
            Err(error) => Err(errors::raised(ruby, &error)),
        }
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

    fn shutdown(ruby: &Ruby, this: &Self, limit: Value) -> Result<bool, Error> {
        this.0.shutdown(ruby, limit)
    }
}
