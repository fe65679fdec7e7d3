//! Memory that is asked for before it is written.

#![allow(unsafe_code, reason = "there is no stable function for it")]

/// Asks for the place that is `ahead` values behind this one, to write a value there before long.
///
/// The core that had the memory last has to give it up, which takes as long as some hundred instructions. A thread that
/// writes goes on meanwhile, but waits for it at its next atomic instruction, so at the lock of each message of a queue.
///
/// It changes nothing but the time that the write takes. No place has to be there.
#[inline(always)]
pub fn ask_to_write<T>(value: &T, ahead: usize) {
    let first = core::ptr::from_ref(value).wrapping_add(ahead).cast::<u8>();
    ask(first);
    // With 64 bytes and less both are mostly in one line.
    if size_of::<T>() > 1 {
        ask(first.wrapping_add(size_of::<T>() - 1));
    }
}

#[cfg(all(target_arch = "x86_64", not(any(miri, sealwire_portable))))]
#[inline(always)]
fn ask(place: *const u8) {
    // SAFETY: PREFETCHW reads and writes nothing, faults nowhere and leaves registers and flags alone. A CPU without it
    // does nothing.
    unsafe {
        core::arch::asm!("prefetchw [{}]", in(reg) place, options(nostack, preserves_flags, readonly));
    }
}

#[cfg(all(target_arch = "aarch64", not(any(miri, sealwire_portable))))]
#[inline(always)]
fn ask(place: *const u8) {
    // SAFETY: PRFM reads and writes nothing, faults nowhere and leaves registers and flags alone.
    unsafe {
        core::arch::asm!("prfm pstl1keep, [{}]", in(reg) place, options(nostack, preserves_flags, readonly));
    }
}

#[cfg(any(
    not(any(target_arch = "x86_64", target_arch = "aarch64")),
    miri,
    sealwire_portable
))]
#[inline(always)]
fn ask(_place: *const u8) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_that_are_not_there_may_be_asked_for_and_nothing_changes() {
        let values: [[u8; 72]; 3] = core::array::from_fn(|i| [i as u8; 72]);
        for ahead in [0, 1, 2, 3, 1 << 20, usize::MAX / 2, usize::MAX] {
            values.iter().for_each(|value| ask_to_write(value, ahead));
            ask_to_write(&(), ahead);
            ask_to_write(&0_u8, ahead);
        }
        for (value, expected) in values.iter().zip(0..) {
            assert_eq!(*value, [expected; 72]);
        }
    }
}
