//! Any bytes as the body of a command.

#![no_main]

use libfuzzer_sys::fuzz_target;
use sealwire_zmtp::wire::command::subscription::group;
use sealwire_zmtp::wire::command::{Command, missed, split};

fuzz_target!(|body: &[u8]| {
    let Ok(command) = Command::parse(body) else {
        return;
    };
    let (name, data) = split(body).expect("what parses has a name");
    assert_eq!(1 + name.len() + data.len(), body.len());
    match command {
        Command::Ping(ping) => assert!(ping.context.len() <= 16),
        Command::Pong(pong) => assert!(pong.context.len() <= 16),
        Command::Error(reason) => {
            assert!(reason.bytes().all(|byte| matches!(byte, b' '..=b'~')));
        }
        Command::Subscribe(topic) | Command::Cancel(topic) => assert_eq!(topic, data),
        Command::Join(name) | Command::Leave(name) => {
            assert_eq!(name, data);
            assert_eq!(group(name, "JOIN").is_ok(), (1..=255).contains(&name.len()));
        }
        Command::Missed(number) => {
            assert_eq!(number, data);
            assert_eq!(missed::parse(number).is_ok(), number.len() == 8);
        }
        Command::Unknown => {}
    }
});
