//! `udp`: RADIO and DISH between sockets of ours, and against datagrams made by hand in libzmq's
//! layout.

use std::net::{SocketAddr, UdpSocket};
use std::time::{Duration, Instant};

use crate::support::{self, TIMEOUT, await_event, eventually, options};
use sealwire::auth::AllowAnyone;
use sealwire::blocking::Socket;
use sealwire::options::OptionsError;
use sealwire::{
    DatagramDrop, DatagramError, Endpoint, Error, Event, Generate as _, KeyPair, MAX_DATAGRAM,
    Message, MessageError, Monitor, PeerAddress, Security, SocketType, Unusable, Warning,
};

fn socket(socket_type: SocketType) -> Socket {
    options(socket_type)
        .security(Security::plain_text())
        .build_blocking()
        .unwrap()
}

fn port(endpoint: &Endpoint) -> u16 {
    match endpoint {
        Endpoint::Udp { port, .. } => *port,
        other => panic!("{other} is not udp"),
    }
}

/// A DISH in these groups, with where it is.
fn dish(endpoint: &str, groups: &[&str]) -> (Socket, Endpoint) {
    let dish = socket(SocketType::Dish);
    for group in groups {
        dish.join(group).unwrap();
    }
    let bound = dish.bind(endpoint).unwrap();
    (dish, bound)
}

/// Group and body of what is received next.
fn next(dish: &Socket) -> (Vec<u8>, Vec<u8>) {
    let message = dish.recv().unwrap();
    let group = message.group().unwrap().to_vec();
    (group, message.as_bytes().to_vec())
}

/// Time between two datagrams of which one may be enough, so that no queue fills with them.
const PAUSE: Duration = Duration::from_millis(10);

/// Sends until the DISH has something.
fn reach(radio: &Socket, dish: &Socket, group: &str, body: &[u8]) -> Message {
    let mut received = None;
    eventually("a message arrives", || {
        radio.send(Message::to_group(group, body)).unwrap();
        std::thread::sleep(PAUSE);
        received = dish.try_recv().ok();
        received.is_some()
    });
    received.unwrap()
}

#[test]
fn messages_of_joined_groups_arrive_with_their_sender() {
    let ipv6 = support::has_ipv6().then_some("[::1]");
    for host in ["127.0.0.1", "localhost"].into_iter().chain(ipv6) {
        let (dish, bound) = dish(&format!("udp://{host}:*"), &["news"]);
        let radio = socket(SocketType::Radio);
        radio.connect(&bound).unwrap();
        // A message that is sent at once is not lost: nobody has to be there first.
        radio.send(Message::to_group("weather", "sun")).unwrap();
        radio.send(Message::to_group("news", "first")).unwrap();
        let body: Vec<u8> = (0..MAX_DATAGRAM - 5).map(|n| n as u8).collect();
        radio.send(Message::to_group("news", body.clone())).unwrap();
        radio.send(Message::to_group("news", "")).unwrap();
        assert_eq!(next(&dish), (b"news".to_vec(), b"first".to_vec()), "{host}");
        assert_eq!(next(&dish), (b"news".to_vec(), body));
        let last = dish.recv().unwrap();
        assert_eq!(last.as_bytes(), b"");
        let sender = last.peer().unwrap();
        let PeerAddress::Udp(address) = sender.address() else {
            panic!("{sender:?}")
        };
        assert!(address.ip().is_loopback() && address.port() != port(&bound));
        assert_eq!(sender.socket_type(), SocketType::Radio);
        assert_eq!((sender.mechanism(), sender.user_id()), (None, None));
        eventually("what is of another group is counted", || {
            dish.counters().dropped_at_receive == 1
        });
        assert!(dish.peers().is_empty() && radio.peers().is_empty());
        // Groups are left and joined while datagrams come.
        dish.leave("news").unwrap();
        dish.join("weather").unwrap();
        radio.send(Message::to_group("news", "second")).unwrap();
        radio.send(Message::to_group("weather", "rain")).unwrap();
        assert_eq!(
            next(&dish),
            (b"weather".to_vec(), b"rain".to_vec()),
            "{host}"
        );
    }
}

