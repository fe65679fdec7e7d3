//! Messages: frames that travel together.

use magnus::typed_data::Obj;
use magnus::value::ReprValue as _;
use magnus::{
    Error, Module as _, Object as _, RArray, RModule, RString, Ruby, TryConvert as _, Value,
    function, method,
};
use sealwire::{Frame, Message as Inner};

use crate::bytes;
use crate::classes;
use crate::keys::frozen;
use crate::peer::Peer;

/// Messages of more bytes than this have the collector look at once.
const LARGE: usize = 1024;

/// A message as it was received or made. Its frames become strings when they are asked for.
#[magnus::wrap(class = "Sealwire::Message", free_immediately, size, frozen_shareable)]
pub(crate) struct Message(Inner);

pub(crate) fn define(ruby: &Ruby, sealwire: RModule) -> Result<(), Error> {
    let class = classes::define::<Message>(ruby, sealwire, "Message")?;
    class.define_singleton_method("new", function!(Message::new, 1))?;
    class.define_singleton_method("with_routing_id", function!(Message::with_routing_id, 2))?;
    class.define_singleton_method("to_group", function!(Message::to_group, 2))?;
    class.define_method("frames", method!(Message::frames, 0))?;
    class.define_method("to_a", method!(Message::frames, 0))?;
    class.define_method("[]", method!(Message::frame, 1))?;
    class.define_method("length", method!(Message::length, 0))?;
    class.define_method("bytesize", method!(Message::bytesize, 0))?;
    class.define_method("to_s", method!(Message::to_s, 0))?;
    class.define_method("peer", method!(Message::peer, 0))?;
    class.define_method("routing_id", method!(Message::routing_id, 0))?;
    class.define_method("group", method!(Message::group, 0))?;
    class.define_method("==", method!(Message::equals, 1))?;
    class.define_method("inspect", method!(Message::inspect, 0))
}

fn frame(string: RString) -> Frame {
    bytes::with(string, Frame::copy_from_slice)
}

/// A message from a value that can be sent: a string, an array of strings, or a message.
pub(crate) fn outgoing(value: Value) -> Result<Inner, Error> {
    if let Some(string) = RString::from_value(value) {
        return Ok(frame(string).into());
    }
    if let Ok(message) = <&Message>::try_convert(value) {
        return Ok(message.0.clone());
    }
    if let Some(frames) = RArray::from_value(value) {
        let frames = frames.into_iter();
        return frames
            .map(|value| RString::try_convert(value).map(frame))
            .collect();
    }
    Ok(frame(RString::try_convert(value)?).into())
}

impl Message {
    pub(crate) fn wrap(ruby: &Ruby, message: Inner) -> Obj<Self> {
        // The collector does not see payloads, and would let them pile up. It looks at what it is told
        // when the next string is made that does not fit into its object.
        if message.size() > Frame::INLINE {
            ruby.gc_adjust_memory_usage(message.size().try_into().unwrap_or(isize::MAX));
        }
        if message.size() > LARGE {
            ruby.str_buf_new(256);
        }
        frozen(ruby, Message(message))
    }

    fn new(ruby: &Ruby, content: Value) -> Result<Obj<Self>, Error> {
        Ok(Self::wrap(ruby, outgoing(content)?))
    }

    fn with_routing_id(ruby: &Ruby, routing_id: u32, payload: RString) -> Obj<Self> {
        Self::wrap(ruby, Inner::with_routing_id(routing_id, frame(payload)))
    }

    fn to_group(ruby: &Ruby, group: RString, payload: RString) -> Obj<Self> {
        let payload = frame(payload);
        let message = bytes::with(group, |group| Inner::to_group(group, payload));
        Self::wrap(ruby, message)
    }

    /// An array of BINARY strings, which Ractors may share like the message.
    fn frames(ruby: &Ruby, this: &Self) -> RArray {
        let frames = this.0.frames().iter().map(|frame| binary(ruby, frame));
        let array = ruby.ary_from_iter(frames);
        array.freeze();
        array
    }

    fn frame(ruby: &Ruby, this: &Self, index: isize) -> Option<RString> {
        let index = if index < 0 {
            this.0.len().checked_add_signed(index)?
        } else {
            index.unsigned_abs()
        };
        Some(binary(ruby, this.0.frame(index)?))
    }

    fn length(&self) -> usize {
        self.0.len()
    }

    fn bytesize(&self) -> usize {
        self.0.size()
    }

    fn to_s(ruby: &Ruby, this: &Self) -> RString {
        binary(ruby, this.0.as_bytes())
    }

    fn peer(ruby: &Ruby, this: &Self) -> Option<Obj<Peer>> {
        let peer = this.0.peer()?;
        Some(Peer::wrap(ruby, peer.clone()))
    }

    fn routing_id(&self) -> Option<u32> {
        self.0.routing_id()
    }

    fn group(ruby: &Ruby, this: &Self) -> Option<RString> {
        Some(binary(ruby, this.0.group()?))
    }

    fn equals(&self, other: Value) -> bool {
        <&Message>::try_convert(other).is_ok_and(|other| self.0 == other.0)
    }

    fn inspect(&self) -> String {
        format!("#<Sealwire::Message {:?}>", self.0)
    }
}

/// A frozen BINARY string.
pub(crate) fn binary(ruby: &Ruby, bytes: &[u8]) -> RString {
    let string = ruby.str_from_slice(bytes);
    string.freeze();
    string
}
