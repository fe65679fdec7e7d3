//! `sealwire rpc`: a server, a call, and the exit codes.

mod support;

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

use support::run;

/// A server that ends with the test.
struct Serving {
    child: Child,
    endpoint: String,
}

impl Serving {
    fn start(arguments: &[&str]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_sealwire"))
            .args(["rpc", "serve", "-b", "tcp://127.0.0.1:0", "--exec"])
            .args(arguments)
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let line = lines.next().unwrap().unwrap();
        let endpoint = line.strip_prefix("listening on ").unwrap().to_owned();
        Serving { child, endpoint }
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[cfg(unix)]
#[test]
fn a_call_is_the_input_of_a_program_and_its_output_the_answer() {
    let server = Serving::start(&["tr", "--", "a-z", "A-Z"]);
    let answer = run(&["rpc", "call", "-c", &server.endpoint, "-d", "hello"]).expect_code(0);
    assert_eq!(answer.text(), "HELLO");
}

#[cfg(unix)]
#[test]
fn a_program_that_fails_is_an_error_with_what_it_said() {
    let server = Serving::start(&["sh", "--", "-c", "echo oh no >&2; exit 3"]);
    run(&["rpc", "call", "-c", &server.endpoint, "-d", ""]).expect_code(1);
}

#[test]
fn nobody_there_has_an_exit_code_of_its_own() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let endpoint = format!("tcp://{}", listener.local_addr().unwrap());
    drop(listener);
    run(&["rpc", "call", "-c", &endpoint, "-d", "hello"]).expect_code(5);
}
