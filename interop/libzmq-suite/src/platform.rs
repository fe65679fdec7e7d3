//! The `platform.hpp` that libzmq's build would have made on Linux: what the system has, said to libzmq and its test
//! programs alike.

/// What glibc and the kernel have, and what a package of libzmq would be built with.
const FEATURES: &[&str] = &[
    "ZMQ_HAVE_LINUX",
    "ZMQ_USE_CV_IMPL_STL11",
    "ZMQ_IOTHREAD_POLLER_USE_EPOLL",
    "ZMQ_IOTHREAD_POLLER_USE_EPOLL_CLOEXEC",
    "ZMQ_POLL_BASED_ON_POLL",
    "ZMQ_HAVE_PPOLL",
    "HAVE_POSIX_MEMALIGN 1",
    "ZMQ_CACHELINE_SIZE 64",
    "HAVE_FORK",
    "HAVE_CLOCK_GETTIME",
    "HAVE_MKDTEMP",
    "HAVE_ACCEPT4",
    "HAVE_STRNLEN",
    "HAVE_IF_NAMETOINDEX",
    "ZMQ_HAVE_UIO",
    "ZMQ_HAVE_NOEXCEPT",
    "ZMQ_HAVE_EVENTFD",
    "ZMQ_HAVE_EVENTFD_CLOEXEC",
    "ZMQ_HAVE_IFADDRS",
    "ZMQ_HAVE_SO_BINDTODEVICE",
    "ZMQ_HAVE_SO_PEERCRED",
    "ZMQ_HAVE_BUSY_POLL",
    "ZMQ_HAVE_O_CLOEXEC",
    "ZMQ_HAVE_SOCK_CLOEXEC",
    "ZMQ_HAVE_SO_KEEPALIVE",
    "ZMQ_HAVE_SO_PRIORITY",
    "ZMQ_HAVE_TCP_KEEPCNT",
    "ZMQ_HAVE_TCP_KEEPIDLE",
    "ZMQ_HAVE_TCP_KEEPINTVL",
    "ZMQ_HAVE_PTHREAD_SETNAME_2",
    "ZMQ_HAVE_PTHREAD_SET_AFFINITY",
    "ZMQ_HAVE_IPC",
    "ZMQ_HAVE_STRUCT_SOCKADDR_UN",
    "ZMQ_HAVE_WS",
    "ZMQ_USE_BUILTIN_SHA1",
    "ZMQ_HAVE_CURVE",
    "ZMQ_USE_LIBSODIUM",
];

/// Returns the file's text; `drafts` adds the API that packages leave out.
pub(crate) fn header(drafts: bool) -> String {
    let mut text = String::new();
    for feature in FEATURES {
        text += &format!("#define {feature}\n");
    }
    if drafts {
        text += "#define ZMQ_BUILD_DRAFT_API\n";
    }
    text
}
