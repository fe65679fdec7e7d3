//! The draft functions as C calls them.

mod dgram;
mod pollers;

use std::ffi::{CStr, CString};
use std::mem::MaybeUninit;
use std::ptr::{null, null_mut};

use libc::{c_int, c_void};

use super::contexts::{zmq_ctx_get_ext, zmq_ctx_set_ext};
use super::messages::{
    zmq_msg_group, zmq_msg_init_buffer, zmq_msg_routing_id, zmq_msg_set_group,
    zmq_msg_set_routing_id,
};
use super::pollers::{
    PollerEvent, zmq_poller_add, zmq_poller_add_fd, zmq_poller_destroy, zmq_poller_fd,
    zmq_poller_modify, zmq_poller_modify_fd, zmq_poller_new, zmq_poller_remove,
    zmq_poller_remove_fd, zmq_poller_size, zmq_poller_wait, zmq_poller_wait_all,
};
use super::ppoll::zmq_ppoll;
use super::sockets::{
    zmq_connect_peer, zmq_join, zmq_leave, zmq_socket_get_peer_state,
    zmq_socket_monitor_pipes_stats, zmq_socket_monitor_versioned,
};
use crate::abi::contexts::{zmq_ctx_new, zmq_ctx_term};
use crate::abi::error::{set_errno, zmq_errno};
use crate::abi::messages::{zmq_msg_close, zmq_msg_copy, zmq_msg_init, zmq_msg_size};
use crate::abi::polling::PollItem;
use crate::abi::sockets::{
    zmq_bind, zmq_close, zmq_connect, zmq_getsockopt, zmq_msg_recv, zmq_msg_send, zmq_recv,
    zmq_send, zmq_setsockopt, zmq_socket,
};
use crate::errno::Errno;
use crate::message::Msg;
use crate::options::number;

const SERVER: c_int = 12;
const CLIENT: c_int = 13;
const RADIO: c_int = 14;
const DISH: c_int = 15;
const GATHER: c_int = 16;
const SCATTER: c_int = 17;
const DGRAM: c_int = 18;
const PEER: c_int = 19;
const CHANNEL: c_int = 20;
const PAIR: c_int = 0;
const DEALER: c_int = 5;
const ROUTER: c_int = 6;

const DONTWAIT: c_int = 1;
const SNDMORE: c_int = 2;
const POLLIN: i16 = 1;
const POLLOUT: i16 = 2;

/// The `errno` that a call leaves, and none if it leaves it alone.
fn errno<T>(call: impl FnOnce() -> T) -> Errno {
    set_errno(Errno(0));
    call();
    Errno(zmq_errno())
}

/// A context with sockets, which ends with them.
struct Scene {
    context: *mut c_void,
    sockets: Vec<*mut c_void>,
}

impl Scene {
    fn new() -> Self {
        let context = zmq_ctx_new();
        assert!(!context.is_null());
        Scene {
            context,
            sockets: Vec::new(),
        }
    }

    /// One whose calls end where a test is broken.
    fn socket(&mut self, socket_type: c_int) -> *mut c_void {
        let socket = zmq_socket(self.context, socket_type);
        assert!(!socket.is_null());
        for (option, value) in [
            (number::LINGER, 0),
            (number::RCVTIMEO, 60_000),
            (number::SNDTIMEO, 60_000),
        ] {
            set(socket, option, value);
        }
        self.sockets.push(socket);
        socket
    }

    /// The first is bound, the second connected.
    fn pair(&mut self, types: [c_int; 2], endpoint: &CStr) -> [*mut c_void; 2] {
        let [bound, connected] = types.map(|socket_type| self.socket(socket_type));
        assert_eq!(zmq_bind(bound, endpoint.as_ptr()), 0);
        assert_eq!(zmq_connect(connected, endpoint.as_ptr()), 0);
        [bound, connected]
    }
}

impl Drop for Scene {
    fn drop(&mut self) {
        for socket in &self.sockets {
            zmq_close(*socket);
        }
        zmq_ctx_term(self.context);
    }
}

