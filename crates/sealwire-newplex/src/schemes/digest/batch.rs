//! Many messages at a time.

use super::{DIGEST_SIZE, Digest, KeyedDigest};
use crate::duplex::Duplex;
use crate::duplex::batch::HasDuplex;
use crate::protocol::batch::{self, GROUP};
use crate::{Protocol, Tag};

impl HasDuplex for Digest {
    fn duplex(&mut self) -> &mut Duplex {
        self.protocol.duplex()
    }
}

impl HasDuplex for KeyedDigest {
    fn duplex(&mut self) -> &mut Duplex {
        self.protocol.duplex()
    }
}

/// Says that there is one of these for each of those.
const UNEQUAL: &str = "as many of one as of the other are needed";

/// The output of each message, from the protocol that comes before all of them.
fn outputs<const SIZE: usize>(
    base: &Protocol,
    label: &[u8],
    messages: &[&[u8]],
    outputs: &mut [[u8; SIZE]],
) {
    assert_eq!(messages.len(), outputs.len(), "{UNEQUAL}");
    for (messages, outputs) in messages.chunks(GROUP).zip(outputs.chunks_mut(GROUP)) {
        let mut items: [Option<Protocol>; GROUP] = [const { None }; GROUP];
        let items = &mut items[..messages.len()];
        items.fill_with(|| Some(base.clone()));
        batch::mix(items, b"message", |index| messages[index]);
        batch::derive(items, label, |index, output| outputs[index] = output);
    }
}

/// Takes a piece into each.
fn update(digests: &mut [impl HasDuplex], pieces: &[&[u8]]) {
    assert_eq!(digests.len(), pieces.len(), "{UNEQUAL}");
    for (digests, pieces) in digests.chunks_mut(GROUP).zip(pieces.chunks(GROUP)) {
        batch::continue_mix(digests, |index| pieces[index]);
    }
}

impl Digest {
    /// The digest of each message: the same as [`of`](Self::of), but on CPUs with VAES several at a
    /// time, best if they are about equally long.
    ///
    /// # Panics
    ///
    /// If there are not as many `digests` as `messages`.
    pub fn of_many(
        domain: impl AsRef<[u8]>,
        messages: &[&[u8]],
        digests: &mut [[u8; DIGEST_SIZE]],
    ) {
        outputs(&Protocol::new(domain), b"digest", messages, digests);
    }

    /// Writes a piece to each digest, as for several files that are read side by side; pieces may be
    /// empty. On CPUs with VAES several at a time, best if they are about equally long.
    ///
    /// # Panics
    ///
    /// If there are not as many `pieces` as `digests`.
    pub fn update_many(digests: &mut [Self], pieces: &[&[u8]]) {
        update(digests, pieces);
    }
}

impl KeyedDigest {
    /// The tag of each message: the same as [`of`](Self::of), but on CPUs with VAES several at a
    /// time, best if they are about equally long.
    ///
    /// # Panics
    ///
    /// If there are not as many `tags` as `messages`.
    pub fn of_many(domain: impl AsRef<[u8]>, key: &[u8], messages: &[&[u8]], tags: &mut [Tag]) {
        let mut base = Protocol::new(domain);
        base.mix("key", key);
        outputs(&base, b"tag", messages, tags);
    }

    /// Writes a piece to each digest, as for several files that are read side by side; pieces may be
    /// empty. On CPUs with VAES several at a time, best if they are about equally long.
    ///
    /// # Panics
    ///
    /// If there are not as many `pieces` as `digests`.
    pub fn update_many(digests: &mut [Self], pieces: &[&[u8]]) {
        update(digests, pieces);
    }
}
