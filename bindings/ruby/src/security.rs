//! Mechanisms with their keys, and who may connect.

use std::sync::Arc;

use magnus::r_hash::ForEach;
use magnus::typed_data::Obj;
use magnus::{
    Class as _, Error, Module as _, Object as _, RHash, RModule, RString, Ruby, Value, function,
    method,
};
use sealwire::auth::{
    AllowAnyone, AllowedKeys, AllowedKeysFile, Authenticator as KeyAuthenticator, Client, Decision,
    PasswordFile, PasswordTable, PlainAuthenticator, PlainClient,
};

use crate::desk::{Callback, Desk};
use crate::keys::{KeyPair, frozen, public_key};
use crate::{bytes, classes, errors};

#[derive(Clone)]
#[magnus::wrap(class = "Sealwire::Security", free_immediately, size, frozen_shareable)]
pub(crate) enum Security {
    // Mechanisms with options of their own have a variant each.
    Blake3Client(sealwire::Blake3Client),
    Blake3Server(sealwire::Blake3Server),
    Other(sealwire::Security),
}

/// The authenticator of a server.
#[derive(Clone)]
#[magnus::wrap(
    class = "Sealwire::Authenticator",
    free_immediately,
    size,
    frozen_shareable
)]
pub(crate) enum Authenticator {
    Anyone,
    Keys(Arc<AllowedKeys>),
    File(Arc<AllowedKeysFile>),
    Passwords(Arc<PasswordTable>),
    PasswordFile(Arc<PasswordFile>),
    Callback(Arc<Callback>),
}

pub(crate) fn define(ruby: &Ruby, sealwire: RModule) -> Result<(), Error> {
    let security = classes::define::<Security>(ruby, sealwire, "Security")?;
    security.undef_default_alloc_func();
    security.define_singleton_method("plain_text", function!(Security::plain_text, 0))?;
    security.define_singleton_method("plain_client_with", function!(Security::plain_client, 2))?;
    security.define_singleton_method("plain_server_with", function!(Security::plain_server, 1))?;
    security.define_singleton_method("curve_client_with", function!(Security::curve_client, 2))?;
    security.define_singleton_method("curve_server_with", function!(Security::curve_server, 2))?;
    security.define_singleton_method(
        "curve_client_accepting_gaps_with",
        function!(Security::curve_client_accepting_gaps, 2),
    )?;
    security.define_singleton_method(
        "curve_server_accepting_gaps_with",
        function!(Security::curve_server_accepting_gaps, 2),
    )?;
    security
        .define_singleton_method("blake3_client_with", function!(Security::blake3_client, 2))?;
    security
        .define_singleton_method("blake3_server_with", function!(Security::blake3_server, 2))?;
    security.define_method(
        "with_additional_keys",
        method!(Security::with_additional_keys, 1),
    )?;
    security.define_method(
        "with_continuous_keystream_unauthenticated_order",
        method!(Security::with_continuous_keystream, 0),
    )?;
    security.define_method("mechanism", method!(Security::mechanism, 0))?;
    security.define_method("inspect", method!(Security::inspect, 0))?;

    let authenticator = classes::define::<Authenticator>(ruby, sealwire, "Authenticator")?;
    authenticator.undef_default_alloc_func();
    authenticator.define_singleton_method("anyone", function!(Authenticator::anyone, 0))?;
    authenticator.define_singleton_method("keys", function!(Authenticator::keys, 1))?;
    authenticator.define_singleton_method("file", function!(Authenticator::file, 1))?;
    authenticator.define_singleton_method("passwords", function!(Authenticator::passwords, 1))?;
    authenticator
        .define_singleton_method("password_file", function!(Authenticator::password_file, 1))?;
    authenticator.define_singleton_method("callback", function!(Authenticator::callback, 2))
}

impl Authenticator {
    pub(crate) fn of_callback(ruby: &Ruby, callback: Arc<Callback>) -> Obj<Self> {
        frozen(ruby, Authenticator::Callback(callback))
    }

    fn anyone(ruby: &Ruby) -> Obj<Self> {
        frozen(ruby, Authenticator::Anyone)
    }

    /// Keys with the names of their owners, or `nil`.
    fn keys(ruby: &Ruby, given: RHash) -> Result<Obj<Self>, Error> {
        let mut keys = AllowedKeys::new();
        given.foreach(|key: Value, name: Option<String>| {
            let key = public_key(ruby, key)?;
            let before = std::mem::take(&mut keys);
            keys = match name {
                Some(name) => before.allow_as(key, name),
                None => before.allow(key),
            };
            Ok(ForEach::Continue)
        })?;
        Ok(frozen(ruby, Authenticator::Keys(Arc::new(keys))))
    }

