//! How a session ends.

use sealwire_zmtp::Error as ProtocolError;

use crate::failure::FailureCause;
#[cfg(feature = "ws")]
use crate::transport::WebSocketError;

pub(in crate::engine) enum End {
    /// As it should.
    Clean,
    Failed(FailureCause),
}

impl End {
    /// Whether a message grew over its bound before it was complete.
    pub(super) fn is_by_a_message_too_large(&self) -> bool {
        match self {
            End::Failed(FailureCause::Protocol(error)) => matches!(
                error,
                ProtocolError::MessageTooLarge { .. } | ProtocolError::TooManyFrames { .. }
            ),
            #[cfg(feature = "ws")]
            End::Failed(FailureCause::WebSocket(error)) => matches!(
                error,
                WebSocketError::TooLarge | WebSocketError::TooManyPieces
            ),
            End::Clean | End::Failed(_) => false,
        }
    }
}

impl End {
    /// Whether the peer did not keep to the protocol, does not fit, or turned this side away for good. The end of the
    /// transport and silence are none of these.
    pub(in crate::engine) fn is_by_the_protocol(&self) -> bool {
        match self {
            End::Failed(FailureCause::Protocol(error)) => {
                !error.is_refusal_that_passes()
                    && !matches!(
                        error,
                        ProtocolError::Closed(_)
                            | ProtocolError::HandshakeTimeout { .. }
                            | ProtocolError::HeartbeatTimeout
                    )
            }
            End::Clean | End::Failed(_) => false,
        }
    }
}

impl From<ProtocolError> for End {
    fn from(error: ProtocolError) -> Self {
        End::Failed(error.into())
    }
}

#[cfg(test)]
mod tests {
    use sealwire_zmtp::error::{CLOSING, CloseKind, Step};

    use super::*;

    #[test]
    fn only_a_message_that_grew_too_large_is_noted_as_an_excess() {
        let large = [
            ProtocolError::MessageTooLarge { limit: 9 }.into(),
            ProtocolError::TooManyFrames { limit: 9 }.into(),
            #[cfg(feature = "ws")]
            End::Failed(WebSocketError::TooLarge.into()),
            #[cfg(feature = "ws")]
            End::Failed(WebSocketError::TooManyPieces.into()),
        ];
        assert!(large.iter().all(End::is_by_a_message_too_large));
        let others = [
            End::Clean,
            ProtocolError::HeartbeatTimeout.into(),
            End::Failed(FailureCause::Internal),
            #[cfg(feature = "ws")]
            End::Failed(WebSocketError::NotHttp.into()),
        ];
        assert!(!others.iter().any(End::is_by_a_message_too_large));
    }

    #[test]
    fn the_end_of_a_transport_and_silence_break_no_protocol() {
        let refused = |reason: &str| ProtocolError::PeerRefused {
            reason: reason.into(),
            verified: false,
        };
        let large = ProtocolError::MessageTooLarge { limit: 9 };
        assert!(End::from(refused("400")).is_by_the_protocol());
        // A peer says these when it goes, and about one message.
        let many = ProtocolError::TooManyFrames { limit: 9 };
        for reason in [CLOSING, large.to_peer().unwrap(), many.to_peer().unwrap()] {
            assert!(!End::from(refused(reason)).is_by_the_protocol(), "{reason}");
        }
        assert!(End::from(large).is_by_the_protocol());
        let others = [
            End::Clean,
            End::Failed(FailureCause::Internal),
            ProtocolError::HeartbeatTimeout.into(),
            ProtocolError::Closed(CloseKind::MidMessage).into(),
            ProtocolError::HandshakeTimeout { step: Step::Ready }.into(),
        ];
        assert!(!others.iter().any(End::is_by_the_protocol));
    }
}
