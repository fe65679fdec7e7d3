//! How many one-way messages may be under way in each direction, and how many bytes of them and of
//! stream items together.

use super::budget::{Budget, Incoming, cost};
use super::{Settings, Violation};

/// What one side tells the other to have taken, so that as much may follow: the body of CREDIT without
/// a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Grant {
    messages: u32,
    bytes: u32,
}

impl Grant {
    pub(super) fn to_bytes(self) -> [u8; 8] {
        let mut body = [0; 8];
        body[..4].copy_from_slice(&self.messages.to_be_bytes());
        body[4..].copy_from_slice(&self.bytes.to_be_bytes());
        body
    }

    pub(super) fn parse(body: &[u8]) -> Result<Self, Violation> {
        let &[a, b, c, d, e, f, g, h] = body.first_chunk().ok_or(Violation::Truncated)?;
        Ok(Grant {
            messages: u32::from_be_bytes([a, b, c, d]),
            bytes: u32::from_be_bytes([e, f, g, h]),
        })
    }
}

pub(super) struct MessageCredit {
    /// One-way messages that this side may send.
    sendable: u32,
    /// One-way messages that the peer may still send.
    granted: u32,
    /// One-way messages handled since the peer was given more.
    handled: u32,
    /// One-way messages that the peer may have under way.
    window: u32,
    /// Bytes of messages and items that this side sends.
    outgoing: Budget,
    /// Bytes of those that the peer sends.
    incoming: Incoming,
}

impl MessageCredit {
    pub(super) fn new(local: &Settings, peer: &Settings) -> Self {
        MessageCredit {
            sendable: peer.one_way_window,
            granted: local.one_way_window,
            handled: 0,
            window: local.one_way_window,
            outgoing: Budget::new(peer.message_budget),
            incoming: Incoming::new(local.message_budget, local.max_body),
        }
    }

    /// Takes what a one-way message with a body of this size needs. `false` when there is not as much.
    pub(super) fn take_message(&mut self, body: usize) -> bool {
        let has_room = self.sendable > 0 && self.admits_item(body);
        if has_room {
            self.sendable -= 1;
            self.take_item(body);
        }
        has_room
    }

    pub(super) fn admits_item(&self, body: usize) -> bool {
        self.outgoing.admits(cost(body))
    }

    pub(super) fn take_item(&mut self, body: usize) {
        self.outgoing.take(cost(body));
    }

    /// The peer has taken messages and items of this side.
    pub(super) fn granted(&mut self, grant: Grant) {
        self.sendable = self.sendable.saturating_add(grant.messages);
        self.outgoing.give(grant.bytes.into());
    }

    /// The peer has sent a one-way message.
    pub(super) fn received_message(&mut self, body: usize) -> Result<(), Violation> {
        let left = self.granted.checked_sub(1);
        self.granted = left.ok_or(Violation::BeyondCredit)?;
        self.received_item(body)
    }

    /// The peer has sent an item.
    pub(super) fn received_item(&mut self, body: usize) -> Result<(), Violation> {
        match self.incoming.received(cost(body)) {
            true => Ok(()),
            false => Err(Violation::BeyondCredit),
        }
    }

    /// A received one-way message with a body of this size is held no longer. What the peer is to be
    /// told, if it is time to.
    pub(super) fn message_handled(&mut self, body: usize) -> Option<Grant> {
        self.handled += 1;
        let tell = self.incoming.taken(cost(body));
        (tell || self.handled >= self.window.div_ceil(2)).then(|| self.grant())
    }

    /// The same for items of this cost.
    pub(super) fn items_taken(&mut self, cost: u64) -> Option<Grant> {
        (cost > 0 && self.incoming.taken(cost)).then(|| self.grant())
    }

    fn grant(&mut self) -> Grant {
        let messages = std::mem::take(&mut self.handled);
        self.granted += messages;
        Grant {
            messages,
            bytes: self.incoming.credit(),
        }
    }

    /// Bytes of the peer's messages and items that nobody has taken.
    pub(super) fn held(&self) -> u64 {
        self.incoming.held()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SETTINGS: Settings = Settings {
        max_calls: 1,
        one_way_window: 4,
        stream_window: 1,
        max_body: 4_000,
        request_budget: 0,
        message_budget: 24_000,
    };

    fn credit() -> MessageCredit {
        MessageCredit::new(&SETTINGS, &SETTINGS)
    }

    #[test]
    fn a_grant_is_read_as_written() {
        let grant = Grant {
            messages: 0x0102_0304,
            bytes: 0x0506_0708,
        };
        assert_eq!(grant.to_bytes(), [1, 2, 3, 4, 5, 6, 7, 8]);
        assert_eq!(Grant::parse(&grant.to_bytes()), Ok(grant));
        assert_eq!(Grant::parse(&[0; 7]), Err(Violation::Truncated));
    }

    #[test]
    fn messages_are_bounded_in_number_until_the_peer_has_taken_some() {
        let (mut sender, mut receiver) = (credit(), credit());
        for _ in 0..4 {
            assert!(sender.take_message(0));
            receiver.received_message(0).unwrap();
        }
        assert!(!sender.take_message(0));
        let beyond = receiver.received_message(0);
        assert_eq!(beyond, Err(Violation::BeyondCredit));
        // The peer is told of every half window.
        assert_eq!(receiver.message_handled(0), None);
        let grant = receiver.message_handled(0).unwrap();
        assert_eq!(
            grant,
            Grant {
                messages: 2,
                bytes: 2 * 64
            }
        );
        sender.granted(grant);
        assert!(sender.take_message(0) && sender.take_message(0) && !sender.take_message(0));
        receiver.received_message(0).unwrap();
    }

    #[test]
    fn messages_and_items_share_their_bytes() {
        const BODY: usize = 4_000 - 64;
        let (mut sender, mut receiver) = (credit(), credit());
        for _ in 0..6 {
            assert!(sender.admits_item(BODY));
            sender.take_item(BODY);
            receiver.received_item(BODY).unwrap();
        }
        assert!(!sender.admits_item(BODY) && !sender.take_message(BODY));
        assert_eq!(
            receiver.received_message(BODY),
            Err(Violation::BeyondCredit)
        );
        assert_eq!(receiver.held(), 6 * 4_000);
        // Told of every quarter of the bytes.
        assert_eq!(receiver.items_taken(0), None);
        assert_eq!(receiver.items_taken(4_000), None);
        let grant = receiver.items_taken(4_000).unwrap();
        assert_eq!(
            grant,
            Grant {
                messages: 0,
                bytes: 8_000
            }
        );
        sender.granted(grant);
        assert!(sender.take_message(BODY));
        assert_eq!(receiver.held(), 4 * 4_000);
    }

    #[test]
    fn a_grant_beyond_all_numbers_is_the_peers_own_memory() {
        let mut sender = credit();
        for _ in 0..3 {
            sender.granted(Grant {
                messages: u32::MAX,
                bytes: u32::MAX,
            });
        }
        assert!(sender.take_message(100));
    }
}
