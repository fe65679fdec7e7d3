//! Messages for peers that are not there yet, in a queue for each endpoint.

use super::*;

/// Types that send to their peers in turn.
const IN_TURN: [SocketType; 4] = [
    SocketType::Push,
    SocketType::Dealer,
    SocketType::Scatter,
    SocketType::Client,
];

fn scene(socket_type: SocketType) -> Scene {
    Scene::with(Socket::builder(socket_type).queue_per_endpoint(true))
}

impl Scene {
    fn arrives(&self, expected: &(Endpoint, u64)) -> End {
        self.attach(expected.0.clone(), expected.1).unwrap()
    }

    fn gives_up(&self, expected: &(Endpoint, u64)) {
        self.core().give_up(expected.1);
        self.core().remove_attachment();
    }
}

impl End {
    /// The connection is lost, and its endpoint is connected to again.
    fn lost(self) -> (Endpoint, u64) {
        let connector = self.connector.expect("it was connected to");
        let endpoint = self.endpoint.clone();
        self.core.detach(self.pipe);
        (endpoint, connector)
    }
}

#[test]
fn messages_go_in_turn_to_endpoints_where_nobody_is_yet() {
    for socket_type in IN_TURN {
        let scene = scene(socket_type);
        let (one, other) = (scene.expect("one"), scene.expect("other"));
        for text in ["a", "b", "c", "d"] {
            scene.send(text);
        }
        let one = scene.arrives(&one);
        assert_eq!(one.taken(), ["a", "c"], "{socket_type}");
        scene.send("e");
        assert_eq!(one.taken(), ["e"]);
        scene.send("f");
        let other = scene.arrives(&other);
        assert_eq!(other.taken(), ["b", "d", "f"], "{socket_type}");
        assert_eq!(one.taken(), [""; 0]);
    }
}

/// Without the option the first peer gets all.
#[test]
fn messages_wait_in_one_queue_where_nothing_else_was_said() {
    for socket_type in IN_TURN {
        let scene = Scene::new(socket_type);
        let (one, other) = (scene.expect("one"), scene.expect("other"));
        scene.send("a");
        scene.send("b");
        assert_eq!(scene.arrives(&other).taken(), ["a", "b"], "{socket_type}");
        assert_eq!(scene.arrives(&one).taken(), [""; 0]);
    }
}

#[test]
fn a_peer_that_is_awaited_counts_nowhere() {
    let scene = scene(SocketType::Push);
    let expected = scene.expect("one");
    scene.send("a");
    assert!(scene.socket.peers().is_empty() && scene.socket.accounts().is_empty());
    assert_eq!(scene.core().presence(), Presence::Nobody);
    assert!(scene.core().connected(1).unwrap().is_none());
    assert!(scene.core().sole_link().is_none());
    // Nobody is asked about it again.
    scene.core().revise_clients();
    let end = scene.arrives(&expected);
    assert_eq!(scene.socket.peers().len(), 1);
    assert_eq!(scene.core().presence(), Presence::Connected { peers: 1 });
    assert!(scene.core().sole_link().is_some());
    assert!(end.peer.account().held(Kind::Queued) > 0);
}

#[test]
fn each_queue_has_the_high_water_mark_for_itself() {
    let builder = Socket::builder(SocketType::Push).queue_per_endpoint(true);
    let scene = Scene::with(builder.send_high_water_mark(2));
    let (one, other) = (scene.expect("one"), scene.expect("other"));
    for text in ["a", "b", "c", "d"] {
        scene.send(text);
    }
    assert!(scene.would_block());
    assert_eq!(scene.arrives(&one).taken(), ["a", "c"]);
    scene.send("e");
    assert_eq!(scene.arrives(&other).taken(), ["b", "d"]);
}

