//! Connections, their handshakes, deadlines and log lines.

use sealwire::account::Kind;

use crate::not_yet;

pub(crate) fn connections() {
    not_yet(Kind::Connections);
}

pub(crate) fn handshakes() {
    not_yet(Kind::Handshakes);
}

pub(crate) fn timers() {
    not_yet(Kind::Timers);
}

pub(crate) fn log_lines() {
    not_yet(Kind::LogLines);
}
