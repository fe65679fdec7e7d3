//! The cookie keys of a server, which the clock replaces whether or not anyone connects.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use sealwire_zmtp::mechanism::CookieKeys;
use zeroize::Zeroizing;

/// How long a cookie key is the current one. A cookie is good for this long at least, and twice
/// as long at most.
pub(crate) const ROTATION_PERIOD: Duration = Duration::from_secs(15);

/// The cookie keys of one server.
pub(crate) type ServerCookies = Mutex<CookieKeys>;

/// Cookie keys, with the first key from `fill_random`.
pub(super) fn new_cookies(fill_random: impl FnOnce(&mut [u8])) -> ServerCookies {
    Mutex::new(CookieKeys::new(*fresh_key(fill_random)))
}

/// Replaces them, with a key from `fill_random`.
pub(crate) fn rotate_cookies(cookies: &ServerCookies, fill_random: impl FnOnce(&mut [u8])) {
    let mut keys = cookies.lock().unwrap_or_else(PoisonError::into_inner);
    keys.rotate(*fresh_key(fill_random));
}

fn fresh_key(fill_random: impl FnOnce(&mut [u8])) -> Zeroizing<[u8; 32]> {
    let mut key = Zeroizing::new([0; 32]);
    fill_random(&mut key[..]);
    key
}
