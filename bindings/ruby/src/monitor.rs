//! What happens on a socket's connections.

use std::sync::Arc;
use std::time::Duration;

use magnus::scan_args::{get_kwargs, scan_args};
use magnus::typed_data::Obj;
use magnus::{Class as _, Error, Module as _, RHash, RModule, Ruby, StaticSymbol, Value, method};
use sealwire::{ConnectionFailure, Event as Inner};

use crate::classes;
use crate::keys::frozen;
use crate::options::seconds;
use crate::peer::Peer;
use crate::process::Process;
use crate::waiting;

#[magnus::wrap(class = "Sealwire::Monitor", free_immediately, size, frozen_shareable)]
pub(crate) struct Monitor {
    inner: Arc<sealwire::Monitor>,
    process: Process,
}

#[magnus::wrap(class = "Sealwire::Event", free_immediately, size, frozen_shareable)]
pub(crate) struct Event(Inner);

#[magnus::wrap(class = "Sealwire::Failure", free_immediately, size, frozen_shareable)]
pub(crate) struct Failure(ConnectionFailure);

pub(crate) fn define(ruby: &Ruby, sealwire: RModule) -> Result<(), Error> {
    let monitor = classes::define::<Monitor>(ruby, sealwire, "Monitor")?;
    monitor.undef_default_alloc_func();
    monitor.define_method("next", method!(Monitor::next, -1))?;
    monitor.define_method("lost", method!(Monitor::lost, 0))?;

    let event = classes::define::<Event>(ruby, sealwire, "Event")?;
    event.undef_default_alloc_func();
    event.define_method("name", method!(Event::name, 0))?;
    event.define_method("connection", method!(Event::connection, 0))?;
    event.define_method("endpoint", method!(Event::endpoint, 0))?;
    event.define_method("address", method!(Event::address, 0))?;
    event.define_method("local_address", method!(Event::local_address, 0))?;
    event.define_method("descriptor", method!(Event::descriptor, 0))?;
    event.define_method("by_peer?", method!(Event::is_by_peer, 0))?;
    event.define_method("peer", method!(Event::peer, 0))?;
    event.define_method("failure", method!(Event::failure, 0))?;
    event.define_method("attempt", method!(Event::attempt, 0))?;
    event.define_method("delay", method!(Event::delay, 0))?;
    event.define_method("count", method!(Event::count, 0))?;
    event.define_method("reason", method!(Event::reason, 0))?;
    event.define_method("to_s", method!(Event::to_s, 0))?;
    event.define_method("inspect", method!(Event::inspect, 0))?;

    let failure = classes::define::<Failure>(ruby, sealwire, "Failure")?;
    failure.undef_default_alloc_func();
    failure.define_method("connection", method!(Failure::connection, 0))?;
    failure.define_method("endpoint", method!(Failure::endpoint, 0))?;
    failure.define_method("address", method!(Failure::address, 0))?;
    failure.define_method("local_address", method!(Failure::local_address, 0))?;
    failure.define_method("descriptor", method!(Failure::descriptor, 0))?;
    failure.define_method("peer", method!(Failure::peer, 0))?;
    failure.define_method("ready?", method!(Failure::was_ready, 0))?;
    failure.define_method("cause", method!(Failure::cause, 0))?;
    failure.define_method(
        "handshake_failure?",
        method!(Failure::is_handshake_failure, 0),
    )?;
    failure.define_method("reason", method!(Failure::reason, 0))?;
    failure.define_method("to_s", method!(Failure::to_s, 0))?;
    failure.define_method("inspect", method!(Failure::inspect, 0))
}

impl Monitor {
    pub(crate) fn wrap(ruby: &Ruby, monitor: sealwire::Monitor) -> Obj<Self> {
        let inner = Arc::new(monitor);
        let process = Process::current();
        frozen(ruby, Monitor { inner, process })
    }

    /// `nil` when there is none within `timeout:`, or never again as the socket is closed.
    fn next(ruby: &Ruby, this: &Self, args: &[Value]) -> Result<Option<Obj<Event>>, Error> {
        this.process.check(ruby)?;
        let scanned = scan_args::<(), (), (), (), RHash, ()>(args)?;
        let keywords =
            get_kwargs::<_, (), (Option<Value>,), ()>(scanned.keywords, &[], &["timeout"])?;
        let limit = match keywords.optional.0 {
            Some(limit) => seconds(ruby, "timeout", limit)?,
            None => None,
        };
        let event = match this.inner.try_next() {
            Some(event) => Some(event),
            None => {
                let next = this.inner.next();
                waiting::within(ruby, next, limit)?.flatten()
            }
        };
        Ok(event.map(|event| frozen(ruby, Event(event))))
    }

    fn lost(&self) -> u64 {
        self.inner.lost()
    }
}

