//! Whether the process has rights that the user who started it has not.

/// Whether the system says that it has: by the file's user or group, or by capabilities.
pub(super) fn are_of_others() -> bool {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    // SAFETY: it has no conditions.
    return unsafe { libc::getauxval(libc::AT_SECURE) } != 0;
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    // SAFETY: none of them has conditions.
    return unsafe { libc::getuid() != libc::geteuid() || libc::getgid() != libc::getegid() };
}
