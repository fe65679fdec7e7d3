//! The peer at the other end of a connection.

use std::sync::Arc;

use magnus::typed_data::Obj;
use magnus::{
    Class as _, Error, Module as _, RArray, RHash, RModule, RString, Ruby, StaticSymbol, method,
};
use sealwire::metrics::Amount;
use sealwire::{Mechanism, ProcessCredentials, SocketType};

use crate::account::Account;
use crate::classes;
use crate::keys::{PublicKey, frozen};

#[magnus::wrap(class = "Sealwire::Peer", free_immediately, size, frozen_shareable)]
pub(crate) struct Peer(Arc<sealwire::Peer>);

pub(crate) fn define(ruby: &Ruby, sealwire: RModule) -> Result<(), Error> {
    let class = classes::define::<Peer>(ruby, sealwire, "Peer")?;
    class.undef_default_alloc_func();
    class.define_method("public_key", method!(Peer::public_key, 0))?;
    class.define_method("user_id", method!(Peer::user_id, 0))?;
    class.define_method("address", method!(Peer::address, 0))?;
    class.define_method("local_address", method!(Peer::local_address, 0))?;
    class.define_method("endpoint", method!(Peer::endpoint, 0))?;
    class.define_method("accepted?", method!(Peer::is_accepted, 0))?;
    class.define_method("descriptor", method!(Peer::descriptor, 0))?;
    class.define_method("routing_id", method!(Peer::routing_id, 0))?;
    class.define_method("socket_type", method!(Peer::socket_type, 0))?;
    class.define_method("mechanism", method!(Peer::mechanism, 0))?;
    class.define_method("connection", method!(Peer::connection, 0))?;
    class.define_method(
        "connection_routing_id",
        method!(Peer::connection_routing_id, 0),
    )?;
    class.define_method("metadata", method!(Peer::metadata, 1))?;
    class.define_method("process", method!(Peer::process, 0))?;
    class.define_method("account", method!(Peer::account, 0))?;
    class.define_method("numbers", method!(Peer::numbers, 0))?;
    class.define_method("to_s", method!(Peer::to_s, 0))?;
    class.define_method("inspect", method!(Peer::inspect, 0))
}

pub(crate) fn type_symbol(ruby: &Ruby, socket_type: SocketType) -> StaticSymbol {
    ruby.sym_new(socket_type.name())
}

/// Process, user and group, in this order.
pub(crate) fn numbers(ruby: &Ruby, process: ProcessCredentials) -> RArray {
    ruby.ary_from_iter([
        i64::from(process.process),
        i64::from(process.user),
        i64::from(process.group),
    ])
}

impl Peer {
    pub(crate) fn wrap(ruby: &Ruby, peer: Arc<sealwire::Peer>) -> Obj<Self> {
        frozen(ruby, Peer(peer))
    }

    fn public_key(ruby: &Ruby, this: &Self) -> Option<Obj<PublicKey>> {
        let key = this.0.public_key()?;
        Some(frozen(ruby, PublicKey(key)))
    }

    fn user_id(&self) -> Option<String> {
        self.0.user_id().map(Into::into)
    }

    fn address(&self) -> String {
        self.0.address().to_string()
    }

    fn local_address(&self) -> Option<String> {
        self.0.local_address().map(ToString::to_string)
    }

    fn endpoint(&self) -> String {
        self.0.endpoint().to_string()
    }

    fn is_accepted(&self) -> bool {
        self.0.is_accepted()
    }

    fn descriptor(&self) -> Option<i32> {
        self.0.descriptor()
    }

    fn routing_id(ruby: &Ruby, this: &Self) -> RString {
        ruby.str_from_slice(this.0.routing_id())
    }

    fn socket_type(ruby: &Ruby, this: &Self) -> StaticSymbol {
        type_symbol(ruby, this.0.socket_type())
    }

    fn mechanism(&self) -> Option<&'static str> {
        self.0.mechanism().map(Mechanism::name)
    }

    fn connection(&self) -> u64 {
        self.0.connection()
    }

    fn connection_routing_id(&self) -> u32 {
        self.0.connection_routing_id()
    }

    fn metadata(ruby: &Ruby, this: &Self, name: String) -> Option<RString> {
        let value = this.0.metadata(&name)?;
        Some(ruby.str_from_slice(value))
    }

    fn process(ruby: &Ruby, this: &Self) -> Option<RArray> {
        Some(numbers(ruby, this.0.process()?))
    }

    fn account(ruby: &Ruby, this: &Self) -> Obj<Account> {
        Account::wrap(ruby, this.0.account())
    }

    /// By name, as `peers` and `accounts` last found them.
    fn numbers(ruby: &Ruby, this: &Self) -> Result<RHash, Error> {
        let named = ruby.hash_new();
        for (name, amount) in this.0.numbers().named() {
            match amount {
                Amount::Count(count) => named.aset(ruby.to_symbol(name), count)?,
                amount => named.aset(ruby.to_symbol(name), amount.as_f64())?,
            }
        }
        Ok(named)
    }

    fn to_s(&self) -> String {
        self.0.to_string()
    }

    fn inspect(&self) -> String {
        format!("#<Sealwire::Peer {}>", self.0)
    }
}
