//! WebSocket frames of the peer into ZMTP frames for the protocol.
//!
//! A message in one frame goes through as it comes, because its length is known; the protocol
//! applies its limits. A message in pieces is kept until it is whole, within a limit.

use std::ops::Deref;

use bytes::{Buf as _, BytesMut};
use sealwire_zmtp::wire::frame as zmtp;
use sealwire_zmtp::wire::greeting;

use super::frame::{self, Header};
use super::outbound::Outbound;
use super::protocol_bytes::{Pieces, ProtocolBytes};
use super::{COMMAND, MORE, Role, WebSocketError};

pub(super) struct Inbound {
    role: Role,
    /// The first message is a greeting.
    awaits_greeting: bool,
    /// Most bytes that are kept of a message in pieces.
    pub(super) limit: usize,
    state: State,
    /// The pieces of a message that have come; `None` outside one.
    pieces: Option<Pieces>,
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

    /// Bytes of memory for a message in pieces.
    pub(super) fn arriving(&self) -> usize {
        self.pieces.as_ref().map_or(0, Pieces::held)
    }

    pub(super) fn receive(
        &mut self,
        input: &mut BytesMut,
        into: &mut ProtocolBytes,
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

    /// Does one thing. `false` when more bytes are needed for it, or what is in `into` has to be taken
    /// first.
    fn step(
        &mut self,
        input: &mut BytesMut,
        into: &mut ProtocolBytes,
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
                if let Some(zmtp) = self.header(flags, header.length - 1)? {
                    into.push(&zmtp);
                }
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
                into.push(&input[..here]);
                input.advance(here);
                *position += here as u64;
                *left -= here as u64;
            }
            State::Piece { header, position } if *position == header.length => {
                let last = header.last;
                self.state = State::Header;
                if last {
                    let whole = self.pieces.take().ok_or(WebSocketError::BadFrame)?;
                    let (flags, size) = whole.flags_and_size().ok_or(WebSocketError::NotZmtp)?;
                    let header = self.header(flags, size as u64)?;
                    whole.finish(header.as_deref().unwrap_or_default(), into);
                }
            }
            State::Piece { header, position } => {
                let left = usize::try_from(header.length - *position).unwrap_or(usize::MAX);
                let here = input.len().min(left);
                if here == 0 {
                    return Ok(false);
                }
                let pieces = self.pieces.get_or_insert_with(Pieces::new);
                if !pieces.has_room(here, self.limit) {
                    // The limit may be higher once the protocol has what came before: a handshake's end.
                    return match into.is_empty() {
                        true => Err(WebSocketError::TooLarge),
                        false => Ok(false),
                    };
                }
                if let Some(mask) = header.mask {
                    frame::apply_mask(&mut input[..here], mask, *position);
                }
                pieces.add(&input[..here]);
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
                    // The answer goes out behind messages that are on their way.
                    frame::CLOSE => self.closed = true,
                    _ => {}
                }
            }
        }
        Ok(true)
    }

    /// What follows a frame's header.
    fn begin(&mut self, header: Header) -> Result<State, WebSocketError> {
        match (header.opcode, &mut self.pieces) {
            (frame::CLOSE..=frame::PONG, _) => Ok(State::Control(header)),
            (frame::TEXT, None) => Err(WebSocketError::NotZmtp),
            (frame::BINARY, None) if !header.last => {
                let mut pieces = Pieces::new();
                pieces.begin()?;
                self.pieces = Some(pieces);
                Ok(State::Piece {
                    header,
                    position: 0,
                })
            }
            (frame::BINARY, None) if header.length == 0 => Err(WebSocketError::NotZmtp),
            (frame::BINARY, None) => Ok(State::Flags(header)),
            (frame::CONTINUATION, Some(pieces)) => {
                pieces.begin()?;
                Ok(State::Piece {
                    header,
                    position: 0,
                })
            }
            // A new message within another, or the rest of none.
            _ => Err(WebSocketError::BadFrame),
        }
    }

    /// The header of the ZMTP frame that a message is; `None` for the greeting, which has none.
    fn header(
        &mut self,
        flags: u8,
        length: u64,
    ) -> Result<Option<impl Deref<Target = [u8]> + use<>>, WebSocketError> {
        if std::mem::take(&mut self.awaits_greeting) {
            let whole = flags == COMMAND && length == greeting::SIZE as u64;
            return whole.then_some(None).ok_or(WebSocketError::NotZmtp);
        }
        let flags = match flags {
            0 => 0,
            MORE => zmtp::MORE,
            COMMAND => zmtp::COMMAND,
            _ => return Err(WebSocketError::NotZmtp),
        };
        let length = usize::try_from(length).map_err(|_| WebSocketError::TooLarge)?;
        Ok(Some(zmtp::Header::new(flags, length).encode()))
    }
}
