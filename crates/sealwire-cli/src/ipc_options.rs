//! The mode of the files of `ipc` endpoints, on the command line.

use clap::Args;
use sealwire::SocketBuilder;

/// What a listener at a path is made with.
#[derive(Debug, Args)]
#[command(next_help_heading = "Files, where we listen on ipc://PATH")]
pub(crate) struct IpcOptions {
    /// Mode of the file, in octal: who may write to it may connect, so 660 lets its group in and 666
    /// everybody. The umask does not count [default: 600]
    #[arg(long, value_name = "MODE", value_parser = parse_mode)]
    ipc_mode: Option<u32>,
}

impl IpcOptions {
    pub(crate) fn apply(&self, builder: SocketBuilder) -> SocketBuilder {
        match self.ipc_mode {
            Some(mode) => builder.ipc_mode(mode),
            None => builder,
        }
    }
}

fn parse_mode(text: &str) -> Result<u32, String> {
    match u32::from_str_radix(text, 8) {
        Ok(mode) if mode <= 0o777 => Ok(mode),
        _ => Err("a mode is an octal number up to 777, such as 600 or 660".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modes_are_octal_and_permissions_only() {
        assert_eq!(parse_mode("660"), Ok(0o660));
        assert_eq!(parse_mode("0600"), Ok(0o600));
        for wrong in ["", "8", "rw", "1777", "-1", "0o600"] {
            assert!(parse_mode(wrong).is_err(), "{wrong}");
        }
    }
}
