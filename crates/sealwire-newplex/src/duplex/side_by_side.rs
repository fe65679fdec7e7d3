//! Several states at a time: each register holds the same lane of all of them.
//!
//! One permutation waits for itself most of the time, so that two or four take hardly longer. Jobs
//! take places as these become free; a place whose job has no more blocks goes along with zeros for
//! the permutation that ends the job.

use super::blocks::{self, Masks, begin, end};
use super::bytes::wipe;
use super::state::{Block, Core, RATE};
use crate::permutation::{LANES, Permutation};
use core::mem;

/// A state and its work: blocks, each after a permutation, and a permutation that ends it.
type Job<'a, W> = (&'a mut Core, W);

/// The work that is compiled for each instruction set: `count` blocks of each state's work, which has them,
/// then the next block of those that have more, while the work of the others ends.
trait SideBySide<const N: usize>: Copy {
    fn absorb(self, cores: &mut [&mut Core; N], works: &mut [Absorb<'_>; N], count: usize);
    fn encrypt(self, cores: &mut [&mut Core; N], works: &mut [Encrypt<'_>; N], count: usize);
    fn decrypt(self, cores: &mut [&mut Core; N], works: &mut [Decrypt<'_>; N], count: usize);
}

#[cfg(all(
    target_arch = "x86_64",
    not(any(sealwire_portable, feature = "portable"))
))]
macro_rules! side_by_side {
    ($($isa:ident: $n:literal states;)*) => {$(
        impl SideBySide<$n> for sealwire_simd::$isa {
            sealwire_simd::compiled_for! { $isa;
                fn absorb(
                    self, cores: &mut [&mut Core; $n], works: &mut [Absorb<'_>; $n], count: usize
                ) = leg;
                fn encrypt(
                    self, cores: &mut [&mut Core; $n], works: &mut [Encrypt<'_>; $n], count: usize
                ) = leg;
                fn decrypt(
                    self, cores: &mut [&mut Core; $n], works: &mut [Decrypt<'_>; $n], count: usize
                ) = leg;
            }
        }
    )*};
}

#[cfg(all(
    target_arch = "x86_64",
    not(any(sealwire_portable, feature = "portable"))
))]
side_by_side! {
    Vaes256: 2 states;
    Vaes512: 4 states;
}

/// The work on the blocks of a state.
trait Work: Default {
    /// Blocks that are left.
    fn left(&self) -> usize;

    /// Does what is left with one state.
    fn alone(self, core: &mut Core);

    /// A permutation and the next block of each state.
    fn step<P: Permutation<N>, const N: usize>(
        works: &mut [Self; N],
        idle: &mut [Block; N],
        p: P,
        lanes: [P::Lane; LANES],
        masks: &Masks<P::Lane>,
    ) -> [P::Lane; LANES];

    /// The method of [`SideBySide`] for this work.
    fn leg<const N: usize>(
        s: impl SideBySide<N>,
        cores: &mut [&mut Core; N],
        works: &mut [Self; N],
        count: usize,
    );
}

/// Blocks to be absorbed.
#[derive(Default)]
struct Absorb<'a>(&'a [Block]);
/// Blocks to be encrypted.
#[derive(Default)]
struct Encrypt<'a>(&'a mut [Block]);
/// Blocks to be decrypted.
#[derive(Default)]
struct Decrypt<'a>(&'a mut [Block]);

impl Work for Absorb<'_> {
    #[inline]
    fn left(&self) -> usize {
        self.0.len()
    }

    fn alone(self, core: &mut Core) {
        core.absorb(self.0);
    }

    #[inline(always)]
    fn step<P: Permutation<N>, const N: usize>(
        works: &mut [Self; N],
        idle: &mut [Block; N],
        p: P,
        lanes: [P::Lane; LANES],
        masks: &Masks<P::Lane>,
    ) -> [P::Lane; LANES] {
        let mut idle = idle.iter();
        let next = works.each_mut().map(|work| {
            let spare = idle.next().expect(ONE_FOR_EACH);
            work.0.split_off_first().unwrap_or(spare)
        });
        blocks::absorb(p, lanes, masks, next)
    }

    fn leg<const N: usize>(
        s: impl SideBySide<N>,
        cores: &mut [&mut Core; N],
        works: &mut [Self; N],
        count: usize,
    ) {
        s.absorb(cores, works, count);
    }
}

/// [`Work`] that changes the blocks.
macro_rules! work_in_place {
    ($($work:ident = $name:ident;)*) => {$(
        impl Work for $work<'_> {
            #[inline]
            fn left(&self) -> usize {
                self.0.len()
            }

            fn alone(self, core: &mut Core) {
                core.$name(self.0.as_flattened_mut(), None);
            }

            #[inline(always)]
            fn step<P: Permutation<N>, const N: usize>(
                works: &mut [Self; N],
                idle: &mut [Block; N],
                p: P,
                lanes: [P::Lane; LANES],
                masks: &Masks<P::Lane>,
            ) -> [P::Lane; LANES] {
                let mut idle = idle.iter_mut();
                let next = works.each_mut().map(|work| {
                    let spare = idle.next().expect(ONE_FOR_EACH);
                    work.0.split_off_first_mut().unwrap_or(spare)
                });
                blocks::$name(p, lanes, masks, next)
            }

            fn leg<const N: usize>(
                s: impl SideBySide<N>,
                cores: &mut [&mut Core; N],
                works: &mut [Self; N],
                count: usize,
            ) {
                s.$name(cores, works, count);
            }
        }
    )*};
}

