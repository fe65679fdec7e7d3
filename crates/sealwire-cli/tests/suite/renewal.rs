//! Keys that are read again at SIGHUP.

use std::fs;

use serde_json::Value;

use crate::support::{Finished, Keys, Running, run, start, start_interactive};

const ANY: &str = "tcp://127.0.0.1:0";
const READ_AGAIN: &str = "were read again";
/// The exit code of doctor where the server has another key.
const OTHER_KEY: i32 = 17;

/// A server's files: the key that it has, and another one beside it, which begins as the same.
struct Files {
    keys: Keys,
}

impl Files {
    fn new() -> Self {
        let keys = Keys::new();
        let files = Files { keys };
        run(&["keygen", "--out", &files.keys.path("next")]).expect_code(0);
        files.put("server.key", "now.key");
        files.put("server.key", "beside.key");
        files
    }

    /// Puts a copy of one of the keys in place of another file at once.
    fn put(&self, key: &str, file: &str) {
        let made = self.keys.path("made");
        fs::copy(self.keys.path(key), &made).expect("a copy");
        fs::rename(made, self.keys.path(file)).expect("in place");
    }

    fn options(&self) -> Vec<String> {
        let words = ["--server", "--secret-key-file", &self.keys.path("now.key")];
        let beside = [
            "--additional-secret-key-file",
            &self.keys.path("beside.key"),
        ];
        let allow = ["--allow", &self.keys.path("allowed")];
        let all = words.iter().chain(&beside).chain(&allow);
        all.map(|&word| word.to_owned()).collect()
    }

    fn serve(&self, command: &[&str]) -> Running {
        let options = self.options();
        let options: Vec<&str> = options.iter().map(String::as_str).collect();
        start(&[command, &options].concat())
    }