fn set(socket: *mut c_void, option: c_int, value: c_int) {
    let done = zmq_setsockopt(socket, option, (&raw const value).cast(), 4);
    assert_eq!(done, 0, "option {option}: {}", zmq_errno());
}

fn get(socket: *mut c_void, option: c_int) -> c_int {
    let (mut value, mut size) = (0, 4);
    let done = zmq_getsockopt(socket, option, (&raw mut value).cast(), &raw mut size);
    assert_eq!(done, 0, "option {option}: {}", zmq_errno());
    value
}

fn send(socket: *mut c_void, text: &[u8], flags: c_int) -> c_int {
    zmq_send(socket, text.as_ptr().cast(), text.len(), flags)
}

fn receive(socket: *mut c_void) -> Vec<u8> {
    let mut buffer = [0_u8; 64];
    let size = zmq_recv(socket, buffer.as_mut_ptr().cast(), 64, 0);
    let size = usize::try_from(size).unwrap_or_else(|_| panic!("{}", zmq_errno()));
    buffer[..size].to_vec()
}

fn message(text: &[u8]) -> Msg {
    let mut place = MaybeUninit::<Msg>::uninit();
    let made = zmq_msg_init_buffer(place.as_mut_ptr(), text.as_ptr().cast(), text.len());
    assert_eq!(made, 0);
    // SAFETY: it was made.
    unsafe { place.assume_init() }
}

fn receive_message(socket: *mut c_void) -> Msg {
    let mut place = Msg::new();
    let size = zmq_msg_recv(&raw mut place, socket, 0);
    assert!(size >= 0, "{}", zmq_errno());
    place
}

fn group(message: &mut Msg) -> CString {
    // SAFETY: a text that lives as long as the message.
    unsafe { CStr::from_ptr(zmq_msg_group(&raw mut *message)) }.to_owned()
}

#[test]
fn types_that_threads_share_take_single_parts_and_have_no_descriptor() {
    let mut scene = Scene::new();
    for (socket_type, sends) in [
        (SERVER, true),
        (CLIENT, true),
        (RADIO, true),
        (DISH, false),
        (GATHER, false),
        (SCATTER, true),
        (PEER, true),
        (CHANNEL, true),
    ] {
        let socket = scene.socket(socket_type);
        assert_eq!(get(socket, number::TYPE), socket_type);
        assert_eq!(get(socket, number::THREAD_SAFE), 1);
        let (mut fd, mut size) = (0, 4);
        let value = (&raw mut fd).cast();
        let asked = errno(|| zmq_getsockopt(socket, number::FD, value, &raw mut size));
        assert_eq!(asked, Errno::INVAL);
        let refused = errno(|| send(socket, b"part", SNDMORE | DONTWAIT));
        let expected = if sends { Errno::INVAL } else { Errno::NOTSUP };
        assert_eq!(refused, expected, "type {socket_type}");
    }
    let dealer = scene.socket(DEALER);
    assert_eq!(get(dealer, number::THREAD_SAFE), 0);
    assert!(get(dealer, number::FD) >= 0);
    assert_eq!(send(dealer, b"part", SNDMORE | DONTWAIT), -1);
    for none in [21, -1] {
        assert!(zmq_socket(scene.context, none).is_null());
    }
}