#[test]
fn only_the_latest_message_waits_where_that_is_wanted() {
    let builder = Socket::builder(SocketType::Push).queue_per_endpoint(true);
    let scene = Scene::with(builder.conflate(true));
    let expected = scene.expect("one");
    scene.send("a");
    scene.send("b");
    assert_eq!(scene.arrives(&expected).taken(), ["b"]);
    assert_eq!(scene.counters().replaced, 1);
}

#[test]
fn a_message_waits_for_no_peer_that_is_to_be_there_first() {
    let builder = Socket::builder(SocketType::Push).queue_per_endpoint(true);
    let scene = Scene::with(builder.immediate(true));
    let expected = scene.expect("one");
    assert!(scene.would_block());
    let end = scene.arrives(&expected);
    scene.send("a");
    assert_eq!(end.taken(), ["a"]);
}

#[test]
fn what_the_socket_says_itself_goes_before_what_waits() {
    let builder = Socket::builder(SocketType::Dealer).queue_per_endpoint(true);
    let scene = Scene::with(builder.hello_message("hello").probe_router(true));
    let expected = scene.expect("one");
    scene.send("a");
    scene.send("b");
    let end = scene.arrives(&expected);
    assert_eq!(end.taken_with_own(), ["(own)", "(own hello)", "a", "b"]);
}

#[test]
fn what_waits_goes_to_others_once_nobody_connects_there() {
    for socket_type in IN_TURN {
        for left in [false, true] {
            let scene = scene(socket_type);
            let (one, other) = (scene.expect("one"), scene.expect("other"));
            for text in ["a", "b", "c"] {
                scene.send(text);
            }
            match left {
                true => {
                    let kind = RegistrationKind::Connected;
                    scene.core().unregister(&one.0, kind).unwrap();
                    scene.core().remove_attachment();
                }
                false => scene.gives_up(&one),
            }
            assert!(scene.attach(one.0.clone(), one.1).is_err());
            let other = scene.arrives(&other);
            assert_eq!(other.taken(), ["b", "a", "c"], "{socket_type} {left}");
            assert_eq!(scene.counters().dropped_unsent, 0);
        }
    }
}

#[test]
fn a_peer_is_awaited_again_once_it_is_gone_and_gets_what_it_did_not_get_then() {
    for socket_type in IN_TURN {
        let scene = scene(socket_type);
        let expected = scene.expect("one");
        let end = scene.arrives(&expected);
        scene.send("a");
        let again = end.lost();
        scene.send("b");
        assert!(scene.socket.peers().is_empty());
        assert_eq!(scene.arrives(&again).taken(), ["a", "b"], "{socket_type}");
    }
}

#[test]
fn what_was_received_keeps_its_sender_when_the_next_peer_comes() {
    let scene = scene(SocketType::Dealer);
    let end = scene.arrives(&scene.expect("one"));
    end.says(&["of the first"]);
    let first = end.peer.clone();
    let again = end.lost();
    let next = scene.arrives(&again);
    next.says(&["of the next"]);
    for sender in [&first, &next.peer] {
        let message = scene.socket.try_recv().unwrap();
        assert!(Arc::ptr_eq(message.peer().unwrap(), sender));
    }
}

#[test]
fn a_request_waits_where_it_was_sent_and_the_answer_comes_from_there() {
    let scene = scene(SocketType::Req);
    let (one, other) = (scene.expect("one"), scene.expect("other"));
    scene.send("question");
    let other = scene.arrives(&other);
    assert_eq!(other.taken(), [""; 0]);
    other.says(&["", "wrong"]);
    let one = scene.arrives(&one);
    assert_eq!(one.taken(), ["/question"]);
    one.says(&["", "answer"]);
    assert_eq!(scene.received(), ["answer"]);
    scene.send("next");
    assert_eq!(other.taken(), ["/next"]);
}

#[test]
fn a_request_goes_to_another_where_nobody_came() {
    let scene = scene(SocketType::Req);
    let (one, other) = (scene.expect("one"), scene.expect("other"));
    scene.send("question");
    scene.gives_up(&one);
    assert_eq!(scene.arrives(&other).taken(), ["/question"]);
}

