//! One connection of a client or server: either side can call the other.

use magnus::typed_data::Obj;
use magnus::{Class as _, Error, Module as _, RModule, RString, Ruby, Value, method};

use super::calling::Call;
use super::stream::Stream;
use crate::account::Account;
use crate::classes;
use crate::keys::{PublicKey, frozen};
use crate::waiting;

#[magnus::wrap(
    class = "Sealwire::RPC::Conn",
    free_immediately,
    size,
    frozen_shareable
)]
pub(crate) struct Conn(sealwire_rpc::Conn);

pub(super) fn define(ruby: &Ruby, rpc: RModule) -> Result<(), Error> {
    let class = classes::define::<Conn>(ruby, rpc, "Conn")?;
    class.undef_default_alloc_func();
    class.define_method("public_key", method!(Conn::public_key, 0))?;
    class.define_method("user_id", method!(Conn::user_id, 0))?;
    class.define_method("address", method!(Conn::address, 0))?;
    class.define_method("account", method!(Conn::account, 0))?;
    class.define_method("open?", method!(Conn::is_open, 0))?;
    class.define_method("close", method!(Conn::close, 0))?;
    class.define_method("request", method!(Conn::request, -1))?;
    class.define_method("send", method!(Conn::send, -1))?;
    class.define_private_method("start", method!(Conn::start, -1))?;
    class.define_method("inspect", method!(Conn::inspect, 0))
}

impl Conn {
    pub(super) fn wrap(ruby: &Ruby, conn: sealwire_rpc::Conn) -> Obj<Self> {
        frozen(ruby, Conn(conn))
    }

    fn public_key(ruby: &Ruby, this: &Self) -> Option<Obj<PublicKey>> {
        Some(frozen(ruby, PublicKey(this.0.peer().public_key()?)))
    }

    fn user_id(&self) -> Option<String> {
        self.0.peer().user_id().map(Into::into)
    }

    fn address(&self) -> String {
        self.0.peer().address().to_string()
    }

    fn account(ruby: &Ruby, this: &Self) -> Obj<Account> {
        Account::wrap(ruby, this.0.peer().account())
    }

    fn is_open(&self) -> bool {
        self.0.is_open()
    }

    fn close(&self) {
        self.0.close();
    }

    fn request(ruby: &Ruby, this: &Self, args: &[Value]) -> Result<RString, Error> {
        let call = Call::new(ruby, args)?;
        let answer = waiting::forever(ruby, this.0.request_with(&call.body, call.options()))?;
        super::answered(ruby, answer)
    }

    fn send(ruby: &Ruby, this: &Self, args: &[Value]) -> Result<(), Error> {
        let message = Call::one_way(ruby, args)?;
        let sending = this.0.send_with(&message.body, message.options());
        let outcome = waiting::forever(ruby, sending)?;
        super::sent(ruby, outcome)
    }

    fn start(ruby: &Ruby, this: &Self, args: &[Value]) -> Result<Obj<Stream>, Error> {
        let call = Call::new(ruby, args)?;
        let opened = waiting::forever(ruby, this.0.open(&call.body, call.options()))?;
        Stream::opened(ruby, opened)
    }

    fn inspect(&self) -> String {
        format!("#<Sealwire::RPC::Conn with {}>", self.0.peer())
    }
}
