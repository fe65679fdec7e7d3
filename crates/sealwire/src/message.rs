//! Messages as the application sees them.

mod address;

use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;

use bytes::Bytes;
use sealwire_zmtp::{Frame, Frames};

pub use address::AddressError;
pub(crate) use address::{canonical, parse_address};

use crate::peer::Peer;

/// One or more frames, delivered together or not at all. A received one knows who sent it.
///
/// A frame of up to 70 bytes is held in place; longer ones share the memory they were received
/// in or given as.
///
/// ```
/// use sealwire::Message;
/// let message = Message::multipart(["topic", "body"]);
/// assert_eq!(message.frame(1), Some(&b"body"[..]));
/// assert_eq!(Message::from("hello").as_bytes(), b"hello");
/// ```
#[derive(Clone)]
pub struct Message {
    frames: Frames,
    peer: Option<Arc<Peer>>,
}

impl Message {
    /// A message of several frames.
    pub fn multipart<F: Into<Frame>>(frames: impl IntoIterator<Item = F>) -> Self {
        frames
            .into_iter()
            .map(Into::into)
            .collect::<Frames>()
            .into()
    }

    /// Makes a message for a SERVER or PEER socket to send: to the connection of this routing id, with this
    /// payload. It has two frames: the routing id in 4 bytes, big-endian, and the payload.
    ///
    /// ```
    /// use sealwire::Message;
    /// let message = Message::with_routing_id(7, "answer");
    /// assert_eq!((message.routing_id(), message.as_bytes()), (Some(7), &b"answer"[..]));
    /// ```
    pub fn with_routing_id(routing_id: u32, payload: impl Into<Frame>) -> Self {
        Self::multipart([
            Frame::copy_from_slice(&routing_id.to_be_bytes()),
            payload.into(),
        ])
    }

    /// Makes a message for a RADIO socket to send to this group. It has two frames: the group and the
    /// payload.
    ///
    /// ```
    /// use sealwire::Message;
    /// let message = Message::to_group("news", "rain");
    /// assert_eq!((message.group(), message.as_bytes()), (Some(&b"news"[..]), &b"rain"[..]));
    /// ```
    pub fn to_group(group: impl AsRef<[u8]>, payload: impl Into<Frame>) -> Self {
        Self::multipart([Frame::copy_from_slice(group.as_ref()), payload.into()])
    }

    /// Returns the routing id of the connection through which a SERVER or PEER socket received the message;
    /// `None` if there are not two frames, of which the first has 4 bytes. Of use with these types only.
    pub fn routing_id(&self) -> Option<u32> {
        match self.frames() {
            [routing_id, _] => routing_id
                .as_slice()
                .try_into()
                .ok()
                .map(u32::from_be_bytes),
            _ => None,
        }
    }

    /// Returns the group of a message that a DISH socket received; `None` if there are not two frames. Of use
    /// with this type only.
    pub fn group(&self) -> Option<&[u8]> {
        match self.frames() {
            [group, _] => Some(group),
            _ => None,
        }
    }

    /// Makes a message for a DGRAM socket to send to this address, as one datagram. It has two frames: the text of the
    /// address and the payload of up to [`MAX_DATAGRAM`](crate::MAX_DATAGRAM) bytes.
    ///
    /// ```
    /// use sealwire::Message;
    /// let message = Message::to_address(([192, 0, 2, 1], 5555), "hello");
    /// assert_eq!(message.frame(0), Some(&b"192.0.2.1:5555"[..]));
    /// ```
    pub fn to_address(address: impl Into<SocketAddr>, payload: impl Into<Frame>) -> Self {
        Self::multipart([address_frame(address.into()), payload.into()])
    }

    /// Returns the address that a message of a DGRAM socket came from, or is to go to; `None` if there are not two
    /// frames, of which the first is an address. Anyone can send under any address. Of use with this type only.
    ///
    /// ```
    /// use sealwire::Message;
    /// let message = Message::multipart(["[2001:db8::1]:5555", "hello"]);
    /// assert_eq!(message.address(), "[2001:db8::1]:5555".parse().ok());
    /// ```
    pub fn address(&self) -> Option<SocketAddr> {
        match self.frames() {
            [address, _] => parse_address(address).ok(),
            _ => None,
        }
    }

