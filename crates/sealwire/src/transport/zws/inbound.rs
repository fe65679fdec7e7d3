//! WebSocket frames of the peer into ZMTP frames for the protocol.
//!
//! A message in one frame goes through as it comes, because its length is known; the protocol sees
//! to its limits. One in pieces is kept until it is whole, within a limit.

use bytes::{Buf as _, BytesMut};
use sealwire_zmtp::wire::frame as zmtp;
use sealwire_zmtp::wire::greeting;

use super::frame::{self, Header};
use super::outbound::Outbound;
use super::{Role, WebSocketError};

/// Flags of ZWS.
pub(super) const MORE: u8 = 0x01;
pub(super) const COMMAND: u8 = 0x02;

pub(super) struct Inbound {
    role: Role,
    /// The first message is a greeting.
    awaits_greeting: bool,
    /// Most bytes that are kept of a message in pieces.
    pub(super) limit: usize,
    state: State,
    /// What has come of a message in pieces; `None` outside one.
    pieces: Option<BytesMut>,
    /// The peer has sent CLOSE.
    pub(super) closed: bool,
}

enum State {
    Header,
    /// The octet of flags comes next, then a body that goes through.
    Flags(Header),
    Through {
        mask: Option<[u8; 4]>,
        position: u64,
        left: u64,
    },
    /// A piece of a message.
    Piece {
        header: Header,
        position: u64,
    },
    /// A control frame, to be read when it is whole.
    Control(Header),
}

impl Inbound {
    pub(super) fn new(role: Role, awaits_greeting: bool, limit: usize) -> Self {
        Inbound {
            role,
            awaits_greeting,
            limit,
            state: State::Header,
            pieces: None,
            closed: false,
        }
    }

    pub(super) fn receive(
        &mut self,
        input: &mut BytesMut,
        into: &mut BytesMut,
        outbound: &mut Outbound,
    ) -> Result<(), WebSocketError> {
        let outcome = loop {
            if self.closed {
                input.clear();
                break Ok(());
            }
            match self.step(input, into, outbound) {
                Ok(true) => {}
                Ok(false) => break Ok(()),
                Err(error) => break Err(error),
            }
        };
        if outcome.is_err() {
            outbound.close(frame::PROTOCOL_ERROR);
        }
        outcome
    }

    /// Does one thing. `false` when more bytes are needed for it.
    fn step(
        &mut self,
        input: &mut BytesMut,
        into: &mut BytesMut,
        outbound: &mut Outbound,
    ) -> Result<bool, WebSocketError> {
        match &mut self.state {
            State::Header => {
                let Some(header) = Header::parse(input, self.role)? else {
                    return Ok(false);
                };
                input.advance(header.size);
                self.state = self.begin(header)?;
            }
            State::Flags(header) => {
                let Some(&first) = input.first() else {
                    return Ok(false);
                };
                let header = *header;
                input.advance(1);
                let flags = first ^ header.mask.map_or(0, |mask| mask[0]);
                self.begin_body(flags, header.length - 1, into)?;
                self.state = State::Through {
                    mask: header.mask,
                    position: 1,
                    left: header.length - 1,
                };
            }
            State::Through { left: 0, .. } => self.state = State::Header,
            State::Through {
                mask,
                position,
                left,
            } => {
                let here = input
                    .len()
                    .min(usize::try_from(*left).unwrap_or(usize::MAX));
                if here == 0 {
                    return Ok(false);
                }
                if let Some(mask) = mask {
                    frame::apply_mask(&mut input[..here], *mask, *position);
                }
                into.extend_from_slice(&input[..here]);
                input.advance(here);
                *position += here as u64;
                *left -= here as u64;
            }
            State::Piece { header, position } if *position == header.length => {
                let last = header.last;
                self.state = State::Header;
                if last {
                    let whole = self.pieces.take().unwrap_or_default();
                    let (&flags, body) = whole.split_first().ok_or(WebSocketError::NotZmtp)?;
                    self.begin_body(flags, body.len() as u64, into)?;
                    into.extend_from_slice(body);
                }
            }
            State::Piece { header, position } => {
                let left = usize::try_from(header.length - *position).unwrap_or(usize::MAX);
                let here = input.len().min(left);
                if here == 0 {
                    return Ok(false);
                }
                if let Some(mask) = header.mask {
                    frame::apply_mask(&mut input[..here], mask, *position);
                }
                let pieces = self.pieces.get_or_insert_default();
                if pieces.len() + here > self.limit {
                    return Err(WebSocketError::TooLarge);
                }
                pieces.extend_from_slice(&input[..here]);
                input.advance(here);
                *position += here as u64;
            }
            State::Control(header) => {
                let (header, length) = (*header, header.length as usize);
                if input.len() < length {
                    return Ok(false);
                }
                let mut payload = input.split_to(length);
                if let Some(mask) = header.mask {
                    frame::apply_mask(&mut payload, mask, 0);
                }
                self.state = State::Header;
                match header.opcode {
                    frame::PING => outbound.pong(payload.freeze()),
                    frame::CLOSE => {
                        self.closed = true;
                        outbound.close(frame::NORMAL);
                    }
                    _ => {}
                }
            }
        }
        Ok(true)
    }

    /// What follows a frame's header.
    fn begin(&mut self, header: Header) -> Result<State, WebSocketError> {
        match (header.opcode, &self.pieces) {
            (frame::CLOSE..=frame::PONG, _) => Ok(State::Control(header)),
            (frame::TEXT, None) => Err(WebSocketError::NotZmtp),
            (frame::BINARY, None) if !header.last => {
                self.pieces = Some(BytesMut::new());
                Ok(State::Piece {
                    header,
                    position: 0,
                })
            }
            (frame::BINARY, None) if header.length == 0 => Err(WebSocketError::NotZmtp),
            (frame::BINARY, None) => Ok(State::Flags(header)),
            (frame::CONTINUATION, Some(_)) => Ok(State::Piece {
                header,
                position: 0,
            }),
            // A new message within another, or the rest of none.
            _ => Err(WebSocketError::BadFrame),
        }
    }

    /// Writes the header of the ZMTP frame that a message is, or takes the greeting for one.
    fn begin_body(
        &mut self,
        flags: u8,
        length: u64,
        into: &mut BytesMut,
    ) -> Result<(), WebSocketError> {
        if std::mem::take(&mut self.awaits_greeting) {
            let whole = flags == COMMAND && length == greeting::SIZE as u64;
            return whole.then_some(()).ok_or(WebSocketError::NotZmtp);
        }
        let flags = match flags {
            0 => 0,
            MORE => zmtp::MORE,
            COMMAND => zmtp::COMMAND,
            _ => return Err(WebSocketError::NotZmtp),
        };
        let length = usize::try_from(length).map_err(|_| WebSocketError::TooLarge)?;
        into.extend_from_slice(&zmtp::Header::new(flags, length).encode());
        Ok(())
    }
}
