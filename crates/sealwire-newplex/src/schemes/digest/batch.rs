//! Many messages at a time.

use super::{DIGEST_SIZE, Digest, KeyedDigest};
use crate::duplex::Duplex;
use crate::duplex::batch::HasDuplex;
use crate::protocol::batch::{self, GROUP, in_groups, pays};
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
fn outputs<'m, const SIZE: usize>(
    base: &Protocol,
    label: &[u8],
    messages: &[&'m [u8]],
    outputs: &mut [[u8; SIZE]],
) {
    assert_eq!(messages.len(), outputs.len(), "{UNEQUAL}");
    let jobs = messages.iter().zip(outputs);
    let alone = |(message, output): (&&[u8], &mut [u8; SIZE])| {
        let mut protocol = base.clone();
        protocol.mix("message", message);
        *output = protocol.derive_array(label);
    };
    in_groups(
        jobs,
        |(message, _)| message.len(),
        alone,
        |group| {
            let mut items: [Option<Protocol>; GROUP] = [const { None }; GROUP];
            let items = &mut items[..group.len()];
            items.fill_with(|| Some(base.clone()));
            let message = |job: &Option<(&&'m [u8], _)>| job.as_ref().map_or(&[][..], |job| *job.0);
            batch::mix(items, b"message", |index| message(&group[index]));
            batch::derive(items, label, |index, derived| {
                if let Some((_, output)) = &mut group[index] {
                    **output = derived;
                }
            });
        },
    );
}

/// Takes a piece into each.
fn update(digests: &mut [impl HasDuplex], pieces: &[&[u8]]) {
    assert_eq!(digests.len(), pieces.len(), "{UNEQUAL}");
    for (digests, pieces) in digests.chunks_mut(GROUP).zip(pieces.chunks(GROUP)) {
        if pieces.iter().filter(|piece| pays(piece.len())).count() > 1 {
            batch::continue_mix(digests, |index| pieces[index]);
        } else {
            for (digest, piece) in digests.iter_mut().zip(pieces) {
                digest.duplex().absorb(piece);
            }
        }
    }
}

impl Digest {
    /// The digest of each message: the same as [`of`](Self::of), but on CPUs with VAES several at once, best
    /// if they are about equally long.
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
    /// empty. On CPUs with VAES several at once, best if they are about equally long.
    ///
    /// # Panics
    ///
    /// If there are not as many `pieces` as `digests`.
    pub fn update_many(digests: &mut [Self], pieces: &[&[u8]]) {
        update(digests, pieces);
    }
}

impl KeyedDigest {
    /// The tag of each message: the same as [`of`](Self::of), but on CPUs with VAES several at once, best if
    /// they are about equally long.
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
    /// empty. On CPUs with VAES several at once, best if they are about equally long.
    ///
    /// # Panics
    ///
    /// If there are not as many `pieces` as `digests`.
    pub fn update_many(digests: &mut [Self], pieces: &[&[u8]]) {
        update(digests, pieces);
    }
}
