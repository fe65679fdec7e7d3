//! The messages that clients push: who it is, the how-manieth, and bytes up to a size that is drawn.

use fastrand::Rng;

/// Client, number, and whether it is the last one.
pub(crate) const HEADER: usize = 17;

/// Sizes in bytes, and how many of a million messages have them: most are small, and the large ones carry most bytes.
const SIZES: [(usize, u32); 6] = [
    (64, 900_000),
    (1 << 10, 90_000),
    (16 << 10, 8_000),
    (256 << 10, 1_900),
    (4 << 20, 90),
    (16 << 20, 10),
];

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) client: u64,
    pub(crate) number: u64,
    pub(crate) is_last: bool,
}

pub(crate) fn size(random: &mut Rng) -> usize {
    let mut left = random.u32(..1_000_000);
    for (size, share) in SIZES {
        match left.checked_sub(share) {
            Some(rest) => left = rest,
            None => return size,
        }
    }
    SIZES[0].0
}

pub(crate) fn build(header: &Header, size: usize) -> Vec<u8> {
    let mut bytes = vec![header.number as u8; size.max(HEADER)];
    bytes[..8].copy_from_slice(&header.client.to_le_bytes());
    bytes[8..16].copy_from_slice(&header.number.to_le_bytes());
    bytes[16] = u8::from(header.is_last);
    bytes
}

/// The header, if the bytes are what [`build`] made: both ends of the body are looked at.
pub(crate) fn read(bytes: &[u8]) -> Option<Header> {
    let number = |at: usize| Some(u64::from_le_bytes(bytes.get(at..at + 8)?.try_into().ok()?));
    let header = Header {
        client: number(0)?,
        number: number(8)?,
        is_last: *bytes.get(16)? == 1,
    };
    let rest = &bytes[HEADER..];
    let filled = |byte: &u8| *byte == header.number as u8;
    let whole = rest.first().is_none_or(filled) && rest.last().is_none_or(filled);
    whole.then_some(header)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_built_is_read() {
        let header = Header {
            client: 7,
            number: 300,
            is_last: true,
        };
        for size in [0, 64, 1 << 20] {
            assert_eq!(read(&build(&header, size)), Some(Header { ..header }));
        }
        let mut changed = build(&header, 64);
        *changed.last_mut().unwrap() += 1;
        assert_eq!(read(&changed), None);
        assert_eq!(read(&changed[..16]), None);
    }

    #[test]
    fn all_sizes_are_drawn() {
        assert_eq!(SIZES.iter().map(|(_, share)| share).sum::<u32>(), 1_000_000);
        let mut random = Rng::with_seed(1);
        let mut drawn: Vec<_> = (0..2_000_000).map(|_| size(&mut random)).collect();
        drawn.sort_unstable();
        drawn.dedup();
        assert_eq!(drawn, SIZES.map(|(size, _)| size));
    }
}
