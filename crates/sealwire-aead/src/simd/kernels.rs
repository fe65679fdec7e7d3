//! Compiles the generic algorithms for one instruction set.

use super::batch::Lanes;
use super::vector::{MAX_LANES, Vector};
use crate::portable::blake3::Node;

/// What is compiled once for a kind of vector, and called.
pub(crate) trait LaneKernels: Vector {
    /// [`batch::tags`](super::batch::tags).
    fn tags(isa: Self::Isa, key: &[Self; 8], lanes: &Lanes<'_>, tags: &mut [Node; MAX_LANES]);
}

/// Implements [`LaneKernels`] for a vector of an instruction set.
macro_rules! lane_kernels {
    ($isa:ident, $features:tt, $vector:ident) => {
        impl $crate::simd::kernels::LaneKernels for $vector {
            #[inline]
            #[allow(unsafe_code, reason = "calling into a function with CPU features on")]
            fn tags(
                isa: $isa,
                key: &[Self; 8],
                lanes: &$crate::simd::batch::Lanes<'_>,
                tags: &mut [$crate::portable::blake3::Node; $crate::simd::vector::MAX_LANES],
            ) {
                #[target_feature(enable = $features)]
                fn enter(
                    isa: $isa,
                    key: &[$vector; 8],
                    lanes: &$crate::simd::batch::Lanes<'_>,
                    tags: &mut [$crate::portable::blake3::Node; $crate::simd::vector::MAX_LANES],
                ) {
                    $crate::simd::batch::tags(isa, key, lanes, tags)
                }
                // SAFETY: the value `isa` exists only where the CPU was seen to have the features.
                unsafe { enter(isa, key, lanes, tags) }
            }
        }
    };
}

/// A method on an instruction set that runs `$body` with the CPU features `$features` on.
macro_rules! method {
    (
        $isa:ty, $features:tt,
        fn $name:ident($self:tt $(, $argument:ident: $kind:ty)*) $(-> $output:ty)? = $body:path
    ) => {
        #[inline]
        #[allow(unsafe_code, reason = "calling into a function with CPU features on")]
        fn $name($self $(, $argument: $kind)*) $(-> $output)? {
            #[target_feature(enable = $features)]
            fn enter(isa: $isa $(, $argument: $kind)*) $(-> $output)? {
                $body(isa $(, $argument)*)
            }
            // SAFETY: the value `$self` exists only where the CPU was seen to have the features.
            unsafe { enter($self $(, $argument)*) }
        }
    };
}

/// Implements [`BackEnd`](crate::back_end::BackEnd) for an instruction set.
macro_rules! kernels {
    ($isa:ident, $features:tt, lanes $($vector:ident),+) => {
        $($crate::simd::kernels::lane_kernels!($isa, $features, $vector);)+

        impl $crate::simd::tree::Subtree for $isa {
            $crate::simd::kernels::method!(
                $isa, $features,
                fn subtree(
                    self, key: &$crate::portable::blake3::Chain,
                    source: &mut $crate::simd::source::Source<'_>, start: usize, len: usize,
                    nodes: &mut [$crate::portable::blake3::Node; $crate::simd::vector::MAX_LANES]
                ) -> usize = $crate::simd::tree::subtree
            );
        }

        impl $crate::back_end::BackEnd for $isa {
            #[cfg(feature = "measuring")]
            fn level(self) -> $crate::engine::Level {
                $crate::engine::Level::$isa
            }

            $crate::simd::kernels::method!(
                $isa, $features,
                fn derive_message_keys(
                    self, key: &[u8; $crate::KEY_SIZE], nonce: &[u8; $crate::NONCE_SIZE]
                ) -> $crate::keys::MessageKeys = $crate::simd::blake3::derive_message_keys
            );
            $crate::simd::kernels::method!(
                $isa, $features,
                fn xor_keystream(
                    self, keys: &$crate::keys::MessageKeys, counter: u64, data: &mut [u8]
                ) = $crate::simd::chacha20::xor_keystream
            );
            $crate::simd::kernels::method!(
                $isa, $features,
                fn mac(
                    self, key: &$crate::portable::blake3::Chain,
                    input: &$crate::mac_input::MacInput<'_>
                ) -> [u8; $crate::TAG_SIZE] = $crate::simd::tree::mac
            );
            $crate::simd::kernels::method!(
                $isa, $features,
                fn node(
                    self, key: &$crate::portable::blake3::Chain,
                    input: &$crate::mac_input::MacInput<'_>, start: usize, len: usize
                ) -> $crate::portable::blake3::Node = $crate::simd::tree::node
            );
            $crate::simd::kernels::method!(
                $isa, $features,
                fn seal(
                    self, keys: &$crate::keys::MessageKeys, counter: u64, aad: &[u8],
                    buffer: &mut [u8]
                ) -> [u8; $crate::TAG_SIZE] = $crate::simd::tree::seal
            );
            $crate::simd::kernels::method!(
                $isa, $features,
                fn seal_one(
                    self, key: &[u8; $crate::KEY_SIZE], nonce: &[u8; $crate::NONCE_SIZE],
                    aad: &[u8], buffer: &mut [u8]
                ) -> [u8; $crate::TAG_SIZE] = $crate::simd::tree::seal_one
            );
            $crate::simd::kernels::method!(
                $isa, $features,
                fn seal_batch(
                    self, key: &[u8; $crate::KEY_SIZE], jobs: &mut [$crate::batch::SealJob<'_>]
                ) = $crate::simd::plan::seal_batch
            );
            $crate::simd::kernels::method!(
                $isa, $features,
                fn open_batch(
                    self, key: &[u8; $crate::KEY_SIZE], jobs: &mut [$crate::batch::OpenJob<'_>]
                ) = $crate::simd::plan::open_batch
            );
            $crate::simd::kernels::method!(
                $isa, $features,
                fn seal_run(
                    self, keys: &$crate::keys::MessageKeys, counter: u64,
                    jobs: &mut [$crate::batch::SealJob<'_>]
                ) = $crate::simd::plan::seal_run
            );
            $crate::simd::kernels::method!(
                $isa, $features,
                fn open_run(
                    self, keys: &$crate::keys::MessageKeys, counter: u64,
                    jobs: &mut [$crate::batch::OpenJob<'_>]
                ) = $crate::simd::plan::open_run
            );
        }
    };
}

pub(crate) use {kernels, lane_kernels, method};