#[test]
fn a_server_answers_by_routing_id() {
    let mut scene = Scene::new();
    let [server, client] = scene.pair([SERVER, CLIENT], c"inproc://a-server-answers");
    assert_eq!(send(client, b"question", 0), 8);
    let mut question = receive_message(server);
    let number = zmq_msg_routing_id(&raw mut question);
    assert_ne!(number, 0);
    let mut answer = message(b"answer");
    assert_eq!(
        errno(|| zmq_msg_set_routing_id(&raw mut answer, 0)),
        Errno::INVAL
    );
    assert_eq!(zmq_msg_set_routing_id(&raw mut answer, number), 0);
    assert_eq!(zmq_msg_send(&raw mut answer, server, 0), 6);
    assert_eq!(zmq_msg_routing_id(&raw mut answer), 0, "it was sent");
    let mut answer = receive_message(client);
    assert_eq!(answer.as_bytes(), b"answer");
    assert_eq!(zmq_msg_routing_id(&raw mut answer), 0);

    // Without a number it is for nobody, and stays as it is.
    assert_eq!(errno(|| send(server, b"answer", 0)), Errno::HOSTUNREACH);
    let mut lost = message(b"lost");
    assert_eq!(zmq_msg_set_routing_id(&raw mut lost, number ^ 1), 0);
    let sent = errno(|| zmq_msg_send(&raw mut lost, server, 0));
    assert_eq!(sent, Errno::HOSTUNREACH);
    assert_eq!(lost.as_bytes(), b"lost");
    assert_eq!(zmq_msg_routing_id(&raw mut lost), number ^ 1);
}

#[test]
fn a_dish_gets_what_is_sent_to_its_groups() {
    let mut scene = Scene::new();
    let [radio, dish] = scene.pair([RADIO, DISH], c"inproc://a-dish");
    let longest = CString::new(vec![b'g'; 255]).unwrap();
    let too_long = CString::new(vec![b'g'; 256]).unwrap();
    for name in [c"weather", longest.as_c_str()] {
        assert_eq!(zmq_join(dish, name.as_ptr()), 0);
        assert_eq!(errno(|| zmq_join(dish, name.as_ptr())), Errno::INVAL);
    }
    for name in [too_long.as_c_str(), c""] {
        assert_eq!(errno(|| zmq_join(dish, name.as_ptr())), Errno::INVAL);
    }
    assert_eq!(errno(|| zmq_leave(dish, c"news".as_ptr())), Errno::INVAL);
    assert_eq!(errno(|| zmq_join(radio, c"news".as_ptr())), Errno::INVAL);
    assert_eq!(errno(|| zmq_join(dish, null())), Errno::FAULT);
    assert_eq!(
        errno(|| zmq_join(null_mut(), c"news".as_ptr())),
        Errno::NOTSOCK
    );

    let tell = |name: &CStr, text: &[u8]| {
        let mut message = message(text);
        assert_eq!(zmq_msg_set_group(&raw mut message, name.as_ptr()), 0);
        assert_eq!(
            zmq_msg_send(&raw mut message, radio, 0),
            text.len() as c_int
        );
        assert!(group(&mut message).is_empty(), "it was sent");
    };
    let expect = |name: &CStr, text: &[u8]| {
        let mut message = receive_message(dish);
        assert_eq!(message.as_bytes(), text);
        assert_eq!(group(&mut message).as_c_str(), name);
        assert!(!message.more());
    };
    tell(c"news", b"nobody joined that");
    assert_eq!(send(radio, b"no group", 0), 8);
    tell(c"weather", b"rain");
    tell(&longest, b"long");
    expect(c"weather", b"rain");
    expect(&longest, b"long");
    assert_eq!(zmq_leave(dish, c"weather".as_ptr()), 0);
    tell(c"weather", b"nobody hears that");
    tell(&longest, b"again");
    expect(&longest, b"again");
    assert_eq!(errno(|| receive_now(radio)), Errno::NOTSUP);
}

fn receive_now(socket: *mut c_void) -> c_int {
    zmq_recv(socket, null_mut(), 0, DONTWAIT)
}

