//! The content of a `zmq_msg_t`: 64 bytes that a program keeps wherever it likes, and moves with
//! [`zmq_msg_move`](crate::abi) only.
//!
//! ```text
//!    0..8   peer        whom it came from: an `Arc<Peer>`, or a `Box<Told>` once a property was asked for; or null
//!    8..48  body        bytes in place | on the heap | `Bytes` | bytes that live as long as the program
//!   48..56  group       a `CString`, or null
//!   56..60  routing id  or 0
//!   60      kind        of the body; 0 where there is no message
//!   61      length      of bytes in place
//!   62      flags       MORE, SHARED, TOLD
//!   63      check       0xB5 where there is a message
//! ```
//!
//! A frame of the engine holds more bytes in place than fit here, so a received part of 41 to 70 bytes costs an
//! allocation.

#![allow(
    unsafe_code,
    reason = "a message lies in the memory of the program, as parts of other types"
)]

mod address;
#[cfg(not(miri))]
mod allocator;
mod foreign;
mod heap;
mod layout;
mod told;

#[cfg(draft)]
pub(crate) use address::Address;
#[cfg(not(miri))]
pub(crate) use allocator::Allocator;
pub(crate) use foreign::Call;
pub use foreign::FreeFn;
pub use layout::Msg;
