//! Authenticators: sets and files of keys, passwords, or a callable of Python.

use std::path::PathBuf;
use std::sync::Arc;

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyMapping, PyString};
use sealwire::auth::{Authenticator, Decision, PasswordTable, PlainAuthenticator, PlainClient};

use crate::asked::{Asked, Role};
use crate::keys::PublicKey;

/// Lets in everybody who knows the server's public key.
#[pyclass(frozen, module = "sealwire")]
pub(crate) struct AllowAnyone;

#[pymethods]
impl AllowAnyone {
    #[new]
    fn new() -> Self {
        AllowAnyone
    }

    fn __repr__(&self) -> &'static str {
        "AllowAnyone()"
    }
}

/// A fixed set of keys: an iterable of keys, or a mapping from keys to names.
#[pyclass(frozen, module = "sealwire")]
pub(crate) struct AllowedKeys(sealwire::auth::AllowedKeys);

#[pymethods]
impl AllowedKeys {
    #[new]
    fn new(keys: &Bound<'_, PyAny>) -> PyResult<Self> {
        let mut allowed = sealwire::auth::AllowedKeys::new();
        if let Ok(named) = keys.cast::<PyMapping>() {
            for item in named.items()?.iter() {
                let (key, name) = item.extract::<(Bound<'_, PyAny>, Option<String>)>()?;
                let key = PublicKey::any(&key)?;
                allowed = match name {
                    Some(name) => allowed.allow_as(key, name),
                    None => allowed.allow(key),
                };
            }
        } else {
            for key in keys.try_iter()? {
                allowed = allowed.allow(PublicKey::any(&key?)?);
            }
        }
        Ok(AllowedKeys(allowed))
    }

    fn __len__(&self) -> usize {
        self.0.len()
    }

    fn __repr__(&self) -> String {
        format!("<sealwire.AllowedKeys of {} keys>", self.0.len())
    }
}

/// The keys of a file or directory, read again when it changes. The owner of a key that is
/// taken off is disconnected within about a second.
#[pyclass(frozen, module = "sealwire")]
pub(crate) struct AllowedKeysFile(Arc<sealwire::auth::AllowedKeysFile>);

#[pymethods]
impl AllowedKeysFile {
    #[new]
    fn new(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        sealwire::auth::AllowedKeysFile::open(path)
            .map(|keys| AllowedKeysFile(Arc::new(keys)))
            .map_err(|error| crate::error::plain(py, "KeyFileError", error))
    }

    fn __repr__(&self) -> &'static str {
        "<sealwire.AllowedKeysFile>"
    }
}

/// Usernames with their passwords, compared in constant time. For PLAIN.
#[pyclass(frozen, module = "sealwire")]
pub(crate) struct Passwords(PasswordTable);

#[pymethods]
impl Passwords {
    #[new]
    fn new(table: &Bound<'_, PyDict>) -> PyResult<Self> {
        let mut passwords = PasswordTable::new();
        for (username, password) in table.iter() {
            passwords.insert(text_or_bytes(&username)?, text_or_bytes(&password)?);
        }
        Ok(Passwords(passwords))
    }

    fn __len__(&self) -> usize {
        self.0.len()
    }

    fn __repr__(&self) -> String {
        format!("<sealwire.Passwords of {} users>", self.0.len())
    }
}

/// The usernames and passwords of a file, read again when it changes. For PLAIN. Users who
/// are taken out, or whose password changes, are disconnected about a second later.
#[pyclass(frozen, module = "sealwire")]
pub(crate) struct PasswordFile(Arc<sealwire::auth::PasswordFile>);

#[pymethods]
impl PasswordFile {
    #[new]
    fn new(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        sealwire::auth::PasswordFile::open(path)
            .map(|file| PasswordFile(Arc::new(file)))
            .map_err(|error| crate::error::plain(py, "KeyFileError", error))
    }

    fn __repr__(&self) -> &'static str {
        "<sealwire.PasswordFile>"
    }
}

/// UTF-8 of text, or the bytes that are given.
pub(crate) fn text_or_bytes(given: &Bound<'_, PyAny>) -> PyResult<Vec<u8>> {
    match given.cast::<PyString>() {
        Ok(text) => Ok(text.to_cow()?.as_bytes().to_vec()),
        Err(_) => crate::buffer::copy(given),
    }
}

/// A client that asks to be let in.
#[pyclass(frozen, module = "sealwire")]
pub(crate) struct Client {
    public_key: Option<sealwire::PublicKey>,
    address: String,
    routing_id: Vec<u8>,
    username: Option<Vec<u8>>,
    password: Option<Vec<u8>>,
    process: Option<sealwire::ProcessCredentials>,
}

#[pymethods]
impl Client {
    /// The key it proved to hold; `None` with PLAIN.
    #[getter]
    fn public_key(&self) -> Option<PublicKey> {
        self.public_key.map(PublicKey::from)
    }

    /// Where the connection comes from.
    #[getter]
    fn address(&self) -> &str {
        &self.address
    }

    /// What it calls itself; empty with PLAIN, which asks before that is said.
    #[getter]
    fn routing_id<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.routing_id)
    }

    /// PLAIN: the username it shows.
    #[getter]
    fn username<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyBytes>> {
        self.username.as_ref().map(|name| PyBytes::new(py, name))
    }

    /// PLAIN: the password it shows. Compare with `hmac.compare_digest`.
    #[getter]
    fn password<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyBytes>> {
        self.password.as_ref().map(|word| PyBytes::new(py, word))
    }

    /// Over `ipc` on Linux: the numbers of the process at the other end, its user and its group.
    #[getter]
    fn process(&self) -> Option<(i32, u32, u32)> {
        self.process.map(crate::peer::numbers)
    }

    fn __repr__(&self) -> String {
        format!("<sealwire.Client at {}>", self.address)
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        zeroize::Zeroize::zeroize(&mut self.password);
    }
}

