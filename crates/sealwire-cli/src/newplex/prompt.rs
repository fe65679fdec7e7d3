//! A password typed on a terminal, which does not show it.

use std::io::Read;

use crate::exit::Failure;

/// Standard input, which is a terminal, after `prompt` and without echo as long as the value lives.
#[cfg(unix)]
pub(super) fn without_echo(prompt: &str) -> Result<impl Read, Failure> {
    unix::Silent::new(prompt).map_err(|error| {
        super::failed(format!(
            "the terminal cannot be kept from showing it: {error}"
        ))
    })
}

/// Nobody knows how.
#[cfg(not(unix))]
pub(super) fn without_echo(_: &str) -> Result<impl Read, Failure> {
    Err::<std::io::Empty, _>(Failure::usage(
        "a password typed here would show: give --password-file FILE, or pipe it in",
    ))
}

#[cfg(unix)]
mod unix {
    use std::fs::File;
    use std::io::{self, Read, Write as _};
    use std::os::fd::AsFd as _;
    use std::sync::Once;

    use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};

    use crate::interrupt;

    /// A terminal without echo. As it was when dropped, and when the program is interrupted.
    pub(super) struct Silent {
        /// Read without a buffer, which would keep what was typed.
        terminal: File,
        before: Termios,
    }

    impl Silent {
        pub(super) fn new(prompt: &str) -> io::Result<Self> {
            static INTERRUPTS: Once = Once::new();
            let terminal = File::from(io::stdin().as_fd().try_clone_to_owned()?);
            let before = tcgetattr(&terminal)?;
            let for_interrupts = before.clone();
            INTERRUPTS.call_once(|| {
                // Without it an interrupt would leave the terminal silent, and nothing worse.
                let _ = interrupt::end_on_signal(move || restore(&for_interrupts));
            });
            let mut silent = before.clone();
            silent.local_modes -= LocalModes::ECHO;
            silent.local_modes |= LocalModes::ECHONL;
            tcsetattr(&terminal, OptionalActions::Flush, &silent)?;
            let mut stderr = io::stderr();
            let _ = stderr.write_all(prompt.as_bytes());
            let _ = stderr.flush();
            Ok(Silent { terminal, before })
        }
    }

    impl Drop for Silent {
        fn drop(&mut self) {
            restore(&self.before);
        }
    }

    fn restore(before: &Termios) {
        let _ = tcsetattr(io::stdin(), OptionalActions::Now, before);
    }

    impl Read for Silent {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            self.terminal.read(buffer)
        }
    }
}
