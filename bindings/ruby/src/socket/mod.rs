//! Sockets.
//!
//! An object of Ruby takes its options one by one; the socket behind it takes all of them before it
//! exists. So it is made when it is first needed.

mod messages;
mod presence;
mod readiness;
mod telling;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use magnus::scan_args::{get_kwargs, scan_args};
use magnus::typed_data::Obj;
use magnus::value::ReprValue as _;
use magnus::{
    Class as _, Error, Module as _, RArray, RHash, RModule, RString, Ruby, StaticSymbol, Symbol,
    Value, method,
};
use sealwire::account::Kind;
use sealwire::options::Withdrawn;
use sealwire::{Endpoint, Error as Failed, SocketBuilder, SocketType};

use self::readiness::Reading;
use crate::account::by_kind;
use crate::context::{Context, Owned};
use crate::descriptor::Given;
use crate::monitor::Monitor;
use crate::options::{Options, names_of_options, seconds};
use crate::peer::{Peer, type_symbol};
use crate::process::{self, Open};
use crate::security::Security;
use crate::{bytes, classes, errors, gvl, waiting};
use sealwire::waits::FirstFailure;

#[magnus::wrap(class = "Sealwire::Socket", free_immediately, size, frozen_shareable)]
#[derive(Default)]
pub(crate) struct Socket {
    socket_type: OnceLock<SocketType>,
    plan: Mutex<Plan>,
    open: OnceLock<Arc<Open>>,
    send_timeout: Limit,
    recv_timeout: Limit,
    reading: Reading,
    first_failure: FirstFailure,
}

/// What the socket will be.
#[derive(Default)]
struct Plan {
    options: Options,
    security: Option<Security>,
    /// Its context, unless that is the one of the process.
    context: Option<Arc<Owned>>,
    /// Closed before it was made, or after.
    closed: bool,
}

/// A time limit that can be changed at any time: nanoseconds, or none.
struct Limit(AtomicU64);

impl Default for Limit {
    fn default() -> Self {
        Limit(AtomicU64::new(u64::MAX))
    }
}

impl Limit {
    fn get(&self) -> Option<Duration> {
        match self.0.load(Ordering::Relaxed) {
            u64::MAX => None,
            nanoseconds => Some(Duration::from_nanos(nanoseconds)),
        }
    }

    fn set(&self, limit: Option<Duration>) {
        let nanoseconds = limit.map(|limit| u64::try_from(limit.as_nanos()).unwrap_or(u64::MAX));
        self.0
            .store(nanoseconds.unwrap_or(u64::MAX), Ordering::Relaxed);
    }
}

