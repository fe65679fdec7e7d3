//! ZMTP frames of the protocol into WebSocket messages.

use bytes::{BufMut as _, Bytes, BytesMut};
use sealwire_zmtp::wire::frame as zmtp;
use sealwire_zmtp::wire::greeting;

use super::frame::{self, Header};
use super::{COMMAND, MORE, Role};

pub(super) struct Outbound {
    role: Role,
    masks: Box<dyn FnMut() -> [u8; 4] + Send>,
    /// The start of a greeting or a frame's header that is not yet whole.
    partial: Vec<u8>,
    greeted: bool,
    sends_greeting: bool,
    /// Of the frame that is under way.
    body_left: u64,
    mask: Option<[u8; 4]>,
    position: u64,
    /// A PONG that waits for the end of the frame under way.
    owed_pong: Option<Bytes>,
    /// A PING that waits likewise.
    ping_due: bool,
    closed: bool,
    buffer: BytesMut,
}

impl Outbound {
    pub(super) fn new(
        role: Role,
        sends_greeting: bool,
        masks: Box<dyn FnMut() -> [u8; 4] + Send>,
    ) -> Self {
        Outbound {
            role,
            masks,
            partial: Vec::new(),
            greeted: false,
            sends_greeting,
            body_left: 0,
            mask: None,
            position: 0,
            owed_pong: None,
            ping_due: false,
            closed: false,
            buffer: BytesMut::new(),
        }
    }

    pub(super) fn buffer(&mut self) -> &mut BytesMut {
        &mut self.buffer
    }

    pub(super) fn held(&self) -> &[u8] {
        &self.buffer
    }

    pub(super) fn send(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() && !self.closed {
            if self.body_left > 0 {
                let here = bytes
                    .len()
                    .min(usize::try_from(self.body_left).unwrap_or(usize::MAX));
                self.put(&bytes[..here]);
                self.body_left -= here as u64;
                bytes = &bytes[here..];
            } else if self.greeted {
                self.partial.push(bytes[0]);
                bytes = &bytes[1..];
                self.begin_frame();
            } else {
                let here = bytes.len().min(greeting::SIZE - self.partial.len());
                self.partial.extend_from_slice(&bytes[..here]);
                bytes = &bytes[here..];
                if self.partial.len() == greeting::SIZE {
                    self.greeted = true;
                    let greeting = std::mem::take(&mut self.partial);
                    if self.sends_greeting {
                        self.begin(COMMAND, greeting.len());
                        self.put(&greeting);
                    }
                }
            }
            self.settle();
        }
    }

    /// Begins a message once the header of its frame is whole.
    fn begin_frame(&mut self) {
        let Ok(Some(header)) = zmtp::Header::parse(&self.partial) else {
            return;
        };
        self.partial.clear();
        let flags = match (header.command(), header.more()) {
            (true, _) => COMMAND,
            (false, true) => MORE,
            (false, false) => 0,
        };
        // The protocol's frames are of sizes that it holds in memory.
        self.begin(flags, header.body_len as usize);
        self.body_left = header.body_len;
    }

    fn begin(&mut self, flags: u8, body: usize) {
        self.mask = (self.role == Role::Client).then(|| (self.masks)());
        self.position = 0;
        Header::write(frame::BINARY, self.mask, body + 1, &mut self.buffer);
        self.put(&[flags]);
    }

    fn put(&mut self, bytes: &[u8]) {
        let start = self.buffer.len();
        self.buffer.put_slice(bytes);
        if let Some(mask) = self.mask {
            frame::apply_mask(&mut self.buffer[start..], mask, self.position);
        }
        self.position += bytes.len() as u64;
    }

    fn control(&mut self, opcode: u8, payload: &[u8]) {
        self.mask = (self.role == Role::Client).then(|| (self.masks)());
        self.position = 0;
        Header::write(opcode, self.mask, payload.len(), &mut self.buffer);
        self.put(payload);
    }

    /// Answers a PING; of several that wait, the last one, as section 5.5.3 allows.
    pub(super) fn pong(&mut self, payload: Bytes) {
        self.owed_pong = Some(payload);
        self.settle();
    }

    /// Asks for a PONG; once, however often it had to wait.
    pub(super) fn ping(&mut self) {
        self.ping_due = true;
        self.settle();
    }

    /// Sends what had to wait for the end of a message, unless much is on its way out.
    fn settle(&mut self) {
        const ENOUGH: usize = 64 << 10;
        if self.body_left > 0 || self.closed || self.buffer.len() >= ENOUGH {
            return;
        }
        if let Some(payload) = self.owed_pong.take() {
            self.control(frame::PONG, &payload);
        }
        if std::mem::take(&mut self.ping_due) {
            self.control(frame::PING, &[]);
        }
    }

    /// The last frame. In the middle of a message the connection just ends.
    pub(super) fn close(&mut self, status: u16) {
        if !std::mem::replace(&mut self.closed, true) && self.body_left == 0 {
            self.control(frame::CLOSE, &status.to_be_bytes());
        }
    }
}