#[test]
fn a_message_has_its_group_until_it_is_sent_or_closed() {
    let mut first = message(b"body");
    assert!(group(&mut first).is_empty());
    assert_eq!(zmq_msg_set_group(&raw mut first, c"one".as_ptr()), 0);
    assert_eq!(zmq_msg_set_group(&raw mut first, c"two".as_ptr()), 0);
    let too_long = CString::new(vec![b'g'; 256]).unwrap();
    let refused = errno(|| zmq_msg_set_group(&raw mut first, too_long.as_ptr()));
    assert_eq!(refused, Errno::INVAL);
    assert_eq!(zmq_msg_set_routing_id(&raw mut first, 7), 0);
    let mut second = Msg::new();
    assert_eq!(zmq_msg_copy(&raw mut second, &raw mut first), 0);
    assert_eq!(group(&mut second).as_c_str(), c"two");
    assert_eq!(zmq_msg_routing_id(&raw mut second), 7);
    assert_eq!(zmq_msg_close(&raw mut first), 0);
    assert!(zmq_msg_group(&raw mut first).is_null());
    assert_eq!(zmq_msg_init(&raw mut first), 0);
    assert!(group(&mut first).is_empty());
    assert_eq!(group(&mut second).as_c_str(), c"two");
}

#[test]
fn a_buffer_is_copied() {
    for size in [0, 1, 40, 41, 10_000] {
        let mut bytes = vec![7_u8; size];
        let message = message(&bytes);
        bytes.fill(8);
        assert_eq!(zmq_msg_size(&raw const message), size);
        assert_eq!(message.as_bytes(), vec![7; size]);
    }
    let mut place = Msg::new();
    let refused = errno(|| zmq_msg_init_buffer(&raw mut place, null(), 3));
    assert_eq!(refused, Errno::FAULT);
}

#[test]
fn a_peer_is_known_by_its_number_before_it_is_there() {
    let mut scene = Scene::new();
    let (asks, answers) = (scene.socket(PEER), scene.socket(PEER));
    let endpoint = c"inproc://a-peer";
    let number = zmq_connect_peer(asks, endpoint.as_ptr());
    assert_ne!(number, 0);
    let mut question = message(b"question");
    assert_eq!(zmq_msg_set_routing_id(&raw mut question, number), 0);
    assert_eq!(zmq_msg_send(&raw mut question, asks, 0), 8);
    assert_eq!(zmq_bind(answers, endpoint.as_ptr()), 0);
    let mut question = receive_message(answers);
    assert_eq!(question.as_bytes(), b"question");
    let back = zmq_msg_routing_id(&raw mut question);
    let mut answer = message(b"answer");
    assert_eq!(zmq_msg_set_routing_id(&raw mut answer, back), 0);
    assert_eq!(zmq_msg_send(&raw mut answer, answers, 0), 6);
    let mut answer = receive_message(asks);
    assert_eq!(answer.as_bytes(), b"answer");
    assert_eq!(zmq_msg_routing_id(&raw mut answer), number);

    let another = zmq_connect_peer(asks, c"inproc://another".as_ptr());
    assert!(another != number && another != 0);
    set(asks, number::IMMEDIATE, 1);
    let refused = errno(|| zmq_connect_peer(asks, endpoint.as_ptr()));
    assert_eq!(refused, Errno::FAULT);
    let dealer = scene.socket(DEALER);
    let refused = errno(|| zmq_connect_peer(dealer, endpoint.as_ptr()));
    assert_eq!(refused, Errno::NOTSUP);
}

#[test]
fn a_router_says_whether_it_has_room_for_a_peer() {
    let mut scene = Scene::new();
    let [router, dealer] = [ROUTER, DEALER].map(|it| scene.socket(it));
    set(router, number::SNDHWM, 1);
    set(dealer, number::RCVHWM, 1);
    let named = zmq_setsockopt(dealer, number::ROUTING_ID, c"X".as_ptr().cast(), 1);
    assert_eq!(named, 0);
    assert_eq!(zmq_bind(router, c"inproc://room".as_ptr()), 0);
    assert_eq!(zmq_connect(dealer, c"inproc://room".as_ptr()), 0);
    let state = |socket, name: &CStr| {
        zmq_socket_get_peer_state(socket, name.as_ptr().cast(), name.count_bytes())
    };
    assert_eq!(state(router, c"X"), POLLOUT.into());
    assert_eq!(errno(|| state(router, c"Y")), Errno::HOSTUNREACH);
    assert_eq!(errno(|| state(dealer, c"X")), Errno::NOTSUP);
    assert_eq!(errno(|| state(null_mut(), c"X")), Errno::NOTSOCK);
    // Nobody reads: at some time there is no room.
    let mut sent = 0;
    while state(router, c"X") != 0 {
        assert_eq!(send(router, b"X", SNDMORE), 1);
        assert_eq!(send(router, b"body", 0), 4);
        sent += 1;
        assert!(sent < 100_000);
    }
    assert!(sent > 0);
}

