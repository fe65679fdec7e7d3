//! A context: one I/O thread and the names of `inproc`.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use sealwire_fork::{Birth, PerProcess};
use sealwire_zmtp::SocketType;

use crate::core::{Registration, RegistrationKind, SharedCookies, SocketCore};
use crate::endpoint::Endpoint;
use crate::engine::{self, Command, Mailbox};
use crate::error::Error;
use crate::inproc;
use crate::monitor::Event;
use crate::options::from_now;
use crate::route::Routes;
use crate::transport::listen;

/// What sockets share: the thread that does their I/O, and the names of `inproc` endpoints.
///
/// Most programs never name one: sockets use [`Context::global`] by default. A context of one's
/// own separates the `inproc` names and the I/O of one part of a program from another's. Its
/// thread ends when the context and all its sockets are gone.
#[derive(Clone)]
pub struct Context {
    shared: Arc<Shared>,
}

struct Shared {
    birth: Birth,
    mailbox: Arc<Mailbox>,
    numbers: AtomicU64,
    routes: Arc<Routes>,
    inproc: inproc::Registry,
}

impl Context {
    /// Starts a context with its thread.
    ///
    /// # Errors
    ///
    /// [`Error::System`] when the system has no thread or no file descriptor left.
    pub fn new() -> Result<Self, Error> {
        Ok(Context {
            shared: Arc::new(Shared {
                birth: Birth::now(),
                mailbox: engine::start()?,
                numbers: AtomicU64::new(1),
                routes: Arc::default(),
                inproc: inproc::Registry::default(),
            }),
        })
    }

    /// The context of all sockets that were given no other. A child of a fork gets one of its own.
    ///
    /// # Errors
    ///
    /// As [`Context::new`], at the first call.
    pub fn global() -> Result<Self, Error> {
        static GLOBAL: PerProcess<Context> = PerProcess::new();
        // Two threads may race here; the loser's context ends as it is dropped.
        let usable = |context: &Context| !context.mailbox().is_closed();
        GLOBAL.get_or_try_make(usable, Context::new).cloned()
    }

    /// # Errors
    ///
    /// [`Error::Forked`] in a child of the process that made it.
    pub(crate) fn check(&self) -> Result<(), Error> {
        if self.shared.birth.is_here() {
            Ok(())
        } else {
            Err(Error::Forked)
        }
    }

    /// A number that no socket, endpoint or connection of this context has had.
    pub(crate) fn next_number(&self) -> u64 {
        self.shared.numbers.fetch_add(1, Ordering::Relaxed)
    }

    /// The numbers of peers.
    pub(crate) fn routes(&self) -> &Arc<Routes> {
        &self.shared.routes
    }

    pub(crate) fn mailbox(&self) -> &Arc<Mailbox> {
        &self.shared.mailbox
    }

    pub(crate) fn inproc(&self) -> &inproc::Registry {
        &self.shared.inproc
    }

    /// Puts cookie keys on the list of those that the I/O thread replaces by the clock.
    pub(crate) fn rotate_cookies_of(&self, cookies: &Arc<SharedCookies>) {
        self.mailbox()
            .post(Command::RotateCookies(Arc::downgrade(cookies)));
    }

    /// Puts a socket on the list of those whose authenticators may change their mind.
    pub(crate) fn revise_clients_of(&self, core: &Arc<SocketCore>) {
        self.mailbox().post(Command::Revise(Arc::downgrade(core)));
    }

