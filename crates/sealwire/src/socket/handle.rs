//! The part that all handles of a socket share: its core and its context, which bind, connect and
//! close it.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use sealwire_zmtp::SocketType;

use crate::context::Context;
use crate::core::{Closing, Registration, RegistrationKind, SocketCore, UsableBy};
use crate::endpoint::Endpoint;
use crate::engine::{self, Command, Mailbox, Placed};
use crate::error::{Error, Unusable};
use crate::monitor::Event;
use crate::options::{
    CurrentOptions, EndpointOptions, OptionsError, SocketOptions, Withdrawn, bounded,
};
use crate::peer::PeerAddress;
use crate::transport::BoundListener;
#[cfg(unix)]
use crate::transport::Listener;
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
        self.remember_handler(&options);
        let given = endpoint.clone();
        let endpoint = match &endpoint {
            Endpoint::Inproc(name) => {
                let id = context.core().next_number();
                context.inproc().bind(core, &options, name, id)?;
                endpoint
            }
            Endpoint::Udp { .. } => {
                if !matches!(core.socket_type(), SocketType::Dish | SocketType::Dgram) {
                    return Err(usable.error(&endpoint, Unusable::Direction));
                }
                let id = context.core().next_number();
                let placed = self.place(&options)?;
                engine::bind_datagrams(core, context.threads(), placed, endpoint, &options, id)?
            }
            _ => {
                return self.listen(&options, given, |mailbox| {
                    mailbox.listen(&endpoint, &options)
                });
            }
        };
        self.tell_listening(&options, given, &endpoint, None, None);
        Ok(endpoint)
    }

    /// Binds to a socket that listens already.
    #[cfg(unix)]
    pub(super) fn bind_listener(&self, listener: Listener) -> Result<Endpoint, Error> {
        let options = self.core.options();
        // The system's word, not the caller's, decides what may be done there.
        let endpoint = listener.endpoint()?;
        UsableBy(&options).check(&endpoint, RegistrationKind::Bound)?;
        self.remember_handler(&options);
        self.listen(&options, endpoint.clone(), |mailbox| {
            Ok((mailbox.take_over(listener, &options)?, endpoint))
        })
    }

    /// Should the handler go, clients are refused and not let in.
    fn remember_handler(&self, options: &SocketOptions) {
        if options.security.leaves_it_to_zap() {
            zap::has_handler(&self.core, self.context.inproc());
        }
    }

    /// Has the engine accept on what `open` gives, which is bound to the endpoint beside it.
    fn listen(
        &self,
        options: &Arc<EndpointOptions>,
        given: Endpoint,
        open: impl FnOnce(&Mailbox) -> io::Result<(BoundListener, Endpoint)>,
    ) -> Result<Endpoint, Error> {
        let (core, context) = (&self.core, &self.context);
        let id = context.core().next_number();
        let Placed { thread, share } = self.place(options)?;
        let mailbox = context.threads().of(thread);
        let (listener, endpoint) = open(mailbox).map_err(|source| Error::Bind {
            endpoint: given.clone(),
            source,
        })?;
        let kind = RegistrationKind::Bound;
        let (local_address, descriptor) = (listener.local_address(), listener.descriptor());
        let current = CurrentOptions::new(options.clone());
        let registration = Registration::new(endpoint.clone(), id, kind, options)
            .on_thread(thread)
            .with_options(&current)
            .listening_at(local_address.clone(), descriptor);
        core.register(registration)?;
        mailbox.post(Command::Listen {
            core: core.clone(),
            options: current,
            listener,
            endpoint: endpoint.clone(),
            id,
            share,
        });
        self.tell_listening(options, given, &endpoint, local_address, descriptor);
        Ok(endpoint)
    }

    fn tell_listening(
        &self,
        options: &EndpointOptions,
        given: Endpoint,
        endpoint: &Endpoint,
        local_address: Option<PeerAddress>,
        descriptor: Option<i32>,
    ) {
        self.core.hub.emit(Event::Listening {
            endpoint: endpoint.clone(),
            given,
            local_address,
            descriptor,
        });
        self.warn_of_clients(options, endpoint);
    }

    /// Gives the number that the connections which come of it have as their connector.
    pub(super) fn connect(
        &self,
        endpoint: Endpoint,
        routing_id: Option<Arc<[u8]>>,
    ) -> Result<u64, Error> {
        let (core, context) = (&self.core, &self.context);
        let options = core.options();
        let usable = UsableBy(&options);
        usable.check(&endpoint, RegistrationKind::Connected)?;
        let id = context.core().next_number();
        if let Endpoint::Inproc(name) = &endpoint {
            context
                .inproc()
                .connect(core, &options, name, id, routing_id)?;
            return Ok(id);
        }
        if let Endpoint::Udp { .. } = endpoint {
            if core.socket_type() != SocketType::Radio {
                return Err(usable.error(&endpoint, Unusable::Direction));
            }
            let placed = self.place(&options)?;
            engine::connect_datagrams(core, context.threads(), placed, endpoint, &options, id)?;
            return Ok(id);
        }
        let Placed { thread, share } = self.place(&options)?;
        let kind = RegistrationKind::Connected;
        let registration = Registration::new(endpoint.clone(), id, kind, &options);
        let current = CurrentOptions::new(options.clone());
        let registration = registration.on_thread(thread).with_options(&current);
        core.register(registration.with_routing_id(routing_id))?;
        self.warn_of_clients(&options, &endpoint);
        context.threads().of(thread).post(Command::Connect {
            core: core.clone(),
            options: current,
            endpoint,
            id,
            share,
        });
        Ok(id)
    }

    /// The options that an endpoint has now.
    pub(super) fn options_of(&self, endpoint: &Endpoint) -> Result<Arc<EndpointOptions>, Error> {
        let options = self.core.options_of(endpoint)?;
        options.ok_or_else(|| self.fixed(endpoint))
    }

    /// Gives an endpoint other options, which have been found to fit the socket.
    pub(super) fn reconfigure_endpoint(
        &self,
        endpoint: &Endpoint,
        options: SocketOptions,
        withdrawn: Withdrawn,
    ) -> Result<(), Error> {
        let core = &self.core;
        // First what was given, then where.
        let kinds = core.kinds_of(endpoint)?;
        if matches!(endpoint, Endpoint::Inproc(_) | Endpoint::Udp { .. }) {
            return Err(self.fixed(endpoint));
        }
        for kind in kinds {
            UsableBy(&options).check(endpoint, kind)?;
        }
        self.remember_handler(&options);
        let (options, renewed) = core.renew(endpoint, options, withdrawn)?;
        for id in renewed {
            for thread in core.threads() {
                let core = core.clone();
                let command = Command::Renew {
                    core,
                    id,
                    withdrawn,
                };
                self.context.threads().of(thread).post(command);
            }
        }
        self.warn_of_clients(&options, endpoint);
        Ok(())
    }

    fn fixed(&self, endpoint: &Endpoint) -> Error {
        UsableBy(&self.core.options()).error(endpoint, Unusable::FixedOptions)
    }

    /// The I/O thread for an endpoint with these options.
    fn place(&self, options: &SocketOptions) -> Result<Placed, Error> {
        let placed = self.context.threads().place(options.io_affinity);
        let placed = placed.ok_or(OptionsError::IoAffinity(options.io_affinity))?;
        self.core.enroll_at(placed.thread)?;
        Ok(placed)
    }

    /// Tells all I/O threads that serve something of the socket. The caller has attached it once.
    fn tell_threads(&self, command: impl Fn(Arc<SocketCore>) -> Command) {
        for thread in self.core.attach_threads() {
            let command = command(self.core.clone());
            self.context.threads().of(thread).post(command);
        }
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
            _ => {
                let mailbox = context.threads().of(registration.thread);
                mailbox.post(Command::Withdraw {
                    id: registration.id,
                });
            }
        }
        Self::tell_unbound(core, registration);
        Ok(())
    }

    pub(super) fn unbind_and_disconnect(&self, endpoint: &Endpoint) -> Result<(), Error> {
        let (core, context) = (&self.core, &self.context);
        let registration = core.unregister_with_peers(endpoint)?;
        let id = registration.id;
        match endpoint {
            Endpoint::Inproc(name) => context.inproc().unbind_and_disconnect(core, name, id),
            _ => {
                let tell = |thread, command| context.threads().of(thread).post(command);
                for thread in core.threads_beside(registration.thread) {
                    let core = core.clone();
                    tell(thread, Command::LeaveAccepted { core, id });
                }
                let core = core.clone();
                tell(registration.thread, Command::WithdrawWithPeers { core, id });
            }
        }
        Self::tell_unbound(core, registration);
        Ok(())
    }

    pub(super) fn disconnect(&self, endpoint: &Endpoint) -> Result<(), Error> {
        let (core, context) = (&self.core, &self.context);
        let registration = core.unregister(endpoint, RegistrationKind::Connected)?;
        match endpoint {
            Endpoint::Inproc(name) => context.inproc().disconnect(core, name, registration.id),
            _ => {
                let mailbox = context.threads().of(registration.thread);
                mailbox.post(Command::Withdraw {
                    id: registration.id,
                });
            }
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
        for registration in withdrawn {
            if registration.kind == RegistrationKind::Bound {
                Self::tell_unbound(core, registration);
            }
        }
        context.inproc().drain(core);
        self.tell_threads(|core| Command::DrainSocket(core, bounded(limit)));
        Ok(())
    }

    fn tell_unbound(core: &SocketCore, registration: Registration) {
        let Registration {
            endpoint,
            local_address,
            descriptor,
            ..
        } = registration;
        core.hub.emit(Event::Unbound {
            endpoint,
            local_address,
            descriptor,
        });
    }

    /// Begins to close the socket, with this linger time or that of its options. Where that has been done, a
    /// shorter time takes the place of the longer one.
    pub(super) fn close(&self, linger: Option<Duration>) {
        let core = &self.core;
        // The attachment keeps the socket from ending before the I/O thread has seen the command.
        core.add_attachment();
        let command: fn(Arc<SocketCore>) -> Command = match core.begin_close(linger.map(bounded)) {
            Closing::Begun => {
                for registration in core.listening() {
                    Self::tell_unbound(core, registration);
                }
                self.context.inproc().close(core);
                Command::CloseSocket
            }
            Closing::Shortened => Command::ShortenLinger,
            Closing::Unchanged => {
                if core.has_failed() {
                    // A fault that ends a socket leaves its names.
                    self.context.inproc().close(core);
                }
                core.remove_attachment();
                return;
            }
        };
        self.tell_threads(command);
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
