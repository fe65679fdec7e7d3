//! How a socket gets an endpoint over `udp`: opened on the thread that asks, then served by the I/O
//! thread.

use std::net::SocketAddr;
use std::sync::Arc;

use sealwire_zmtp::SocketType;
use sealwire_zmtp::connection::Warning;

use super::datagrams::{Datagrams, Opened, Role, Slot};
use super::load::LoadShare;
use super::mailbox::{Command, Mailbox};
use super::session_key::SessionKey;
use super::threads::{Placed, Threads};
use crate::core::{Registration, RegistrationKind, SocketCore};
use crate::endpoint::Endpoint;
use crate::error::Error;
use crate::monitor::Event;
use crate::options::EndpointOptions;
use crate::pattern::{Dismissal, Link, Provenance};
use crate::peer::{Peer, PeerAddress};
use crate::transport::udp::DatagramSocket;

/// How the socket's pipe reaches the I/O thread.
struct DatagramLink {
    id: u64,
    mailbox: Arc<Mailbox>,
    slot: Slot,
}

impl DatagramLink {
    fn tell(&self, command: impl FnOnce(SessionKey) -> Command) {
        if let Some(&slot) = self.slot.get() {
            let connection = self.id;
            self.mailbox.post(command(SessionKey { slot, connection }));
        }
    }
}

impl Link for DatagramLink {
    fn output_ready(&self, _alone: bool) {
        self.tell(Command::Output);
    }

    fn input_wanted(&self) {
        self.tell(Command::Input);
    }

    fn disconnect(&self, _reason: Dismissal) {
        self.mailbox.post(Command::Withdraw { id: self.id });
    }

    fn finish(&self) {
        self.mailbox.post(Command::Withdraw { id: self.id });
    }
}

/// Lets a DISH receive, or a DGRAM receive and send. May block to resolve a name.
pub(crate) fn bind(
    core: &Arc<SocketCore>,
    threads: &Threads,
    placed: Placed,
    mut endpoint: Endpoint,
    options: &EndpointOptions,
    id: u64,
) -> Result<Endpoint, Error> {
    let mailbox = threads.of(placed.thread);
    let bound = (mailbox.world().bind_datagrams(&endpoint, options))
        .and_then(|socket| socket.local_addr().map(|address| (socket, address)));
    let (socket, address) = match bound {
        Ok(bound) => bound,
        Err(source) => return Err(Error::Bind { endpoint, source }),
    };
    if let Endpoint::Udp { port, .. } = &mut endpoint {
        *port = address.port();
    }
    let kind = RegistrationKind::Bound;
    let registration = Registration::new(endpoint.clone(), id, kind, options);
    let registration = registration.on_thread(placed.thread);
    start(core, mailbox, registration, socket, address, placed.share)?;
    warn(core, id, address);
    Ok(endpoint)
}

/// Lets a RADIO send. May block to resolve a name.
pub(crate) fn connect(
    core: &Arc<SocketCore>,
    threads: &Threads,
    placed: Placed,
    endpoint: Endpoint,
    options: &EndpointOptions,
    id: u64,
) -> Result<(), Error> {
    let mailbox = threads.of(placed.thread);
    let (socket, target) = match mailbox.world().connect_datagrams(&endpoint, options) {
        Ok(opened) => opened,
        Err(source) => return Err(Error::Connect { endpoint, source }),
    };
    let kind = RegistrationKind::Connected;
    let registration = Registration::new(endpoint.clone(), id, kind, options);
    let registration = registration.on_thread(placed.thread);
    start(core, mailbox, registration, socket, target, placed.share)?;
    core.hub.emit(Event::Connected {
        connection: id,
        endpoint,
        address: PeerAddress::Udp(target),
        local_address: None,
        descriptor: None,
    });
    warn(core, id, target);
    Ok(())
}

/// Says that nothing protects what goes over this endpoint, if it can leave the machine.
fn warn(core: &SocketCore, id: u64, address: SocketAddr) {
    let address = PeerAddress::Udp(address);
    if address.leaves_the_machine() {
        core.hub.emit(Event::Warning {
            connection: id,
            address,
            warning: Warning::DatagramsExposed,
        });
    }
}

/// Attaches the socket and hands it to the I/O thread.
fn start(
    core: &Arc<SocketCore>,
    mailbox: &Arc<Mailbox>,
    registration: Registration,
    socket: DatagramSocket,
    address: SocketAddr,
    share: LoadShare,
) -> Result<(), Error> {
    core.register(registration.clone())?;
    let Registration {
        endpoint, id, kind, ..
    } = registration;
    let slot = Slot::default();
    let link = Arc::new(DatagramLink {
        id,
        mailbox: mailbox.clone(),
        slot: slot.clone(),
    });
    let role = match (core.socket_type(), kind) {
        (_, RegistrationKind::Connected) => Role::Radio(address),
        (SocketType::Dgram, _) => Role::dgram(address),
        _ => Role::Dish,
    };
    let remote = PeerAddress::Udp(address);
    let peer = Peer::datagram(endpoint.clone(), remote, id, role.of_others());
    // No authenticator is asked about senders of datagrams.
    let provenance = Provenance {
        connector: (kind == RegistrationKind::Connected).then_some(id),
        ..Provenance::default()
    };
    let attached = core.attach(Arc::new(peer), link, provenance);
    let Ok(pipe) = attached else {
        core.remove_attachment();
        return Err(Error::Closed);
    };
    mailbox.post(Command::Exchange(Box::new(Datagrams::new(Opened {
        core: core.clone(),
        id,
        endpoint,
        socket,
        role,
        pipe,
        slot,
        share,
    }))));
    Ok(())
}