/// What decides about clients that prove a key.
pub(crate) enum OfKeys {
    Anyone,
    Keys(sealwire::auth::AllowedKeys),
    File(Arc<sealwire::auth::AllowedKeysFile>),
    Callable(Asked),
}

impl OfKeys {
    pub(crate) fn of(given: &Bound<'_, PyAny>) -> PyResult<Self> {
        if given.is_instance_of::<AllowAnyone>() {
            return Ok(OfKeys::Anyone);
        }
        if let Ok(keys) = given.cast::<AllowedKeys>() {
            return Ok(OfKeys::Keys(keys.get().0.clone()));
        }
        if let Ok(file) = given.cast::<AllowedKeysFile>() {
            return Ok(OfKeys::File(file.get().0.clone()));
        }
        if given.is_callable() && given.cast::<pyo3::types::PyType>().is_err() {
            return Ok(OfKeys::Callable(Asked::new(given.clone().unbind())));
        }
        Err(PyTypeError::new_err(
            "an authenticator is AllowAnyone(), AllowedKeys(..), AllowedKeysFile(..) or a callable",
        ))
    }
}

impl Authenticator for OfKeys {
    fn authenticate(&self, client: &sealwire::auth::Client<'_>) -> Decision {
        match self {
            OfKeys::Anyone => Authenticator::authenticate(&sealwire::auth::AllowAnyone, client),
            OfKeys::Keys(keys) => keys.authenticate(client),
            OfKeys::File(file) => file.authenticate(client),
            OfKeys::Callable(callable) => callable.decide(Role::Authenticator, || Client {
                public_key: Some(client.public_key()),
                address: client.address().to_string(),
                routing_id: client.metadata("Identity").unwrap_or_default().to_vec(),
                username: None,
                password: None,
                process: client.process(),
            }),
        }
    }

    fn revision(&self) -> Option<u64> {
        match self {
            OfKeys::File(file) => file.revision(),
            _ => None,
        }
    }

    fn leaves_it_to_zap(&self) -> bool {
        matches!(self, OfKeys::Anyone)
    }

    fn allows_nobody(&self) -> bool {
        match self {
            OfKeys::Keys(keys) => keys.allows_nobody(),
            OfKeys::File(file) => file.allows_nobody(),
            OfKeys::Anyone | OfKeys::Callable(_) => false,
        }
    }

    fn may_block(&self) -> bool {
        match self {
            OfKeys::Anyone | OfKeys::Keys(_) => false,
            OfKeys::File(file) => file.may_block(),
            OfKeys::Callable(_) => true,
        }
    }
}

/// What decides about clients that show a password.
pub(crate) enum OfPasswords {
    Anyone,
    Table(PasswordTable),
    File(Arc<sealwire::auth::PasswordFile>),
    Callable(Asked),
}

impl OfPasswords {
    pub(crate) fn of(given: &Bound<'_, PyAny>) -> PyResult<Self> {
        if given.is_instance_of::<AllowAnyone>() {
            return Ok(OfPasswords::Anyone);
        }
        if let Ok(table) = given.cast::<Passwords>() {
            return Ok(OfPasswords::Table(table.get().0.clone()));
        }
        if let Ok(file) = given.cast::<PasswordFile>() {
            return Ok(OfPasswords::File(file.get().0.clone()));
        }
        if given.is_callable() && given.cast::<pyo3::types::PyType>().is_err() {
            return Ok(OfPasswords::Callable(Asked::new(given.clone().unbind())));
        }
        Err(PyTypeError::new_err(
            "an authenticator for PLAIN is Passwords(..), PasswordFile(..), AllowAnyone() or a callable",
        ))
    }
}

impl PlainAuthenticator for OfPasswords {
    fn authenticate(&self, client: &PlainClient<'_>) -> Decision {
        match self {
            OfPasswords::Anyone => {
                PlainAuthenticator::authenticate(&sealwire::auth::AllowAnyone, client)
            }
            OfPasswords::Table(table) => table.authenticate(client),
            OfPasswords::File(file) => file.authenticate(client),
            OfPasswords::Callable(callable) => callable.decide(Role::Authenticator, || Client {
                public_key: None,
                address: client.address().to_string(),
                routing_id: Vec::new(),
                username: Some(client.credentials().username().to_vec()),
                password: Some(client.credentials().password().to_vec()),
                process: client.process(),
            }),
        }
    }

    fn revision(&self) -> Option<u64> {
        match self {
            OfPasswords::File(file) => file.revision(),
            _ => None,
        }
    }

    fn leaves_it_to_zap(&self) -> bool {
        matches!(self, OfPasswords::Anyone)
    }

    fn allows_nobody(&self) -> bool {
        match self {
            OfPasswords::Table(table) => table.allows_nobody(),
            OfPasswords::File(file) => file.allows_nobody(),
            OfPasswords::Anyone | OfPasswords::Callable(_) => false,
        }
    }

    fn may_block(&self) -> bool {
        match self {
            OfPasswords::Anyone | OfPasswords::Table(_) => false,
            OfPasswords::File(file) => file.may_block(),
            OfPasswords::Callable(_) => true,
        }
    }
}
