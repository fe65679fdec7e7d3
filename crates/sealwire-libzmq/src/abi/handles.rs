//! Contexts and sockets as pointers. A pointer names a slot that is never freed and used again late, so that
//! one which was closed is told from one that is open.
//!
//! A child of a fork takes no lock of the slots that it inherits, and uses none of them again: a thread that it does not
//! have may have been holding the lock.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::ptr;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use libc::c_void;
use sealwire_fork::{Birth, PerProcess};

/// What a pointer to a slot points to first.
const OPEN: u32 = 0x5EA1_0001;
const FREE: u32 = 0x5EA1_0000;

/// Slots that rest before one of them is used again.
const RESTING: usize = 1024;

#[repr(C)]
struct Slot<T> {
    tag: AtomicU32,
    kind: u32,
    birth: Birth,
    value: RwLock<Option<Arc<T>>>,
}

/// The slots that rest, those that were closed first at the front.
type Free<T> = Mutex<VecDeque<&'static Slot<T>>>;

/// All handles of one kind.
pub(super) struct Handles<T: 'static> {
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
                value: RwLock::new(None),
            }))
        });
        *slot.value.write().unwrap_or_else(PoisonError::into_inner) = Some(value);
        slot.tag.store(OPEN, Ordering::Release);
        ptr::from_ref(slot).cast_mut().cast()
    }

    /// `None` for null, for what was closed or opened before a fork, and for other pointers as far as that can be seen.
    pub(super) fn get(&self, handle: *mut c_void) -> Option<Arc<T>> {
        let slot = self.slot(handle).filter(|slot| slot.birth.is_here())?;
        let value = slot.value.read().unwrap_or_else(PoisonError::into_inner);
        value.clone()
    }

    /// Ends a handle. `None` for null, for what was closed, and for other pointers as far as that can be seen.
    pub(super) fn close(&'static self, handle: *mut c_void) -> Option<Closed<T>> {
        let slot = self.slot(handle)?;
        if !slot.birth.is_here() {
            let was = slot.tag.swap(FREE, Ordering::AcqRel);
            return (was == OPEN).then_some(Closed::Inherited);
        }
        let value = (slot.value.write().unwrap_or_else(PoisonError::into_inner)).take()?;
        slot.tag.store(FREE, Ordering::Release);
        self.free().push_back(slot);
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
    use super::*;

    #[test]
    fn a_closed_handle_is_told_from_an_open_one() {
        static NUMBERS: Handles<u32> = Handles::of_kind(1);
        static TEXTS: Handles<&str> = Handles::of_kind(2);
        let seven = NUMBERS.open(Arc::new(7));
        let text = TEXTS.open(Arc::new("text"));
        assert_eq!(NUMBERS.get(seven).as_deref(), Some(&7));
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
        assert_eq!(NUMBERS.get(eight).as_deref(), Some(&8));
    }
}
