//! `sealwire proxy` between sealed clients and workers on the same machine.

use crate::support::{Keys, run, start};

const ANY: &str = "tcp://127.0.0.1:0";

#[test]
fn requests_reach_workers_and_answers_come_back() {
    let keys = Keys::new();
    let (server, allowed) = (keys.path("server.key"), keys.path("allowed"));
    let mut proxy = start(&[
        "proxy",
        "--frontend-type",
        "router",
        "--frontend-bind",
        ANY,
        "--frontend-server",
        "--frontend-secret-key-file",
        &server,
        "--frontend-allow",
        &allowed,
        "--backend-type",
        "dealer",
        "--backend-bind",
        ANY,
    ]);
    let endpoints = [proxy.await_line("listening"), proxy.await_line("listening")];
    let of = |side: &str| {
        let line = endpoints
            .iter()
            .find(|line| line.starts_with(side))
            .expect("both sides");
        line.rsplit(' ').next().expect("an endpoint").to_owned()
    };
    let worker = start(&["rep", "-c", &of("backend"), "--echo", "-n", "2"]);
    let req = [
        "req",
        "-c",
        &of("frontend"),
        "-d",
        "over two hops",
        "-n",
        "2",
    ];
    let asked = keys.client("alice", &req).finish().expect_code(0);
    assert_eq!(asked.text(), "over two hops\nover two hops\n");
    worker.finish().expect_code(0);
    let refused = ["req", "-c", &of("frontend"), "-d", "x", "-t", "1s"];
    keys.client("mallory", &refused).finish().expect_code(4);
    proxy.interrupt();
    proxy.finish().expect_code(0);
}

#[test]
fn sides_that_cannot_talk_are_wrong_usage() {
    let sides = ["proxy", "--frontend-type", "pull", "--backend-type", "xpub"];
    let failed = run(&[&sides[..], &["--frontend-bind", ANY, "--backend-bind", ANY]].concat());
    assert!(failed.expect_code(2).stderr.contains("PULL"));
}

#[test]
fn a_proxy_is_watched_and_steered() {
    let mut proxy = start(&[
        "proxy",
        "--frontend-type",
        "pull",
        "--frontend-bind",
        ANY,
        "--backend-type",
        "push",
        "--backend-bind",
        ANY,
        "--capture",
        ANY,
        "--control",
        ANY,
    ]);
    let endpoints: Vec<_> = (0..4).map(|_| proxy.await_line("listening")).collect();
    let of = |side: &str| {
        let line = endpoints.iter().find(|line| line.starts_with(side));
        let endpoint = line.expect("all four").rsplit(' ').next();
        endpoint.expect("an endpoint").to_owned()
    };
    let pull = start(&["pull", "-c", &of("backend"), "-n", "1"]);
    run(&["push", "-c", &of("frontend"), "-d", "through"]).expect_code(0);
    assert_eq!(pull.finish().expect_code(0).text(), "through\n");
    let nonsense = ["req", "-c", &of("control"), "-d", "nonsense"];
    let answer = run(&nonsense).expect_code(0).text().to_owned();
    assert!(answer.starts_with("ERROR"), "{answer}");
    let control = of("control");
    let command =
        |words: &[&str]| run(&[&["proxy-control", &control][..], words].concat()).expect_code(0);
    // The puller has it, so it was counted on both sides.
    let statistics = command(&["statistics", "--json"]);
    let statistics: serde_json::Value = serde_json::from_str(statistics.text()).unwrap();
    let [frontend, backend] = ["frontend", "backend"].map(|side| &statistics[side]);
    assert_eq!(frontend["messages_received"], 1, "{statistics}");
    assert_eq!(frontend["bytes_received"], 7, "{statistics}");
    assert_eq!(backend["messages_sent"], 1, "{statistics}");
    assert_eq!(backend["bytes_sent"], 7, "{statistics}");
    let words = command(&["statistics"]);
    assert!(
        words
            .text()
            .starts_with("frontend: 1 messages (7 bytes) received, 0 messages"),
        "{words:?}"
    );
    assert_eq!(words.text().lines().count(), 2, "{words:?}");
    assert_eq!(command(&["pause"]).text(), "paused\n");
    assert_eq!(command(&["resume"]).text(), "resumed\n");
    assert_eq!(
        command(&["terminate", "--json"]).text(),
        "{\"event\":\"terminated\",\"message\":\"terminated\"}\n"
    );
    proxy.finish().expect_code(0);
}

