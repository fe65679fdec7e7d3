//! Endpoints and routing ids as programs give them.

use std::net::{TcpListener, TcpStream, UdpSocket};
use std::os::fd::{AsRawFd as _, IntoRawFd as _, OwnedFd};
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use sealwire::{Endpoint, SocketType};
use sealwire_zmtp::Frames;

use super::{DONTWAIT, POLLOUT, SNDMORE, Socket};
use crate::context::Context;
use crate::errno::Errno;
use crate::message::Msg;
use crate::options::{number, socks_proxy};

mod habits;
mod peers;

/// Nothing here takes that long unless it is broken.
const TIMEOUT: Duration = Duration::from_secs(60);

fn send(socket: &Socket, parts: &[&str]) {
    for (index, part) in parts.iter().enumerate() {
        let flags = if index + 1 < parts.len() { SNDMORE } else { 0 };
        socket.send(&mut Frames::single(*part), flags).unwrap();
    }
}

fn receive(socket: &Socket) -> Vec<u8> {
    socket.receive(0).unwrap().as_bytes().to_vec()
}

#[test]
fn a_router_speaks_first_under_the_routing_id_that_it_chose() {
    let context = Context::without_rules();
    let (answers, asks) = (
        context.open_briefly(SocketType::Router),
        context.open_briefly(SocketType::Router),
    );
    answers.bind("tcp://127.0.0.1:*").unwrap();
    asks.set(number::ROUTING_ID, Some(b"asks")).unwrap();
    asks.set(number::CONNECT_ROUTING_ID, Some(b"answers"))
        .unwrap();
    asks.connect(&answers.last_endpoint()).unwrap();
    send(&asks, &["answers", "question"]);
    assert_eq!(receive(&answers), b"asks");
    assert_eq!(receive(&answers), b"question");
    send(&answers, &["asks", "answer"]);
    assert_eq!(receive(&asks), b"answers");
    // It was for one connection.
    asks.connect(&answers.last_endpoint()).unwrap();
    asks.set(number::CONNECT_ROUTING_ID, Some(b"answers"))
        .unwrap();
    let again = asks.connect("inproc://elsewhere");
    assert_eq!(again, Err(Errno(libc::EADDRINUSE)));
}

#[test]
fn a_stream_answers_the_routing_id_of_its_connection() {
    let context = Context::without_rules();
    let (server, client) = (
        context.open_briefly(SocketType::Stream),
        context.open_briefly(SocketType::Stream),
    );
    server.bind("tcp://127.0.0.1:*").unwrap();
    client.connect(&server.last_endpoint()).unwrap();
    let routing_id = client.get(number::ROUTING_ID, 255).unwrap();
    assert_eq!((routing_id.len(), routing_id[0]), (5, 0));
    client
        .send(&mut Frames::single(routing_id.as_slice()), SNDMORE)
        .unwrap();
    // It sends at once, whatever is said to follow.
    client.send(&mut Frames::single("GET /"), SNDMORE).unwrap();
    let peer = receive(&server);
    assert_eq!(receive(&server), b"");
    assert_eq!(receive(&server), peer);
    assert_eq!(receive(&server), b"GET /");
    client
        .set(number::CONNECT_ROUTING_ID, Some(b"mine"))
        .unwrap();
    client.connect(&server.last_endpoint()).unwrap();
    assert_eq!(*client.get(number::ROUTING_ID, 255).unwrap(), b"mine");
}

/// A program may know the peers of all its sockets by their routing ids.
#[test]
fn peers_of_different_sockets_have_different_routing_ids() {
    let context = Context::without_rules();
    let mut seen = Vec::new();
    for (theirs, ours) in [
        (SocketType::Router, SocketType::Dealer),
        (SocketType::Router, SocketType::Dealer),
        (SocketType::Stream, SocketType::Stream),
        (SocketType::Stream, SocketType::Stream),
    ] {
        let (server, client) = (context.open_briefly(theirs), context.open_briefly(ours));
        server.bind("tcp://127.0.0.1:*").unwrap();
        client.connect(&server.last_endpoint()).unwrap();
        if ours == SocketType::Stream {
            seen.push(client.get(number::ROUTING_ID, 255).unwrap().to_vec());
        } else {
            send(&client, &["hello"]);
        }
        seen.push(receive(&server));
    }
    for id in &seen {
        assert_eq!((id.len(), id[0]), (5, 0));
        assert_eq!(seen.iter().filter(|other| *other == id).count(), 1);
    }
}

