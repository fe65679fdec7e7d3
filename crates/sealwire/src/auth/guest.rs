//! Admission by address and process, under every mechanism.

use std::fmt;
use std::sync::Arc;

use super::{Decision, or_refuse};
use crate::peer::{PeerAddress, ProcessCredentials};

/// A peer that has shown nothing yet, or that shows nothing at all (NULL).
#[derive(Debug)]
pub struct Guest<'a> {
    pub(crate) address: &'a PeerAddress,
    pub(crate) process: Option<ProcessCredentials>,
    pub(crate) groups: &'a [u32],
}

impl Guest<'_> {
    /// Returns the address that the connection comes from, or leads to. It proves nothing.
    pub fn address(&self) -> &PeerAddress {
        self.address
    }

    /// The process at the other end with its user and group, as the system tells; `ipc` on Linux
    /// only.
    pub fn process(&self) -> Option<ProcessCredentials> {
        self.process
    }

    /// The supplementary groups that the process at the other end had when it connected or began to listen, as the
    /// system tells; `ipc` on Linux only, and empty elsewhere. Its main group is
    /// [`ProcessCredentials::group`], which may or may not be among them.
    pub fn groups(&self) -> &[u32] {
        self.groups
    }
}

/// What [`admit`](crate::SocketBuilder::admit) was given.
#[derive(Clone)]
pub(crate) struct Admission(Arc<dyn Fn(&Guest<'_>) -> Decision + Send + Sync>);

impl Admission {
    pub(crate) fn new<F, D>(admit: F) -> Self
    where
        F: Fn(&Guest<'_>) -> D + Send + Sync + 'static,
        D: Into<Decision>,
    {
        Admission(Arc::new(move |guest| admit(guest).into()))
    }

    pub(crate) fn decide(&self, guest: &Guest<'_>) -> Decision {
        or_refuse(guest.address, || (self.0)(guest))
    }
}

impl fmt::Debug for Admission {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Admission")
    }
}
