//! The graceful end of a client or server.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use sealwire::waits::{self, Signal};

use super::{Hub, must_not_wait, shielded};
use crate::limits::bounded;
use crate::proto::Protocol;
use crate::seat::block_until;
use crate::threads;

impl Hub {
    /// Lets what is under way end, then ends everything, and waits for the end of the socket. `false`
    /// when the limit was not enough for what was under way.
    pub(crate) fn shut_down(self: &Arc<Self>, limit: Duration) -> bool {
        if !self.is_here() {
            return false;
        }
        let deadline = self.now() + bounded(limit);
        // This may be the thread that would tell of the deadline.
        let finished = block_until(self.at(deadline), self.end_by_deadline(deadline));
        let finished = finished.unwrap_or_else(|| self.end_and_tell());
        if !must_not_wait() {
            // Its end may take longer than there is time.
            let _ = block_until(self.at(deadline), self.socket.clone().close());
        }
        finished
    }

    /// Lets what is under way end, then ends everything. Returns `false` when there was not enough time for
    /// what was under way.
    pub(crate) async fn end_by_deadline(&self, deadline: Duration) -> bool {
        loop {
            let changed = self.changes.listen();
            // Connections may still be on their way.
            for link in self.links() {
                link.with(Protocol::go_away);
            }
            let is_over = deadline <= self.now() || self.has_ended();
            // Foreign code on a thread that waits for nothing.
            if is_over
                || self.admission.close_if(|link| link.is_finished())
                || waits::must_not_wait()
            {
                return self.end_and_tell();
            }
            self.by(deadline, changed).await;
        }
    }

    /// Ends everything. Returns whether nothing was under way.
    fn end_and_tell(&self) -> bool {
        let finished = self.is_finished();
        self.end();
        finished
    }

    fn is_finished(&self) -> bool {
        self.links().iter().all(|link| link.is_finished())
    }

    /// Runs `shut_down` on a thread of its own, for tasks that wait for it; on this one where the system
    /// gives none. `false` in a child of the process that made the hub.
    pub(crate) async fn shut_down_beside(
        self: &Arc<Self>,
        shut_down: impl Fn() -> bool + Send + Sync + 'static,
    ) -> bool {
        if !self.is_here() {
            return false;
        }
        let done = Arc::new(Signal::default());
        let listener = done.listen();
        let shut_down = Arc::new(shut_down);
        let outcome = Arc::new(AtomicBool::new(false));
        let (here, result) = (shut_down.clone(), outcome.clone());
        let spawned = threads::start("sealwire-rpc-shutdown", move || {
            result.store(shut_down(), Ordering::SeqCst);
            done.notify_all();
        });
        if spawned.is_err() {
            return here();
        }
        shielded(self, listener).await;
        outcome.load(Ordering::SeqCst)
    }
}