    pub(crate) fn bind(
        &self,
        core: &Arc<SocketCore>,
        endpoint: Endpoint,
    ) -> Result<Endpoint, Error> {
        core.check_transport(&endpoint)?;
        core.check_security(&endpoint, RegistrationKind::Bound)?;
        #[cfg(feature = "wss")]
        core.check_tls(&endpoint, RegistrationKind::Bound)?;
        // Remembered: should the handler go, clients are refused and not let in.
        if core.options().security.leaves_it_to_zap() {
            core.has_zap_handler();
        }
        let id = self.next_number();
        let endpoint = if let Endpoint::Inproc(name) = &endpoint {
            inproc::bind(core, name, id)?;
            endpoint
        } else if let Endpoint::Udp { .. } = endpoint {
            if core.options().socket_type != SocketType::Dish {
                return Err(Error::DatagramDirection(endpoint));
            }
            engine::bind_datagrams(core, endpoint, id)?
        } else {
            let (listener, endpoint) = listen(&endpoint, core.options())
                .map_err(|source| Error::Bind { endpoint, source })?;
            let kind = RegistrationKind::Bound;
            core.register(Registration {
                endpoint: endpoint.clone(),
                id,
                kind,
            })?;
            let (core, bound) = (core.clone(), endpoint.clone());
            self.mailbox().post(Command::Listen {
                core,
                listener,
                endpoint: bound,
                id,
            });
            endpoint
        };
        core.hub.emit(Event::Listening {
            endpoint: endpoint.clone(),
        });
        core.warn_of_anyone(&endpoint);
        Ok(endpoint)
    }

    /// Gives the number that the connections which come of it have as their connector.
    pub(crate) fn connect(&self, core: &Arc<SocketCore>, endpoint: Endpoint) -> Result<u64, Error> {
        core.check_transport(&endpoint)?;
        core.check_security(&endpoint, RegistrationKind::Connected)?;
        #[cfg(feature = "wss")]
        core.check_tls(&endpoint, RegistrationKind::Connected)?;
        let id = self.next_number();
        if let Endpoint::Inproc(name) = &endpoint {
            inproc::connect(core, name, id)?;
            return Ok(id);
        }
        if let Endpoint::Udp { .. } = endpoint {
            if core.options().socket_type != SocketType::Radio {
                return Err(Error::DatagramDirection(endpoint));
            }
            engine::connect_datagrams(core, endpoint, id)?;
            return Ok(id);
        }
        let kind = RegistrationKind::Connected;
        core.register(Registration {
            endpoint: endpoint.clone(),
            id,
            kind,
        })?;
        core.warn_of_anyone(&endpoint);
        self.mailbox().post(Command::Connect {
            core: core.clone(),
            endpoint,
            id,
        });
        Ok(id)
    }

    pub(crate) fn unbind(&self, core: &Arc<SocketCore>, endpoint: &Endpoint) -> Result<(), Error> {
        let registration = core.unregister(endpoint, RegistrationKind::Bound)?;
        match endpoint {
            Endpoint::Inproc(name) => inproc::unbind(core, name),
            _ => self.mailbox().post(Command::Withdraw {
                id: registration.id,
            }),
        }
        core.hub.emit(Event::Unbound {
            endpoint: endpoint.clone(),
        });
        Ok(())
    }

    pub(crate) fn disconnect(
        &self,
        core: &Arc<SocketCore>,
        endpoint: &Endpoint,
    ) -> Result<(), Error> {
        let registration = core.unregister(endpoint, RegistrationKind::Connected)?;
        match endpoint {
            Endpoint::Inproc(name) => inproc::disconnect(core, name, registration.id),
            _ => self.mailbox().post(Command::Withdraw {
                id: registration.id,
            }),
        }
        Ok(())
    }

    /// Begins to close a socket; does nothing when that has been done.
    pub(crate) fn close_socket(&self, core: &Arc<SocketCore>) {
        // The attachment keeps the socket from ending before the I/O thread has seen the command.
        core.add_attachment();
        if !core.begin_close() {
            core.remove_attachment();
            return;
        }
        inproc::close(core);
        let deadline = from_now(core.options().linger);
        self.mailbox().post(Command::CloseSocket {
            core: core.clone(),
            deadline,
        });
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        if self.birth.is_here() {
            self.mailbox.post(Command::Shutdown);
        }
    }
}

impl fmt::Debug for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Context")
    }
}
