//! Contexts and sockets as pointers. A pointer names a slot that is never freed and used again late, so that
//! one which was closed is told from one that is open.
//!
//! A child of a fork uses none of the slots that it inherits: threads that it does not have may be among those that are
//! counted as users.

use std::cell::UnsafeCell;
use std::collections::VecDeque;
use std::convert::Infallible;
use std::ops::Deref;
use std::ptr;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use libc::c_void;
use sealwire_fork::{Birth, PerProcess};

use super::users::Users;

/// What a pointer to a slot points to first.
const OPEN: u32 = 0x5EA1_0001;
const FREE: u32 = 0x5EA1_0000;

/// Slots that rest before one of them is used again.
const RESTING: usize = 1024;

#[repr(C)]
struct Slot<T: Send + Sync + 'static> {
    tag: AtomicU32,
    kind: u32,
    birth: Birth,
    handles: &'static Handles<T>,
    users: Users,
    value: UnsafeCell<Option<Arc<T>>>,
}

// SAFETY: the value is written by who opens a slot that is empty, and by who empties one that is closed and that
// nobody uses; there is one of each, as [`Users`] says. All others read it while they are counted.
unsafe impl<T: Send + Sync> Sync for Slot<T> {}

/// A value in use: it is there for as long, also where the handle is closed meanwhile.
pub(super) struct Using<T: Send + Sync + 'static>(&'static Slot<T>);

impl<T: Send + Sync> Using<T> {
    #[inline]
    fn of(slot: &'static Slot<T>) -> Option<Self> {
        if slot.users.enter() {
            return Some(Using(slot));
        }
        slot.leave();
        None
    }
}

impl<T: Send + Sync> Deref for Using<T> {
    type Target = Arc<T>;

    #[inline]
    fn deref(&self) -> &Arc<T> {
        // SAFETY: it was open as this user was counted, so nobody writes it until that is taken back.
        let value = unsafe { &*self.0.value.get() };
        value.as_ref().expect("an open slot has a value")
    }
}

impl<T: Send + Sync> Drop for Using<T> {
    #[inline]
    fn drop(&mut self) {
        self.0.leave();
    }
}

impl<T: Send + Sync> Slot<T> {
    #[inline]
    fn leave(&'static self) {
        if self.users.leave() {
            self.empty();
        }
    }

    #[cold]
    fn empty(&'static self) {
        if self.users.empty() {
            // SAFETY: closed, used by nobody, and this is the one thread that is told so.
            let value = unsafe { (*self.value.get()).take() };
            if self.birth.is_here() {
                self.handles.free().push_back(self);
            }
            drop(value);
        }
    }
}

/// The slots that rest, those that were closed first at the front.
type Free<T> = Mutex<VecDeque<&'static Slot<T>>>;

/// All handles of one kind.
pub(super) struct Handles<T: Send + Sync + 'static> {
    kind: u32,
    free: PerProcess<Free<T>>,
}

/// What closing a handle gave.
pub(super) enum Closed<T> {
    Here(Arc<T>),
    /// It was opened before a fork: the value is the parent's.
    Inherited,
}

impl<T: Send + Sync> Handles<T> {
    pub(super) const fn of_kind(kind: u32) -> Self {
        Handles {
            kind,
            free: PerProcess::new(),
        }
    }

    fn free(&'static self) -> MutexGuard<'static, VecDeque<&'static Slot<T>>> {
        let made = self
            .free
            .get_or_try_make(|_| true, || Ok::<_, Infallible>(Mutex::default()));
        let Ok(free) = made;
        free.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives a handle to the value.
    pub(super) fn open(&'static self, value: Arc<T>) -> *mut c_void {
        let rested = {
            let mut free = self.free();
            (free.len() > RESTING).then(|| free.pop_front()).flatten()
        };
        let slot = rested.unwrap_or_else(|| {
            Box::leak(Box::new(Slot {
                tag: AtomicU32::new(FREE),
                kind: self.kind,
                birth: Birth::now(),
                handles: self,
                users: Users::of_none(),
                value: UnsafeCell::new(None),
            }))
        });
        // SAFETY: it is empty, and was new or among the free, from where nobody else takes it.
        unsafe { *slot.value.get() = Some(value) };
        slot.users.open();
        slot.tag.store(OPEN, Ordering::Release);
        ptr::from_ref(slot).cast_mut().cast()
    }

    /// `None` for null, for what was closed or opened before a fork, and for other pointers as far as that can be seen.
    #[inline]
    pub(super) fn get(&self, handle: *mut c_void) -> Option<Using<T>> {
        Using::of(self.slot(handle).filter(|slot| slot.birth.is_here())?)
    }

    /// Ends a handle. `None` for null, for what was closed, and for other pointers as far as that can be seen.
    pub(super) fn close(&self, handle: *mut c_void) -> Option<Closed<T>> {
        let slot = self.slot(handle)?;
        if !slot.birth.is_here() {
            let was = slot.tag.swap(FREE, Ordering::AcqRel);
            return (was == OPEN).then_some(Closed::Inherited);
        }
        let using = Using::of(slot)?;
        let value = Arc::clone(&using);
        if !slot.users.close() {
            return None;
        }
        slot.tag.store(FREE, Ordering::Release);
        Some(Closed::Here(value))
    }

    fn slot(&self, handle: *mut c_void) -> Option<&'static Slot<T>> {
        let slot = handle.cast::<Slot<T>>();
        if slot.is_null() || !slot.is_aligned() {
            return None;
        }
        // SAFETY: a handle that this library gave out, as the program says, points to a slot, which is never
        // freed. Of another kind of handle the first two fields are read, which all have.
        let (tag, kind) = unsafe { ((*slot).tag.load(Ordering::Acquire), (*slot).kind) };
        // SAFETY: a slot of this kind by its second field.
        (tag == OPEN && kind == self.kind).then(|| unsafe { &*slot })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicPtr, AtomicUsize};
    use std::thread;