/// The layout stands in libzmq's `udp_engine.cpp`: one octet of length, the group, the body.
#[test]
fn the_layout_is_libzmqs() {
    let plain = UdpSocket::bind("127.0.0.1:0").unwrap();
    plain.set_read_timeout(Some(TIMEOUT)).unwrap();
    let here = plain.local_addr().unwrap();
    let radio = socket(SocketType::Radio);
    radio.connect(format!("udp://{here}")).unwrap();
    radio.send(Message::to_group("news", "rain")).unwrap();
    let mut buffer = [0; 100];
    let (length, _) = plain.recv_from(&mut buffer).unwrap();
    assert_eq!(&buffer[..length], b"\x04newsrain");

    let (dish, bound) = dish("udp://127.0.0.1:*", &["news", "x"]);
    let there = ("127.0.0.1", port(&bound));
    plain.send_to(b"\x04newsrain", there).unwrap();
    plain.send_to(b"\x01x", there).unwrap();
    assert_eq!(next(&dish), (b"news".to_vec(), b"rain".to_vec()));
    let message = dish.recv().unwrap();
    assert_eq!(
        (message.group(), message.as_bytes()),
        (Some(&b"x"[..]), &b""[..])
    );
    assert_eq!(*message.peer().unwrap().address(), PeerAddress::Udp(here));
}

#[test]
fn senders_are_told_apart() {
    let (dish, bound) = dish("udp://*:*", &["g"]);
    let there = SocketAddr::from(([127, 0, 0, 1], port(&bound)));
    // More than are remembered at a time, each twice.
    let senders: Vec<UdpSocket> = (0..300)
        .map(|_| UdpSocket::bind("127.0.0.1:0").unwrap())
        .collect();
    for _ in 0..2 {
        for (number, sender) in senders.iter().enumerate() {
            sender
                .send_to(format!("\x01g{number}").as_bytes(), there)
                .unwrap();
            let message = dish.recv().unwrap();
            assert_eq!(message.as_str().unwrap(), number.to_string());
            let address = PeerAddress::Udp(sender.local_addr().unwrap());
            assert_eq!(*message.peer().unwrap().address(), address);
        }
    }
}

#[test]
fn what_is_no_datagram_of_a_radio_is_dropped_and_told() {
    for (bytes, reason) in [
        (&b""[..], DatagramError::Empty),
        (b"\0body", DatagramError::NoGroup),
        (b"\x05news", DatagramError::GroupCut),
        (&[1; MAX_DATAGRAM + 1], DatagramError::TooLarge),
    ] {
        let (dish, bound) = dish("udp://127.0.0.1:*", &["news"]);
        let monitor = dish.monitor();
        let plain = UdpSocket::bind("127.0.0.1:0").unwrap();
        let there = ("127.0.0.1", port(&bound));
        plain.send_to(bytes, there).unwrap();
        let here = PeerAddress::Udp(plain.local_addr().unwrap());
        await_event(&monitor, "the drop", |event| match event {
            Event::DatagramsDropped {
                endpoint,
                address,
                count: 1,
                reason: DatagramDrop::Malformed(found),
            } => {
                assert_eq!((endpoint, address, *found), (&bound, &here, reason));
                Some(())
            }
            _ => None,
        });
        // The next one is as good as ever.
        plain.send_to(b"\x04newsrain", there).unwrap();
        assert_eq!(next(&dish).1, b"rain");
        assert_eq!(dish.counters().dropped_at_receive, 1);
        eventually("what was received is counted", || {
            dish.counters().messages_received == 1
        });
    }
}

#[test]
fn a_full_queue_stops_the_reading_and_goes_on() {
    let dish = options(SocketType::Dish)
        .receive_high_water_mark(3)
        .build_blocking()
        .unwrap();
    dish.join("g").unwrap();
    let bound = dish.bind("udp://127.0.0.1:*").unwrap();
    let plain = UdpSocket::bind("127.0.0.1:0").unwrap();
    for number in 0..50_u8 {
        plain
            .send_to(&[1, b'g', number], ("127.0.0.1", port(&bound)))
            .unwrap();
    }
    for number in 0..50_u8 {
        assert_eq!(next(&dish).1, [number]);
    }
}

