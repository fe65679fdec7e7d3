//! Other options for an endpoint that is served.

use std::sync::Arc;

use super::IoThread;
use super::closing::release;
use crate::core::SocketCore;
use crate::options::Withdrawn;

impl IoThread {
    /// Has the listener or connector with this number take the options that its endpoint has now, if it is here, and
    /// its connections of this thread what those mean for them.
    pub(super) fn renew(&mut self, core: Arc<SocketCore>, id: u64, withdrawn: Withdrawn) {
        if let Some(slot) = self.sources.find(id) {
            if let Some(listener) = self.sources.listener(slot) {
                listener.renew();
            } else if let Some(connector) = self.sources.connector(slot) {
                connector.renew();
            }
        }
        if withdrawn == Withdrawn::End {
            for key in self.sources.of_endpoint(&core, id) {
                self.with_session_in_reactor(key, |session, reactor| {
                    session.review_terms(reactor.now());
                    match session.is_usable() {
                        true => Ok(()),
                        // The I/O thread reads what is left.
                        false => session.end_lease(reactor.world.registry()),
                    }
                });
            }
        }
        release(core);
    }
}
