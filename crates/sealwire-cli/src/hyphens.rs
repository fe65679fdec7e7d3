//! Values that begin with a hyphen: `--domain -x`, and a key in Z85 of which one in 85 does.

use std::any::TypeId;
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use clap::{Arg, Command};

/// Writes `--domain -x` as `--domain=-x`, which clap takes, for each option whose value is a text or
/// a path.
///
/// clap's own `allow_hyphen_values` would take the next option as well, so that in
/// `--domain --json` nobody would be told of the value that is missing.
pub(crate) fn attach(
    mut command: &Command,
    arguments: impl IntoIterator<Item = OsString>,
) -> Vec<OsString> {
    let mut arguments = arguments.into_iter().peekable();
    let mut attached = Vec::new();
    while let Some(mut argument) = arguments.next() {
        if argument == "--" {
            attached.push(argument);
            break;
        }
        if let Some(subcommand) = command.find_subcommand(&argument) {
            command = subcommand;
        }
        let takes_text = option(command, &argument).is_some_and(takes_text);
        if let Some(value) = arguments.next_if(|next| takes_text && is_value(command, next)) {
            argument.push("=");
            argument.push(value);
        }
        attached.push(argument);
    }
    attached.extend(arguments);
    attached
}

/// The option that this argument is, with nothing attached to it.
fn option<'a>(command: &'a Command, argument: &OsStr) -> Option<&'a Arg> {
    let argument = argument.to_str()?;
    let (long, short) = (argument.strip_prefix("--"), argument.strip_prefix('-'));
    command.get_arguments().find(|arg| {
        let is_long = arg.get_long().is_some_and(|name| long == Some(name));
        is_long
            || arg
                .get_short()
                .is_some_and(|name| short == Some(name.encode_utf8(&mut [0; 4])))
    })
}

fn takes_text(arg: &Arg) -> bool {
    let value = arg.get_value_parser().type_id();
    arg.get_action().takes_values()
        && (value == TypeId::of::<String>() || value == TypeId::of::<PathBuf>())
}

/// Whether this begins with a hyphen and can only be a value.
fn is_value(command: &Command, argument: &OsStr) -> bool {
    let bytes = argument.as_encoded_bytes();
    let name = bytes.split(|&byte| byte == b'=').next().unwrap_or(bytes);
    let is_option = str::from_utf8(name).is_ok_and(|name| option(command, name.as_ref()).is_some());
    bytes.len() > 1 && bytes[0] == b'-' && bytes != b"--" && !is_option
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    fn attached(line: &str) -> String {
        let mut command = crate::Cli::command();
        command.build();
        let arguments = line.split(' ').map(OsString::from);
        attach(&command, arguments)
            .join(OsStr::new(" "))
            .into_string()
            .unwrap()
    }

    #[test]
    fn a_text_or_a_path_may_begin_with_a_hyphen() {
        for (line, expected) in [
            (
                "sealwire newplex digest --domain -x f",
                "sealwire newplex digest --domain=-x f",
            ),
            (
                "sealwire push -c E -d -hello",
                "sealwire push -c E -d=-hello",
            ),
            (
                "sealwire push -c E --file -f.txt",
                "sealwire push -c E --file=-f.txt",
            ),
            (
                "sealwire pull --server-key -Z85",
                "sealwire pull --server-key=-Z85",
            ),
            (
                "sealwire pull --passwords --mine",
                "sealwire pull --passwords=--mine",
            ),
            (
                "sealwire proxy --backend-username -me",
                "sealwire proxy --backend-username=-me",
            ),
            (
                "sealwire tunnel listen --allow -Z85",
                "sealwire tunnel listen --allow=-Z85",
            ),
            (
                "sealwire rpc call -c E -d -1 M",
                "sealwire rpc call -c E -d=-1 M",
            ),
        ] {
            assert_eq!(attached(line), expected);
        }
    }

    #[test]
    fn the_next_option_is_not_a_value() {
        for line in [
            "sealwire newplex digest --domain --json f",
            "sealwire newplex digest --domain",
            "sealwire newplex digest --domain --help",
            "sealwire newplex digest --domain -- -f",
            "sealwire push -d -c E",
            "sealwire push -d --connect=E",
        ] {
            assert_eq!(attached(line), line);
        }
    }

    #[test]
    fn everything_else_stays_as_it_is() {
        for line in [
            "sealwire newplex digest -- --domain -x",
            "sealwire newplex digest --domain=-x -",
            "sealwire seal --key-file k -o - f",
            "sealwire push -t -5s -n -1",
            "sealwire rpc serve --exec cat -- -d -x",
        ] {
            assert_eq!(attached(line), line);
        }
    }

    #[test]
    fn every_option_of_a_text_or_a_path_takes_one() {
        fn check(command: &Command, seen: &mut usize) {
            for arg in command.get_opts().filter(|arg| takes_text(arg)) {
                let long = format!("--{}", arg.get_long().unwrap());
                let written = attach(command, [long.clone().into(), "-?".into()]);
                assert_eq!(written, [OsString::from(format!("{long}=-?"))]);
                *seen += 1;
            }
            command
                .get_subcommands()
                .for_each(|command| check(command, seen));
        }
        let mut command = crate::Cli::command();
        command.build();
        let mut seen = 0;
        check(&command, &mut seen);
        assert!(seen > 100, "{seen} options");
    }
}