/// As in libzmq, for any name.
#[test]
fn a_name_without_a_message_is_taken_and_sent_to_nobody() {
    let context = Context::without_rules();
    let (router, dealer) = (
        context.open_briefly(SocketType::Router),
        context.open_briefly(SocketType::Dealer),
    );
    let on = 1_i32.to_ne_bytes();
    router.set(number::ROUTER_MANDATORY, Some(&on)).unwrap();
    dealer.set(number::ROUTING_ID, Some(b"dealer")).unwrap();
    router.bind("inproc://a-name").unwrap();
    dealer.connect("inproc://a-name").unwrap();
    for name in ["dealer", "nobody"] {
        send(&router, &[name]);
    }
    send(&router, &["dealer", "body"]);
    assert_eq!(receive(&dealer), b"body");
    send(&context.open_briefly(SocketType::Stream), &["nobody"]);
}

/// As libzmq: the same option means something to single types only.
#[test]
fn an_option_of_one_type_is_refused_for_others() {
    let context = Context::without_rules();
    let value = 1_i32.to_ne_bytes();
    for (option, takes, refuses) in [
        (
            number::ROUTER_NOTIFY,
            SocketType::Router,
            SocketType::Dealer,
        ),
        (number::XPUB_VERBOSE, SocketType::XPub, SocketType::Sub),
        (number::ROUTER_HANDOVER, SocketType::Rep, SocketType::Dealer),
        (number::REQ_RELAXED, SocketType::Req, SocketType::Rep),
        (number::STREAM_NOTIFY, SocketType::Stream, SocketType::Pair),
    ] {
        let [takes, refuses] = [takes, refuses].map(|it| context.open_briefly(it));
        assert_eq!(takes.set(option, Some(&value)), Ok(()));
        assert_eq!(refuses.set(option, Some(&value)), Err(Errno::INVAL));
    }
    let dealer = context.open_briefly(SocketType::Dealer);
    let default = dealer.get(number::ROUTER_NOTIFY, 4).unwrap();
    assert_eq!(*default, 0_i32.to_ne_bytes());
}

#[test]
fn topics_are_counted_where_there_are_some() {
    let context = Context::without_rules();
    let [publisher, subscriber, pair] =
        [SocketType::Pub, SocketType::Sub, SocketType::Pair].map(|it| context.open_briefly(it));
    publisher.bind("inproc://topics").unwrap();
    subscriber.connect("inproc://topics").unwrap();
    for topic in [&b"a"[..], b"ab", b"a"] {
        subscriber.set(number::SUBSCRIBE, Some(topic)).unwrap();
    }
    for socket in [&subscriber, &publisher] {
        let topics = socket.get(number::TOPICS_COUNT, 4).unwrap();
        assert_eq!(*topics, 2_i32.to_ne_bytes());
    }
    assert_eq!(pair.get(number::TOPICS_COUNT, 4), Err(Errno::INVAL));
}

#[test]
fn other_types_choose_no_routing_ids() {
    let context = Context::without_rules();
    for socket_type in [SocketType::Dealer, SocketType::Push, SocketType::Rep] {
        let socket = context.open_briefly(socket_type);
        let set = socket.set(number::CONNECT_ROUTING_ID, Some(b"name"));
        assert_eq!(set, Err(Errno::INVAL), "{socket_type}");
    }
}

#[test]
fn a_context_without_threads_reaches_its_own_process_only() {
    const IO_THREADS: i32 = 1;
    let context = Context::without_rules();
    context.set(IO_THREADS, 0).unwrap();
    let socket = context.open_briefly(SocketType::Push);
    for endpoint in ["tcp://127.0.0.1:*", "ipc:///tmp/sealwire-no-threads"] {
        assert_eq!(socket.bind(endpoint), Err(Errno::MTHREAD));
    }
    assert_eq!(socket.connect("tcp://127.0.0.1:1"), Err(Errno::MTHREAD));
    socket.bind("inproc://no-threads").unwrap();
}