    fn file(ruby: &Ruby, path: String) -> Result<Obj<Self>, Error> {
        let file = AllowedKeysFile::open(path).map_err(|error| errors::key_file(ruby, &error))?;
        Ok(frozen(ruby, Authenticator::File(Arc::new(file))))
    }

    fn password_file(ruby: &Ruby, path: String) -> Result<Obj<Self>, Error> {
        let file = PasswordFile::open(path).map_err(|error| errors::key_file(ruby, &error))?;
        Ok(frozen(ruby, Authenticator::PasswordFile(Arc::new(file))))
    }

    fn passwords(ruby: &Ruby, given: RHash) -> Result<Obj<Self>, Error> {
        let mut table = PasswordTable::new();
        given.foreach(|username: RString, password: RString| {
            let username = bytes::with(username, <[u8]>::to_vec);
            bytes::with(password, |password| table.insert(username, password));
            Ok(ForEach::Continue)
        })?;
        Ok(frozen(ruby, Authenticator::Passwords(Arc::new(table))))
    }

    fn callback(ruby: &Ruby, desk: &Desk, number: u64) -> Obj<Self> {
        Self::of_callback(ruby, Arc::new(Callback::new(desk, number)))
    }
}

/// The authenticator of a server whose clients have keys.
struct ByKey(Authenticator);

impl KeyAuthenticator for ByKey {
    fn authenticate(&self, client: &Client<'_>) -> Decision {
        match &self.0 {
            Authenticator::Anyone => KeyAuthenticator::authenticate(&AllowAnyone, client),
            Authenticator::Keys(keys) => keys.authenticate(client),
            Authenticator::File(file) => file.authenticate(client),
            Authenticator::Callback(callback) => callback.decide(client),
            Authenticator::Passwords(_) | Authenticator::PasswordFile(_) => Decision::from(false),
        }
    }

    fn revision(&self) -> Option<u64> {
        match &self.0 {
            Authenticator::File(file) => file.revision(),
            _ => None,
        }
    }

    fn leaves_it_to_zap(&self) -> bool {
        matches!(self.0, Authenticator::Anyone)
    }

    fn allows_nobody(&self) -> bool {
        match &self.0 {
            Authenticator::Keys(keys) => keys.allows_nobody(),
            Authenticator::File(file) => file.allows_nobody(),
            _ => false,
        }
    }

    fn may_block(&self) -> bool {
        matches!(self.0, Authenticator::File(_) | Authenticator::Callback(_))
    }
}

/// The authenticator of a server whose clients have passwords.
struct ByPassword(Authenticator);

impl PlainAuthenticator for ByPassword {
    fn authenticate(&self, client: &PlainClient<'_>) -> Decision {
        match &self.0 {
            Authenticator::Anyone => PlainAuthenticator::authenticate(&AllowAnyone, client),
            Authenticator::Passwords(table) => table.authenticate(client),
            Authenticator::PasswordFile(file) => file.authenticate(client),
            Authenticator::Callback(callback) => callback.decide_plain(client),
            Authenticator::Keys(_) | Authenticator::File(_) => Decision::from(false),
        }
    }

    fn revision(&self) -> Option<u64> {
        match &self.0 {
            Authenticator::PasswordFile(file) => file.revision(),
            _ => None,
        }
    }

    fn leaves_it_to_zap(&self) -> bool {
        matches!(self.0, Authenticator::Anyone)
    }

    fn allows_nobody(&self) -> bool {
        match &self.0 {
            Authenticator::Passwords(table) => table.allows_nobody(),
            Authenticator::PasswordFile(file) => file.allows_nobody(),
            _ => false,
        }
    }

    fn may_block(&self) -> bool {
        matches!(self.0, Authenticator::Callback(_))
    }
}

impl Security {
    fn wrap(ruby: &Ruby, security: sealwire::Security) -> Obj<Self> {
        frozen(ruby, Security::Other(security))
    }

    pub(crate) fn inner(&self) -> sealwire::Security {
        match self {
            Security::Blake3Client(client) => client.clone().into(),
            Security::Blake3Server(server) => server.clone().into(),
            Security::Other(security) => security.clone(),
        }
    }

    fn plain_text(ruby: &Ruby) -> Obj<Self> {
        Self::wrap(ruby, sealwire::Security::plain_text())
    }

    fn plain_client(ruby: &Ruby, username: String, password: RString) -> Obj<Self> {
        let password = bytes::with(password, <[u8]>::to_vec);
        Self::wrap(ruby, sealwire::Security::plain_client(username, password))
    }

    fn plain_server(ruby: &Ruby, authenticator: &Authenticator) -> Result<Obj<Self>, Error> {
        if let Authenticator::Keys(_) | Authenticator::File(_) = authenticator {
            let problem = "clients of PLAIN have passwords and no keys: give a Hash of them";
            return Err(errors::argument(ruby, problem));
        }
        let authenticator = ByPassword(authenticator.clone());
        Ok(Self::wrap(
            ruby,
            sealwire::Security::plain_server(authenticator),
        ))
    }