#[test]
fn a_context_has_options_that_are_no_numbers() {
    const THREAD_NAME_PREFIX: c_int = 9;
    let scene = Scene::new();
    let text = b"worker";
    let set = zmq_ctx_set_ext(scene.context, THREAD_NAME_PREFIX, text.as_ptr().cast(), 6);
    assert_eq!(set, 0);
    let (mut buffer, mut size) = ([0xff_u8; 8], 8);
    let value = buffer.as_mut_ptr().cast();
    let got = zmq_ctx_get_ext(scene.context, THREAD_NAME_PREFIX, value, &raw mut size);
    assert_eq!((got, &buffer[..6]), (0, &text[..]));
    size = 5;
    let get = || zmq_ctx_get_ext(scene.context, THREAD_NAME_PREFIX, value, &raw mut size);
    assert_eq!(errno(get), Errno::INVAL);
    let null = errno(|| zmq_ctx_set_ext(null_mut(), 1, text.as_ptr().cast(), 4));
    assert_eq!(null, Errno::FAULT);
}

#[test]
fn a_monitor_of_the_second_form_has_types_and_versions() {
    let mut scene = Scene::new();
    let dealer = scene.socket(DEALER);
    let endpoint = c"inproc://second-form";
    let monitor = |events, version, by| {
        zmq_socket_monitor_versioned(dealer, endpoint.as_ptr(), events, version, by)
    };
    assert_eq!(errno(|| monitor(0x1_ffff, 1, PAIR)), Errno::INVAL);
    assert_eq!(errno(|| monitor(0, 3, PAIR)), Errno::INVAL);
    for by in [CLIENT, DEALER, 18, 99] {
        assert_eq!(errno(|| monitor(0, 2, by)), Errno::INVAL);
    }
    let network = c"tcp://127.0.0.1:*";
    let refused = errno(|| zmq_socket_monitor_versioned(dealer, network.as_ptr(), 0, 2, PAIR));
    assert_eq!(refused, Errno::PROTONOSUPPORT);
    let tell = || zmq_socket_monitor_pipes_stats(dealer);
    assert_eq!(errno(tell), Errno::INVAL);
    assert_eq!(monitor(0xffff, 2, PAIR), 0);
    assert_eq!(errno(tell), Errno::INVAL, "it was not asked for");
    assert_eq!(monitor(0x1_ffff, 2, PAIR), 0);
    assert_eq!(errno(tell), Errno::AGAIN, "there are no peers");

    let reader = scene.socket(PAIR);
    assert_eq!(zmq_connect(reader, endpoint.as_ptr()), 0);
    let nowhere = c"inproc://nowhere-yet";
    assert_eq!(zmq_connect(dealer, nowhere.as_ptr()), 0);
    for _ in 0..3 {
        assert_eq!(send(dealer, b"waits", 0), 5);
    }
    assert_eq!(tell(), 0);
    for expected in [0x10000_u64, 2, 3, 0] {
        assert_eq!(receive(reader), expected.to_ne_bytes());
    }
    assert_eq!(receive(reader), b"");
    assert_eq!(receive(reader), nowhere.to_bytes());
    assert_eq!(get(reader, number::RCVMORE), 0);
    let ended = zmq_socket_monitor_versioned(dealer, null(), 0, 2, PAIR);
    assert_eq!(ended, 0);
}