#[test]
fn a_pair_has_the_peer_that_it_awaits_and_no_other() {
    let scene = scene(SocketType::Pair);
    let (one, other) = (scene.expect("one"), scene.expect("other"));
    scene.send("a");
    assert!(scene.attach(other.0.clone(), other.1).is_err());
    let end = scene.arrives(&one);
    assert_eq!(end.taken(), ["a"]);
}

#[test]
fn a_socket_that_closes_waits_for_peers_as_long_as_something_waits_for_them() {
    let scene = scene(SocketType::Push);
    let (one, other) = (scene.expect("one"), scene.expect("other"));
    scene.send("a");
    scene.send("b");
    let core = scene.core();
    core.begin_close(None);
    assert_eq!(core.backlog(), 2);
    let end = scene.attach(other.0.clone(), other.1).unwrap();
    assert_eq!(end.taken(), ["b"]);
    assert_eq!(core.backlog(), 1);
    core.abandon_backlog();
    assert!(scene.attach(one.0.clone(), one.1).is_err());
    // Two endpoints.
    core.remove_attachment();
    core.remove_attachment();
    end.ends_unattached();
    assert!(core.has_ended());
    assert_eq!((core.unsent(), core.counters().dropped_unsent), (1, 1));
}

/// The routing ids that an application chooses for its peers.
mod chosen {
    use super::*;

    #[test]
    fn a_router_sends_to_a_peer_that_is_not_there_yet() {
        let scene = Scene::new(SocketType::Router);
        let expected = scene.try_expect("one", Some("chosen")).unwrap();
        scene.sends(&["chosen", "hello"]).unwrap();
        scene.sends(&["other", "lost"]).unwrap();
        assert_eq!(scene.counters().dropped_at_send, 1);
        let end = scene.arrives(&expected);
        assert_eq!(end.taken(), ["hello"]);
        // Whatever it calls itself.
        end.says(&["answer"]);
        assert_eq!(scene.received(), ["chosen/answer"]);
        assert_eq!(end.peer.routing_id(), b"inproc://one");
        scene.sends(&["inproc://one", "lost"]).unwrap();
        assert_eq!(scene.counters().dropped_at_send, 2);
    }

    #[test]
    fn a_router_that_is_to_know_whether_it_can_send_does() {
        let builder = Socket::builder(SocketType::Router).router_mandatory(true);
        let scene = Scene::with(builder.send_high_water_mark(1));
        let expected = scene.try_expect("one", Some("chosen")).unwrap();
        scene.sends(&["chosen", "a"]).unwrap();
        let more = scene.sends(&["chosen", "b"]);
        assert!(matches!(more, Err(Error::WouldBlock)));
        let end = scene.arrives(&expected);
        assert_eq!(end.taken(), ["a"]);
        scene.sends(&["chosen", "c"]).unwrap();
    }

    #[test]
    fn nobody_has_a_routing_id_that_was_chosen_for_another() {
        let builder = Socket::builder(SocketType::Router).router_handover(true);
        let scene = Scene::with(builder);
        let expected = scene.try_expect("one", Some("inproc://two")).unwrap();
        let again = scene.try_expect("three", Some("inproc://two"));
        let Err(Error::RoutingIdInUse(routing_id)) = again else {
            panic!("two peers have it")
        };
        assert_eq!(routing_id, b"inproc://two");
        // It calls itself so, before the other is there and after that.
        let (endpoint, connector) = scene.expect("two");
        assert!(scene.attach(endpoint.clone(), connector).is_err());
        let end = scene.arrives(&expected);
        assert!(scene.attach(endpoint, connector).is_err());
        scene.sends(&["inproc://two", "a"]).unwrap();
        assert_eq!(end.taken(), ["a"]);
    }

