//! The options of a context.

use libc::c_int;

use sealwire::options::MAX_IO_THREADS;

use crate::abi::Scheduling;
use crate::errno::Errno;

const IO_THREADS: c_int = 1;
const MAX_SOCKETS: c_int = 2;
const SOCKET_LIMIT: c_int = 3;
const THREAD_PRIORITY: c_int = 3;
const THREAD_SCHED_POLICY: c_int = 4;
const MAX_MSGSZ: c_int = 5;
const MSG_T_SIZE: c_int = 6;
const THREAD_AFFINITY_CPU_ADD: c_int = 7;
const THREAD_AFFINITY_CPU_REMOVE: c_int = 8;
pub(super) const THREAD_NAME_PREFIX: c_int = 9;
const ZERO_COPY_RECV: c_int = 10;
const IPV6: c_int = 42;
const BLOCKY: c_int = 70;

/// What libzmq says for a poller that has no limit of its own.
const LARGEST_LIMIT: c_int = 65_535;

#[derive(Debug, Clone)]
pub(crate) struct Settings {
    io_threads: c_int,
    max_sockets: c_int,
    max_message_size: c_int,
    /// Text, or the digits of a number.
    name_prefix: Vec<u8>,
    scheduling: Scheduling,
    zero_copy: bool,
    pub(crate) ipv6: bool,
    pub(crate) blocky: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            io_threads: 1,
            max_sockets: 1023,
            max_message_size: c_int::MAX,
            name_prefix: Vec::new(),
            scheduling: Scheduling::default(),
            zero_copy: true,
            ipv6: false,
            blocky: true,
        }
    }
}

impl Settings {
    pub(super) fn max_sockets(&self) -> usize {
        self.max_sockets.max(0) as usize
    }

    /// The I/O threads that its sockets have. libzmq takes any number.
    pub(super) fn io_threads(&self) -> usize {
        self.io_threads.clamp(1, MAX_IO_THREADS as c_int) as usize
    }

    /// Whether sockets reach others of the process only.
    pub(crate) fn has_no_io_threads(&self) -> bool {
        self.io_threads == 0
    }

    /// What each I/O thread does as it begins.
    pub(super) fn on_thread_start(&self) -> impl Fn(usize) + Send + Sync + 'static {
        let scheduling = self.scheduling.clone();
        let prefix = match String::from_utf8_lossy(&self.name_prefix) {
            none if none.is_empty() => String::new(),
            prefix => format!("{}/", prefix.trim_end_matches('\0')),
        };
        move |number| scheduling.apply(&format!("{prefix}ZMQbg/IO/{number}"))
    }

    pub(super) fn set(&mut self, option: c_int, value: c_int) -> Result<(), Errno> {
        match option {
            IO_THREADS if (0..=MAX_IO_THREADS as c_int).contains(&value) => self.io_threads = value,
            MAX_SOCKETS if (1..=LARGEST_LIMIT).contains(&value) => self.max_sockets = value,
            MAX_MSGSZ if value >= 0 => self.max_message_size = value,
            IPV6 if value >= 0 => self.ipv6 = value != 0,
            BLOCKY if value >= 0 => self.blocky = value != 0,
            ZERO_COPY_RECV if value >= 0 => self.zero_copy = value != 0,
            THREAD_NAME_PREFIX => self.name_prefix = value.to_string().into_bytes(),
            THREAD_PRIORITY if value >= 0 => self.scheduling.priority = Some(value),
            THREAD_SCHED_POLICY if value >= 0 => self.scheduling.policy = Some(value),
            THREAD_AFFINITY_CPU_ADD if value >= 0 => {
                self.scheduling.processors.insert(value);
            }
            THREAD_AFFINITY_CPU_REMOVE if self.scheduling.processors.remove(&value) => {}
            _ => return Err(Errno::INVAL),
        }
        Ok(())
    }

    pub(super) fn get(&self, option: c_int) -> Result<c_int, Errno> {
        Ok(match option {
            IO_THREADS => self.io_threads,
            MAX_SOCKETS => self.max_sockets,
            SOCKET_LIMIT => LARGEST_LIMIT,
            MAX_MSGSZ => self.max_message_size,
            MSG_T_SIZE => size_of::<crate::message::Msg>() as c_int,
            IPV6 => c_int::from(self.ipv6),
            BLOCKY => c_int::from(self.blocky),
            ZERO_COPY_RECV => c_int::from(self.zero_copy),
            THREAD_NAME_PREFIX => number_of(&self.name_prefix),
            THREAD_SCHED_POLICY => self.scheduling.policy.unwrap_or(-1),
            _ => return Err(Errno::INVAL),
        })
    }

    #[cfg(draft)]
    pub(super) fn name_prefix(&self) -> &[u8] {
        &self.name_prefix
    }

    #[cfg(draft)]
    pub(super) fn set_name_prefix(&mut self, prefix: &[u8]) {
        self.name_prefix = prefix.to_vec();
    }
}

/// The number that a text is; 0 for another.
fn number_of(text: &[u8]) -> c_int {
    let text = str::from_utf8(text).ok();
    text.and_then(|text| text.parse().ok()).unwrap_or(0)
}