#[test]
fn an_affinity_that_names_no_thread_is_refused_and_another_is_not() {
    const IO_THREADS: i32 = 1;
    let context = Context::without_rules();
    context.set(IO_THREADS, 2).unwrap();
    let socket = context.open_briefly(SocketType::Push);
    let affinity = |bits: u64| socket.set(number::AFFINITY, Some(&bits.to_ne_bytes()));
    affinity(0b100).unwrap();
    assert_eq!(socket.bind("tcp://127.0.0.1:*"), Err(Errno::MTHREAD));
    affinity(0b010).unwrap();
    socket.bind("tcp://127.0.0.1:*").unwrap();
    assert_eq!(context.set(IO_THREADS, 65), Err(Errno::INVAL));
}

#[test]
fn an_address_of_ipv6_needs_no_brackets() {
    for text in ["tcp://::1:5555", "tcp://[::1]:5555"] {
        let parsed = super::endpoints::parse(text).unwrap();
        assert_eq!(parsed, "tcp://[::1]:5555".parse::<Endpoint>().unwrap());
    }
    assert!(super::endpoints::parse("tcp://::1").is_err());
}

#[test]
fn a_socks_proxy_may_have_a_source() {
    let proxy = |text: &'static str| socks_proxy(text.as_bytes());
    assert!(proxy("").unwrap().is_none());
    assert_eq!(proxy("proxy:1080").unwrap().unwrap().source, None);
    let with = proxy("127.0.0.1:0;[::1]:1080").unwrap().unwrap();
    assert_eq!(with.source, Some("127.0.0.1:0"));
    for text in ["proxy", "proxy:none", "proxy:+1080", "127.0.0.1:0;proxy"] {
        assert_eq!(proxy(text).err(), Some(Errno::INVAL), "{text}");
    }
}

/// Ends a context, unless that takes too long.
fn terminate(context: Arc<Context>) {
    let (done, ended) = mpsc::channel();
    thread::spawn(move || done.send(context.terminate()));
    assert_eq!(ended.recv_timeout(TIMEOUT), Ok(Ok(())));
}

#[test]
fn what_was_sent_before_anybody_bound_waits_for_that_and_holds_up_no_end() {
    let context = Context::without_rules();
    for endpoint in ["inproc://later", "inproc://never"] {
        // Without a limit to its linger time, as programs have it.
        let push = context.open(SocketType::Push).unwrap();
        push.connect(endpoint).unwrap();
        send(&push, &[endpoint]);
        push.close();
    }
    let pull = context.open_briefly(SocketType::Pull);
    pull.bind("inproc://later").unwrap();
    let part = pull.receive(DONTWAIT).unwrap();
    assert_eq!(part.as_bytes(), b"inproc://later");
    pull.close();
    // The context ends with the last of its sockets.
    drop(pull);
    terminate(context);
}

#[test]
fn what_came_from_a_peer_is_gone_once_the_socket_disconnects_from_it() {
    let context = Context::without_rules();
    let (left, stays) = (
        context.open_briefly(SocketType::Push),
        context.open_briefly(SocketType::Push),
    );
    let pull = context.open_briefly(SocketType::Pull);
    for (socket, endpoint) in [(&left, "inproc://left"), (&stays, "inproc://stays")] {
        socket.bind(endpoint).unwrap();
        pull.connect(endpoint).unwrap();
    }
    for text in ["first", "second", "third"] {
        send(&left, &[text]);
    }
    assert_eq!(receive(&pull), b"first");
    send(&stays, &["stays", "all of it"]);
    // Of the others one is taken already, as it was there.
    assert_eq!(receive(&pull), b"second");
    pull.disconnect("inproc://left").unwrap();
    assert_eq!(receive(&pull), b"stays");
    assert_eq!(receive(&pull), b"all of it");
    assert_eq!(pull.receive(DONTWAIT).err(), Some(Errno::AGAIN));
}