pub(crate) fn define(ruby: &Ruby, sealwire: RModule) -> Result<(), Error> {
    readiness::define(ruby, sealwire)?;
    let class = classes::define::<Socket>(ruby, sealwire, "Socket")?;
    class.define_alloc_func::<Socket>();
    let options = ruby.ary_from_iter(names_of_options().map(|name| ruby.sym_new(name)));
    options.freeze();
    class.const_set("OPTIONS", options)?;
    class.define_private_method("of_type", method!(Socket::of_type, 1))?;
    class.define_private_method("initialize_copy", method!(Socket::copy, 1))?;
    class.define_private_method("set_option", method!(Socket::set_option, 2))?;
    class.define_private_method("get_option", method!(Socket::get_option, 1))?;
    class.define_method("context=", method!(Socket::set_context, 1))?;
    class.define_method("security=", method!(Socket::set_security, 1))?;
    class.define_method("security", method!(Socket::security, 0))?;
    class.define_method("send_timeout=", method!(Socket::set_send_timeout, 1))?;
    class.define_method("send_timeout", method!(Socket::send_timeout, 0))?;
    class.define_method("recv_timeout=", method!(Socket::set_recv_timeout, 1))?;
    class.define_method("recv_timeout", method!(Socket::recv_timeout, 0))?;
    class.define_method("socket_type", method!(Socket::socket_type, 0))?;
    class.define_method("bind", method!(Socket::bind, 1))?;
    class.define_method("bind_listener", method!(Socket::bind_listener, -1))?;
    class.define_method("connect", method!(Socket::connect, 1))?;
    class.define_method(
        "connect_with_routing_id",
        method!(Socket::connect_with_routing_id, 2),
    )?;
    class.define_method("connect_peer", method!(Socket::connect_peer, -1))?;
    class.define_method("unbind", method!(Socket::unbind, 1))?;
    class.define_method(
        "reconfigure_endpoint",
        method!(Socket::reconfigure_endpoint, -1),
    )?;
    class.define_method(
        "unbind_and_disconnect",
        method!(Socket::unbind_and_disconnect, 1),
    )?;
    class.define_method("disconnect", method!(Socket::disconnect, 1))?;
    class.define_method("drain", method!(Socket::drain, 1))?;
    class.define_method("bound_endpoints", method!(Socket::bound_endpoints, 0))?;
    class.define_method(
        "connected_endpoints",
        method!(Socket::connected_endpoints, 0),
    )?;
    class.define_method("peers", method!(Socket::peers, 0))?;
    class.define_method("wait_connected", method!(Socket::wait_connected, -1))?;
    class.define_method("wait_subscribed", method!(Socket::wait_subscribed, -1))?;
    class.define_method("send", method!(Socket::send, -1))?;
    class.define_method("<<", method!(Socket::push, 1))?;
    class.define_method("try_send", method!(Socket::try_send, 1))?;
    class.define_method("receive", method!(Socket::receive, -1))?;
    class.define_method("try_receive", method!(Socket::try_receive, 0))?;
    class.define_method("receive_many", method!(Socket::receive_many, -1))?;
    class.define_method("send_many", method!(Socket::send_many, -1))?;
    class.define_method("close_read", method!(Socket::close_read, 0))?;
    class.define_method("read_closed?", method!(Socket::is_read_closed, 0))?;
    class.define_method("readiness", method!(Socket::readiness, 0))?;
    class.define_method("subscribe", method!(Socket::subscribe, 1))?;
    class.define_method("unsubscribe", method!(Socket::unsubscribe, 1))?;
    class.define_method("topics", method!(Socket::topics, 0))?;
    class.define_method("join", method!(Socket::join, 1))?;
    class.define_method("leave", method!(Socket::leave, 1))?;
    class.define_method("monitor", method!(Socket::monitor, 0))?;
    class.define_method("counters", method!(Socket::counters, 0))?;
    class.define_method("exceeded", method!(Socket::exceeded, 0))?;
    class.define_method("accounts", method!(Socket::accounts, 0))?;
    class.define_method("close", method!(Socket::close, -1))?;
    class.define_method("closed?", method!(Socket::is_closed, 0))?;
    class.define_method("inspect", method!(Socket::inspect, 0))
}

/// Making it, and its options.
impl Socket {
    fn of_type(ruby: &Ruby, this: &Self, name: Symbol) -> Result<(), Error> {
        let name = name.name()?;
        let wanted = SocketType::ALL.into_iter().find(|kind| kind.name() == name);
        let wanted = wanted
            .ok_or_else(|| errors::argument(ruby, format!("there is no socket type {name}")))?;
        this.socket_type
            .set(wanted)
            .map_err(|_| errors::state(ruby, "the socket has a type already".into()))
    }

    fn copy(ruby: &Ruby, _this: &Self, _other: Value) -> Result<(), Error> {
        let problem = "a socket cannot be copied; threads share the one there is";
        Err(errors::new(ruby, ruby.exception_type_error(), problem))
    }

    fn kind(&self, ruby: &Ruby) -> Result<SocketType, Error> {
        let kind = self.socket_type.get().copied();
        kind.ok_or_else(|| errors::state(ruby, "the socket was not initialized".into()))
    }

    fn socket_type(ruby: &Ruby, this: &Self) -> Result<StaticSymbol, Error> {
        Ok(type_symbol(ruby, this.kind(ruby)?))
    }

