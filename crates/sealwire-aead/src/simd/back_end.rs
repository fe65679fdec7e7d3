//! Makes a back end of what is compiled for an instruction set ([`kernels`](kernels!)) and of what
//! calls it and needs none (trees, plans).

use super::kernels::Kernels;
use super::{plan, tree};
use crate::back_end::BackEnd;
use crate::job::Job;
use crate::keys::{Keying, MessageKeys};
use crate::mac_input::MacInput;
use crate::node::{CHUNK_SIZE, Chain, Node};
use crate::{KEY_SIZE, NONCE_SIZE, TAG_SIZE};

impl<I: Kernels> BackEnd for I {
    #[inline]
    fn derive_message_keys(self, key: &[u8; KEY_SIZE], nonce: &[u8; NONCE_SIZE]) -> MessageKeys {
        self.message_keys(key, nonce)
    }

    #[inline]
    fn xor_keystream(self, keys: &MessageKeys, counter: u64, data: &mut [u8]) {
        self.xor_text(keys, counter, data);
    }

    fn node(self, key: &Chain, input: &MacInput<'_>, start: usize, len: usize, root: u32) -> Node {
        tree::node(self, key, input, start, len, root)
    }

    #[inline]
    fn seal(self, keying: Keying<'_>, aad: &[u8], buffer: &mut [u8]) -> [u8; TAG_SIZE] {
        if let Keying::Nonce { key, nonce } = keying
            && MacInput::new(aad, buffer).len() <= CHUNK_SIZE
        {
            return self.seal_short(key, nonce, aad, buffer);
        }
        tree::seal(self, keying, aad, buffer)
    }

    #[inline]
    fn batch<J: Job>(self, key: &[u8; KEY_SIZE], jobs: &mut [J]) {
        plan::batch(self, key, jobs);
    }

    fn run<J: Job>(self, keys: &MessageKeys, counter: u64, jobs: &mut [J]) {
        plan::run(self, keys, counter, jobs);
    }
}

/// Implements [`Kernels`] for an instruction set, and [`LaneKernels`] for its vectors.
macro_rules! kernels {
    ($isa:ident, lanes $($vector:ty),+) => {
        const _: () = {
            use sealwire_simd::{compiled_for, vector::MAX_LANES};
            use $crate::keys::MessageKeys;
            use $crate::mac_input::MacInput;
            use $crate::node::{Chain, Node};
            use $crate::simd::kernels::Kernels;
            use $crate::simd::lanes::{Index, LaneKernels, Lanes, TagKeys};
            use $crate::simd::{batch, blake3, chacha20, leaves};
            use $crate::{KEY_SIZE, NONCE_SIZE, job::Job};

            $(
                impl LaneKernels<$vector> for $isa {
                    compiled_for!($isa;
                        fn group<J: Job>(
                            self, key: &[u8; KEY_SIZE], jobs: &mut [J], group: &[Index]
                        ) = batch::group::<$isa, $vector, J>;
                        fn tags(
                            self, keys: TagKeys<'_, $vector>, lanes: &Lanes<'_>,
                            tags: &mut [Node; MAX_LANES]
                        ) = batch::tags;
                    );
                }
            )+

            impl Kernels for $isa {
                compiled_for!($isa;
                    fn message_keys(
                        self, key: &[u8; KEY_SIZE], nonce: &[u8; NONCE_SIZE]
                    ) -> MessageKeys = blake3::derive_message_keys;
                    fn xor_text(
                        self, keys: &MessageKeys, counter: u64, text: &mut [u8]
                    ) = chacha20::xor_keystream;
                    fn seal_short(
                        self, key: &[u8; KEY_SIZE], nonce: &[u8; NONCE_SIZE], aad: &[u8],
                        buffer: &mut [u8]
                    ) -> Node = leaves::seal_short;
                    fn chunk(
                        self, key: &Chain, input: &MacInput<'_>, start: usize, len: usize, root: u32
                    ) -> Node = leaves::chunk;
                    fn leaves(
                        self, key: &Chain, input: &MacInput<'_>, start: usize, len: usize,
                        nodes: &mut [Node; MAX_LANES]
                    ) -> usize = leaves::leaves;
                    fn fold(
                        self, key: &Chain, nodes: &[Node], most: usize, root: u32,
                        above: &mut [Node; MAX_LANES]
                    ) -> usize = leaves::fold;
                    fn xor_run<J: Job>(
                        self, keys: &MessageKeys, counter: u64, jobs: &mut [J]
                    ) = batch::xor_run;
                );
            }
        };
    };
}

pub(crate) use kernels;