/// What a thread sends whose message has one part is behind no lock that another thread holds while it waits for room.
#[test]
fn a_part_that_waits_for_room_holds_up_no_message_of_one_part() {
    let context = Context::without_rules();
    let [pull, push] = [SocketType::Pull, SocketType::Push].map(|it| context.open_briefly(it));
    pull.bind("inproc://held-up").unwrap();
    push.connect("inproc://held-up").unwrap();
    let (done, ended) = mpsc::channel();
    let _waits = push.outbound();
    let of_thread = push.clone();
    thread::spawn(move || {
        let sent = of_thread.send(&mut Frames::single("text"), 0);
        let _ = done.send((sent, of_thread.events() & POLLOUT));
    });
    assert_eq!(ended.recv_timeout(TIMEOUT), Ok((Ok(()), POLLOUT)));
    assert_eq!(receive(&pull), b"text");
}

#[test]
fn parts_of_two_threads_all_arrive() {
    const MESSAGES: usize = 2_000;
    let context = Context::without_rules();
    let [pull, push] = [SocketType::Pull, SocketType::Push].map(|it| context.open_briefly(it));
    for (socket, mark) in [(&pull, number::RCVHWM), (&push, number::SNDHWM)] {
        socket.set(mark, Some(&0_i32.to_ne_bytes())).unwrap();
    }
    pull.bind("inproc://two-threads").unwrap();
    push.connect("inproc://two-threads").unwrap();
    let of_thread = push.clone();
    let other = thread::spawn(move || (0..MESSAGES).for_each(|_| send(&of_thread, &["whole"])));
    for _ in 0..MESSAGES {
        send(&push, &["first", "last"]);
    }
    other.join().unwrap();
    let mut arrived = [0; 3];
    for _ in 0..3 * MESSAGES {
        let part = receive(&pull);
        arrived[["whole", "first", "last"]
            .iter()
            .position(|it| it.as_bytes() == part)
            .unwrap()] += 1;
    }
    assert_eq!(arrived, [MESSAGES; 3]);
    assert_eq!(pull.receive(DONTWAIT).err(), Some(Errno::AGAIN));
}

fn eventually(condition: impl Fn() -> bool) {
    let deadline = Instant::now() + TIMEOUT;
    while !condition() {
        assert!(Instant::now() < deadline, "not in time");
        thread::yield_now();
    }
}

/// The number of a descriptor that is given away.
fn given(listener: impl Into<OwnedFd>) -> [u8; 4] {
    listener.into().into_raw_fd().to_ne_bytes()
}

fn use_fd(socket: &Socket) -> i32 {
    let value = socket.get(number::USE_FD, 4).unwrap();
    i32::from_ne_bytes(value[..].try_into().unwrap())
}

#[test]
fn a_descriptor_that_listens_is_bound_and_closed_with_its_endpoint() {
    let context = Context::without_rules();
    let (pull, push) = (
        context.open_briefly(SocketType::Pull),
        context.open_briefly(SocketType::Push),
    );
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    pull.set(number::USE_FD, Some(&given(listener))).unwrap();
    // Where it listens counts, not the text.
    pull.bind("tcp://127.0.0.1:1").unwrap();
    assert_eq!(pull.last_endpoint(), format!("tcp://{address}"));
    push.connect(&pull.last_endpoint()).unwrap();
    send(&push, &["work"]);
    assert_eq!(receive(&pull), b"work");
    // It was for one endpoint.
    assert_eq!(use_fd(&pull), -1);
    pull.bind("tcp://127.0.0.1:*").unwrap();
    assert_ne!(pull.last_endpoint(), format!("tcp://{address}"));
    pull.unbind("tcp://127.0.0.1:1").unwrap();
    eventually(|| TcpStream::connect(address).is_err());
}

#[test]
fn the_file_of_a_descriptor_stays() {
    let context = Context::without_rules();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("socket");
    let endpoint = format!("ipc://{}", file.display());
    let listener = UnixListener::bind(&file).unwrap();
    let pull = context.open_briefly(SocketType::Pull);
    pull.set(number::USE_FD, Some(&given(listener))).unwrap();
    pull.bind(&endpoint).unwrap();
    assert_eq!(pull.last_endpoint(), endpoint);
    pull.unbind(&endpoint).unwrap();
    eventually(|| UnixStream::connect(&file).is_err());
    assert!(file.exists());
}