    fn plan(&self) -> MutexGuard<'_, Plan> {
        self.plan.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn check_unmade(&self, ruby: &Ruby, name: &str) -> Result<(), Error> {
        if self.open.get().is_none() {
            return Ok(());
        }
        let problem = format!(
            "{name} is set before the first bind, connect, subscribe, monitor, send or receive"
        );
        Err(errors::state(ruby, problem))
    }

    /// Changes the plan, and the socket where it is made already. After an error both are as they were.
    fn change(&self, ruby: &Ruby, change: impl FnOnce(&mut Plan)) -> Result<(), Error> {
        let (made, before) = {
            let mut plan = self.plan();
            let before = (plan.options.clone(), plan.security.clone());
            change(&mut plan);
            let made = self.open.get();
            let made = made.map(|open| (open, self.builder(ruby, &plan)));
            (made, before)
        };
        let Some((open, builder)) = made else {
            return Ok(());
        };
        // Not under the lock: what was there before may end now, and be code of Ruby.
        let changed = builder.and_then(|builder| {
            let changed = open.socket(ruby)?.reconfigure(builder);
            changed.map_err(|error| errors::raised(ruby, &error))
        });
        if changed.is_err() {
            let mut plan = self.plan();
            (plan.options, plan.security) = before;
        }
        changed
    }

    fn set_option(ruby: &Ruby, this: &Self, name: Symbol, value: Value) -> Result<(), Error> {
        let name = name.name()?;
        // Not under the lock: reading the value may run Ruby, and other threads with it.
        let mut changed = Options::default();
        changed.set(ruby, &name, value)?;
        this.change(ruby, |plan| plan.options.merge(&name, changed))
    }

    fn get_option(ruby: &Ruby, this: &Self, name: Symbol) -> Result<Value, Error> {
        let setting = this.plan().options.setting(ruby, &name.name()?)?;
        Ok(setting.map_or_else(|| ruby.qnil().as_value(), |setting| setting.shown(ruby)))
    }

    fn set_context(ruby: &Ruby, this: &Self, context: &Context) -> Result<(), Error> {
        this.check_unmade(ruby, "context")?;
        let context = context.checked(ruby)?;
        this.plan().context = Some(context);
        Ok(())
    }

    fn set_security(ruby: &Ruby, this: &Self, security: &Security) -> Result<(), Error> {
        this.change(ruby, |plan| plan.security = Some(security.clone()))
    }

    fn security(ruby: &Ruby, this: &Self) -> Option<Obj<Security>> {
        let security = this.plan().security.clone()?;
        Some(crate::keys::frozen(ruby, security))
    }

    fn set_send_timeout(ruby: &Ruby, this: &Self, limit: Value) -> Result<(), Error> {
        this.send_timeout.set(seconds(ruby, "send_timeout", limit)?);
        Ok(())
    }

    fn send_timeout(&self) -> Option<f64> {
        self.send_timeout.get().map(|limit| limit.as_secs_f64())
    }

    fn set_recv_timeout(ruby: &Ruby, this: &Self, limit: Value) -> Result<(), Error> {
        this.recv_timeout.set(seconds(ruby, "recv_timeout", limit)?);
        Ok(())
    }

    fn recv_timeout(&self) -> Option<f64> {
        self.recv_timeout.get().map(|limit| limit.as_secs_f64())
    }

    /// The socket, made now if it is not there yet.
    fn made(&self, ruby: &Ruby) -> Result<&Open, Error> {
        if let Some(open) = self.open.get() {
            return Ok(open);
        }
        let plan = self.plan();
        if plan.closed {
            return Err(errors::closed(ruby));
        }
        // Another thread may have been here while this one waited for the lock.
        if let Some(open) = self.open.get() {
            return Ok(open);
        }
        let socket = self.builder(ruby, &plan)?.build();
        let socket = socket.map_err(|error| errors::raised(ruby, &error))?;
        Ok(self.open.get_or_init(|| Open::new(socket)))
    }