    fn curve_client(ruby: &Ruby, server_key: Value, keys: &KeyPair) -> Result<Obj<Self>, Error> {
        let server_key = public_key(ruby, server_key)?;
        let security = sealwire::Security::curve_client(server_key, keys.0.clone());
        Ok(Self::wrap(ruby, security))
    }

    fn curve_server(
        ruby: &Ruby,
        keys: &KeyPair,
        authenticator: &Authenticator,
    ) -> Result<Obj<Self>, Error> {
        let authenticator = by_key(ruby, authenticator)?;
        let security = sealwire::Security::curve_server(keys.0.clone(), authenticator);
        Ok(Self::wrap(ruby, security))
    }

    fn curve_client_accepting_gaps(
        ruby: &Ruby,
        server_key: Value,
        keys: &KeyPair,
    ) -> Result<Obj<Self>, Error> {
        let server_key = public_key(ruby, server_key)?;
        let security = sealwire::Security::curve_client_accepting_gaps_unauthenticated_order(
            server_key,
            keys.0.clone(),
        );
        Ok(Self::wrap(ruby, security))
    }

    fn curve_server_accepting_gaps(
        ruby: &Ruby,
        keys: &KeyPair,
        authenticator: &Authenticator,
    ) -> Result<Obj<Self>, Error> {
        let authenticator = by_key(ruby, authenticator)?;
        let security = sealwire::Security::curve_server_accepting_gaps_unauthenticated_order(
            keys.0.clone(),
            authenticator,
        );
        Ok(Self::wrap(ruby, security))
    }

    fn blake3_client(
        ruby: &Ruby,
        server_key: Value,
        keys: Option<Obj<KeyPair>>,
    ) -> Result<Obj<Self>, Error> {
        let server_key = public_key(ruby, server_key)?;
        let client = match keys {
            Some(keys) => sealwire::Security::blake3_client_with_keys(server_key, keys.0.clone()),
            None => sealwire::Security::blake3_client(server_key),
        };
        Ok(frozen(ruby, Security::Blake3Client(client)))
    }

    fn blake3_server(
        ruby: &Ruby,
        keys: &KeyPair,
        authenticator: &Authenticator,
    ) -> Result<Obj<Self>, Error> {
        let authenticator = by_key(ruby, authenticator)?;
        let server = sealwire::Security::blake3_server(keys.0.clone(), authenticator);
        Ok(frozen(ruby, Security::Blake3Server(server)))
    }

    fn with_additional_keys(ruby: &Ruby, this: &Self, keys: &KeyPair) -> Result<Obj<Self>, Error> {
        match this {
            Security::Blake3Server(server) => {
                let server = server.clone().with_additional_keys(keys.0.clone());
                Ok(frozen(ruby, Security::Blake3Server(server)))
            }
            other => Err(other.lacks(ruby, "with_additional_keys", "a BLAKE3 server")),
        }
    }

    fn with_continuous_keystream(ruby: &Ruby, this: &Self) -> Result<Obj<Self>, Error> {
        let security = match this {
            Security::Blake3Client(client) => {
                let client = client.clone();
                Security::Blake3Client(client.with_continuous_keystream_unauthenticated_order())
            }
            Security::Blake3Server(server) => {
                let server = server.clone();
                Security::Blake3Server(server.with_continuous_keystream_unauthenticated_order())
            }
            other => {
                let option = "with_continuous_keystream_unauthenticated_order";
                return Err(other.lacks(ruby, option, "BLAKE3"));
            }
        };
        Ok(frozen(ruby, security))
    }

    /// The option belongs to another mechanism.
    fn lacks(&self, ruby: &Ruby, option: &str, owner: &str) -> Error {
        let given = match self {
            Security::Blake3Client(_) => "a BLAKE3 client".to_owned(),
            other => other.mechanism(),
        };
        errors::unsupported(
            ruby,
            format!("{option} belongs to {owner}, and this is {given}"),
        )
    }

    fn mechanism(&self) -> String {
        let security = self.inner();
        let names: Vec<_> = security
            .mechanisms()
            .map(sealwire::Mechanism::name)
            .collect();
        names.join(" or ")
    }

    /// Shows public keys only.
    fn inspect(&self) -> String {
        format!("#<Sealwire::Security {:?}>", self.inner())
    }
}

fn by_key(ruby: &Ruby, authenticator: &Authenticator) -> Result<ByKey, Error> {
    if let Authenticator::Passwords(_) | Authenticator::PasswordFile(_) = authenticator {
        let problem = "clients of this mechanism have keys and no passwords";
        return Err(errors::argument(ruby, problem));
    }
    Ok(ByKey(authenticator.clone()))
}
