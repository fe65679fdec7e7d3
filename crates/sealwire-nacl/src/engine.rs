//! Chooses the back end that does the work, and is the only place that knows there is a choice.
//!
//! With the feature `std` the CPU is asked at run time; without it, the features that the program
//! is compiled for decide.

use crate::back_end::BackEnd;
use crate::counter_box::{OpenJob, SealJob};
use crate::portable::Portable;
#[cfg(target_arch = "x86_64")]
use crate::x86::{avx2::Avx2, avx512::Avx512, sse2::Sse2};

/// Calls a method of the best back end that this CPU has.
macro_rules! dispatch {
    ($back_end:ident => $call:expr) => {{
        #[cfg(target_arch = "x86_64")]
        {
            if let Some($back_end) = Avx512::detect() {
                return $call;
            }
            if let Some($back_end) = Avx2::detect() {
                return $call;
            }
            if let Some($back_end) = Sse2::detect() {
                return $call;
            }
        }
        let $back_end = Portable;
        $call
    }};
}

/// See [`BackEnd::seal_batch`].
pub(crate) fn seal_batch(subkey: &[u32; 8], jobs: &mut [SealJob<'_>]) {
    dispatch!(back_end => back_end.seal_batch(subkey, jobs))
}

/// See [`BackEnd::open_batch`].
pub(crate) fn open_batch(subkey: &[u32; 8], jobs: &mut [OpenJob<'_>]) {
    dispatch!(back_end => back_end.open_batch(subkey, jobs))
}