#[test]
fn a_radio_that_nobody_hears_goes_on() {
    let radio = socket(SocketType::Radio);
    radio.connect("udp://127.0.0.1:9").unwrap();
    for _ in 0..100 {
        radio.send(Message::to_group("g", "lost")).unwrap();
    }
    let (dish, bound) = dish("udp://127.0.0.1:*", &["g"]);
    radio.connect(&bound).unwrap();
    radio.send(Message::to_group("g", "heard")).unwrap();
    assert_eq!(next(&dish).1, b"heard");
    radio.close().unwrap();
}

#[test]
fn what_the_system_does_not_send_is_told() {
    // Broadcast needs permission that a socket does not have by itself.
    let radio = socket(SocketType::Radio);
    let monitor = radio.monitor();
    radio.connect("udp://255.255.255.255:9").unwrap();
    radio.send(Message::to_group("g", "everybody")).unwrap();
    await_event(&monitor, "the drop", |event| match event {
        Event::DatagramsDropped {
            reason: DatagramDrop::Unsent(_),
            ..
        } => Some(()),
        _ => None,
    });
    assert_eq!(radio.counters().dropped_unsent, 1);
}

#[test]
fn what_can_leave_the_machine_is_warned_of_and_nothing_else() {
    let warned = |monitor: &Monitor| {
        std::iter::from_fn(|| monitor.try_next()).any(|event| {
            matches!(&event, Event::Warning { warning: Warning::DatagramsExposed, address, .. }
                if matches!(address, PeerAddress::Udp(_)))
        })
    };
    for (endpoint, exposed) in [
        ("udp://127.0.0.1:9", false),
        ("udp://[::1]:9", false),
        ("udp://192.0.2.1:9", true),
        ("udp://127.0.0.1;239.255.83.87:9", true),
    ] {
        let radio = socket(SocketType::Radio);
        let monitor = radio.monitor();
        radio.connect(endpoint).unwrap();
        assert_eq!(warned(&monitor), exposed, "{endpoint}");
    }
    for (endpoint, exposed) in [("udp://127.0.0.1:*", false), ("udp://*:*", true)] {
        let dish = socket(SocketType::Dish);
        let monitor = dish.monitor();
        dish.bind(endpoint).unwrap();
        assert_eq!(warned(&monitor), exposed, "{endpoint}");
    }
}

#[test]
fn a_message_that_fits_no_datagram_is_given_back() {
    let (dish, bound) = dish("udp://127.0.0.1:*", &["group"]);
    let radio = socket(SocketType::Radio);
    radio.connect(&bound).unwrap();
    let largest = MAX_DATAGRAM - 6;
    let error = radio
        .send(Message::to_group("group", vec![0; largest + 1]))
        .unwrap_err();
    assert!(
        matches!(error.error(), Error::Message(MessageError::DatagramTooLarge { size }) if *size == MAX_DATAGRAM + 1),
        "{error}"
    );
    assert_eq!(error.into_message().as_bytes().len(), largest + 1);
    radio
        .send(Message::to_group("group", vec![0; largest]))
        .unwrap();
    assert_eq!(next(&dish).1.len(), largest);
}

#[test]
fn one_radio_serves_datagrams_and_connections() {
    let (near, bound) = dish("udp://127.0.0.1:*", &["g"]);
    let radio = socket(SocketType::Radio);
    radio.connect(&bound).unwrap();
    let far = socket(SocketType::Dish);
    far.join("g").unwrap();
    far.connect(radio.bind("tcp://127.0.0.1:*").unwrap())
        .unwrap();
    let message = reach(&radio, &far, "g", b"both");
    assert_eq!(message.as_bytes(), b"both");
    assert_eq!(next(&near).1, b"both");
}

