//! The part that all handles of a socket share: its core and its context, which bind, connect and
//! close it.

use std::sync::Arc;
use std::time::Duration;

use sealwire_zmtp::SocketType;

use crate::context::Context;
use crate::core::{Closing, Registration, RegistrationKind, SocketCore, UsableBy};
use crate::endpoint::Endpoint;
use crate::engine::{self, Command};
use crate::error::{Error, Unusable};
use crate::monitor::Event;
use crate::options::{EndpointOptions, SocketOptions, bounded};
use crate::zap;

/// Closes the socket when the last of its handles is gone.
pub(super) struct Handle {
    pub(super) core: Arc<SocketCore>,
    context: Context,
}

impl Handle {
    pub(super) fn new(context: Context, options: SocketOptions) -> Result<Self, Error> {
        let core = SocketCore::new(context.core().clone(), options)?;
        Ok(Handle { core, context })
    }

    pub(super) fn bind(&self, endpoint: Endpoint) -> Result<Endpoint, Error> {
        let (core, context) = (&self.core, &self.context);
        let options = core.options();
        let usable = UsableBy(&options);
        usable.check(&endpoint, RegistrationKind::Bound)?;
        // Remembered: should the handler go, clients are refused and not let in.
        if options.security.leaves_it_to_zap() {
            zap::has_handler(core, context.inproc());
        }
        let id = context.core().next_number();
        let endpoint = if let Endpoint::Inproc(name) = &endpoint {
            context.inproc().bind(core, &options, name, id)?;
            endpoint
        } else if let Endpoint::Udp { .. } = endpoint {
            if core.socket_type() != SocketType::Dish {
                return Err(usable.error(&endpoint, Unusable::Direction));
            }
            engine::bind_datagrams(core, context.mailbox(), endpoint, &options, id)?
        } else {
            let (listener, endpoint) = context
                .mailbox()
                .listen(&endpoint, &options)
                .map_err(|source| Error::Bind { endpoint, source })?;
            let kind = RegistrationKind::Bound;
            core.register(Registration::new(endpoint.clone(), id, kind, &options))?;
            let (core, bound) = (core.clone(), endpoint.clone());
            context.mailbox().post(Command::Listen {
                core,
                options: options.clone(),
                listener,
                endpoint: bound,
                id,
            });
            endpoint
        };
        core.hub.emit(Event::Listening {
            endpoint: endpoint.clone(),
        });
        self.warn_of_clients(&options, &endpoint);
        Ok(endpoint)
    }

    /// Gives the number that the connections which come of it have as their connector.
    pub(super) fn connect(&self, endpoint: Endpoint) -> Result<u64, Error> {
        let (core, context) = (&self.core, &self.context);
        let options = core.options();
        let usable = UsableBy(&options);
        usable.check(&endpoint, RegistrationKind::Connected)?;
        let id = context.core().next_number();
        if let Endpoint::Inproc(name) = &endpoint {
            context.inproc().connect(core, &options, name, id)?;
            return Ok(id);
        }
        if let Endpoint::Udp { .. } = endpoint {
            if core.socket_type() != SocketType::Radio {
                return Err(usable.error(&endpoint, Unusable::Direction));
            }
            engine::connect_datagrams(core, context.mailbox(), endpoint, &options, id)?;
            return Ok(id);
        }
        let kind = RegistrationKind::Connected;
        core.register(Registration::new(endpoint.clone(), id, kind, &options))?;
        self.warn_of_clients(&options, &endpoint);
        context.mailbox().post(Command::Connect {
            core: core.clone(),
            options,
            endpoint,
            id,
        });
        Ok(id)
    }

    /// Tells who comes in there, where it may not be meant.
    fn warn_of_clients(&self, options: &EndpointOptions, endpoint: &Endpoint) {
        let core = &self.core;
        if matches!(endpoint, Endpoint::Inproc(_)) {
            return;
        }
        zap::warn_of_anyone(core, options, self.context.inproc(), endpoint);
        for mechanism in options.security.closed_mechanisms() {
            let endpoint = endpoint.clone();
            core.hub.emit(Event::NobodyAllowed {
                endpoint,
                mechanism,
            });
        }
    }

    pub(super) fn context(&self) -> &Context {
        &self.context
    }

    pub(super) fn unbind(&self, endpoint: &Endpoint) -> Result<(), Error> {
        let (core, context) = (&self.core, &self.context);
        let registration = core.unregister(endpoint, RegistrationKind::Bound)?;
        match endpoint {
            Endpoint::Inproc(name) => context.inproc().unbind(core, name),
            _ => context.mailbox().post(Command::Withdraw {
                id: registration.id,
            }),
        }
        core.hub.emit(Event::Unbound {
            endpoint: endpoint.clone(),
        });
        Ok(())
    }

    pub(super) fn unbind_and_disconnect(&self, endpoint: &Endpoint) -> Result<(), Error> {
        let (core, context) = (&self.core, &self.context);
        let id = core.unregister_with_peers(endpoint)?.id;
        match endpoint {
            Endpoint::Inproc(name) => context.inproc().unbind_and_disconnect(core, name, id),
            _ => {
                let core = core.clone();
                context
                    .mailbox()
                    .post(Command::WithdrawWithPeers { core, id });
            }
        }
        core.hub.emit(Event::Unbound {
            endpoint: endpoint.clone(),
        });
        Ok(())
    }

    pub(super) fn disconnect(&self, endpoint: &Endpoint) -> Result<(), Error> {
        let (core, context) = (&self.core, &self.context);
        let registration = core.unregister(endpoint, RegistrationKind::Connected)?;
        match endpoint {
            Endpoint::Inproc(name) => context.inproc().disconnect(core, name, registration.id),
            _ => context.mailbox().post(Command::Withdraw {
                id: registration.id,
            }),
        }
        Ok(())
    }

    /// Begins to drain the socket; does nothing when that has been done.
    pub(super) fn drain(&self, limit: Duration) -> Result<(), Error> {
        let (core, context) = (&self.core, &self.context);
        // The attachment keeps the socket from being drained before the I/O thread has seen the command.
        core.add_attachment();
        let withdrawn = match core.begin_drain() {
            Ok(Some(withdrawn)) => withdrawn,
            done => {
                core.remove_attachment();
                return done.map(drop);
            }
        };
        for Registration { endpoint, kind, .. } in withdrawn {
            if kind == RegistrationKind::Bound {
                core.hub.emit(Event::Unbound { endpoint });
            }
        }
        context.inproc().drain(core);
        let command = Command::DrainSocket(core.clone(), bounded(limit));
        context.mailbox().post(command);
        Ok(())
    }

    /// Begins to close the socket, with this linger time or that of its options. Where that has been done, a
    /// shorter time takes the place of the longer one.
    pub(super) fn close(&self, linger: Option<Duration>) {
        let core = &self.core;
        // The attachment keeps the socket from ending before the I/O thread has seen the command.
        core.add_attachment();
        let command = match core.begin_close(linger.map(bounded)) {
            Closing::Begun => {
                self.context.inproc().close(core);
                Command::CloseSocket(core.clone())
            }
            Closing::Shortened => Command::ShortenLinger(core.clone()),
            Closing::Unchanged => {
                if core.has_failed() {
                    // A fault that ends a socket leaves its names.
                    self.context.inproc().close(core);
                }
                core.remove_attachment();
                return;
            }
        };
        self.context.mailbox().post(command);
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        if self.core.is_here() {
            self.close(None);
        } else {
            // Nothing of the parent's is freed in a child: not all of it can be, as its threads are
            // not there.
            std::mem::forget((self.core.clone(), self.context.clone()));
        }
    }
}
