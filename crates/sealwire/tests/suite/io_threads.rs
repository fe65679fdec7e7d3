//! Contexts with several I/O threads.

use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use crate::support::{Path, TIMEOUT, eventually, options};
use sealwire::auth::{Authenticator, Client, Decision};
use sealwire::blocking::Socket;
use sealwire::options::OptionsError;
use sealwire::{
    Context, Error, Generate as _, KeyPair, Message, Security, SocketBuilder, SocketType,
};

const THREADS: u64 = 3;
const MESSAGES: usize = 300;

fn context() -> Context {
    let context = Context::builder().io_threads(THREADS as usize);
    context.build().unwrap()
}

/// A bit for the thread.
fn on(thread: u64) -> u64 {
    1 << thread
}

fn body(number: usize) -> Vec<u8> {
    let mut body = vec![number as u8; 3_000];
    body[..8].copy_from_slice(&(number as u64).to_le_bytes());
    body
}

fn number(message: &Message) -> usize {
    let number = message.as_bytes().first_chunk().expect("eight bytes");
    u64::from_le_bytes(*number) as usize
}

/// Gives the socket these options beside those that it was made with.
fn reconfigure(
    socket: &Socket,
    made: impl Fn() -> SocketBuilder,
    change: impl FnOnce(SocketBuilder) -> SocketBuilder,
) {
    socket.reconfigure(change(made())).unwrap();
}

/// A receiver with an endpoint on each thread, and a sender to all of these, from all of its threads.
fn spread(path: &Path, linger: Duration) -> (Socket, Socket, Vec<String>) {
    spread_with(path, linger, 1_000)
}

/// The same with this high-water mark of the receiver.
fn spread_with(path: &Path, linger: Duration, room: usize) -> (Socket, Socket, Vec<String>) {
    let at = context();
    // Names of inproc are those of one context.
    let from = match path.transport {
        "inproc" => at.clone(),
        _ => context(),
    };
    let receives = || {
        let receiver = path.server(SocketType::Pull).context(&at);
        receiver.receive_high_water_mark(room)
    };
    let sends = || path.client(SocketType::Push).context(&from).linger(linger);
    let receiver = receives().build_blocking().unwrap();
    let sender = sends().build_blocking().unwrap();
    let endpoints = (0..THREADS).map(|thread| {
        reconfigure(&receiver, receives, |it| it.io_affinity(on(thread)));
        let endpoint = receiver.bind(path.endpoint()).unwrap().to_string();
        reconfigure(&sender, sends, |it| {
            it.io_affinity(on(THREADS - 1 - thread))
        });
        sender.connect(&*endpoint).unwrap();
        endpoint
    });
    let endpoints = endpoints.collect();
    (receiver, sender, endpoints)
}

#[test]
fn a_socket_uses_endpoints_on_all_threads() {
    for path in Path::all() {
        let (receiver, sender, _) = spread(&path, TIMEOUT);
        sender.wait_connected(THREADS as usize).unwrap();
        for number in 0..MESSAGES {
            sender.send(body(number)).unwrap();
        }
        let mut received: Vec<_> = (0..MESSAGES)
            .map(|_| number(&receiver.recv().unwrap()))
            .collect();
        received.sort_unstable();
        assert_eq!(received, Vec::from_iter(0..MESSAGES), "{}", path.name());
        assert_eq!(receiver.peers().len(), THREADS as usize);
    }
}

#[test]
fn what_is_unsent_goes_out_from_all_threads_as_the_socket_closes() {
    for path in Path::all() {
        let (receiver, sender, _) = spread(&path, TIMEOUT);
        sender.wait_connected(THREADS as usize).unwrap();
        for number in 0..MESSAGES {
            sender.send(body(number)).unwrap();
        }
        let closing = std::thread::spawn(move || sender.close());
        let mut received: Vec<_> = (0..MESSAGES)
            .map(|_| number(&receiver.recv().unwrap()))
            .collect();
        closing.join().unwrap().unwrap();
        received.sort_unstable();
        assert_eq!(received, Vec::from_iter(0..MESSAGES), "{}", path.name());
        eventually("no peer is left", || receiver.peers().is_empty());
    }
}

#[test]
fn a_linger_time_ends_what_all_threads_do() {
    let path = Path::encrypted();
    let (receiver, sender, _) = spread_with(&path, Duration::from_millis(50), 1);
    sender.wait_connected(THREADS as usize).unwrap();
    // More than the system takes on its way to somebody who does not read.
    for _ in 0..60 {
        sender.try_send(vec![0; 1 << 20]).unwrap();
    }
    assert!(matches!(sender.close(), Err(Error::Unsent(_))));
    eventually("no peer is left", || receiver.peers().is_empty());
}

#[test]
fn endpoints_are_left_on_the_thread_that_serves_them() {
    for path in Path::all() {
        let (receiver, sender, endpoints) = spread(&path, TIMEOUT);
        sender.wait_connected(THREADS as usize).unwrap();
        for (left, endpoint) in endpoints.iter().enumerate() {
            let all = THREADS as usize - left;
            assert_eq!(sender.peers().len(), all);
            sender.disconnect(&**endpoint).unwrap();
            receiver.unbind(&**endpoint).unwrap();
            eventually("the peer is gone", || receiver.peers().len() == all - 1);
        }
        assert!(receiver.bound_endpoints().is_empty(), "{}", path.name());
    }
}