#[test]
fn commands_reach_proxies_only() {
    let mut rep = start(&["rep", "-b", ANY, "--echo"]);
    let echoes = run(&["proxy-control", &rep.endpoint(), "pause"]).expect_code(1);
    assert!(echoes.stderr.contains("PAUSE"), "{echoes:?}");
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let gone = format!("tcp://{}", listener.local_addr().unwrap());
    drop(listener);
    run(&["proxy-control", &gone, "pause", "-t", "1s"]).expect_code(5);
    let keys = Keys::new();
    let mut rep = keys.server(&["rep", "--echo"]);
    let stranger = ["proxy-control", &rep.endpoint(), "terminate", "-t", "2s"];
    keys.client("mallory", &stranger).finish().expect_code(4);
}

#[test]
fn only_operators_steer_and_only_they_see_what_passes() {
    for mechanism in ["blake3", "curve"] {
        let keys = Keys::new();
        let (server, allowed) = (keys.path("server.key"), keys.path("allowed"));
        let mut arguments = vec!["proxy", "--frontend-type", "pull", "--frontend-bind", ANY];
        arguments.extend(["--backend-type", "push", "--backend-bind", ANY]);
        arguments.extend(["--capture", ANY, "--capture-mechanism", mechanism]);
        arguments.extend(["--capture-server", "--capture-secret-key-file", &server]);
        arguments.extend(["--capture-allow", &allowed]);
        arguments.extend(["--control", ANY, "--control-mechanism", mechanism]);
        arguments.extend(["--control-server", "--control-secret-key-file", &server]);
        arguments.extend(["--control-allow", &allowed]);
        let mut proxy = start(&arguments);
        let endpoints: Vec<_> = (0..4).map(|_| proxy.await_line("listening")).collect();
        let of = |side: &str| {
            let line = endpoints.iter().find(|line| line.starts_with(side));
            let endpoint = line.expect("all four").rsplit(' ').next();
            endpoint.expect("an endpoint").to_owned()
        };
        let (capture, control) = (of("capture"), of("control"));
        let as_client = |name: &str, command: &[&str]| {
            keys.client(name, &[command, &["--mechanism", mechanism]].concat())
        };

        let mut seen = as_client("alice", &["sub", "-c", &capture, "-n", "1", "-v"]);
        // Once it is ready its subscription is on its way; a publisher does not tell when it has it.
        seen.await_line("ready");
        let stranger = ["req", "-c", &control, "-d", "TERMINATE", "-t", "3s"];
        as_client("mallory", &stranger).finish().expect_code(4);

        let mut pull = start(&["pull", "-c", &of("backend"), "-v"]);
        pull.await_line("ready");
        let watched = std::thread::spawn(move || seen.finish());
        while !watched.is_finished() {
            run(&["push", "-c", &of("frontend"), "-d", "passing"]).expect_code(0);
        }
        let watched = watched.join().expect("no panic");
        assert_eq!(watched.expect_code(0).text(), "passing\n");

        let command = ["req", "-c", &control, "-d", "TERMINATE"];
        as_client("alice", &command).finish().expect_code(0);
        proxy.finish().expect_code(0);
    }
}

#[test]
fn options_of_a_socket_that_is_not_there_are_wrong_usage() {
    let proxy = ["proxy", "--frontend-type", "pull", "--backend-type", "push"];
    let sides = ["--frontend-bind", ANY, "--backend-bind", ANY];
    let failed = run(&[&proxy[..], &sides, &["--control-server"]].concat());
    assert!(failed.expect_code(2).stderr.contains("--control ENDPOINT"));
}

#[cfg(unix)]
#[test]
fn an_interrupted_proxy_leaves_no_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let [front, back, capture, control] = ["front", "back", "capture", "control"]
        .map(|name| format!("ipc://{}", folder.path().join(name).display()));
    let types = ["--frontend-type", "pull", "--backend-type", "push"];
    let sides = ["--frontend-bind", &front, "--backend-bind", &back];
    let beside = ["--capture", &capture, "--control", &control];
    for _ in 0..10 {
        let mut proxy = start(&[&["proxy"][..], &types, &sides, &beside].concat());
        for _ in 0..4 {
            proxy.await_line("listening");
        }
        proxy.interrupt();
        proxy.finish().expect_code(0);
        let left: Vec<_> = folder.path().read_dir().expect("a folder").collect();
        assert!(left.is_empty(), "{left:?}");
    }
}
