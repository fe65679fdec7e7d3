//! Certificates of `wss` endpoints: the one that a socket shows, and those that it believes.

use magnus::scan_args::{get_kwargs, scan_args};
use magnus::typed_data::Obj;
use magnus::{
    Class as _, Error, Module as _, Object as _, RHash, RModule, RString, Ruby, Value, function,
    method,
};
use sealwire::options;
use zeroize::Zeroizing;

use crate::keys::frozen;
use crate::{bytes, classes, errors};

#[magnus::wrap(
    class = "Sealwire::TlsIdentity",
    free_immediately,
    size,
    frozen_shareable
)]
pub(crate) struct TlsIdentity(pub(crate) options::TlsIdentity);

#[magnus::wrap(class = "Sealwire::TlsTrust", free_immediately, size, frozen_shareable)]
pub(crate) struct TlsTrust(pub(crate) options::TlsTrust);

pub(crate) fn define(ruby: &Ruby, sealwire: RModule) -> Result<(), Error> {
    let identity = classes::define::<TlsIdentity>(ruby, sealwire, "TlsIdentity")?;
    identity.undef_default_alloc_func();
    identity.define_singleton_method("new", function!(TlsIdentity::new, 2))?;
    identity.define_method("inspect", method!(TlsIdentity::inspect, 0))?;

    let trust = classes::define::<TlsTrust>(ruby, sealwire, "TlsTrust")?;
    trust.undef_default_alloc_func();
    trust.define_singleton_method("new", function!(TlsTrust::new, -1))?;
    trust.define_method("inspect", method!(TlsTrust::inspect, 0))
}

fn copy(pem: RString) -> Vec<u8> {
    bytes::with(pem, <[u8]>::to_vec)
}

impl TlsIdentity {
    pub(crate) fn wrap(ruby: &Ruby, identity: options::TlsIdentity) -> Obj<Self> {
        frozen(ruby, TlsIdentity(identity))
    }

    fn new(ruby: &Ruby, chain: RString, key: RString) -> Result<Obj<Self>, Error> {
        let (chain, key) = (copy(chain), Zeroizing::new(copy(key)));
        let identity = options::TlsIdentity::from_pem(chain, &*key);
        let identity = identity.map_err(|error| errors::tls_config(ruby, &error))?;
        Ok(Self::wrap(ruby, identity))
    }

    fn inspect(&self) -> &'static str {
        "#<Sealwire::TlsIdentity>"
    }
}

impl TlsTrust {
    pub(crate) fn wrap(ruby: &Ruby, trust: options::TlsTrust) -> Obj<Self> {
        frozen(ruby, TlsTrust(trust))
    }

    /// Authorities, `system:` and `host_name:`.
    fn new(ruby: &Ruby, args: &[Value]) -> Result<Obj<Self>, Error> {
        let scanned = scan_args::<(), (Option<Option<RString>>,), (), (), RHash, ()>(args)?;
        let keywords = get_kwargs::<_, (), (Option<bool>, Option<Option<String>>), ()>(
            scanned.keywords,
            &[],
            &["system", "host_name"],
        )?;
        let (system, host_name) = keywords.optional;
        let authorities = scanned.optional.0.flatten().map(copy);
        let made = match (authorities, system.unwrap_or_default()) {
            (Some(pem), false) => options::TlsTrust::from_pem(pem),
            (Some(pem), true) => {
                options::TlsTrust::from_pem(pem).and_then(options::TlsTrust::and_system)
            }
            (None, true) => options::TlsTrust::system(),
            (None, false) => {
                let problem = "trust somebody: authorities, system: true, or both";
                return Err(errors::argument(ruby, problem));
            }
        };
        let named = made.and_then(|trust| match host_name.flatten() {
            Some(name) => trust.with_host_name(name),
            None => Ok(trust),
        });
        let trust = named.map_err(|error| errors::tls_config(ruby, &error))?;
        Ok(Self::wrap(ruby, trust))
    }

    fn inspect(&self) -> &'static str {
        "#<Sealwire::TlsTrust>"
    }
}