#[test]
fn a_descriptor_that_cannot_be_bound_stays_the_programs() {
    let context = Context::without_rules();
    let pull = context.open_briefly(SocketType::Pull);
    let unix = tempfile::tempdir().unwrap();
    let unix = UnixListener::bind(unix.path().join("socket")).unwrap();
    let datagrams = UdpSocket::bind("127.0.0.1:0").unwrap();
    let file = tempfile::tempfile().unwrap();
    for (descriptor, errno) in [
        (i32::MAX, libc::EBADF),
        (file.as_raw_fd(), libc::ENOTSOCK),
        (datagrams.as_raw_fd(), libc::EINVAL),
        // Of another transport than the text.
        (unix.as_raw_fd(), libc::EINVAL),
    ] {
        pull.set(number::USE_FD, Some(&descriptor.to_ne_bytes()))
            .unwrap();
        assert_eq!(pull.bind("tcp://127.0.0.1:*"), Err(Errno(errno)));
        assert_eq!(use_fd(&pull), descriptor);
    }
    // All are open still.
    assert!(unix.local_addr().is_ok() && datagrams.local_addr().is_ok());
    assert!(file.metadata().is_ok());
}

/// A path is taken from the socket that listens there, as libzmq does.
#[test]
fn a_path_is_bound_again() {
    let context = Context::without_rules();
    let folder = tempfile::tempdir().unwrap();
    let endpoint = format!("ipc://{}", folder.path().join("socket").display());
    let before = UnixListener::bind(folder.path().join("socket")).unwrap();
    let (pull, push) = (
        context.open_briefly(SocketType::Pull),
        context.open_briefly(SocketType::Push),
    );
    pull.bind(&endpoint).unwrap();
    push.connect(&endpoint).unwrap();
    send(&push, &["work"]);
    assert_eq!(receive(&pull), b"work");
    drop(before);
}

#[test]
fn to_bind_a_name_without_an_address_fails_with_enodev() {
    let context = Context::without_rules();
    let pull = context.open_briefly(SocketType::Pull);
    for (endpoint, number) in [
        ("tcp://unknown.invalid:1", Errno::NODEV),
        ("tcp://127.0.0.1:65536", Errno::INVAL),
    ] {
        assert_eq!(pull.bind(endpoint), Err(number), "{endpoint}");
    }
}

#[test]
fn those_that_take_turns_send_once_all_parts_were_received() {
    let context = Context::without_rules();
    let asks = context.open_briefly(SocketType::Req);
    let answers = context.open_briefly(SocketType::Rep);
    answers.bind("inproc://turns").unwrap();
    asks.connect("inproc://turns").unwrap();
    let early = |socket: &Socket, flags| socket.send(&mut Frames::single("early"), flags);
    let refuses = |socket: &Socket| {
        assert_eq!(socket.events() & POLLOUT, 0);
        assert_eq!(early(socket, 0), Err(Errno::FSM));
        assert_eq!(early(socket, SNDMORE), Err(Errno::FSM));
    };
    send(&asks, &["one", "two"]);
    assert_eq!(receive(&answers), b"one");
    refuses(&answers);
    assert_eq!(receive(&answers), b"two");
    send(&answers, &["three", "four"]);
    assert_eq!(receive(&asks), b"three");
    refuses(&asks);
    // One that is relaxed leaves the rest.
    asks.set(number::REQ_RELAXED, Some(&1_i32.to_ne_bytes()))
        .unwrap();
    assert_eq!(asks.events() & POLLOUT, POLLOUT);
    send(&asks, &["five"]);
    assert_eq!(receive(&answers), b"five");
    send(&answers, &["six"]);
    assert_eq!(receive(&asks), b"six");
}

#[test]
fn a_pub_welcomes_its_subscribers_too() {
    let context = Context::without_rules();
    for socket_type in [SocketType::Pub, SocketType::XPub] {
        let publisher = context.open_briefly(socket_type);
        let welcome = Some(&b"welcome"[..]);
        publisher.set(number::XPUB_WELCOME_MSG, welcome).unwrap();
        publisher.bind("inproc://welcome").unwrap();
        let subscriber = context.open_briefly(SocketType::Sub);
        subscriber.set(number::SUBSCRIBE, Some(b"w")).unwrap();
        subscriber.connect("inproc://welcome").unwrap();
        assert_eq!(subscriber.receive(0).unwrap().as_bytes(), b"welcome");
        subscriber.close();
        publisher.close();
    }
}
