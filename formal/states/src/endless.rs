//! Whether a model can go on without end.
//!
//! Properties that ask what is left when nothing can happen any more say something of every run only where every
//! run ends. Stateright's own `eventually` does not see runs that go round, so they are looked for here.

use std::collections::HashSet;
use std::hash::{BuildHasher as _, BuildHasherDefault, DefaultHasher, Hash};

use stateright::Model;

/// Whether some run comes back to a state that it has been in.
pub(crate) fn goes_round<M: Model>(model: &M) -> bool
where
    M::State: Hash,
{
    let hasher = BuildHasherDefault::<DefaultHasher>::default();
    let (mut seen, mut path) = (HashSet::new(), HashSet::new());
    // The states on the way, by their hashes, with those that follow them and were not tried yet.
    let mut way: Vec<(u64, Vec<M::State>)> = vec![(0, model.init_states())];
    while let Some((here, following)) = way.last_mut() {
        let Some(next) = following.pop() else {
            path.remove(here);
            way.pop();
            continue;
        };
        let hash = hasher.hash_one(&next);
        if path.contains(&hash) {
            return true;
        }
        if seen.insert(hash) {
            path.insert(hash);
            way.push((hash, model.next_states(&next)));
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counts up to ten, on two ways, and from there back to this number.
    struct Counting {
        back_to: Option<u8>,
    }

    impl Model for Counting {
        type State = u8;
        type Action = u8;

        fn init_states(&self) -> Vec<u8> {
            vec![0]
        }

        fn actions(&self, state: &u8, actions: &mut Vec<u8>) {
            match state {
                0..10 => actions.extend([state + 1, (state + 2).min(10)]),
                _ => actions.extend(self.back_to),
            }
        }

        fn next_state(&self, _: &u8, action: u8) -> Option<u8> {
            Some(action)
        }
    }

    #[test]
    fn a_run_that_comes_back_is_found_and_ways_that_meet_are_none() {
        assert!(!goes_round(&Counting { back_to: None }));
        for back_to in 0..=10 {
            let back_to = Some(back_to);
            assert!(goes_round(&Counting { back_to }), "{back_to:?}");
        }
    }
}