/// Drains the receiver after a first message: nothing is cut off, and nothing comes twice.
fn drained_once(receiver: &Socket, path: &Path) {
    let mut received = vec![number(&receiver.recv().unwrap())];
    receiver.drain(TIMEOUT).unwrap();
    loop {
        match receiver.recv() {
            Ok(message) => received.push(number(&message)),
            Err(Error::Drained { cut_off }) => break assert_eq!(cut_off, 0),
            Err(error) => panic!("{error}"),
        }
    }
    received.sort_unstable();
    let once = received.windows(2).all(|two| two[0] < two[1]);
    assert!(once, "{}: {received:?}", path.name());
}

#[test]
fn a_socket_that_is_drained_takes_what_came_over_all_threads() {
    for path in Path::all() {
        let (receiver, sender, _) = spread(&path, TIMEOUT);
        sender.wait_connected(THREADS as usize).unwrap();
        let mut sent = 0;
        while sent < MESSAGES {
            sender.send(body(sent)).unwrap();
            sent += 1;
        }
        drained_once(&receiver, &path);
        sender.close_with_linger(Duration::ZERO).ok();
    }
}

#[test]
fn a_server_answers_clients_of_all_threads_by_their_keys() {
    let at = context();
    let keys = KeyPair::generate();
    let path = Path {
        transport: "tcp",
        keys: Some(keys),
    };
    let made = || path.server(SocketType::Router).context(&at);
    let server = made().build_blocking().unwrap();
    let clients = (0..THREADS).map(|thread| {
        reconfigure(&server, made, |it| it.io_affinity(on(thread)));
        let endpoint = server.bind(path.endpoint()).unwrap();
        let client = path.client(SocketType::Req).build_blocking().unwrap();
        client.connect(endpoint).unwrap();
        client.send(format!("{thread}")).unwrap();
        client
    });
    let clients: Vec<_> = clients.collect();
    for _ in &clients {
        let mut question = server.recv().unwrap();
        assert!(question.peer().unwrap().public_key().is_some());
        question.push_back("!");
        server.send(question).unwrap();
    }
    for (thread, client) in clients.iter().enumerate() {
        let answer = client.recv().unwrap();
        assert_eq!(answer.frames()[0].as_slice(), thread.to_string().as_bytes());
    }
}

/// A receiver with one endpoint, whose connections are dealt out, and senders in contexts of their own.
fn dealt_out(path: &Path) -> (Socket, Vec<Socket>, String) {
    let at = context();
    let receiver = path.server(SocketType::Pull).context(&at);
    let receiver = receiver.build_blocking().unwrap();
    let endpoint = receiver.bind(path.endpoint()).unwrap().to_string();
    let senders = (0..2 * THREADS).map(|_| {
        let sender = path.client(SocketType::Push).linger(TIMEOUT);
        let sender = match path.transport {
            "inproc" => sender.context(&at),
            _ => sender,
        };
        let sender = sender.build_blocking().unwrap();
        sender.connect(&*endpoint).unwrap();
        sender
    });
    let senders: Vec<_> = senders.collect();
    (receiver, senders, endpoint)
}

#[test]
fn connections_of_one_endpoint_are_dealt_out_and_keep_their_order() {
    for path in Path::all() {
        let (receiver, senders, _) = dealt_out(&path);
        // The first of them go out with the handshake, and wait on their way to another thread.
        for message in 0..MESSAGES {
            for (sender, socket) in senders.iter().enumerate() {
                socket.send(body(message * senders.len() + sender)).unwrap();
            }
        }
        let mut next = vec![0; senders.len()];
        for _ in 0..MESSAGES * senders.len() {
            let number = number(&receiver.recv().unwrap());
            let (message, sender) = (number / senders.len(), number % senders.len());
            assert_eq!(message, next[sender], "{}", path.name());
            next[sender] += 1;
        }
        assert_eq!(receiver.peers().len(), senders.len());
        // The unsent rest goes out as they close.
        let sent = senders.len();
        for sender in senders {
            sender.send(body(sent)).unwrap();
            sender.close().unwrap();
        }
        for _ in 0..sent {
            assert_eq!(number(&receiver.recv().unwrap()), sent);
        }
        eventually("no peer is left", || receiver.peers().is_empty());
    }
}

#[test]
fn an_endpoint_is_left_with_all_connections_that_were_dealt_out() {
    for path in Path::all() {
        let (receiver, senders, endpoint) = dealt_out(&path);
        for sender in &senders {
            sender.wait_connected(1).unwrap();
        }
        eventually("all are there", || receiver.peers().len() == senders.len());
        receiver.unbind_and_disconnect(&*endpoint).unwrap();
        assert!(receiver.peers().is_empty(), "{}", path.name());
        for sender in &senders {
            eventually("the peer is gone", || sender.peers().is_empty());
        }
        assert!(receiver.bound_endpoints().is_empty());
    }
}

