//! What a program finds that loads the library with draft functions.

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::path::PathBuf;

/// The names that `zmq.h` declares, those of drafts behind the others.
fn declared() -> (Vec<&'static str>, Vec<&'static str>) {
    let header = include_str!("../../include/zmq.h");
    let (stable, drafts) = header.split_once("#ifdef ZMQ_BUILD_DRAFT_API").unwrap();
    (names(stable), names(drafts))
}

/// Functions whose declarations begin a line, as all of the header's do.
fn names(header: &str) -> Vec<&str> {
    let declarations = header.lines().filter(|line| {
        line.starts_with(|first: char| first.is_ascii_alphabetic()) && !line.starts_with("typedef")
    });
    declarations
        .filter_map(|line| {
            let (before, _) = line.split_once('(')?;
            let name = before.rsplit([' ', '*']).next()?;
            name.starts_with("zmq_").then_some(name)
        })
        .collect()
}

struct Library(*mut c_void);

impl Library {
    fn load() -> Self {
        let own = std::env::current_exe().unwrap();
        let path: PathBuf = own.with_file_name("libsealwire_libzmq_drafts.so");
        let path = CString::new(path.to_str().unwrap()).unwrap();
        // SAFETY: `path` is a string that ends in zero. What the library does as it is loaded needs nothing of the
        // caller.
        let library = unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
        assert!(!library.is_null(), "{}", last_error());
        Self(library)
    }

    fn find(&self, name: &str) -> *mut c_void {
        let name = CString::new(name).unwrap();
        // SAFETY: the library is open, and is never closed.
        unsafe { libc::dlsym(self.0, name.as_ptr()) }
    }
}

fn last_error() -> String {
    // SAFETY: called by one thread, after a call that failed.
    let text = unsafe { CStr::from_ptr(libc::dlerror()) };
    text.to_string_lossy().into_owned()
}

#[cfg(target_os = "linux")]
#[test]
fn a_program_finds_every_function_and_the_drafts() {
    let (stable, drafts) = declared();
    assert_eq!((stable.len(), drafts.len()), (70, 26));
    let library = Library::load();
    for name in stable.iter().chain(&drafts) {
        assert!(!library.find(name).is_null(), "{name}");
    }
    // SAFETY: `zmq_has` has this type in zmq.h.
    let has: extern "C" fn(*const c_char) -> c_int =
        unsafe { std::mem::transmute(library.find("zmq_has")) };
    assert_eq!(has(c"draft".as_ptr()), 1);
}