impl Event {
    fn name(ruby: &Ruby, this: &Self) -> StaticSymbol {
        ruby.sym_new(match &this.0 {
            Inner::Listening { .. } => "listening",
            Inner::Accepted { .. } => "accepted",
            Inner::AcceptFailed { .. } => "accept_failed",
            Inner::Connecting { .. } => "connecting",
            Inner::Connected { .. } => "connected",
            Inner::Ready { .. } => "ready",
            Inner::Subscribed { .. } => "subscribed",
            Inner::DropsBegan { .. } => "drops_began",
            Inner::DropsEnded { .. } => "drops_ended",
            Inner::MessagesMissed { .. } => "messages_missed",
            Inner::Failed(_) => "failed",
            Inner::Disconnected { .. } => "disconnected",
            Inner::Retrying { .. } => "retrying",
            Inner::GaveUp { .. } => "gave_up",
            Inner::Warning { .. } => "warning",
            Inner::DatagramsDropped { .. } => "datagrams_dropped",
            Inner::AnyoneAllowed { .. } => "anyone_allowed",
            Inner::NobodyAllowed { .. } => "nobody_allowed",
            Inner::Unbound { .. } => "unbound",
            _ => "other",
        })
    }

    fn connection(&self) -> Option<u64> {
        self.0.connection()
    }

    fn endpoint(&self) -> Option<String> {
        self.0.endpoint().map(ToString::to_string)
    }

    fn address(&self) -> Option<String> {
        self.0.address().map(ToString::to_string)
    }

    fn local_address(&self) -> Option<String> {
        self.0.local_address().map(ToString::to_string)
    }

    fn descriptor(&self) -> Option<i32> {
        self.0.descriptor()
    }

    fn is_by_peer(&self) -> bool {
        matches!(self.0, Inner::Disconnected { by_peer: true, .. })
    }

    fn peer(ruby: &Ruby, this: &Self) -> Option<Obj<Peer>> {
        let peer = this.0.peer()?;
        Some(Peer::wrap(ruby, peer.clone()))
    }

    fn failure(ruby: &Ruby, this: &Self) -> Option<Obj<Failure>> {
        match &this.0 {
            Inner::Failed(failure) => Some(Failure::wrap(ruby, failure.clone())),
            _ => None,
        }
    }

    fn attempt(&self) -> Option<u32> {
        match &self.0 {
            Inner::Retrying { attempt, .. } => Some(*attempt),
            _ => None,
        }
    }

    /// In seconds.
    fn delay(&self) -> Option<f64> {
        match &self.0 {
            Inner::Retrying { delay, .. } => Some(Duration::as_secs_f64(delay)),
            _ => None,
        }
    }

    fn count(&self) -> Option<u64> {
        match &self.0 {
            Inner::DatagramsDropped { count, .. }
            | Inner::DropsEnded { count, .. }
            | Inner::MessagesMissed { count, .. } => Some(*count),
            _ => None,
        }
    }

    fn reason(&self) -> Option<String> {
        match &self.0 {
            Inner::AcceptFailed { reason, .. } => Some(reason.clone()),
            Inner::Failed(failure) => Some(failure.cause().to_string()),
            Inner::Warning { warning, .. } => Some(warning.to_string()),
            Inner::DatagramsDropped { reason, .. } => Some(reason.to_string()),
            _ => None,
        }
    }

    fn to_s(&self) -> String {
        self.0.to_string()
    }

    fn inspect(&self) -> String {
        format!("#<Sealwire::Event {}>", self.0)
    }
}

impl Failure {
    pub(crate) fn wrap(ruby: &Ruby, failure: ConnectionFailure) -> Obj<Self> {
        frozen(ruby, Failure(failure))
    }

    fn connection(&self) -> Option<u64> {
        self.0.connection()
    }

    fn endpoint(&self) -> String {
        self.0.endpoint().to_string()
    }

    fn address(&self) -> String {
        self.0.address().to_string()
    }

    fn local_address(&self) -> Option<String> {
        self.0.local_address().map(ToString::to_string)
    }

    fn descriptor(&self) -> Option<i32> {
        self.0.descriptor()
    }

    fn was_ready(&self) -> bool {
        self.0.was_ready()
    }

    fn peer(ruby: &Ruby, this: &Self) -> Option<Obj<Peer>> {
        let peer = this.0.peer()?;
        Some(Peer::wrap(ruby, peer.clone()))
    }

    /// The name of the cause, for programs. It stays, while the text of `reason` may change.
    /// `docs/failures.md` lists the names.
    fn cause(ruby: &Ruby, this: &Self) -> StaticSymbol {
        ruby.sym_new(this.0.cause().name())
    }

    /// Whether the peers met and did not agree: a wrong key, a client that is not let in, another mechanism.
    fn is_handshake_failure(&self) -> bool {
        self.0.is_handshake_failure()
    }

    fn reason(&self) -> String {
        self.0.cause().to_string()
    }

    fn to_s(&self) -> String {
        self.0.to_string()
    }

    fn inspect(&self) -> String {
        format!("#<Sealwire::Failure {}>", self.0)
    }
}
