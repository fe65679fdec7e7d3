//! Sockets that a service manager opened for this process, which no process has but from its beginning.
//!
//! A binary of its own: it is started again, by a shell in the part of the service manager.
#![cfg(target_os = "linux")]

#[expect(dead_code, reason = "the suite uses the rest")]
mod support;

use std::collections::BTreeSet;
use std::net::TcpListener;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixListener;
use std::process::{Child, Command, Stdio};

use sealwire::{Endpoint, Listener, ListenerError, SocketType};
use support::{TIMEOUT, options};

/// What the child is to do.
const ROLE: &str = "SEALWIRE_TEST_ROLE";

/// The variable is for the shell itself, which becomes the child. It has the sockets as its input and output.
const START: &str = "export LISTEN_PID=${PASSED_PID:-$$}; \
    exec \"$0\" --ignored --exact child --nocapture 3<&0 4<&1 0</dev/null 1>&2";

struct Passed {
    tcp: TcpListener,
    unix: UnixListener,
    _folder: tempfile::TempDir,
}

impl Passed {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        Passed {
            tcp: TcpListener::bind("127.0.0.1:0").unwrap(),
            unix: UnixListener::bind(folder.path().join("socket")).unwrap(),
            _folder: folder,
        }
    }

    fn endpoints(&self) -> [String; 2] {
        let file = self.unix.local_addr().unwrap();
        let file = file.as_pathname().unwrap().display().to_string();
        [
            format!("tcp://{}", self.tcp.local_addr().unwrap()),
            format!("ipc://{file}"),
        ]
    }

    fn start(&self, role: &str, variables: &[(&str, &str)]) -> Child {
        Command::new("sh")
            .args(["-c", START])
            .arg(std::env::current_exe().unwrap())
            .env(ROLE, role)
            .env("LISTEN_FDS", "2")
            .env("LISTEN_FDNAMES", "web:local")
            .envs(variables.iter().copied())
            .stdin(Stdio::from(OwnedFd::from(self.tcp.try_clone().unwrap())))
            .stdout(Stdio::from(OwnedFd::from(self.unix.try_clone().unwrap())))
            .spawn()
            .unwrap()
    }
}

#[test]
fn sockets_that_were_passed_are_served() {
    let passed = Passed::new();
    let mut child = passed.start("serve", &[]);
    let endpoints = passed.endpoints();
    // What connects waits in the system until the child accepts it, so nothing has to be awaited.
    for endpoint in endpoints {
        let push = options(SocketType::Push).linger(TIMEOUT);
        let push = push.build_blocking().unwrap();
        push.connect(endpoint.as_str()).unwrap();
        push.send(endpoint.as_str()).unwrap();
        push.close().unwrap();
    }
    assert!(child.wait().unwrap().success());
}

#[test]
fn sockets_of_another_process_are_refused() {
    let mut child = Passed::new().start("other", &[("PASSED_PID", "1")]);
    assert!(child.wait().unwrap().success());
}

#[test]
fn sockets_that_are_not_there_are_refused_and_the_others_stay() {
    let variables = [
        ("LISTEN_FDS", "2000"),
        ("LISTEN_FDNAMES", &*":".repeat(1999)),
    ];
    let mut child = Passed::new().start("missing", &variables);
    assert!(child.wait().unwrap().success());
}

#[test]
fn programs_that_are_started_get_nothing_of_what_was_passed_or_opened() {
    let passed = Passed::new();
    let mut child = passed.start("start", &[]);
    assert!(child.wait().unwrap().success());
}

#[test]
#[ignore = "the other tests start it, with sockets"]
fn child() {
    match std::env::var(ROLE).unwrap().as_str() {
        "serve" => serve(),
        "start" => start_a_program(),
        "other" => {
            let refused = Listener::passed().unwrap_err();
            assert_eq!(refused, ListenerError::OtherProcess(1));
        }
        "missing" => {
            let refused = Listener::passed().unwrap_err();
            assert!(matches!(refused, ListenerError::NotOpen(5..)), "{refused}");
            assert_eq!(flags_of(3) & libc::O_CLOEXEC as u32, 0);
        }
        other => panic!("no role {other}"),
    }
}

fn flags_of(descriptor: i32) -> u32 {
    let shown = std::fs::read_to_string(format!("/proc/self/fdinfo/{descriptor}")).unwrap();
    let flags = shown.lines().find_map(|line| line.strip_prefix("flags:"));
    u32::from_str_radix(flags.unwrap().trim(), 8).unwrap()
}

fn serve() {
    let passed = Listener::passed().unwrap();
    let names: Vec<_> = passed.iter().map(Listener::name).collect();
    assert_eq!(names, [Some("web"), Some("local")]);
    for number in [3, 4] {
        assert_ne!(flags_of(number) & libc::O_CLOEXEC as u32, 0);
    }
    assert_eq!(Listener::passed().unwrap_err(), ListenerError::Taken);
    let pull = options(SocketType::Pull).build_blocking().unwrap();
    let bound: Vec<Endpoint> = passed
        .into_iter()
        .map(|listener| pull.bind_listener(listener).unwrap())
        .collect();
    let mut received: Vec<_> = (0..2)
        .map(|_| String::from_utf8(pull.recv().unwrap().as_bytes().to_vec()).unwrap())
        .collect();
    let mut bound: Vec<_> = bound.iter().map(Endpoint::to_string).collect();
    received.sort();
    bound.sort();
    assert_eq!(received, bound);
}

/// The sockets and the objects of the kernel (epoll, eventfd) that a program has which this process starts.
fn of_a_program() -> BTreeSet<String> {
    let mut list = Command::new("ls");
    list.args(["-l", "/proc/self/fd"]).stdin(Stdio::null());
    let listed = list.output().unwrap();
    assert!(listed.status.success());
    let listed = String::from_utf8(listed.stdout).unwrap();
    let targets = listed.lines().filter_map(|line| line.split_once(" -> "));
    let targets = targets.map(|(_, target)| target.to_owned());
    let kinds = ["socket:", "anon_inode:"];
    targets
        .filter(|target| kinds.iter().any(|kind| target.starts_with(kind)))
        .collect()
}

fn start_a_program() {
    let mut expected = of_a_program();
    let passed = [3, 4].map(|number| std::fs::read_link(format!("/proc/self/fd/{number}")));
    for target in passed {
        // Until somebody takes them.
        assert!(expected.remove(target.unwrap().to_str().unwrap()));
    }
    let folder = tempfile::tempdir().unwrap();
    let pull = options(SocketType::Pull).build_blocking().unwrap();
    let push = options(SocketType::Push).build_blocking().unwrap();
    let listeners = Listener::passed().unwrap().into_iter();
    let mut endpoints: Vec<Endpoint> = listeners
        .map(|listener| pull.bind_listener(listener).unwrap())
        .collect();
    let path = format!("ipc://{}", folder.path().join("own").display());
    for endpoint in ["tcp://127.0.0.1:0", "ipc://*", &path, "ws://127.0.0.1:0/"] {
        endpoints.push(pull.bind(endpoint).unwrap());
    }
    for endpoint in &endpoints {
        push.connect(endpoint).unwrap();
    }
    push.wait_connected_timeout(endpoints.len(), TIMEOUT)
        .unwrap();
    pull.wait_connected_timeout(endpoints.len(), TIMEOUT)
        .unwrap();
    let dish = options(SocketType::Dish).build_blocking().unwrap();
    dish.bind("udp://127.0.0.1:0").unwrap();
    let _readiness = pull.readiness().unwrap();
    assert_eq!(of_a_program(), expected);
}