    #[test]
    fn a_peer_keeps_its_routing_id_when_its_connection_is_lost_and_not_when_it_is_left() {
        let scene = Scene::new(SocketType::Router);
        let expected = scene.try_expect("one", Some("chosen")).unwrap();
        let end = scene.arrives(&expected);
        let again = end.lost();
        scene.sends(&["chosen", "a"]).unwrap();
        let end = scene.arrives(&again);
        assert_eq!(end.taken(), ["a"]);
        scene.leave(&end);
        scene.sends(&["chosen", "b"]).unwrap();
        assert_eq!(scene.counters().dropped_at_send, 1);
        assert!(scene.try_expect("two", Some("chosen")).is_ok());
    }

    #[test]
    fn what_waits_for_a_peer_that_is_given_up_is_counted() {
        let scene = Scene::new(SocketType::Router);
        let expected = scene.try_expect("one", Some("chosen")).unwrap();
        scene.sends(&["chosen", "a"]).unwrap();
        scene.gives_up(&expected);
        assert_eq!(scene.counters().dropped_unsent, 1);
        scene.sends(&["chosen", "b"]).unwrap();
        assert_eq!(scene.counters().dropped_at_send, 1);
    }

    #[test]
    fn a_router_hears_of_the_peer_when_it_is_there_and_not_before() {
        let builder = Socket::builder(SocketType::Router).router_notify(true, true);
        let scene = Scene::with(builder);
        let one = scene.try_expect("one", Some("chosen")).unwrap();
        let two = scene.try_expect("two", Some("never")).unwrap();
        scene.gives_up(&two);
        assert_eq!(scene.received(), [""; 0]);
        let end = scene.arrives(&one);
        assert_eq!(scene.received(), ["chosen/"]);
        end.lost();
        assert_eq!(scene.received(), ["chosen/"]);
    }

    #[test]
    fn a_routing_id_counts_once_the_peer_is_there_where_nothing_may_wait() {
        let scene = Scene::with(Socket::builder(SocketType::Router).immediate(true));
        let expected = scene.try_expect("one", Some("chosen")).unwrap();
        scene.sends(&["chosen", "lost"]).unwrap();
        assert_eq!(scene.counters().dropped_at_send, 1);
        let end = scene.arrives(&expected);
        scene.sends(&["chosen", "a"]).unwrap();
        assert_eq!(end.taken(), ["a"]);
    }

    #[test]
    fn a_stream_sends_to_a_connection_that_does_not_stand_yet() {
        let scene = Scene::new(SocketType::Stream);
        let expected = scene.try_expect("one", Some("chosen")).unwrap();
        scene.sends(&["chosen", "bytes"]).unwrap();
        let end = scene.arrives(&expected);
        assert_eq!(end.taken(), ["bytes"]);
        assert_eq!(scene.received(), ["chosen/"]);
        end.says(&["more"]);
        assert_eq!(scene.received(), ["chosen/more"]);
        assert!(matches!(
            scene.try_expect("two", Some("chosen")),
            Err(Error::RoutingIdInUse(_))
        ));
    }

    #[test]
    fn a_stream_hears_nothing_of_a_connection_that_never_stood() {
        let scene = Scene::new(SocketType::Stream);
        let expected = scene.try_expect("one", Some("chosen")).unwrap();
        scene.gives_up(&expected);
        assert_eq!(scene.received(), [""; 0]);
        let gone = scene.sends(&["chosen", "bytes"]);
        assert!(matches!(gone, Err(Error::Unroutable(_))));
    }

    #[test]
    fn a_connection_of_a_stream_that_was_closed_before_it_stood_is_closed_then() {
        let scene = Scene::new(SocketType::Stream);
        let expected = scene.try_expect("one", Some("chosen")).unwrap();
        scene.sends(&["chosen", ""]).unwrap();
        let end = scene.arrives(&expected);
        assert!(end.link.is_finishing());
        assert_eq!(scene.received(), [""; 0]);
    }
}
