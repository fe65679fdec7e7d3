//! Whom to wake: collected while the protocol acts under its lock, and woken when that is released.

use std::task::Waker;

#[derive(Default)]
pub(super) struct Wakeups {
    tasks: Vec<Waker>,
    room: bool,
}

impl Wakeups {
    /// What these tasks wait for is there, or never will be.
    pub(super) fn extend(&mut self, tasks: impl IntoIterator<Item = Waker>) {
        self.tasks.extend(tasks);
    }

    /// Those who wait for room may try again.
    pub(super) fn tell_of_room(&mut self) {
        self.room = true;
    }

    pub(super) fn has_tasks(&self) -> bool {
        !self.tasks.is_empty()
    }

    /// Moves the tasks into a list that is used again.
    pub(super) fn take_tasks(&mut self, into: &mut Vec<Waker>) {
        into.append(&mut self.tasks);
    }

    pub(super) fn take_room(&mut self) -> bool {
        std::mem::take(&mut self.room)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_is_told_once() {
        let mut wakeups = Wakeups::default();
        assert!(!wakeups.has_tasks() && !wakeups.take_room());
        wakeups.extend(Some(Waker::noop().clone()));
        wakeups.extend(None);
        wakeups.tell_of_room();
        assert!(wakeups.has_tasks());
        let mut tasks = vec![Waker::noop().clone()];
        wakeups.take_tasks(&mut tasks);
        assert_eq!((tasks.len(), wakeups.has_tasks()), (2, false));
        assert!(wakeups.take_room() && !wakeups.take_room());
    }
}