    fn builder(&self, ruby: &Ruby, plan: &Plan) -> Result<SocketBuilder, Error> {
        let mut builder = plan.options.builder(ruby, self.kind(ruby)?)?;
        if let Some(security) = &plan.security {
            builder = builder.security(security.inner());
        }
        let context = match &plan.context {
            Some(context) => context.get(ruby)?.clone(),
            None => process::context().map_err(|error| errors::raised(ruby, &error))?,
        };
        Ok(builder.context(&context))
    }

    fn socket(&self, ruby: &Ruby) -> Result<&sealwire::Socket, Error> {
        self.made(ruby)?.socket(ruby)
    }
}

fn endpoint(ruby: &Ruby, text: &str) -> Result<Endpoint, Error> {
    Endpoint::try_from(text).map_err(|error| errors::raised(ruby, &error.into()))
}

/// Endpoints and peers.
impl Socket {
    /// Gives the endpoint with the port that was chosen, if that was left open.
    fn bind(ruby: &Ruby, this: &Self, text: String) -> Result<String, Error> {
        let socket = this.socket(ruby)?;
        let endpoint = endpoint(ruby, &text)?;
        // Names may have to be resolved.
        let bound = gvl::lent(ruby, || socket.bind(endpoint));
        let bound = bound.map_err(|error| errors::raised(ruby, &error))?;
        Ok(bound.to_string())
    }

    /// Gives the endpoint of a listening socket that somebody else opened. It is closed, as the socket has it then.
    fn bind_listener(ruby: &Ruby, this: &Self, args: &[Value]) -> Result<String, Error> {
        let scanned = scan_args::<(Value,), (), (), (), RHash, ()>(args)?;
        let keywords = get_kwargs::<_, (), (Option<Option<String>>, Option<Option<String>>), ()>(
            scanned.keywords,
            &[],
            &["ws", "wss"],
        )?;
        let socket = this.socket(ruby)?;
        let given = Given::new(ruby, scanned.required.0)?;
        let (ws, wss) = keywords.optional;
        given.bind(ruby, ws.flatten(), wss.flatten(), |listener| {
            let bound = socket.bind_listener(listener);
            bound.map_err(|error| errors::raised(ruby, &error))
        })
    }

    fn connect_with_routing_id(
        ruby: &Ruby,
        this: Obj<Self>,
        text: String,
        routing_id: RString,
    ) -> Result<Obj<Self>, Error> {
        let endpoint = endpoint(ruby, &text)?;
        this.with_bytes(ruby, routing_id, |socket, routing_id| {
            socket.connect_with_routing_id(endpoint, routing_id)
        })?;
        Ok(this)
    }

    fn connect(ruby: &Ruby, this: Obj<Self>, text: String) -> Result<Obj<Self>, Error> {
        let socket = this.socket(ruby)?;
        let endpoint = endpoint(ruby, &text)?;
        gvl::lent(ruby, || socket.connect(endpoint))
            .map_err(|error| errors::raised(ruby, &error))?;
        Ok(this)
    }

    fn unbind(ruby: &Ruby, this: Obj<Self>, text: String) -> Result<Obj<Self>, Error> {
        let ended = this.socket(ruby)?.unbind(endpoint(ruby, &text)?);
        ended.map_err(|error| errors::raised(ruby, &error))?;
        Ok(this)
    }

    fn unbind_and_disconnect(
        ruby: &Ruby,
        this: Obj<Self>,
        text: String,
    ) -> Result<Obj<Self>, Error> {
        let ended = this.socket(ruby)?;
        let ended = ended.unbind_and_disconnect(endpoint(ruby, &text)?);
        ended.map_err(|error| errors::raised(ruby, &error))?;
        Ok(this)
    }

