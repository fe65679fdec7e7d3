//! How multicast leaves a RADIO or DGRAM.

use sealwire_zmtp::SocketType;

use super::OptionsError;

/// `None` stands for the default.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct MulticastOptions {
    pub(crate) hops: Option<u8>,
    pub(crate) looped: Option<bool>,
}

impl MulticastOptions {
    /// Networks that a datagram reaches: its own.
    pub(crate) const DEFAULT_HOPS: u8 = 1;
    /// Whether members on the same machine get it.
    pub(crate) const DEFAULT_LOOPED: bool = true;

    pub(super) fn check(&self, socket_type: SocketType) -> Result<(), OptionsError> {
        let set = [
            ("multicast_hops", self.hops.is_some()),
            ("multicast_loop", self.looped.is_some()),
        ];
        match set.iter().find(|(_, set)| *set) {
            Some(&(option, _)) if !matches!(socket_type, SocketType::Radio | SocketType::Dgram) => {
                Err(OptionsError::NotApplicable {
                    option,
                    socket_type,
                })
            }
            _ if self.hops == Some(0) => Err(OptionsError::Zero("multicast_hops")),
            _ => Ok(()),
        }
    }
}
