//! Connections to a tunnel.

use sealwire::account::Kind;

use crate::not_yet;

pub(crate) fn connections() {
    not_yet(Kind::Tunnels);
}