    /// Gives an endpoint the options and the security that the socket has now.
    fn reconfigure_endpoint(
        ruby: &Ruby,
        this: Obj<Self>,
        args: &[Value],
    ) -> Result<Obj<Self>, Error> {
        let scanned = scan_args::<(String,), (), (), (), RHash, ()>(args)?;
        let keywords =
            get_kwargs::<_, (), (Option<bool>,), ()>(scanned.keywords, &[], &["keep_withdrawn"])?;
        let withdrawn = match keywords.optional.0 {
            Some(true) => Withdrawn::Stay,
            Some(false) | None => Withdrawn::End,
        };
        let (socket, endpoint) = (this.socket(ruby)?, endpoint(ruby, &scanned.required.0)?);
        let renewed = gvl::lent(ruby, || {
            socket.reconfigure_endpoint(endpoint, socket.options()?, withdrawn)
        });
        renewed.map_err(|error| errors::raised(ruby, &error))?;
        Ok(this)
    }

    fn disconnect(ruby: &Ruby, this: Obj<Self>, text: String) -> Result<Obj<Self>, Error> {
        let ended = this.socket(ruby)?.disconnect(endpoint(ruby, &text)?);
        ended.map_err(|error| errors::raised(ruby, &error))?;
        Ok(this)
    }

    /// Begins to leave in good order, within a time in seconds.
    fn drain(ruby: &Ruby, this: Obj<Self>, limit: Value) -> Result<Obj<Self>, Error> {
        let limit = seconds(ruby, "the limit", limit)?;
        let begun = this.socket(ruby)?.drain(limit.unwrap_or(Duration::MAX));
        begun.map_err(|error| errors::raised(ruby, &error))?;
        Ok(this)
    }

    fn bound_endpoints(ruby: &Ruby, this: &Self) -> Result<RArray, Error> {
        let endpoints = this.socket(ruby)?.bound_endpoints().into_iter();
        Ok(ruby.ary_from_iter(endpoints.map(|endpoint| endpoint.to_string())))
    }

    fn connected_endpoints(ruby: &Ruby, this: &Self) -> Result<RArray, Error> {
        let endpoints = this.socket(ruby)?.connected_endpoints().into_iter();
        Ok(ruby.ary_from_iter(endpoints.map(|endpoint| endpoint.to_string())))
    }

    fn peers(ruby: &Ruby, this: &Self) -> Result<RArray, Error> {
        let peers = this.socket(ruby)?.peers().into_iter();
        Ok(ruby.ary_from_iter(peers.map(|peer| Peer::wrap(ruby, peer))))
    }

    /// Peers that something may be held for, with their accounts brought up to date.
    fn accounts(ruby: &Ruby, this: &Self) -> Result<RArray, Error> {
        let peers = this.socket(ruby)?.accounts().into_iter();
        Ok(ruby.ary_from_iter(peers.map(|peer| Peer::wrap(ruby, peer))))
    }

    fn subscribe(ruby: &Ruby, this: Obj<Self>, topic: RString) -> Result<Obj<Self>, Error> {
        this.with_bytes(ruby, topic, |socket, bytes| socket.subscribe(bytes))?;
        Ok(this)
    }

    fn unsubscribe(ruby: &Ruby, this: Obj<Self>, topic: RString) -> Result<Obj<Self>, Error> {
        this.with_bytes(ruby, topic, |socket, bytes| socket.unsubscribe(bytes))?;
        Ok(this)
    }

    fn topics(ruby: &Ruby, this: &Self) -> Result<usize, Error> {
        let topics = this.socket(ruby)?.topics();
        topics.map_err(|error| errors::raised(ruby, &error))
    }

    fn join(ruby: &Ruby, this: Obj<Self>, group: RString) -> Result<Obj<Self>, Error> {
        this.with_bytes(ruby, group, |socket, bytes| socket.join(bytes))?;
        Ok(this)
    }

    fn leave(ruby: &Ruby, this: Obj<Self>, group: RString) -> Result<Obj<Self>, Error> {
        this.with_bytes(ruby, group, |socket, bytes| socket.leave(bytes))?;
        Ok(this)
    }

    fn with_bytes(
        &self,
        ruby: &Ruby,
        argument: RString,
        operation: impl FnOnce(&sealwire::Socket, &[u8]) -> Result<(), Failed>,
    ) -> Result<(), Error> {
        let socket = self.socket(ruby)?;
        let done = bytes::with(argument, |argument| operation(socket, argument));
        done.map_err(|error| errors::raised(ruby, &error))
    }

