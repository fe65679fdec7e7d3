//! Every number that bounds what a peer can make this crate hold or do.
//!
//! Limits a user may change are in [`Limits`]; the others are constants of the protocol or of this
//! implementation. A length that a peer declares is compared with these before anything else
//! happens to it, and never sizes an allocation.

use core::time::Duration;

/// Largest frame body accepted before the peer is authenticated, in bytes (4 KiB).
///
/// The largest handshake command of the BLAKE3 mechanism, INITIATE, is 321 bytes plus the metadata.
/// For the NULL mechanism the bound holds until READY has been received.
pub const MAX_HANDSHAKE_FRAME: usize = 4096;

/// Longest encoded metadata that a [`Config`](crate::connection::Config) may produce, in bytes.
///
/// It leaves room in [`MAX_HANDSHAKE_FRAME`] for the rest of INITIATE.
pub const MAX_METADATA: usize = MAX_HANDSHAKE_FRAME - 512;

/// Most properties that a peer's metadata may hold.
pub const MAX_PROPERTIES: usize = 64;

/// Longest routing id, in bytes (ZMTP 3.1, metadata property `Identity`).
pub const MAX_ROUTING_ID: usize = 255;

/// Longest username and longest password for PLAIN, in bytes: HELLO has one octet for their length (RFC 24).
pub const MAX_CREDENTIAL: usize = 255;

/// Most key pairs that a BLAKE3 server may have beside its first.
pub const MAX_ADDITIONAL_SERVER_KEYS: usize = 3;

/// Most transcripts of handshakes that the [`CookieKeys`](crate::mechanism::CookieKeys) of a server
/// keep, 48 bytes each. With more handshakes at once the oldest are forgotten and computed again.
pub const MAX_TRANSCRIPTS: usize = 256;

/// Longest name of a group in JOIN and LEAVE, in bytes (as in libzmq).
pub const MAX_GROUP: usize = 255;

/// Longest reason in an ERROR command, in bytes.
pub const MAX_ERROR_REASON: usize = 255;

/// Longest context in PING and PONG, in bytes (ZMTP 3.1).
pub const MAX_PING_CONTEXT: usize = 16;

/// Answers that a peer's PINGs are owed at most; of more that come before one is sent the oldest go without.
pub const MAX_OWED_PONGS: usize = 4;

/// Shortest time between two unsolicited PONGs, which a peer that is not read gets, however often it sent PING.
pub const MIN_PONG_INTERVAL: Duration = Duration::from_millis(100);

/// While more bytes than these are pending, PONG waits: what is pending proves life as well, and a
/// peer that sends PINGs without reading cannot make the output grow.
pub const PONG_BACKLOG: usize = 1024;

/// Bytes of a block that small payloads are copied to, on a connection that receives much.
pub const PAYLOAD_BLOCK: usize = 64 * 1024;

/// Blocks of small payloads that a connection keeps for further use beside the current one. A payload
/// that the program keeps pins its whole block: with the current one 2 MiB at most.
pub const MAX_PAYLOAD_BLOCKS: usize = 31;

/// Frames that are opened or sealed in one call to the provider.
pub const BATCH_FRAMES: usize = 32;

/// From this many bytes on, an outgoing frame's payload is a segment of its own and is neither
/// copied (NULL) nor moved (BLAKE3, when the message holds the only reference to it; see also
/// [`FRAME_IN_PIECES`]).
pub const LARGE_FRAME: usize = 8 * 1024;

/// From this many bytes on, an outgoing frame's payload is sealed in pieces of [`OUTPUT_SEGMENT`]
/// bytes (BLAKE3, where the provider can), so that it needs no second copy though others hold it, and
/// its beginning is on its way while the rest is not sealed yet.
pub const FRAME_IN_PIECES: usize = 512 * 1024;

/// Bytes that are sealed ahead of what was taken, of a frame that is sealed in pieces.
pub const PIECES_AHEAD: usize = 128 * 1024;

/// Size at which a run of small outgoing frames is closed and another one begun, in bytes.
pub const OUTPUT_SEGMENT: usize = 64 * 1024;

/// Upper bound of the hint given by
/// [`Connection::wanted`](crate::connection::Connection::wanted) as long as less than that is there of
/// the frame, in bytes (1 MiB); then it is as much as is there.
pub const MAX_WANTED: usize = 1024 * 1024;

/// What one established connection accepts from its peer.
///
/// The memory that a peer can occupy in a connection is bounded by `max_message_size` plus about
/// 72 bytes for each of up to `max_frames` frames of the unfinished message.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Payload bytes of one message, all its frames together. Default 64 MiB.
    pub max_message_size: usize,
    /// Payload bytes of one frame of a message. Default: as many as of the message.
    pub max_frame_size: usize,
    /// Frames of one message. Default 65,536.
    pub max_frames: usize,
    /// Body bytes of one command after the handshake, name included. Default 64 KiB.
    ///
    /// This also bounds a topic in SUBSCRIBE and CANCEL.
    pub max_command_size: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_message_size: 64 * 1024 * 1024,
            max_frame_size: usize::MAX,
            max_frames: 65_536,
            max_command_size: 64 * 1024,
        }
    }
}
