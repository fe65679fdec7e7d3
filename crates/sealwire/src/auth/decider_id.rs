//! Tells one authenticator from another.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Which authenticator decides. Holds nothing of the application's, so it can be dropped anywhere.
#[derive(Debug, Clone)]
pub(crate) struct DeciderId(Arc<AtomicBool>);

impl DeciderId {
    pub(super) fn new(of_its_own: &Arc<AtomicBool>) -> Self {
        DeciderId(of_its_own.clone())
    }
}

impl PartialEq for DeciderId {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}
