//! Compiles for one instruction set what needs its instructions, each once. What calls these
//! functions (trees, plans) needs none of them.

use super::batch::{Index, Lanes, TagKeys};
use super::isa::Isa;
use crate::KEY_SIZE;
use crate::back_end::BackEnd;
use crate::batch::{OpenJob, SealJob};
use crate::keys::MessageKeys;
use crate::mac_input::MacInput;
use crate::portable::blake3::{Chain, Node};
use sealwire_simd::vector::{MAX_LANES, Vector};

/// What an instruction set compiles for a kind of vector.
pub(crate) trait LaneKernels<V: Vector<Isa = Self>>: Copy {
    /// See [`batch::seal_group`](super::batch::seal_group).
    fn seal_group(self, key: &[u8; KEY_SIZE], jobs: &mut [SealJob<'_>], group: &[Index]);
    /// See [`batch::open_group`](super::batch::open_group).
    fn open_group(self, key: &[u8; KEY_SIZE], jobs: &mut [OpenJob<'_>], group: &[Index]);
    /// See [`batch::tags`](super::batch::tags).
    fn tags(self, keys: TagKeys<'_, V>, lanes: &Lanes<'_>, tags: &mut [Node; MAX_LANES]);
}

/// What an instruction set compiles for all of its vectors.
pub(crate) trait Kernels: Isa + BackEnd {
    /// See [`leaves::short`](super::leaves::short).
    fn seal_short(
        self,
        key: &[u8; KEY_SIZE],
        nonce: &[u8; crate::NONCE_SIZE],
        aad: &[u8],
        buffer: &mut [u8],
    ) -> Node;
    /// See [`leaves::chunk`](super::leaves::chunk).
    fn chunk(self, key: &Chain, input: &MacInput<'_>, start: usize, len: usize, root: u32) -> Node;
    /// See [`leaves::leaves`](super::leaves::leaves).
    fn leaves(
        self,
        key: &Chain,
        input: &MacInput<'_>,
        start: usize,
        len: usize,
        nodes: &mut [Node; MAX_LANES],
    ) -> usize;
    /// See [`leaves::fold`](super::leaves::fold).
    fn fold(
        self,
        key: &Chain,
        nodes: &[Node],
        most: usize,
        root: u32,
        above: &mut [Node; MAX_LANES],
    ) -> usize;
    /// See [`batch::xor_run`](super::batch::xor_run).
    fn xor_sealing_run(self, keys: &MessageKeys, counter: u64, jobs: &mut [SealJob<'_>]);
    /// See [`batch::xor_run`](super::batch::xor_run).
    fn xor_opening_run(self, keys: &MessageKeys, counter: u64, jobs: &mut [OpenJob<'_>]);
}

/// Implements [`Kernels`] and [`BackEnd`] for an instruction set.
macro_rules! kernels {
    ($isa:ident, lanes $($vector:ty),+) => {
        $(
            impl $crate::simd::kernels::LaneKernels<$vector> for $isa {
                sealwire_simd::compiled_for!($isa;
                    fn seal_group(
                        self, key: &[u8; $crate::KEY_SIZE],
                        jobs: &mut [$crate::batch::SealJob<'_>],
                        group: &[$crate::simd::batch::Index]
                    ) = $crate::simd::batch::seal_group::<$isa, $vector>;
                    fn open_group(
                        self, key: &[u8; $crate::KEY_SIZE],
                        jobs: &mut [$crate::batch::OpenJob<'_>],
                        group: &[$crate::simd::batch::Index]
                    ) = $crate::simd::batch::open_group::<$isa, $vector>;
                    fn tags(
                        self, keys: $crate::simd::batch::TagKeys<'_, $vector>,
                        lanes: &$crate::simd::batch::Lanes<'_>,
                        tags: &mut [
                            $crate::portable::blake3::Node; sealwire_simd::vector::MAX_LANES
                        ]
                    ) = $crate::simd::batch::tags;
                );
            }
        )+

        impl $crate::simd::kernels::Kernels for $isa {
            sealwire_simd::compiled_for!($isa;
                fn seal_short(
                    self, key: &[u8; $crate::KEY_SIZE], nonce: &[u8; $crate::NONCE_SIZE],
                    aad: &[u8], buffer: &mut [u8]
                ) -> $crate::portable::blake3::Node = $crate::simd::leaves::seal_short;
                fn chunk(
                    self, key: &$crate::portable::blake3::Chain,
                    input: &$crate::mac_input::MacInput<'_>, start: usize, len: usize, root: u32
                ) -> $crate::portable::blake3::Node = $crate::simd::leaves::chunk;
                fn leaves(
                    self, key: &$crate::portable::blake3::Chain,
                    input: &$crate::mac_input::MacInput<'_>, start: usize, len: usize,
                    nodes: &mut [$crate::portable::blake3::Node; sealwire_simd::vector::MAX_LANES]
                ) -> usize = $crate::simd::leaves::leaves;
                fn fold(
                    self, key: &$crate::portable::blake3::Chain,
                    nodes: &[$crate::portable::blake3::Node], most: usize, root: u32,
                    above: &mut [$crate::portable::blake3::Node; sealwire_simd::vector::MAX_LANES]
                ) -> usize = $crate::simd::leaves::fold;
                fn xor_sealing_run(
                    self, keys: &$crate::keys::MessageKeys, counter: u64,
                    jobs: &mut [$crate::batch::SealJob<'_>]
                ) = $crate::simd::batch::xor_run;
                fn xor_opening_run(
                    self, keys: &$crate::keys::MessageKeys, counter: u64,
                    jobs: &mut [$crate::batch::OpenJob<'_>]
                ) = $crate::simd::batch::xor_run;
            );
        }

        impl $crate::back_end::BackEnd for $isa {
            #[cfg(feature = "measuring")]
            fn level(self) -> sealwire_simd::measuring::Level {
                sealwire_simd::measuring::Level::$isa
            }

            sealwire_simd::compiled_for!($isa;
                fn derive_message_keys(
                    self, key: &[u8; $crate::KEY_SIZE], nonce: &[u8; $crate::NONCE_SIZE]
                ) -> $crate::keys::MessageKeys = $crate::simd::blake3::derive_message_keys;
                fn xor_keystream(
                    self, keys: &$crate::keys::MessageKeys, counter: u64, data: &mut [u8]
                ) = $crate::simd::chacha20::xor_keystream;
            );

            fn mac(
                self,
                key: &$crate::portable::blake3::Chain,
                input: &$crate::mac_input::MacInput<'_>,
            ) -> [u8; $crate::TAG_SIZE] {
                $crate::simd::tree::mac(self, key, input)
            }

            fn node(
                self,
                key: &$crate::portable::blake3::Chain,
                input: &$crate::mac_input::MacInput<'_>,
                start: usize,
                len: usize,
            ) -> $crate::portable::blake3::Node {
                $crate::simd::tree::node(self, key, input, start, len)
            }

            fn seal(
                self,
                keys: &$crate::keys::MessageKeys,
                counter: u64,
                aad: &[u8],
                buffer: &mut [u8],
            ) -> [u8; $crate::TAG_SIZE] {
                $crate::simd::tree::seal(self, keys, counter, aad, buffer)
            }

            #[inline]
            fn seal_one(
                self,
                key: &[u8; $crate::KEY_SIZE],
                nonce: &[u8; $crate::NONCE_SIZE],
                aad: &[u8],
                buffer: &mut [u8],
            ) -> [u8; $crate::TAG_SIZE] {
                $crate::simd::tree::seal_one(self, key, nonce, aad, buffer)
            }

            fn seal_batch(
                self,
                key: &[u8; $crate::KEY_SIZE],
                jobs: &mut [$crate::batch::SealJob<'_>],
            ) {
                $crate::simd::plan::seal_batch(self, key, jobs);
            }

            fn open_batch(
                self,
                key: &[u8; $crate::KEY_SIZE],
                jobs: &mut [$crate::batch::OpenJob<'_>],
            ) {
                $crate::simd::plan::open_batch(self, key, jobs);
            }

            fn seal_run(
                self,
                keys: &$crate::keys::MessageKeys,
                counter: u64,
                jobs: &mut [$crate::batch::SealJob<'_>],
            ) {
                $crate::simd::plan::seal_run(self, keys, counter, jobs);
            }

            fn open_run(
                self,
                keys: &$crate::keys::MessageKeys,
                counter: u64,
                jobs: &mut [$crate::batch::OpenJob<'_>],
            ) {
                $crate::simd::plan::open_run(self, keys, counter, jobs);
            }
        }
    };
}

pub(crate) use kernels;