work_in_place! {
    Encrypt = encrypt;
    Decrypt = decrypt;
}

/// Says that arrays of `N` have as many as others.
const ONE_FOR_EACH: &str = "one for each state";

/// The body of [`SideBySide`]'s methods.
#[inline(always)]
fn leg<P: Permutation<N>, W: Work, const N: usize>(
    p: P,
    cores: &mut [&mut Core; N],
    works: &mut [W; N],
    count: usize,
) {
    let mut idle = [[0; RATE]; N];
    let mut lanes = begin(p, cores);
    for steps in [count, 1] {
        let masks = Masks::new(p, works.each_ref().map(|work| work.left() > 0));
        for _ in 0..steps {
            lanes = W::step(works, &mut idle, p, lanes, &masks);
        }
        // A state without a block in the last step has zeros.
        wipe(idle.as_flattened_mut());
    }
    end(p, &lanes, cores);
}

/// Does the jobs with `N` states at a time, and the last of them alone if it would go on so.
fn together<'a, W: Work, const N: usize>(
    s: impl SideBySide<N>,
    jobs: &mut dyn Iterator<Item = Job<'a, W>>,
) {
    let mut places: [Option<&'a mut Core>; N] = [const { None }; N];
    let mut works: [W; N] = core::array::from_fn(|_| W::default());
    let mut unused = [const { Core::new() }; N];
    loop {
        for (place, work) in places.iter_mut().zip(&mut works) {
            if place.is_none()
                && let Some((core, new)) = jobs.next()
            {
                *place = Some(core);
                *work = new;
            }
        }
        let taken = places
            .iter()
            .zip(&works)
            .filter(|(place, _)| place.is_some());
        let Some(count) = taken.clone().map(|(_, work)| work.left()).min() else {
            return;
        };
        if taken.count() == 1 {
            for (place, work) in places.iter_mut().zip(&mut works) {
                if let Some(core) = place.take() {
                    mem::take(work).alone(core);
                }
            }
            continue;
        }
        let ends = works.each_ref().map(|work| work.left() == count);
        let mut unused = unused.iter_mut();
        let mut cores = places.each_mut().map(|place| {
            let spare = unused.next().expect(ONE_FOR_EACH);
            place.as_deref_mut().unwrap_or(spare)
        });
        W::leg(s, &mut cores, &mut works, count);
        for (place, ends) in places.iter_mut().zip(ends) {
            if ends {
                *place = None;
            }
        }
    }
}

/// Does the jobs; their states are due for a permutation, and end with one.
fn run<W: Work>(jobs: &mut dyn Iterator<Item = Job<'_, W>>) {
    #[cfg(all(
        target_arch = "x86_64",
        not(any(sealwire_portable, feature = "portable"))
    ))]
    if let Some(isa) = sealwire_simd::Vaes512::detect() {
        return together(isa, jobs);
    } else if let Some(isa) = sealwire_simd::Vaes256::detect() {
        return together(isa, jobs);
    }
    for (core, work) in jobs {
        work.alone(core);
    }
}

/// Whether several states at a time are faster than one.
#[cfg(all(
    target_arch = "x86_64",
    not(any(sealwire_portable, feature = "portable"))
))]
pub(super) fn is_wide() -> bool {
    sealwire_simd::Vaes256::detect().is_some()
}

/// Whether several states at a time are faster than one.
#[cfg(not(all(
    target_arch = "x86_64",
    not(any(sealwire_portable, feature = "portable"))
)))]
pub(super) const fn is_wide() -> bool {
    false
}

/// Absorbs blocks into each state, each after a permutation, and permutes.
pub(super) fn absorb<'a>(jobs: &mut dyn Iterator<Item = (&'a mut Core, &'a [Block])>) {
    run(&mut jobs.map(|(core, blocks)| (core, Absorb(blocks))));
}

/// Encrypts blocks with each state, each after a permutation, and permutes.
pub(super) fn encrypt<'a>(jobs: &mut dyn Iterator<Item = (&'a mut Core, &'a mut [Block])>) {
    run(&mut jobs.map(|(core, blocks)| (core, Encrypt(blocks))));
}

/// Decrypts blocks with each state, each after a permutation, and permutes.
pub(super) fn decrypt<'a>(jobs: &mut dyn Iterator<Item = (&'a mut Core, &'a mut [Block])>) {
    run(&mut jobs.map(|(core, blocks)| (core, Decrypt(blocks))));
}
