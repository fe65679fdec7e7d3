//! Where a command listens: at endpoints that it binds, and on sockets that a service manager opened for it.

use clap::Args;
#[cfg(unix)]
use sealwire::Listener;
use sealwire::blocking::Socket;
use sealwire::{Endpoint, SocketBuilder};
use sealwire_rpc::Server;

use crate::exit::Failure;
use crate::interrupt;

/// How the listeners of a command come from the process before it, or go to the next one.
#[derive(Debug, Clone, Copy, Default, Args)]
#[command(next_help_heading = "As a service")]
pub(crate) struct ListeningOptions {
    /// Listen on the sockets that a service manager passed to this process (LISTEN_FDS)
    #[cfg(unix)]
    #[arg(long)]
    listen_fds: bool,

    /// Let another process listen on the same TCP ports, which says so as well (SO_REUSEPORT): the next one, before
    /// this one ends
    #[cfg(unix)]
    #[arg(long)]
    reuse_port: bool,
}

impl ListeningOptions {
    /// The endpoints that a command binds, and all the sockets that were passed to it.
    pub(crate) fn doors(self, bind: &[Endpoint]) -> Result<Doors, Failure> {
        self.check(bind.is_empty())?;
        #[cfg(unix)]
        return Doors::of(bind, self.passed()?);
        #[cfg(not(unix))]
        Doors::of(bind)
    }

    /// The same for a command with several sockets. Each that was passed goes to the one whose name it has
    /// (`FileDescriptorName=`).
    pub(crate) fn doors_by_name<const N: usize>(
        self,
        sockets: [(&str, &[Endpoint]); N],
    ) -> Result<[Doors; N], Failure> {
        self.check(sockets.iter().all(|(_, bind)| bind.is_empty()))?;
        #[cfg(unix)]
        let mut passed = {
            let names = sockets.map(|(name, _)| name);
            let passed = self.passed()?;
            for listener in &passed {
                let name = listener.name().unwrap_or_default();
                if !names.contains(&name) {
                    return Err(Failure::usage(format!(
                        "--listen-fds: a socket of the name '{}' was passed; its unit has to say which of the sockets \
                         here it is: FileDescriptorName= with one of {}",
                        name.escape_default(),
                        names.join(", ")
                    )));
                }
            }
            passed
        };
        let mut doors = Vec::with_capacity(N);
        for (_name, bind) in sockets {
            #[cfg(unix)]
            {
                let its_own = |listener: &mut Listener| listener.name() == Some(_name);
                doors.push(Doors::of(bind, passed.extract_if(.., its_own).collect())?);
            }
            #[cfg(not(unix))]
            doors.push(Doors::of(bind)?);
        }
        Ok(doors.try_into().unwrap_or_else(|_| unreachable!()))
    }

    /// Lets sockets share their ports where that is wanted.
    pub(crate) fn apply(self, builder: SocketBuilder) -> SocketBuilder {
        builder.reuse_port(self.shares_ports())
    }

    #[cfg(unix)]
    pub(crate) fn shares_ports(self) -> bool {
        self.reuse_port
    }

    #[cfg(not(unix))]
    pub(crate) fn shares_ports(self) -> bool {
        false
    }

    /// Whether sockets that were passed are listened on.
    pub(crate) fn takes_passed(self) -> bool {
        #[cfg(unix)]
        return self.listen_fds;
        #[cfg(not(unix))]
        false
    }

    fn check(self, binds_nothing: bool) -> Result<(), Failure> {
        match self.shares_ports() && binds_nothing {
            true => Err(Failure::usage(
                "--reuse-port is for ports that are bound here: give an endpoint to bind",
            )),
            false => Ok(()),
        }
    }

    #[cfg(unix)]
    fn passed(self) -> Result<Vec<Listener>, Failure> {
        if !self.listen_fds {
            return Ok(Vec::new());
        }
        let passed = Listener::passed().map_err(sealwire::Error::from)?;
        match passed.is_empty() {
            true => Err(Failure::usage(
                "--listen-fds: no socket was passed (LISTEN_FDS is not set); start the .socket unit",
            )),
            false => Ok(passed),
        }
    }
}

/// Where a socket is to listen.
#[derive(Debug, Default)]
pub(crate) struct Doors {
    /// Endpoints that it binds itself.
    bind: Vec<Endpoint>,
    /// Sockets that a service manager opened.
    #[cfg(unix)]
    passed: Vec<Listener>,
    /// The endpoints of both.
    endpoints: Vec<Endpoint>,
}

impl Doors {
    #[cfg(unix)]
    fn of(bind: &[Endpoint], passed: Vec<Listener>) -> Result<Self, Failure> {
        let mut endpoints = bind.to_vec();
        for listener in &passed {
            endpoints.push(listener.endpoint().map_err(sealwire::Error::from)?);
        }
        Ok(Doors {
            bind: bind.to_vec(),
            passed,
            endpoints,
        })
    }

    #[cfg(not(unix))]
    fn of(bind: &[Endpoint]) -> Result<Self, Failure> {
        Ok(Doors {
            bind: bind.to_vec(),
            endpoints: bind.to_vec(),
        })
    }

    /// All of them, those that were passed as the system says it.
    pub(crate) fn endpoints(&self) -> &[Endpoint] {
        &self.endpoints
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.endpoints.is_empty()
    }

    /// Begins to listen everywhere. Returns the endpoints, with the ports that were chosen.
    pub(crate) fn open(self, on: &impl Listens) -> Result<Vec<Endpoint>, Failure> {
        let mut listening = Vec::new();
        for endpoint in self.bind {
            listening.push(interrupt::binding(|| on.bind(endpoint))??);
        }
        #[cfg(unix)]
        for listener in self.passed {
            listening.push(interrupt::binding(|| on.bind_listener(listener))??);
        }
        Ok(listening)
    }

    /// The socket that was passed, for a command that listens by itself.
    #[cfg(unix)]
    pub(crate) fn into_passed(self) -> Option<Listener> {
        self.passed.into_iter().next()
    }
}

/// A socket or server that can listen.
pub(crate) trait Listens {
    fn bind(&self, endpoint: Endpoint) -> Result<Endpoint, Failure>;

    #[cfg(unix)]
    fn bind_listener(&self, listener: Listener) -> Result<Endpoint, Failure>;
}

impl Listens for Socket {
    fn bind(&self, endpoint: Endpoint) -> Result<Endpoint, Failure> {
        Ok(Socket::bind(self, endpoint)?)
    }

    #[cfg(unix)]
    fn bind_listener(&self, listener: Listener) -> Result<Endpoint, Failure> {
        Ok(Socket::bind_listener(self, listener)?)
    }
}

impl Listens for Server {
    fn bind(&self, endpoint: Endpoint) -> Result<Endpoint, Failure> {
        Ok(Server::bind(self, endpoint)?)
    }

    #[cfg(unix)]
    fn bind_listener(&self, listener: Listener) -> Result<Endpoint, Failure> {
        Ok(Server::bind_listener(self, listener)?)
    }
}
