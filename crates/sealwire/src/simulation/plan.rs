//! The plan of a run, and the search for the smallest plan that fails.

use std::iter;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};

use super::Random;

/// Runs of a plan that failed, each tried with fewer of everything.
const MOST_ATTEMPTS: usize = 300;

/// One run. It goes the same way each time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Plan {
    pub seed: u64,
    /// That each socket sends.
    pub messages: u64,
    pub trouble: Trouble,
}

/// Declares [`Trouble`] with what there is of it, each a number that a seed chooses and that can be smaller.
macro_rules! trouble {
    ($($(#[doc = $doc:literal])* $kind:ident,)*) => {
        /// How often the world is disturbed at most, before [`Scene::calm`](super::Scene::calm).
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
        pub struct Trouble {
            $($(#[doc = $doc])* pub $kind: u64,)*
        }

        impl Trouble {
            pub const NONE: Trouble = Trouble { $($kind: 0,)* };

            /// Of everything none to a few.
            fn any(random: &mut Random) -> Self {
                Trouble { $($kind: (random.draw() % 10).saturating_sub(5),)* }
            }

            fn numbers(&mut self) -> impl Iterator<Item = &mut u64> {
                [$(&mut self.$kind,)*].into_iter()
            }
        }
    };
}

trouble! {
    /// Connections that are cut: both ends notice.
    cuts,
    /// Times of up to two seconds in which nothing comes through.
    partitions,
    /// Connections over which nothing comes through any more, and neither end is told.
    half_open,
    /// Times of up to ten seconds in which a host has no descriptors left.
    exhaustions,
    /// Times of up to an hour that pass at once, as on a machine that was suspended.
    jumps,
    /// Strangers that connect and send noise.
    strangers,
    /// Times of up to a minute in which the application receives nothing.
    stalls,
    /// Times that the server's socket closes and another is bound in its place.
    restarts,
    /// Times that this other one has keys that nobody knows, until it is exchanged again.
    rotations,
    /// Times that a host of a client ends, and with it everything on it.
    deaths,
    /// Times in which a host of a client does nothing, and its connections stay.
    freezes,
}

impl Trouble {
    /// What loses nothing.
    pub const DELAYS: Trouble = Trouble {
        partitions: 3,
        strangers: 2,
        ..Trouble::NONE
    };
    pub const CUTS: Trouble = Trouble {
        cuts: 5,
        ..Trouble::DELAYS
    };
}

impl Plan {
    /// Makes a plan with everything that a seed decides about.
    pub fn any(seed: u64) -> Self {
        let mut random = Random::new(seed);
        Plan {
            seed,
            messages: 1 + random.draw() % 60,
            trouble: Trouble::any(&mut random),
        }
    }

    /// The numbers that can be smaller.
    fn numbers(&mut self) -> impl Iterator<Item = &mut u64> {
        iter::once(&mut self.messages).chain(self.trouble.numbers())
    }

    /// Plans with less of one thing, the smallest first.
    fn smaller(mut self) -> Vec<Plan> {
        let numbers: Vec<_> = self.numbers().map(|number| *number).collect();
        let mut plans = Vec::new();
        for (index, number) in numbers.into_iter().enumerate() {
            for less in [0, number / 2, number.saturating_sub(1)] {
                let mut plan = self;
                *plan.numbers().nth(index).expect("as many") = less;
                if less < number && !plans.contains(&plan) {
                    plans.push(plan);
                }
            }
        }
        plans
    }
}

/// Returns `count` seeds, or those that the environment variable `SEALWIRE_SEEDS` asks for: as many as it
/// says, or a range (`2000..4000`), so that several processes can share them.
pub fn seeds(count: u64) -> Range<u64> {
    let Ok(wanted) = std::env::var("SEALWIRE_SEEDS") else {
        return 0..count;
    };
    range(&wanted).expect("SEALWIRE_SEEDS is a number or a range such as 2000..4000")
}

fn range(wanted: &str) -> Option<Range<u64>> {
    let (first, end) = wanted.split_once("..").unwrap_or(("0", wanted));
    Some(first.parse().ok()?..end.parse().ok()?)
}

/// Runs what failed once, and then a plan for each seed. The first that fails is made smaller as long as it
/// fails.
pub fn check(found: &[Plan], seeds: Range<u64>, run: impl Fn(Plan)) {
    for plan in found.iter().copied().chain(seeds.map(Plan::any)) {
        if let Err(reason) = attempt(&run, plan) {
            let (smallest, reason) = smallest(&run, plan, reason);
            panic!("{reason}\n{plan:?} fails, and so does what is left of it: {smallest:?}");
        }
    }
}

/// Runs a plan. Where it fails, says why.
fn attempt(run: &impl Fn(Plan), plan: Plan) -> Result<(), String> {
    catch_unwind(AssertUnwindSafe(|| run(plan))).map_err(|panic| {
        let text = panic.downcast_ref::<String>().cloned();
        text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()))
            .unwrap_or_default()
    })
}

fn smallest(run: &impl Fn(Plan), mut plan: Plan, mut reason: String) -> (Plan, String) {
    let mut attempts = 0;
    'smaller: loop {
        for smaller in plan.smaller() {
            attempts += 1;
            if attempts > MOST_ATTEMPTS {
                return (plan, reason);
            }
            if let Err(why) = attempt(run, smaller) {
                (plan, reason) = (smaller, why);
                continue 'smaller;
            }
        }
        return (plan, reason);
    }
}

#[test]
fn what_fails_is_made_smaller_and_named() {
    let fails = |plan: Plan| {
        let Trouble { cuts, restarts, .. } = plan.trouble;
        assert!(plan.messages < 7 || cuts < 2 || restarts == 0, "planted");
    };
    let panic = catch_unwind(|| check(&[], 0..10_000, fails)).unwrap_err();
    let text = panic.downcast_ref::<String>().unwrap();
    let expected = Plan {
        messages: 7,
        trouble: Trouble {
            cuts: 2,
            restarts: 1,
            ..Trouble::NONE
        },
        ..Plan::any(
            text.split("seed: ")
                .nth(1)
                .and_then(|text| text.split(',').next())
                .unwrap()
                .parse()
                .unwrap(),
        )
    };
    assert!(
        text.starts_with("planted\n") && text.ends_with(&format!("{expected:?}")),
        "{text}"
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_are_a_number_or_a_range() {
        assert_eq!(range("10000"), Some(0..10_000));
        assert_eq!(range("2000..4000"), Some(2_000..4_000));
        for wrong in ["", "many", "..", "1..", "2000-4000"] {
            assert_eq!(range(wrong), None, "{wrong}");
        }
    }
}