#[test]
fn a_socket_that_is_drained_takes_what_came_over_connections_that_were_dealt_out() {
    for path in Path::all() {
        let (receiver, senders, _) = dealt_out(&path);
        for (sender, socket) in senders.iter().enumerate() {
            socket.wait_connected(1).unwrap();
            for message in 0..MESSAGES {
                let number = message * senders.len() + sender;
                socket.send(body(number)).unwrap();
            }
        }
        drained_once(&receiver, &path);
        for sender in senders {
            sender.close_with_linger(Duration::ZERO).ok();
        }
    }
}

/// Says that it was asked, and answers once it may.
struct Waits {
    asked: mpsc::Sender<()>,
    answers: Mutex<mpsc::Receiver<()>>,
}

impl Authenticator for Waits {
    fn authenticate(&self, _: &Client<'_>) -> Decision {
        self.asked.send(()).unwrap();
        self.answers.lock().unwrap().recv().unwrap();
        true.into()
    }
}

/// Its handshake ends on a socket that is being drained meanwhile, which goes to no other thread any more.
#[test]
fn a_connection_that_would_have_been_dealt_out_stays_where_it_is_of_use() {
    let (asked, was_asked) = mpsc::channel();
    let (answer, answers) = mpsc::channel();
    let keys = KeyPair::generate();
    let waits = Waits {
        asked,
        answers: Mutex::new(answers),
    };
    let client = options(SocketType::Push).security(Security::blake3_client(keys.public()));
    let client = client.build_blocking().unwrap();
    let at = context();
    let receiver = options(SocketType::Pull)
        .context(&at)
        .security(Security::blake3_server(keys, waits));
    let receiver = receiver.build_blocking().unwrap();
    let endpoint = receiver.bind("tcp://127.0.0.1:0").unwrap();
    // That thread has more to serve than the others.
    let busy = options(SocketType::Pull).context(&at).io_affinity(on(0));
    let busy = busy.build_blocking().unwrap();
    for _ in 0..4 {
        busy.bind("tcp://127.0.0.1:0").unwrap();
    }
    client.connect(endpoint).unwrap();
    client.send("work").unwrap();
    was_asked.recv_timeout(TIMEOUT).unwrap();
    receiver.drain(TIMEOUT).unwrap();
    answer.send(()).unwrap();
    // The message is with one of them: the client sends it before it hears that the receiver leaves, or keeps it.
    let mut received = 0;
    let cut_off = loop {
        match receiver.recv() {
            Ok(_) => received += 1,
            Err(Error::Drained { cut_off }) => break cut_off,
            Err(error) => panic!("{error}"),
        }
    };
    assert_eq!(cut_off, 0);
    match client.close_with_linger(Duration::ZERO) {
        Ok(()) => assert_eq!(received, 1),
        Err(Error::Unsent(kept)) => assert_eq!((received, kept), (0, 1)),
        Err(error) => panic!("{error}"),
    }
}

/// The thread that serves least gets the next endpoint, so all have a part.
#[test]
fn each_thread_begins_and_ends_with_its_context() {
    let begun = Arc::new(Mutex::new(Vec::new()));
    let context = {
        let begun = begun.clone();
        Context::builder()
            .io_threads(THREADS as usize)
            .thread_name("mine")
            .on_thread_start(move |number| {
                let name = std::thread::current().name().map(String::from);
                begun.lock().unwrap().push((number, name));
            })
            .build()
            .unwrap()
    };
    let socket = options(SocketType::Pull).context(&context);
    let socket = socket.build_blocking().unwrap();
    socket.bind("tcp://127.0.0.1:0").unwrap();
    socket.close().unwrap();
    context.join();
    // Only this is left of what they were given.
    let mut begun = Arc::try_unwrap(begun).unwrap().into_inner().unwrap();
    begun.sort();
    let expected = (0..THREADS as usize).map(|it| (it, Some(format!("mine-{it}"))));
    assert_eq!(begun, Vec::from_iter(expected));
}

#[test]
fn threads_that_cannot_be_are_refused() {
    for threads in [0, 65] {
        let built = Context::builder().io_threads(threads).build();
        let Err(Error::Options(OptionsError::IoThreads(refused))) = built else {
            panic!("{threads} threads")
        };
        assert_eq!(refused, threads);
    }
    assert!(Context::builder().thread_name("a\0b").build().is_err());
    let context = context();
    let socket = options(SocketType::Push)
        .context(&context)
        .io_affinity(0b1000);
    let socket = socket.build_blocking().unwrap();
    for tried in [
        socket.bind("tcp://127.0.0.1:0").map(drop),
        socket.connect("tcp://127.0.0.1:1"),
    ] {
        let refused = OptionsError::IoAffinity(0b1000);
        assert!(matches!(tried, Err(Error::Options(error)) if error == refused));
    }
    // It needs no thread.
    socket.bind("inproc://io-threads").unwrap();
}
