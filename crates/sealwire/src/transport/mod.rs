//! Transports: listening, connecting and byte streams over TCP, Unix sockets, WebSocket and TLS, and
//! datagrams. They move bytes and know no socket. `inproc`, which moves messages, is not among them.

mod ends;
#[cfg(unix)]
mod inherited;
mod interfaces;
mod listen;
mod listener_error;
#[cfg(unix)]
mod private_directory;
#[cfg(any(test, feature = "simulation"))]
pub(crate) mod simulated;
#[cfg(unix)]
mod socket_file;
pub(crate) mod socks;
mod source;
mod stream;
mod target;
#[cfg(feature = "wss")]
mod tls;
pub(crate) mod udp;
#[cfg(feature = "ws")]
mod websocket;
#[cfg(feature = "ws")]
mod zws;

#[cfg(unix)]
pub use inherited::Listener;
pub(crate) use listen::{BoundListener, listen};
pub use listener_error::ListenerError;
pub use socks::{SocksError, SocksRefusal};
pub(crate) use stream::{Polled, Stream, WriteSize, has_ended};
pub(crate) use target::Target;
#[cfg(feature = "wss")]
pub use tls::TlsError;
pub use udp::{DatagramError, MAX_DATAGRAM};
#[cfg(feature = "ws")]
pub use zws::WebSocketError;
#[cfg(feature = "ws")]
pub(crate) use zws::{Role, Terms};
