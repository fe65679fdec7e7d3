//! Whether the calls of this process reach this library, or another libzmq beside it: one that a program or a module of it
//! has in itself, or that it was bound to early. Such calls would pass by all rules, silently.
//!
//! Where `SEALWIRE_VERIFY` is set, as `sealwire run` does, this is checked when the library is loaded, when a context is
//! made after something was loaded, and when the process ends. A process that fails it is stopped.
//!
//! An object that carries another libzmq does no harm as long as nobody calls it: pyzmq's wheel brings one along, and
//! its calls are bound to this library all the same, if it was there first. So what counts is where the slots lead through
//! which objects call (`objects.rs`), and not which files are mapped.

mod objects;

use std::sync::atomic::{AtomicU64, Ordering};

use self::objects::{Object, Objects, Slot};
use super::rights;

/// The variable that asks for it.
const VERIFY: &str = "SEALWIRE_VERIFY";

/// The exit code of a process that is stopped: it was found and cannot be run.
const STOPPED: i32 = 126;

/// Runs once the objects that the program begins with are bound, before any of their code does. Miri has neither objects
/// nor what tells of them.
#[cfg(all(target_os = "linux", target_pointer_width = "64", not(miri)))]
#[used]
#[unsafe(link_section = ".init_array")]
static AT_LOAD: extern "C" fn() = {
    extern "C" fn begin() {
        if is_wanted() {
            check();
            // SAFETY: the library stays in the process until its end.
            unsafe { libc::atexit(check) };
        }
    }
    begin
};

fn is_wanted() -> bool {
    !rights::are_of_others() && std::env::var_os(VERIFY).is_some()
}

/// Checks all objects, if one was loaded since the last time.
pub(super) fn check_again() {
    /// How many objects had been loaded when all were found to be good.
    static LOADED: AtomicU64 = AtomicU64::new(0);
    if !is_wanted() {
        return;
    }
    let loaded = Objects::loaded_so_far();
    if loaded == 0 || LOADED.load(Ordering::Relaxed) != loaded {
        check();
        LOADED.store(loaded, Ordering::Relaxed);
    }
}

/// Stops the process where calls reach another libzmq.
extern "C" fn check() {
    let found = std::panic::catch_unwind(|| Objects::with_all(fault));
    let why = match found {
        Ok(None) => return,
        Ok(Some(why)) => why,
        Err(_) => "what is loaded could not be read".into(),
    };
    sealwire::embed::tell(&format!(
        "stopped: {why}; its messages would pass by all rules for encryption"
    ));
    // SAFETY: it has no conditions. Handlers for the end of the process might send.
    unsafe { libc::_exit(STOPPED) }
}

/// The first fault, in the words for standard error.
fn fault(objects: &Objects) -> Option<String> {
    let others: Vec<&Object> = objects.others().collect();
    for object in &others {
        let slots = object.slots();
        let other = |slot: &Slot| others.iter().find(|other| other.is_reached_by(slot));
        for slot in &slots {
            if let Some(other) = other(slot)
                // A copy may call itself, as long as nobody calls it.
                && !(other.name == object.name && object.is_named_libzmq())
            {
                let (caller, name, other) = (&object.name, &slot.name, &other.name);
                return Some(format!("{caller} calls {name} in {other}, another libzmq"));
            }
        }
        if object.has_libzmq_of_its_own(&slots) && !object.is_named_libzmq() {
            return Some(format!("{} has a libzmq in itself", object.name));
        }
    }
    None
}