    use super::*;

    #[test]
    fn a_closed_handle_is_told_from_an_open_one() {
        static NUMBERS: Handles<u32> = Handles::of_kind(1);
        static TEXTS: Handles<&str> = Handles::of_kind(2);
        let seven = NUMBERS.open(Arc::new(7));
        let text = TEXTS.open(Arc::new("text"));
        assert_eq!(NUMBERS.get(seven).map(|it| **it), Some(7));
        assert!(NUMBERS.get(text).is_none() && TEXTS.get(seven).is_none());
        assert!(NUMBERS.get(ptr::null_mut()).is_none());
        assert!(matches!(NUMBERS.close(seven), Some(Closed::Here(it)) if *it == 7));
        assert!(NUMBERS.close(seven).is_none() && NUMBERS.get(seven).is_none());
        // The next is another.
        let eight = NUMBERS.open(Arc::new(8));
        assert!(eight != seven && NUMBERS.get(seven).is_none());
        for _ in 0..2 * RESTING {
            NUMBERS.close(NUMBERS.open(Arc::new(9)));
        }
        assert!(NUMBERS.free().len() <= RESTING + 2);
        assert_eq!(NUMBERS.get(eight).map(|it| **it), Some(8));
    }

    #[test]
    fn a_value_that_is_used_outlives_its_handle_and_keeps_its_slot() {
        static NUMBERS: Handles<u32> = Handles::of_kind(1);
        let seven = NUMBERS.open(Arc::new(7));
        let using = NUMBERS.get(seven).unwrap();
        let value = Arc::downgrade(&using);
        assert!(NUMBERS.close(seven).is_some() && NUMBERS.get(seven).is_none());
        for _ in 0..2 * RESTING {
            let other = NUMBERS.open(Arc::new(9));
            assert!(other != seven);
            NUMBERS.close(other);
        }
        assert_eq!(**using, 7);
        drop(using);
        assert!(value.upgrade().is_none());
    }

    /// A number that is another once it is gone, and is counted then.
    struct Mortal {
        alive: AtomicU32,
    }

    static GONE: AtomicUsize = AtomicUsize::new(0);

    impl Drop for Mortal {
        fn drop(&mut self) {
            self.alive.store(0, Ordering::Relaxed);
            GONE.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Enough for a slot to be used again many times; Miri is some thousand times as slow.
    const ROUNDS: usize = if cfg!(miri) { 20 } else { 20_000 };

    #[test]
    fn threads_that_open_use_and_close_the_same_handles_find_what_is_there() {
        static MORTALS: Handles<Mortal> = Handles::of_kind(1);
        let places = [(); 4].map(|()| AtomicPtr::<c_void>::default());
        let closed = AtomicUsize::new(0);
        thread::scope(|scope| {
            for seed in 0..4 {
                let (places, closed) = (&places, &closed);
                scope.spawn(move || {
                    for round in 0..ROUNDS {
                        let place = &places[(round * 7 + seed) % places.len()];
                        let handle = place.load(Ordering::Acquire);
                        if let Some(using) = MORTALS.get(handle) {
                            assert_eq!(using.alive.load(Ordering::Relaxed), 1);
                        }
                        if round % 3 == seed % 3 {
                            let alive = AtomicU32::new(1);
                            let new = MORTALS.open(Arc::new(Mortal { alive }));
                            let old = place.swap(new, Ordering::AcqRel);
                            let twice = [MORTALS.close(old), MORTALS.close(old)];
                            let of_them = twice.iter().flatten().count();
                            assert!(of_them <= 1);
                            closed.fetch_add(of_them, Ordering::Relaxed);
                        }
                    }
                });
            }
        });
        let left = places.into_iter().map(AtomicPtr::into_inner);
        let left = left.filter(|it| MORTALS.close(*it).is_some()).count();
        let opened = (0..4).map(|seed| (0..ROUNDS).filter(|round| round % 3 == seed % 3).count());
        let opened: usize = opened.sum();
        assert_eq!(closed.into_inner() + left, opened);
        assert_eq!(GONE.load(Ordering::Relaxed), opened);
    }
}
