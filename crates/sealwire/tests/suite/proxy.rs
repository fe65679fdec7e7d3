//! Devices: capture, control, and translation between mechanisms.

use std::thread;

use crate::support::{Path, eventually, texts};
use sealwire::blocking::Socket;
use sealwire::{Error, Message, Proxy, SocketType};

/// A streamer from a sealed frontend to a plain backend.
struct Scene {
    frontend: Socket,
    backend: Socket,
    push: Socket,
    pull: Socket,
    operator: Socket,
    control: Socket,
}

fn scene(control: SocketType, operator: SocketType) -> Scene {
    let (sealed, plain) = (
        Path::encrypted(),
        Path {
            transport: "tcp",
            keys: None,
        },
    );
    let (frontend, push) = sealed.pair(SocketType::Pull, SocketType::Push);
    let (backend, pull) = plain.pair(SocketType::Push, SocketType::Pull);
    let inproc = Path {
        transport: "inproc",
        keys: None,
    };
    let (control, operator) = inproc.pair(control, operator);
    Scene {
        frontend,
        backend,
        push,
        pull,
        operator,
        control,
    }
}

impl Scene {
    fn run(&self, capture: Option<Socket>) -> thread::JoinHandle<Result<(), Error>> {
        let [frontend, backend, control] =
            [&self.frontend, &self.backend, &self.control].map(Socket::clone);
        thread::spawn(move || {
            let mut device = Proxy::new(&frontend, &backend).control(&control);
            if let Some(capture) = &capture {
                device = device.capture(capture);
            }
            device.run()
        })
    }

    fn command(&self, text: &str) -> Message {
        self.operator.send(text).unwrap();
        self.operator.recv().unwrap()
    }

    fn statistics(&self) -> Vec<u64> {
        let number = |frame: &sealwire::Frame| u64::from_ne_bytes(frame[..].try_into().unwrap());
        let answer = self.command("STATISTICS");
        answer.frames().iter().map(number).collect()
    }
}

#[test]
fn a_proxy_captures_counts_pauses_and_ends() {
    let scene = scene(SocketType::Rep, SocketType::Req);
    let inproc = Path {
        transport: "inproc",
        keys: None,
    };
    let (capture, watcher) = inproc.pair(SocketType::Push, SocketType::Pull);
    let device = scene.run(Some(capture));
    assert_eq!(scene.statistics(), [0; 8]);
    scene.push.send(Message::multipart(["a", "bc"])).unwrap();
    assert_eq!(texts(&scene.pull.recv().unwrap()), ["a", "bc"]);
    assert_eq!(texts(&watcher.recv().unwrap()), ["a", "bc"]);
    eventually("counted", || scene.statistics() == [1, 3, 0, 0, 0, 0, 1, 3]);

    assert_eq!(texts(&scene.command("PAUSE")), [""]);
    scene.push.send("held back").unwrap();
    eventually("arrived", || {
        scene.frontend.counters().messages_received == 2
    });
    assert_eq!(scene.statistics()[0], 1);
    assert!(scene.pull.try_recv().is_err());
    assert_eq!(texts(&scene.command("RESUME")), [""]);
    assert_eq!(scene.pull.recv().unwrap().as_bytes(), b"held back");

    assert!(
        scene
            .command("nonsense")
            .as_str()
            .unwrap()
            .starts_with("ERROR")
    );
    assert_eq!(texts(&scene.command("TERMINATE")), [""]);
    device.join().unwrap().unwrap();
    // The sockets are as they were.
    scene.push.send("for us").unwrap();
    assert_eq!(scene.frontend.recv().unwrap().as_bytes(), b"for us");
}

#[test]
fn a_paused_or_blocked_proxy_can_be_ended() {
    for pause in [true, false] {
        let scene = scene(SocketType::Rep, SocketType::Req);
        let device = scene.run(None);
        if pause {
            scene.command("PAUSE");
        } else {
            // Nobody takes what is sent on.
            scene.pull.clone().close().unwrap();
            eventually("nobody there", || scene.backend.peers().is_empty());
            scene.push.send("stuck").unwrap();
            eventually("taken", || scene.statistics()[0] == 1);
        }
        scene.command("TERMINATE");
        device.join().unwrap().unwrap();
        let lost = scene.backend.counters().dropped_at_send;
        assert_eq!(lost, u64::from(!pause));
    }
}

#[test]
fn a_capture_that_takes_nothing_holds_nothing_up_and_counts_what_it_misses() {
    let scene = scene(SocketType::Rep, SocketType::Req);
    // Nobody is connected to it.
    let capture = Socket::new(SocketType::Push).unwrap();
    let device = scene.run(Some(capture.clone()));
    for text in ["one", "two"] {
        scene.push.send(text).unwrap();
        assert_eq!(scene.pull.recv().unwrap().as_bytes(), text.as_bytes());
    }
    assert_eq!(capture.counters().dropped_at_send, 2);
    scene.command("TERMINATE");
    device.join().unwrap().unwrap();
}

#[test]
fn other_control_sockets_work_too() {
    let pair = scene(SocketType::Pair, SocketType::Pair);
    let device = pair.run(None);
    assert_eq!(pair.statistics().len(), 8);
    pair.operator.send("PAUSE").unwrap();
    pair.operator.send("TERMINATE").unwrap();
    device.join().unwrap().unwrap();
    assert!(
        pair.operator.try_recv().is_err(),
        "only STATISTICS is answered"
    );

    let pull = scene(SocketType::Pull, SocketType::Push);
    let device = pull.run(None);
    pull.operator.send("TERMINATE").unwrap();
    device.join().unwrap().unwrap();
}

#[test]
fn a_closed_socket_ends_a_steered_proxy() {
    let scene = scene(SocketType::Rep, SocketType::Req);
    let device = scene.run(None);
    scene.statistics();
    scene.frontend.clone().close().unwrap();
    assert!(matches!(device.join().unwrap(), Err(Error::Closed)));
}