    /// The words of alice, who knows the server by this key.
    fn client<'a>(&'a self, server: &'a str, own: &'a str, command: &[&'a str]) -> Vec<&'a str> {
        [command, &["--server-key", server, "--secret-key-file", own]].concat()
    }

    /// Whether alice, who knows the server by this key, is let in: an exit code of doctor's.
    fn tries(&self, endpoint: &str, server: &str, more: &[&str]) -> Finished {
        let (server, own) = (self.keys.path(server), self.keys.path("alice.key"));
        let words = [&["doctor", endpoint, "-t", "30s"], more].concat();
        run(&self.client(&server, &own, &words))
    }

    /// Both keys, then the next one alone; `while_both` comes between.
    fn rotate(&self, server: &mut Running, while_both: impl FnOnce()) {
        self.put("next.key", "beside.key");
        server.signal("-HUP");
        server.await_line(READ_AGAIN);
        while_both();
        self.put("next.key", "now.key");
        server.signal("-HUP");
        server.await_line(READ_AGAIN);
    }
}

#[test]
fn a_server_changes_its_key_while_clients_are_there() {
    for mechanism in [None, Some("curve")] {
        for stays in [false, true] {
            let files = Files::new();
            let named: &[&str] = match mechanism {
                Some(name) => &["--mechanism", name],
                None => &[],
            };
            let keeps: &[&str] = if stays { &["--keep-withdrawn"] } else { &[] };
            let mut rep = files.serve(&[&["rep", "-b", ANY, "--echo"], named, keeps].concat());
            let endpoint = rep.endpoint();
            let (old, own) = (files.keys.path("server.pub"), files.keys.path("alice.key"));
            let asks = [&["req", "-c", &endpoint, "-v"], named].concat();
            let mut asking = start_interactive(&files.client(&old, &own, &asks));
            asking.write("one\n");
            asking.await_line("ready");
            let ask = |server: &str| files.tries(&endpoint, server, named);
            ask("server.pub").expect_code(0);
            ask("next.pub").expect_code(OTHER_KEY);
            files.rotate(&mut rep, || {
                ask("server.pub").expect_code(0);
                ask("next.pub").expect_code(0);
            });
            ask("next.pub").expect_code(0);
            ask("server.pub").expect_code(OTHER_KEY);
            if stays {
                asking.write("two\n");
                assert_eq!(asking.finish().expect_code(0).text(), "one\ntwo\n");
            } else {
                asking.await_line("ended by the peer");
            }
            // It says so before or after it has said that keys were read again.
            let told = rep.terminated().expect_code(0).stderr;
            assert_eq!(told.contains("was withdrawn"), !stays, "{told}");
        }
    }
}

/// A vault is asked at the start and at each hang-up.
#[test]
fn a_command_gives_the_key_and_the_next_one() {
    let files = Files::new();
    let (now, beside) = (files.keys.path("now.key"), files.keys.path("beside.key"));
    let (now, beside) = (format!("cat '{now}'"), format!("cat '{beside}'"));
    let keys = ["--server", "--secret-key-command", &now];
    let more = ["--additional-secret-key-command", &beside, "--allow-anyone"];
    let rep = ["rep", "-b", ANY, "--echo"];
    let mut rep = start(&[&rep[..], &keys, &more].concat());
    let endpoint = rep.endpoint();
    files.tries(&endpoint, "server.pub", &[]).expect_code(0);
    files
        .tries(&endpoint, "next.pub", &[])
        .expect_code(OTHER_KEY);
    files.rotate(&mut rep, || {
        files.tries(&endpoint, "next.pub", &[]).expect_code(0);
    });
    files.tries(&endpoint, "next.pub", &[]).expect_code(0);
    files
        .tries(&endpoint, "server.pub", &[])
        .expect_code(OTHER_KEY);
    rep.terminated().expect_code(0);
}

#[test]
fn a_command_that_fails_is_an_error_with_what_it_says() {
    let keys = [
        "--server",
        "--secret-key-command",
        "echo sealed >&2; exit 3",
    ];
    let failed = run(&[&["rep", "-b", ANY, "--allow-anyone"][..], &keys].concat());
    let told = failed.expect_code(1).stderr;
    assert!(told.contains("exit status: 3: sealed"), "{told}");
    let command = ["check-config", "--secret-key-command", "echo no key"];
    let told = run(&command).expect_code(1).stderr;
    assert!(told.contains("the output of 'echo no key'"), "{told}");
    let json = run(&[&command[..], &["--json"]].concat()).expect_code(1);
    let record: Value = serde_json::from_str(json.stderr.lines().next().expect("a line")).unwrap();
    assert_eq!(record["path"], "the output of 'echo no key'");
}

#[test]
fn a_command_is_for_a_key_that_nothing_else_gives_and_somebody_uses() {
    let keys = Keys::new();
    let (file, public) = (keys.path("server.key"), keys.path("server.pub"));
    let command = ["--secret-key-command", "true"];
    let additional = ["--additional-secret-key-command", "true"];
    // It ends by itself where it does not refuse.
    let rep = ["rep", "-b", ANY, "-t", "100ms"];
    let server = [&rep[..], &["--server", "--allow-anyone"]].concat();
    for (words, more, problem) in [
        (
            &server,
            [&command[..], &["--secret-key-file", &file]].concat(),
            "cannot be used with",
        ),
        (
            &server,
            [&additional[..], &["--additional-secret-key-file", &file]].concat(),
            "cannot be used with",
        ),
        (
            &rep.to_vec(),
            [&additional[..], &["--server-key", &public]].concat(),
            "--server",
        ),
        (&rep.to_vec(), command.to_vec(), "the server's public key"),
        (
            &rep.to_vec(),
            [&command[..], &["--mechanism", "null"]].concat(),
            "uses no keys",
        ),
        (
            &rep.to_vec(),
            [&command[..], &["--mechanism", "plain"]].concat(),
            "uses no keys",
        ),
    ] {
        let refused = run(&[&words[..], &more].concat()).expect_code(2).stderr;
        assert!(refused.contains(problem), "{more:?}: {refused}");
    }
}

#[test]
fn keys_that_cannot_be_read_leave_all_as_it_is() {
    let files = Files::new();
    let mut rep = files.serve(&["rep", "-b", ANY, "--echo"]);
    let endpoint = rep.endpoint();
    fs::write(files.keys.path("now.key"), "not a key\n").expect("a file");
    rep.signal("-HUP");
    let told = rep.await_line("stay as they were");
    assert!(told.contains("now.key"), "{told}");
    files.tries(&endpoint, "server.pub", &[]).expect_code(0);
    // It goes on hearing.
    files.put("next.key", "now.key");
    rep.signal("-HUP");
    rep.await_line(READ_AGAIN);
    files.tries(&endpoint, "next.pub", &[]).expect_code(0);
    rep.terminate();
    rep.finish().expect_code(0);
}

/// The files of both sides of a proxy count together.
#[test]
fn a_file_of_one_socket_keeps_the_keys_of_the_others_too() {
    let files = Files::new();
    let options = files.options();
    let of = |side: &str| -> Vec<String> {
        let words = options.iter();
        words.map(|word| word.replace("--", side)).collect()
    };
    let (frontend, mut backend) = (of("--frontend-"), of("--backend-"));
    files.put("server.key", "behind.key");
    backend[2] = files.keys.path("behind.key");
    let mut words = vec!["proxy", "--frontend-type", "router", "--frontend-bind", ANY];
    words.extend(frontend.iter().map(String::as_str));
    words.extend(["--backend-type", "dealer", "--backend-bind", ANY]);
    words.extend(backend.iter().map(String::as_str));
    let mut proxy = start(&words);
    let lines = [proxy.await_line("listening"), proxy.await_line("listening")];
    let line = lines.iter().find(|line| line.starts_with("frontend"));
    let endpoint = line.and_then(|line| line.rsplit(' ').next()).expect("both");
    files.put("next.key", "now.key");
    fs::write(files.keys.path("behind.key"), "not a key\n").expect("a file");
    proxy.signal("-HUP");
    let told = proxy.await_line("stay as they were");
    assert!(told.contains("behind.key"), "{told}");
    files.tries(endpoint, "server.pub", &[]).expect_code(0);
    let next = files.tries(endpoint, "next.pub", &[]);
    next.expect_code(OTHER_KEY);
}

#[test]
fn calls_and_proxies_change_their_keys_too() {
    let files = Files::new();
    let options = files.options();
    let options: Vec<&str> = options.iter().map(String::as_str).collect();
    let mut calls = start(
        &[
            &["rpc", "serve", "-b", ANY][..],
            &options,
            &["--exec", "cat"],
        ]
        .concat(),
    );
    let endpoint = calls.endpoint();
    let call = |server: &str| {
        let (server, own) = (files.keys.path(server), files.keys.path("alice.key"));
        let call = ["rpc", "call", "-c", &endpoint, "-d", "hello", "-t", "30s"];
        run(&files.client(&server, &own, &call))
    };
    let refused = |server: &str| {
        let tried = files.tries(&endpoint, server, &["--as", "peer"]);
        tried.expect_code(OTHER_KEY)
    };
    refused("next.pub");
    files.rotate(&mut calls, || {
        assert_eq!(call("server.pub").expect_code(0).text(), "hello");
        call("next.pub").expect_code(0);
    });
    call("next.pub").expect_code(0);
    refused("server.pub");

    let files = Files::new();
    let mut words = vec!["proxy", "--frontend-type", "router", "--frontend-bind", ANY];
    let options = files.options();
    let of_frontend: Vec<String> = options
        .iter()
        .map(|word| word.replace("--", "--frontend-"))
        .collect();
    words.extend(of_frontend.iter().map(String::as_str));
    words.extend(["--backend-type", "dealer", "--backend-bind", ANY]);
    let mut proxy = start(&words);
    let endpoints = [proxy.await_line("listening"), proxy.await_line("listening")];
    let of = |side: &str| {
        let line = endpoints.iter().find(|line| line.starts_with(side));
        let endpoint = line.expect("both").rsplit(' ').next();
        endpoint.expect("an endpoint").to_owned()
    };
    let (frontend, backend) = (of("frontend"), of("backend"));
    let _rep = start(&["rep", "-c", &backend, "--echo"]);
    let ask = |server: &str| {
        let (server, own) = (files.keys.path(server), files.keys.path("alice.key"));
        let request = ["req", "-c", &frontend, "-d", "hello", "-t", "30s"];
        run(&files.client(&server, &own, &request)).expect_code(0)
    };
    files.rotate(&mut proxy, || {
        ask("server.pub");
        ask("next.pub");
    });
    ask("next.pub");
    let tried = files.tries(&frontend, "server.pub", &[]);
    tried.expect_code(OTHER_KEY);
}

/// A distributor and a worker that goes on read their keys again.
#[test]
fn work_changes_its_keys_too() {
    let files = Files::new();
    let options = files.options();
    let options: Vec<&str> = options.iter().map(String::as_str).collect();
    let serve = ["work", "serve", "-b", ANY];
    let mut serving = start_interactive(&[&serve[..], &options].concat());
    let endpoint = serving.endpoint();
    let (known, own) = (files.keys.path("known.pub"), files.keys.path("alice.key"));
    files.put("server.pub", "known.pub");
    let take = ["work", "take", "-c", &endpoint, "-v", "-n", "1"];
    let mut taking = start_interactive(&files.client(&known, &own, &take));
    // No task is under way meanwhile: it would be handed out again.
    taking.await_line("ready");
    files.rotate(&mut serving, || {
        files.put("next.pub", "known.pub");
        taking.signal("-HUP");
        taking.await_line(READ_AGAIN);
    });
    serving.write("two\n");
    assert_eq!(taking.finish().expect_code(0).text(), "two\n");
    files
        .tries(&endpoint, "next.pub", &["--as", "peer"])
        .expect_code(0);
    let old = files.tries(&endpoint, "server.pub", &["--as", "peer"]);
    old.expect_code(OTHER_KEY);
}

/// Both ends of a tunnel get other keys. Connections under the old ones go on, and new ones have the new keys.
#[test]
fn a_tunnel_changes_its_keys_under_its_connections() {
    use crate::support::eventually;
    use crate::tunnel::ends::{self, dial, echo, exchange, service};
    use std::io::{Read as _, Write as _};

    let keys = ends::Keys::new();
    for name in ["next-server", "next-alice"] {
        run(&["newplex", "keygen", "--out", &keys.path(name)]).expect_code(0);
    }
    let put = |key: &str, file: &str| {
        let made = keys.path("made");
        fs::copy(keys.path(key), &made).expect("a copy");
        fs::rename(made, keys.path(file)).expect("in place");
    };
    let now = ["now.key", "known.pub", "own.key", "allowed"].map(|file| keys.path(file));
    let [secret, known, own, allowed] = &now;
    put("server.key", "now.key");
    put("server.pub", "known.pub");
    put("alice.key", "own.key");
    put("alice.pub", "allowed");
    let to = service(echo);
    let ends = ["tunnel", "listen", "-b", ANY, "--to", &to];
    let security = ["--secret-key-file", secret, "--allow", allowed];
    let mut listening = start(&[&ends[..], &security].concat());
    let outer = listening.endpoint();
    let connect = |server: &str| {
        let ends = ["tunnel", "connect", "-b", ANY, "--to", &outer];
        let security = ["--secret-key-file", own, "--server-key", server];
        start(&[&ends[..], &security].concat())
    };
    let mut connecting = connect(known);
    let entry = connecting.endpoint();
    let mut standing = dial(&entry);
    let mut says = |text: &[u8]| {
        standing.write_all(text).expect("it is open");
        let mut back = vec![0; text.len()];
        standing.read_exact(&mut back).expect("it comes back");
        assert_eq!(back, text);
    };
    says(b"before");

    // A file that is not a key changes nothing.
    fs::write(keys.path("now.key"), "no key\n").expect("a file");
    listening.signal("-HUP");
    listening.await_line("keys stay as they were");
    let through = |entry: &str| {
        let (received, ended) = exchange(dial(entry), b"a new connection".to_vec());
        ended.is_ok() && received == b"a new connection"
    };
    assert!(through(&entry));

    put("next-server.key", "now.key");
    let both = [keys.path("alice.pub"), keys.path("next-alice.pub")];
    let both = both.map(|file| fs::read_to_string(file).expect("a key"));
    fs::write(keys.path("made"), both.concat()).expect("a file");
    fs::rename(keys.path("made"), allowed).expect("in place");
    listening.signal("-HUP");
    listening.await_line(READ_AGAIN);
    // This one still expects the old key.
    assert!(!through(&entry));
    says(b"between");
    put("next-server.pub", "known.pub");
    put("next-alice.key", "own.key");
    connecting.signal("-HUP");
    connecting.await_line(READ_AGAIN);
    assert!(through(&entry));
    says(b"after");

    // It is alice's new key that the new connections have: without it they are refused.
    put("alice.pub", "allowed");
    eventually("the new key is refused", || !through(&entry));
    says(b"still there");
    drop(standing);
    for running in [connecting, listening] {
        running.terminated().expect_code(0);
    }
}
