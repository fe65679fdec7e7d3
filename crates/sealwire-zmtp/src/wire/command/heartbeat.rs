//! PING and PONG: signs of life.
//!
//! Source: ZMTP 3.1 (RFC 37), "connection heartbeating".
//!
//! ```text
//! PING  +----------------------------------------+-----------------+
//!       | ttl, 2, big-endian, tenths of a second | context, 0..=16 |
//! PONG  +----------------------------------------+-----------------+
//!                                                | context, 0..=16 |
//!                                                +-----------------+
//! ```

use alloc::vec::Vec;
use core::time::Duration;

use crate::error::WireError;
use crate::limits::MAX_PING_CONTEXT;

/// The name of PING.
pub const PING: &[u8] = b"PING";
/// The name of PONG.
pub const PONG: &[u8] = b"PONG";

/// Bytes of a PONG's body besides its context.
pub(crate) const PONG_OVERHEAD: usize = 1 + PONG.len();

/// What PING says.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Ping<'a> {
    /// How long the receiver should wait for traffic before it gives up; `None` for no say.
    pub ttl: Option<Duration>,
    /// To be sent back in PONG.
    pub context: &'a [u8],
}

impl<'a> Ping<'a> {
    /// Reads the data of PING.
    ///
    /// # Errors
    ///
    /// [`WireError::MalformedCommand`] without a whole ttl or with a context above 16 bytes.
    pub fn parse(data: &'a [u8]) -> Result<Self, WireError> {
        match data.split_first_chunk() {
            Some((ttl, context)) if context.len() <= MAX_PING_CONTEXT => {
                let deciseconds = u64::from(u16::from_be_bytes(*ttl));
                let ttl = (deciseconds > 0).then(|| Duration::from_millis(deciseconds * 100));
                Ok(Self { ttl, context })
            }
            _ => Err(WireError::MalformedCommand { command: "PING" }),
        }
    }
}

/// What PONG says.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Pong<'a> {
    /// The context of the PING that is answered.
    pub context: &'a [u8],
}

impl<'a> Pong<'a> {
    /// Reads the data of PONG.
    ///
    /// # Errors
    ///
    /// [`WireError::MalformedCommand`] with a context above 16 bytes.
    pub fn parse(context: &'a [u8]) -> Result<Self, WireError> {
        if context.len() > MAX_PING_CONTEXT {
            return Err(WireError::MalformedCommand { command: "PONG" });
        }
        Ok(Self { context })
    }
}

/// The body of a PING; `ttl` is cut to tenths of a second and to 16 bits.
pub(crate) fn ping_body(ttl: Duration, context: &[u8]) -> Vec<u8> {
    let deciseconds = u16::try_from(ttl.as_millis() / 100).unwrap_or(u16::MAX);
    super::body(PING, &[&deciseconds.to_be_bytes(), context])
}

/// The body of a PONG.
pub(crate) fn pong_body(context: &[u8]) -> Vec<u8> {
    super::body(PONG, &[context])
}

/// The body of a command; a context of PING or PONG that is too long is cut off.
pub(crate) fn with_context_cut(body: &[u8]) -> &[u8] {
    let data = match super::split(body) {
        Ok((PING, _)) => size_of::<u16>() + MAX_PING_CONTEXT,
        Ok((PONG, _)) => MAX_PING_CONTEXT,
        _ => return body,
    };
    &body[..body.len().min(PONG_OVERHEAD + data)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ttl_and_context() {
        let ping = Ping::parse(b"\x00\x0fctx").unwrap();
        assert_eq!(ping.ttl, Some(Duration::from_millis(1500)));
        assert_eq!(ping.context, b"ctx");
        assert_eq!(Ping::parse(b"\0\0").unwrap().ttl, None);
        assert_eq!(
            ping_body(Duration::from_millis(1599), b"ctx"),
            b"\x04PING\x00\x0fctx"
        );
        assert_eq!(ping_body(Duration::MAX, b""), b"\x04PING\xff\xff");
        assert_eq!(pong_body(b"ctx"), b"\x04PONGctx");
    }

    #[test]
    fn only_what_is_beyond_a_context_is_cut_off() {
        for (name, most) in [("PING", 18), ("PONG", 16)] {
            let body = super::super::body(name.as_bytes(), &[&[7; 40]]);
            assert_eq!(with_context_cut(&body), &body[..5 + most]);
            let fits = &body[..5 + most];
            assert_eq!(with_context_cut(fits), fits);
            assert_eq!(with_context_cut(&body[..6]), &body[..6]);
        }
        let other = super::super::body(b"JOIN", &[&[7; 40]]);
        assert_eq!(with_context_cut(&other), other);
        assert_eq!(with_context_cut(b"\x04PI"), b"\x04PI");
    }

    #[test]
    fn bounds() {
        assert!(Ping::parse(&[0; 18]).is_ok());
        assert!(Pong::parse(&[0; 16]).is_ok());
        for bad in [&[0; 0][..], &[0; 1], &[0; 19]] {
            assert_eq!(
                Ping::parse(bad),
                Err(WireError::MalformedCommand { command: "PING" })
            );
        }
        assert_eq!(
            Pong::parse(&[0; 17]),
            Err(WireError::MalformedCommand { command: "PONG" })
        );
    }
}
