//! Compiles the generic algorithms for one instruction set.

use super::batch::Lanes;
use crate::portable::blake3::Node;
use sealwire_simd::vector::{MAX_LANES, Vector};

/// What an instruction set compiles once for a kind of vector, and calls.
pub(crate) trait LaneKernels<V: Vector<Isa = Self>>: Copy {
    /// [`batch::tags`](super::batch::tags).
    fn tags(self, key: &[V; 8], lanes: &Lanes<'_>, tags: &mut [Node; MAX_LANES]);
}

/// Implements [`BackEnd`](crate::back_end::BackEnd) for an instruction set.
macro_rules! kernels {
    ($isa:ident, lanes $($vector:ty),+) => {
        $(
            impl $crate::simd::kernels::LaneKernels<$vector> for $isa {
                sealwire_simd::compiled_for!($isa;
                    fn tags(
                        self, key: &[$vector; 8], lanes: &$crate::simd::batch::Lanes<'_>,
                        tags: &mut [
                            $crate::portable::blake3::Node; sealwire_simd::vector::MAX_LANES
                        ]
                    ) = $crate::simd::batch::tags;
                );
            }
        )+

        impl $crate::simd::tree::Subtree for $isa {
            sealwire_simd::compiled_for!($isa;
                fn subtree(
                    self, key: &$crate::portable::blake3::Chain,
                    source: &mut $crate::simd::source::Source<'_>, start: usize, len: usize,
                    nodes: &mut [$crate::portable::blake3::Node; sealwire_simd::vector::MAX_LANES]
                ) -> usize = $crate::simd::tree::subtree;
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
                fn mac(
                    self, key: &$crate::portable::blake3::Chain,
                    input: &$crate::mac_input::MacInput<'_>
                ) -> [u8; $crate::TAG_SIZE] = $crate::simd::tree::mac;
                fn node(
                    self, key: &$crate::portable::blake3::Chain,
                    input: &$crate::mac_input::MacInput<'_>, start: usize, len: usize
                ) -> $crate::portable::blake3::Node = $crate::simd::tree::node;
                fn seal(
                    self, keys: &$crate::keys::MessageKeys, counter: u64, aad: &[u8],
                    buffer: &mut [u8]
                ) -> [u8; $crate::TAG_SIZE] = $crate::simd::tree::seal;
                fn seal_one(
                    self, key: &[u8; $crate::KEY_SIZE], nonce: &[u8; $crate::NONCE_SIZE],
                    aad: &[u8], buffer: &mut [u8]
                ) -> [u8; $crate::TAG_SIZE] = $crate::simd::tree::seal_one;
                fn seal_batch(
                    self, key: &[u8; $crate::KEY_SIZE], jobs: &mut [$crate::batch::SealJob<'_>]
                ) = $crate::simd::plan::seal_batch;
                fn open_batch(
                    self, key: &[u8; $crate::KEY_SIZE], jobs: &mut [$crate::batch::OpenJob<'_>]
                ) = $crate::simd::plan::open_batch;
                fn seal_run(
                    self, keys: &$crate::keys::MessageKeys, counter: u64,
                    jobs: &mut [$crate::batch::SealJob<'_>]
                ) = $crate::simd::plan::seal_run;
                fn open_run(
                    self, keys: &$crate::keys::MessageKeys, counter: u64,
                    jobs: &mut [$crate::batch::OpenJob<'_>]
                ) = $crate::simd::plan::open_run;
            );
        }
    };
}

pub(crate) use kernels;
