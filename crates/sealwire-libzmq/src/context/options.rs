//! The options of a context.

use libc::c_int;

use crate::errno::Errno;

const IO_THREADS: c_int = 1;
const MAX_SOCKETS: c_int = 2;
const SOCKET_LIMIT: c_int = 3;
const MAX_MSGSZ: c_int = 5;
const MSG_T_SIZE: c_int = 6;
const THREAD_NAME_PREFIX: c_int = 9;
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
    name_prefix: c_int,
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
            name_prefix: 0,
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

    pub(super) fn set(&mut self, option: c_int, value: c_int) -> Result<(), Errno> {
        match option {
            IO_THREADS if value >= 0 => self.io_threads = value,
            MAX_SOCKETS if (1..=LARGEST_LIMIT).contains(&value) => self.max_sockets = value,
            MAX_MSGSZ if value >= 0 => self.max_message_size = value,
            IPV6 if value >= 0 => self.ipv6 = value != 0,
            BLOCKY if value >= 0 => self.blocky = value != 0,
            ZERO_COPY_RECV if value >= 0 => self.zero_copy = value != 0,
            THREAD_NAME_PREFIX if value >= 0 => self.name_prefix = value,
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
            THREAD_NAME_PREFIX => self.name_prefix,
            _ => return Err(Errno::INVAL),
        })
    }
}