/// A port below those that the system gives out, so that nobody gets it in between.
fn own_port() -> u16 {
    10_000 + (std::process::id() % 20_000) as u16
}

#[test]
fn endpoints_end() {
    let radio = socket(SocketType::Radio);
    let (first, bound) = dish(&format!("udp://127.0.0.1:{}", own_port()), &["g"]);
    radio.connect(&bound).unwrap();
    radio.send(Message::to_group("g", "1")).unwrap();
    radio.disconnect(&bound).unwrap();
    assert!(radio.connected_endpoints().is_empty());
    // Sent before the end of the endpoint, so it still goes.
    assert_eq!(next(&first).1, b"1");
    radio.send(Message::to_group("g", "2")).unwrap();
    first.unbind(&bound).unwrap();
    // The port is free again once the I/O thread has let go of it.
    let second = socket(SocketType::Dish);
    second.join("g").unwrap();
    eventually("the port is free", || second.bind(&bound).is_ok());
    radio.connect(&bound).unwrap();
    // Closing sends what is queued.
    for number in 0..100 {
        radio.send(Message::to_group("g", vec![3, number])).unwrap();
    }
    radio.close().unwrap();
    for number in 0..100 {
        assert_eq!(next(&second).1, [3, number]);
    }
    second.close().unwrap();
}

/// Sends to a group until its member has something; `None` where the system does not let it pass.
fn reach_group(endpoint: &Endpoint, member: &Socket) -> Option<Message> {
    let radio = options(SocketType::Radio)
        .security(Security::plain_text())
        .multicast_hops(1)
        .multicast_loop(true)
        .build_blocking()
        .unwrap();
    let monitor = radio.monitor();
    radio.connect(endpoint).unwrap();
    let deadline = Instant::now() + TIMEOUT;
    let (mut received, mut unsent) = (None, false);
    while received.is_none() && !unsent && Instant::now() < deadline {
        radio.send(Message::to_group("g", "all")).unwrap();
        std::thread::sleep(PAUSE);
        received = member.try_recv().ok();
        while let Some(event) = monitor.try_next() {
            unsent |= matches!(event, Event::DatagramsDropped { .. });
        }
    }
    received
}

/// A group that does not leave the machine on an interface of its own; two members, and both get
/// everything.
fn every_member_gets_it(group: &str, interface: &str) -> bool {
    let dish = socket(SocketType::Dish);
    dish.join("g").unwrap();
    let bound = match dish.bind(format!("udp://{interface};{group}:*")) {
        Ok(bound) => bound,
        Err(error) => {
            eprintln!("no multicast here: {error}");
            return false;
        }
    };
    let other = socket(SocketType::Dish);
    other.join("g").unwrap();
    other.bind(&bound).unwrap();
    let Some(message) = reach_group(&bound, &dish) else {
        eprintln!("no multicast here: {bound}");
        return false;
    };
    assert_eq!(message.as_bytes(), b"all");
    assert_eq!(next(&other), (b"g".to_vec(), b"all".to_vec()));
    true
}

#[test]
fn every_member_of_a_multicast_group_gets_it() {
    for interface in ["127.0.0.1", "lo"] {
        let works = every_member_gets_it("239.255.83.87", interface);
        // Linux always has it there; elsewhere an interface may have another name.
        assert!(works || !cfg!(target_os = "linux"), "{interface}");
    }
}

#[test]
fn every_member_of_a_multicast_group_of_ipv6_gets_it() {
    // Scope 1: it does not leave the machine. Which interface has a route differs.
    let Ok(interfaces) = std::fs::read_dir("/sys/class/net") else {
        return eprintln!("SKIPPED: no list of interfaces");
    };
    let works = interfaces.flatten().any(|interface| {
        let name = interface.file_name();
        every_member_gets_it("[ff01::5357]", name.to_str().unwrap())
    });
    if !works {
        eprintln!("SKIPPED: no interface has multicast over IPv6");
    }
}

