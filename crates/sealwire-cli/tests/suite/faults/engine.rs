//! The I/O thread itself is refused by the system: every command ends, and says why.

use std::process::Command;

use super::system::{failing, start as start_command};
use crate::support::start;

const ANY: &str = "tcp://127.0.0.1:0";

#[test]
fn commands_that_wait_for_others_end() {
    let proxy = ["proxy", "--frontend-type", "pull", "--frontend-bind", ANY];
    let backend = ["--backend-type", "push", "--backend-bind", ANY];
    for arguments in [
        &["pull", "-b", ANY][..],
        &["rep", "-b", ANY, "--echo"],
        &["rpc", "serve", "-b", ANY, "--exec", "cat"],
        &[&proxy[..], &backend].concat(),
    ] {
        // After `number` waits; there are few before somebody connects.
        for number in [1, 2, 3, 4] {
            let rule = format!("epoll_wait:error=EBADF:when={number}+");
            let Some(mut command) = failing(&[&rule], arguments) else {
                return;
            };
            println!("{rule}: {arguments:?}");
            let mut running = start_command(&mut command);
            // It is ended by the fault, or somebody comes, which is what it waits for then.
            let mut visitors: Vec<std::process::Child> = Vec::new();
            if let Some(line) = running.line_or_end("listening on ") {
                let endpoint = line.rsplit(' ').next().expect("an endpoint").to_owned();
                let visitor = Command::new(super::system::PROGRAM)
                    .args(["dealer", "-c", &endpoint, "-n", "0"])
                    .stdin(std::process::Stdio::null())
                    .stderr(std::process::Stdio::null())
                    .spawn();
                visitors.push(visitor.expect("it starts"));
            }
            let finished = running.finish();
            for mut visitor in visitors {
                let _ = visitor.kill();
                let _ = visitor.wait();
            }
            finished.expect_end(1, "ended by a fault");
        }
    }
}

/// A call to a server that never answers ends with its own I/O thread, and not when its time is up.
#[test]
fn calls_end() {
    let mut server = start(&["rpc", "serve", "-b", ANY, "--exec", "sleep", "--", "1000"]);
    let endpoint = server.endpoint();
    let call = ["rpc", "call", "-c", &endpoint, "-d", "hello", "-t", "1h"];
    for number in 1..=3 {
        let rule = format!("epoll_wait:error=EBADF:when={number}+");
        let Some(mut command) = failing(&[&rule], &call) else {
            return;
        };
        println!("{rule}");
        let finished = start_command(&mut command).finish();
        assert!(!finished.stderr.contains("panicked"), "{finished:?}");
        assert!(!matches!(finished.code, Some(0 | 3)), "{finished:?}");
    }
}
