//! The layout of a datagram between RADIO and DISH, as libzmq has it: one octet with the length of
//! the group, the group, the body. No I/O.

/// Largest datagram, in bytes, all of it; as in libzmq.
pub const MAX_DATAGRAM: usize = 8_192;

/// A datagram is none of a RADIO, or larger than a DISH or DGRAM takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DatagramError {
    /// Nothing in it, not even the length of a group.
    #[error("the datagram is empty")]
    Empty,
    /// A group has at least one byte.
    #[error("the datagram names no group")]
    NoGroup,
    /// It ends within the group.
    #[error("the datagram ends within the name of its group")]
    GroupCut,
    /// More than [`MAX_DATAGRAM`] bytes.
    #[error("the datagram has more than {MAX_DATAGRAM} bytes")]
    TooLarge,
}

/// Refuses what has more than [`MAX_DATAGRAM`] bytes.
pub(crate) fn check_size(datagram: &[u8]) -> Result<(), DatagramError> {
    match datagram.len() {
        0..=MAX_DATAGRAM => Ok(()),
        _ => Err(DatagramError::TooLarge),
    }
}

/// Group and body of a datagram.
pub(crate) fn parse(datagram: &[u8]) -> Result<(&[u8], &[u8]), DatagramError> {
    check_size(datagram)?;
    let (&length, rest) = datagram.split_first().ok_or(DatagramError::Empty)?;
    if length == 0 {
        return Err(DatagramError::NoGroup);
    }
    rest.split_at_checked(length.into())
        .ok_or(DatagramError::GroupCut)
}

/// Size of the datagram of a message, in bytes.
pub(crate) fn size(group: &[u8], body: &[u8]) -> usize {
    1 + group.len() + body.len()
}

/// Writes the datagram of a message, whose group has 1 to 255 bytes, into an empty buffer.
pub(crate) fn encode(group: &[u8], body: &[u8], into: &mut Vec<u8>) {
    debug_assert!(into.is_empty() && (1..=255).contains(&group.len()));
    into.push(group.len() as u8);
    into.extend_from_slice(group);
    into.extend_from_slice(body);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        for (group, body) in [
            (&b"g"[..], &b""[..]),
            (b"news", b"rain"),
            (&[7; 255], &[1; 7_936]),
        ] {
            let mut datagram = Vec::new();
            encode(group, body, &mut datagram);
            assert_eq!(datagram.len(), size(group, body));
            assert_eq!(parse(&datagram), Ok((group, body)));
        }
        assert_eq!(parse(b"\x04newsrain"), Ok((&b"news"[..], &b"rain"[..])));
    }

    #[test]
    fn what_is_none_is_named() {
        assert_eq!(parse(b""), Err(DatagramError::Empty));
        assert_eq!(parse(b"\0body"), Err(DatagramError::NoGroup));
        for length in 1..5 {
            let cut = &b"\x05group"[..length];
            assert_eq!(parse(cut), Err(DatagramError::GroupCut));
        }
        let mut long = vec![1; MAX_DATAGRAM];
        assert!(parse(&long).is_ok());
        long.push(1);
        assert_eq!(parse(&long), Err(DatagramError::TooLarge));
    }
}
