//! Runs with other secrets, for `traces.c` to compare.

use core::cell::{Cell, RefCell};

use crate::Number;

/// What the tool is called.
pub(crate) const NAME: &str = "comparison of traces";

/// Runs before traces are taken: the allocator finds its ways, and libraries are bound.
const WARM_UP: u64 = 2;
/// Runs whose traces are compared.
const COMPARED: u64 = 4;
/// In one run.
const MOST_SUMS: usize = 4096;
/// Fewer bytes may be the same by chance.
const TELLING: usize = 8;

std::thread_local! {
    /// Where the secrets of this run come from.
    static SECRETS: Cell<u64> = const { Cell::new(0) };
    /// Of what was said to be secret in this run.
    static SECRET_SUMS: RefCell<Vec<u64>> = const { RefCell::new(Vec::new()) };
}

/// `check.sh` says so; `traces.c` prints what it compared, which is looked at too.
pub(crate) fn is_running() -> bool {
    std::env::var_os("SEALWIRE_TRACES").is_some()
}

/// None: the first difference ends the process.
pub(crate) const fn errors() -> usize {
    0
}

/// What `traces.c` is told: that a check begins, that a run of it begins, that it ends. To the
/// processor it is a number moved to nowhere.
#[allow(unsafe_code, reason = "the instructions that `traces.c` looks for")]
mod marks {
    macro_rules! mark {
        ($name:ident, $number:literal) => {
            #[inline(always)]
            pub(super) fn $name() {
                // SAFETY: `movz xzr` writes to the register that is always zero. Without `nomem`
                // nothing is moved across.
                unsafe { core::arch::asm!(concat!("movz xzr, #", $number)) }
            }
        };
    }
    mark!(check_begins, "0x5ea1");
    mark!(run_begins, "0x5ea2");
    mark!(run_ends, "0x5ea3");
}

/// Runs the check with other secrets each time.
///
/// # Panics
///
/// When what should be secret was the same in two runs.
pub(crate) fn follow(check: impl Fn()) {
    // Made once, and large enough: what it takes to keep sums is the same in every run.
    SECRET_SUMS.set(Vec::with_capacity(MOST_SUMS));
    let mut before = Vec::with_capacity(MOST_SUMS);
    marks::check_begins();
    for run in 0..WARM_UP + COMPARED {
        SECRETS.set(run + 1);
        if run < WARM_UP {
            check();
        } else {
            traced(&check);
        }
        SECRET_SUMS.with_borrow_mut(|sums| {
            assert!(
                sums.len() < MOST_SUMS && sums.iter().zip(&before).all(|(now, was)| now != was),
                "what should be secret does not depend on secrets"
            );
            before.clear();
            before.append(sums);
        });
    }
}

/// Not inlined: the code between the marks has to be the same code in every run.
#[inline(never)]
fn traced(check: &impl Fn()) {
    marks::run_begins();
    check();
    marks::run_ends();
}

/// Fills the memory with a secret of this run.
pub(crate) fn classify<T: Number>(secret: &mut [T]) {
    for number in secret {
        // SplitMix64.
        let state = SECRETS.get().wrapping_add(0x9e37_79b9_7f4a_7c15);
        SECRETS.set(state);
        let mixed = (state ^ state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        *number = number.turned(mixed ^ mixed >> 31);
    }
}

pub(crate) fn declassify<T>(_: &mut [T]) {}

/// Keeps a sum of it, which [`follow`] compares.
pub(crate) fn is_secret(bytes: &[u8]) -> bool {
    if bytes.len() >= TELLING {
        let add = |sum: u64, byte: &u8| (sum ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3);
        let sum = bytes.iter().fold(0xcbf2_9ce4_8422_2325, add);
        SECRET_SUMS.with_borrow_mut(|sums| sums.push(sum));
    }
    true
}