#[test]
fn what_datagrams_cannot_do_is_refused() {
    let endpoint = "udp://127.0.0.1:9";
    for socket_type in [SocketType::Push, SocketType::Pub, SocketType::Stream] {
        let socket = socket(socket_type);
        for refused in [socket.bind(endpoint).map(drop), socket.connect(endpoint)] {
            assert!(
                matches!(
                    refused,
                    Err(Error::UnusableEndpoint {
                        reason: Unusable::Transport,
                        ..
                    })
                ),
                "{refused:?}"
            );
        }
    }
    let radio = socket(SocketType::Radio);
    let refused = radio.bind(endpoint);
    assert!(matches!(
        refused,
        Err(Error::UnusableEndpoint {
            reason: Unusable::Direction,
            ..
        })
    ));
    let dish = socket(SocketType::Dish);
    let refused = dish.connect(endpoint);
    assert!(matches!(
        refused,
        Err(Error::UnusableEndpoint {
            reason: Unusable::Direction,
            ..
        })
    ));
    assert!(radio.connect("udp://*:9").is_err() && radio.connect("udp://127.0.0.1:0").is_err());

    // Nothing is encrypted, and nobody is asked: that is said, and not done silently.
    let keys = KeyPair::generate();
    for (security, name) in [
        (Security::blake3_client(keys.public()).into(), "BLAKE3"),
        (
            Security::blake3_server(keys.clone(), AllowAnyone).into(),
            "BLAKE3",
        ),
        (Security::curve_server(keys, AllowAnyone), "CURVE"),
        (Security::plain_client("user", "password"), "PLAIN"),
    ] {
        let dish = options(SocketType::Dish).security(security.clone());
        let refused = dish.build_blocking().unwrap().bind("udp://127.0.0.1:*");
        assert!(
            matches!(&refused, Err(Error::UnusableEndpoint { reason: Unusable::NoHandshake { wanted }, .. }) if *wanted == name),
            "{refused:?}"
        );
        let radio = options(SocketType::Radio).security(security);
        let refused = radio.build_blocking().unwrap().connect(endpoint);
        assert!(matches!(
            refused,
            Err(Error::UnusableEndpoint {
                reason: Unusable::NoHandshake { .. },
                ..
            })
        ));
    }
    let dish = options(SocketType::Dish).zap_domain("");
    let refused = dish.build_blocking().unwrap().bind("udp://127.0.0.1:*");
    assert!(matches!(
        refused,
        Err(Error::UnusableEndpoint {
            reason: Unusable::NoHandshake {
                wanted: "a ZAP handler"
            },
            ..
        })
    ));
}

#[test]
fn what_is_not_there_is_named() {
    let radio = socket(SocketType::Radio);
    for endpoint in [
        "udp://no-such-host.invalid:9",
        "udp://no-such-interface;239.0.0.1:9",
        "udp://127.0.0.1;[ff01::1]:9",
        "udp://lo;127.0.0.1:9",
    ] {
        let refused = radio.connect(endpoint);
        assert!(matches!(refused, Err(Error::Connect { .. })), "{refused:?}");
    }
    let (_dish, bound) = dish("udp://127.0.0.1:*", &[]);
    let refused = socket(SocketType::Dish).bind(bound);
    assert!(
        matches!(&refused, Err(Error::Bind { source, .. })
            if source.kind() == std::io::ErrorKind::AddrInUse),
        "{refused:?}"
    );
    let four = options(SocketType::Radio).ipv6(false);
    let refused = four.build_blocking().unwrap().connect("udp://[::1]:9");
    assert!(matches!(refused, Err(Error::Connect { .. })), "{refused:?}");
}

#[test]
fn options_of_multicast_are_for_radio() {
    for built in [
        options(SocketType::Dish).multicast_hops(2).build(),
        options(SocketType::Pub).multicast_loop(false).build(),
    ] {
        assert!(matches!(
            built,
            Err(Error::Options(OptionsError::NotApplicable { .. }))
        ));
    }
    let built = options(SocketType::Radio).multicast_hops(0).build();
    assert!(matches!(built, Err(Error::Options(OptionsError::Zero(_)))));
}