    fn monitor(ruby: &Ruby, this: &Self) -> Result<Obj<Monitor>, Error> {
        Ok(Monitor::wrap(ruby, this.socket(ruby)?.monitor()))
    }

    fn counters(ruby: &Ruby, this: &Self) -> Result<RHash, Error> {
        let counters = this.socket(ruby)?.counters();
        let numbers = [
            ("messages_sent", counters.messages_sent),
            ("bytes_sent", counters.bytes_sent),
            ("messages_received", counters.messages_received),
            ("bytes_received", counters.bytes_received),
            ("dropped_at_send", counters.dropped_at_send),
            ("dropped_unsent", counters.dropped_unsent),
            ("unconfirmed", counters.unconfirmed),
            ("dropped_unread", counters.dropped_unread),
            ("replaced", counters.replaced),
            ("missed", counters.missed),
            ("dropped_at_receive", counters.dropped_at_receive),
            ("handshakes_completed", counters.handshakes_completed),
            ("handshakes_failed", counters.handshakes_failed),
            ("reconnects", counters.reconnects),
            ("disconnects", counters.disconnects),
        ];
        let numbers = numbers.into_iter();
        Ok(ruby.hash_from_iter(numbers.map(|(name, number)| (ruby.sym_new(name), number))))
    }

    /// How often its peers reached the bound of a kind, also those that are gone.
    fn exceeded(ruby: &Ruby, this: &Self) -> Result<RHash, Error> {
        let counters = this.socket(ruby)?.counters();
        Ok(by_kind(ruby, Kind::ALL.map(|kind| counters.exceeded(kind))))
    }

    /// Waits until what is queued has been sent, but no longer than the linger time: `linger:` in seconds, or else the
    /// option. What that is too short for is dropped. Where the socket is closing already, a shorter time takes the place
    /// of the longer one.
    fn close(ruby: &Ruby, this: &Self, args: &[Value]) -> Result<(), Error> {
        let scanned = scan_args::<(), (), (), (), RHash, ()>(args)?;
        let keywords =
            get_kwargs::<_, (), (Option<Option<Value>>,), ()>(scanned.keywords, &[], &["linger"])?;
        let linger = match keywords.optional.0.flatten() {
            Some(linger) => Some(seconds(ruby, "linger", linger)?.unwrap_or(Duration::MAX)),
            None => None,
        };
        let closed_before = std::mem::replace(&mut this.plan().closed, true);
        let Some(open) = this.open.get() else {
            return Ok(());
        };
        let socket = open.socket(ruby)?.clone();
        let closing = async move {
            match linger {
                Some(linger) => socket.close_with_linger(linger).await,
                None => socket.close().await,
            }
        };
        match waiting::forever(ruby, closing)? {
            // The first to close it is told.
            Err(Failed::Unsent(_)) if closed_before => Ok(()),
            closed => closed.map_err(|error| errors::raised(ruby, &error)),
        }
    }

    fn is_closed(&self) -> bool {
        self.plan().closed
    }

    fn inspect(&self) -> String {
        let kind = self.socket_type.get().map_or("Socket", |kind| kind.name());
        let state = if self.is_closed() { " closed" } else { "" };
        format!("#<Sealwire::{kind}{state}>")
    }
}

/// Arguments, then perhaps `timeout:` in seconds; `Some(None)` for a `nil` that was given.
pub(crate) fn with_timeout<Required: magnus::scan_args::ScanArgsRequired>(
    ruby: &Ruby,
    args: &[Value],
) -> Result<(Required, Option<Option<Duration>>), Error> {
    let scanned = scan_args::<Required, (), (), (), RHash, ()>(args)?;
    let keywords =
        get_kwargs::<_, (), (Option<Option<Value>>,), ()>(scanned.keywords, &[], &["timeout"])?;
    let limit = match keywords.optional.0 {
        None => None,
        Some(None) => Some(None),
        Some(Some(limit)) => Some(seconds(ruby, "timeout", limit)?),
    };
    Ok((scanned.required, limit))
}
