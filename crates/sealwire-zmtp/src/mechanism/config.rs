//! Which mechanism the local side has, or which ones a server has.

use alloc::sync::Arc;
use alloc::vec::Vec;

use super::Entropy;
use super::blake3::{Blake3Client, Blake3Server};
use super::curve::{CurveClient, CurveServer};
use super::null::{Null, NullAuthorized};
use super::plain::{PlainClient, PlainServer};
use super::protection::Protection;
use super::settings::MechanismSettings;
use crate::error::ConfigError;
use crate::mechanism_type::Mechanism;
use crate::wire::greeting::Greeting;

/// The security mechanism of the local side; of a server, those from which its clients choose.
///
/// Made from the settings of a mechanism, [`Blake3Client`] and so on, and for those without settings by the
/// functions here. A client has one mechanism.
#[derive(Clone, Debug)]
pub struct MechanismConfig {
    /// The one that a peer is told about which none fits.
    first: Arc<dyn MechanismSettings<Protection>>,
    others: Vec<Arc<dyn MechanismSettings<Protection>>>,
}

impl MechanismConfig {
    /// Returns NULL: no authentication, no encryption.
    pub fn null() -> Self {
        Null.into()
    }

    /// Returns NULL, the side that decides about its peer, by its address, before it says READY. Either side
    /// may, and both.
    pub fn null_authorized() -> Self {
        NullAuthorized.into()
    }

    /// Returns PLAIN, the side that is shown passwords. Anyone on the path can read them.
    pub fn plain_server() -> Self {
        PlainServer.into()
    }

    /// Returns several servers at one endpoint: each client is served by the one whose mechanism its greeting
    /// names. Of two with the same mechanism the first is used, and a client that names none of them is told
    /// the mechanism of `first`.
    ///
    /// Only mechanisms that encrypt can be in a set: where plain text is one of them, anyone may choose it.
    ///
    /// Before it knows the client's mechanism, such a server sends the first 11 bytes of its greeting, from which
    /// a peer learns its version (RFC 37, "version negotiation"). Two of them wait for each other until the
    /// handshake's deadline.
    pub fn any_of(
        first: impl Into<EncryptedServer>,
        others: impl IntoIterator<Item = EncryptedServer>,
    ) -> Self {
        Self {
            first: first.into().0,
            others: others.into_iter().map(|server| server.0).collect(),
        }
    }

    /// The mechanisms, at least one, in the order they were given.
    pub fn mechanisms(&self) -> impl Iterator<Item = Mechanism> {
        self.all().map(|settings| settings.mechanism())
    }

    /// Returns whether the local side is the server of the mechanism.
    pub fn as_server(&self) -> bool {
        self.first.as_server()
    }

    /// The settings that a peer is told about which none fits.
    pub(crate) fn first(&self) -> &Arc<dyn MechanismSettings<Protection>> {
        &self.first
    }

    /// Whether the peer's greeting decides which settings are used.
    pub(crate) fn leaves_a_choice(&self) -> bool {
        !self.others.is_empty()
    }

    /// The settings for a peer with this greeting.
    pub(crate) fn for_peer(
        &self,
        theirs: &Greeting,
    ) -> Option<&Arc<dyn MechanismSettings<Protection>>> {
        self.all()
            .find(|settings| theirs.is_mechanism(settings.mechanism().name()))
    }

    /// The bytes of the greeting where others have zeros.
    pub(crate) fn greeting_padding(&self, entropy: &Entropy) -> [u8; 8] {
        if self.all().any(|settings| settings.wants_fresh_padding()) {
            entropy.padding()
        } else {
            [0; 8]
        }
    }

    pub(crate) fn validate(&self) -> Result<(), ConfigError> {
        self.all().try_for_each(|settings| settings.validate())
    }

    fn all(&self) -> impl Iterator<Item = &Arc<dyn MechanismSettings<Protection>>> {
        core::iter::once(&self.first).chain(&self.others)
    }
}

/// [`MechanismConfig::null`].
impl Default for MechanismConfig {
    fn default() -> Self {
        Self::null()
    }
}

/// A server whose mechanism encrypts, for [`MechanismConfig::any_of`].
#[derive(Clone, Debug)]
pub struct EncryptedServer(Arc<dyn MechanismSettings<Protection>>);

impl From<Blake3Server> for EncryptedServer {
    fn from(server: Blake3Server) -> Self {
        Self(Arc::new(server))
    }
}

impl From<CurveServer> for EncryptedServer {
    fn from(server: CurveServer) -> Self {
        Self(Arc::new(server))
    }
}

macro_rules! only {
    ($($settings:ty),*) => {$(
        impl From<$settings> for MechanismConfig {
            fn from(settings: $settings) -> Self {
                Self {
                    first: Arc::new(settings),
                    others: Vec::new(),
                }
            }
        }
    )*};
}

only!(
    Null,
    NullAuthorized,
    PlainClient,
    PlainServer,
    CurveClient,
    CurveServer,
    Blake3Client,
    Blake3Server
);
