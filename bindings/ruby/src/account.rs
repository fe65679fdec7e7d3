//! The account of a peer: bytes and objects held for it, by kind.

use magnus::typed_data::Obj;
use magnus::{Class as _, Error, IntoValue, Module as _, RHash, RModule, Ruby, method};
use sealwire::account::{Account as Live, Kind, Side};

use crate::classes;
use crate::keys::frozen;

/// As it was when it was asked for.
#[magnus::wrap(class = "Sealwire::Account", free_immediately, size, frozen_shareable)]
pub(crate) struct Account {
    held: [usize; Kind::ALL.len()],
    exceeded: [u64; Kind::ALL.len()],
    inbound: usize,
    outbound: usize,
    written: u64,
}

pub(crate) fn define(ruby: &Ruby, sealwire: RModule) -> Result<(), Error> {
    let class = classes::define::<Account>(ruby, sealwire, "Account")?;
    class.undef_default_alloc_func();
    class.define_method("held", method!(Account::held, 0))?;
    class.define_method("exceeded", method!(Account::exceeded, 0))?;
    class.define_method("inbound", method!(Account::inbound, 0))?;
    class.define_method("outbound", method!(Account::outbound, 0))?;
    class.define_method("written", method!(Account::written, 0))?;
    class.define_method("inspect", method!(Account::inspect, 0))
}

impl Account {
    pub(crate) fn wrap(ruby: &Ruby, account: &Live) -> Obj<Self> {
        let account = Account {
            held: Kind::ALL.map(|kind| account.held(kind)),
            exceeded: Kind::ALL.map(|kind| account.exceeded(kind)),
            inbound: account.total(Side::Inbound),
            outbound: account.total(Side::Outbound),
            written: account.written(),
        };
        frozen(ruby, account)
    }

    /// Bytes; of connections, handshakes, tunnels, timers and log lines their number.
    fn held(ruby: &Ruby, this: &Self) -> RHash {
        by_kind(ruby, this.held)
    }

    fn exceeded(ruby: &Ruby, this: &Self) -> RHash {
        by_kind(ruby, this.exceeded)
    }

    fn inbound(&self) -> usize {
        self.inbound
    }

    fn outbound(&self) -> usize {
        self.outbound
    }

    fn written(&self) -> u64 {
        self.written
    }

    fn inspect(&self) -> String {
        format!(
            "#<Sealwire::Account of {} bytes in, {} out>",
            self.inbound, self.outbound
        )
    }
}

/// A number for each kind, by its name.
pub(crate) fn by_kind<N: IntoValue>(ruby: &Ruby, numbers: [N; Kind::ALL.len()]) -> RHash {
    let kinds = Kind::ALL.into_iter().zip(numbers);
    ruby.hash_from_iter(kinds.map(|(kind, number)| (ruby.sym_new(kind.label()), number)))
}
