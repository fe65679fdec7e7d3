//! The value of a handle while threads use it, close it and fill its slot again, under every order in which they can take
//! their steps, as loom tells them. `users.rs` is the library's own file.

use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::thread;

#[path = "../../src/abi/users.rs"]
mod users;

use users::Users;

mod sync {
    pub(super) use loom::sync::atomic::{AtomicUsize, Ordering};
}

/// More take long, and find little (Musuvathi and Qadeer, Iterative Context Bounding, 2007).
const PREEMPTIONS: usize = 3;

/// As `handles.rs` has it. loom watches who reads and writes the value.
struct Slot {
    users: Users,
    value: UnsafeCell<Option<u32>>,
    /// Where slots rest: `true` while this one is there.
    free: loom::sync::Mutex<bool>,
}

impl Slot {
    fn new() -> Self {
        Slot {
            users: Users::of_none(),
            value: UnsafeCell::new(None),
            free: loom::sync::Mutex::new(true),
        }
    }

    /// Fills it where it rests.
    fn open(&self, value: u32) -> bool {
        if !std::mem::replace(&mut *self.free.lock().unwrap(), false) {
            return false;
        }
        self.value.with_mut(|it| {
            // SAFETY: loom fails where somebody else reads or writes it.
            let before = unsafe { (*it).replace(value) };
            assert_eq!(before, None);
        });
        self.users.open();
        true
    }

    /// Uses what is there, does this meanwhile, and returns what was there.
    fn with<T>(&self, then: impl FnOnce() -> T) -> Option<(u32, T)> {
        let used = self.users.enter().then(|| {
            // SAFETY: as above.
            let read = || self.value.with(|it| unsafe { *it });
            let value = read().expect("a value");
            let done = then();
            assert_eq!(read(), Some(value));
            (value, done)
        });
        if self.users.leave() && self.users.empty() {
            self.value.with_mut(|it| {
                // SAFETY: as above.
                let taken = unsafe { (*it).take() };
                assert!(taken.is_some());
            });
            *self.free.lock().unwrap() = true;
        }
        used
    }

    fn close(&self) -> bool {
        let closed = self.with(|| self.users.close());
        closed.is_some_and(|(_, was_open)| was_open)
    }
}

fn check(model: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(PREEMPTIONS);
    builder.check(model);
}

#[test]
fn one_of_two_closes_and_the_last_user_takes_the_value() {
    check(|| {
        let slot = Arc::new(Slot::new());
        assert!(slot.open(1));
        let closing = [(); 2].map(|()| {
            let slot = slot.clone();
            thread::spawn(move || slot.close())
        });
        let used = slot.with(|| ());
        assert!(used.is_none_or(|(value, ())| value == 1));
        let closed = closing.map(|it| it.join().unwrap());
        assert_eq!(closed.iter().filter(|it| **it).count(), 1);
        assert!(*slot.free.lock().unwrap() && slot.with(|| ()).is_none());
    });
}

#[test]
fn a_slot_is_filled_again_beside_one_who_comes_late() {
    check(|| {
        let slot = Arc::new(Slot::new());
        assert!(slot.open(1));
        let late = thread::spawn({
            let slot = slot.clone();
            move || slot.with(|| ()).map(|(value, ())| value)
        });
        let other = thread::spawn({
            let slot = slot.clone();
            move || slot.open(2) && slot.close()
        });
        assert!(slot.close());
        let filled = slot.open(3);
        let found = late.join().unwrap();
        assert!(found.is_none_or(|it| (1..=3).contains(&it)));
        let other_filled = other.join().unwrap();
        if filled {
            assert!(slot.close());
        }
        assert!(*slot.free.lock().unwrap(), "{filled} {other_filled}");
    });
}