    pub(crate) fn received(frames: Frames, peer: Arc<Peer>) -> Self {
        Message {
            frames,
            peer: Some(peer),
        }
    }

    pub(crate) fn frames_mut(&mut self) -> &mut Frames {
        &mut self.frames
    }

    pub(crate) fn parts_mut(&mut self) -> (&mut Frames, &mut Option<Arc<Peer>>) {
        (&mut self.frames, &mut self.peer)
    }

    /// Returns the peer that sent this message, as the handshake proved it; `None` for a message made here.
    ///
    /// Never taken from a routing id: every frame is what a peer chose to send, this is not.
    pub fn peer(&self) -> Option<&Arc<Peer>> {
        self.peer.as_ref()
    }

    /// Returns the number of frames.
    pub fn len(&self) -> usize {
        self.frames.len()
    }

    /// Returns whether there is no frame at all; such a message cannot be sent.
    pub fn is_empty(&self) -> bool {
        self.frames.is_empty()
    }

    /// Returns the bytes of payload in all frames together.
    pub fn size(&self) -> usize {
        self.frames.size()
    }

    /// Returns the bytes of frame `index`, counted from 0.
    pub fn frame(&self, index: usize) -> Option<&[u8]> {
        self.frames.frames().get(index).map(Frame::as_slice)
    }

    /// Returns all frames in order.
    pub fn frames(&self) -> &[Frame] {
        self.frames.frames()
    }

    /// The bytes of the last frame: the whole message when there is one frame, the body when
    /// there is an envelope in front. Empty when there is no frame.
    pub fn as_bytes(&self) -> &[u8] {
        self.frames.frames().last().map_or(&[], Frame::as_slice)
    }

    /// Returns the last frame as text.
    ///
    /// # Errors
    ///
    /// A [`Utf8Error`](std::str::Utf8Error) if the frame is not UTF-8.
    pub fn as_str(&self) -> Result<&str, std::str::Utf8Error> {
        std::str::from_utf8(self.as_bytes())
    }

    /// Adds a frame behind the others.
    pub fn push_back(&mut self, frame: impl Into<Frame>) {
        self.frames.push_back(frame.into());
    }

    /// Adds a frame in front, a routing id for example.
    pub fn push_front(&mut self, frame: impl Into<Frame>) {
        self.frames.push_front(frame.into());
    }

    /// Takes the first frame off.
    pub fn pop_front(&mut self) -> Option<Frame> {
        self.frames.pop_front()
    }

    /// The frames, without the peer.
    pub fn into_frames(self) -> Frames {
        self.frames
    }
}

impl From<Frames> for Message {
    fn from(frames: Frames) -> Self {
        Message { frames, peer: None }
    }
}

/// The frame in front of a message to or from this address.
pub(crate) fn address_frame(address: SocketAddr) -> Frame {
    Frame::copy_from_slice(address.to_string().as_bytes())
}

macro_rules! from_single_frame {
    ($($kind:ty),*) => {$(
        impl From<$kind> for Message {
            fn from(payload: $kind) -> Self {
                Frames::single(payload).into()
            }
        }
    )*};
}

from_single_frame!(&str, &[u8], String, Vec<u8>, Bytes, Frame);

impl<const N: usize> From<&[u8; N]> for Message {
    fn from(payload: &[u8; N]) -> Self {
        Frames::single(&payload[..]).into()
    }
}

impl FromIterator<Frame> for Message {
    fn from_iter<I: IntoIterator<Item = Frame>>(frames: I) -> Self {
        frames.into_iter().collect::<Frames>().into()
    }
}

/// Equal frames; the peer does not count.
impl PartialEq for Message {
    fn eq(&self, other: &Self) -> bool {
        self.frames == other.frames
    }
}

impl Eq for Message {}

impl fmt::Debug for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.frames.frames()).finish()
    }
}
