"""What happens on connections is told in order, with who and why."""

from __future__ import annotations

import threading

import pytest

import sealwire
from conftest import TIMEOUT, Pairs, securities


def test_the_life_of_a_connection(pair: Pairs) -> None:
    server_security, client_security = securities("BLAKE3")
    server = pair.socket(sealwire.PULL, server_security)
    client = pair.socket(sealwire.PUSH, client_security)
    of_server, of_client = server.monitor(), client.monitor()
    endpoint = server.bind("tcp://127.0.0.1:0")
    client.connect(endpoint)

    kinds = []
    for event in of_server:
        kinds.append(event.kind)
        if event.kind == "ready":
            assert event.peer is not None and event.peer.user_id == "alice"
            assert event.connection == event.peer.connection
            break
    assert kinds == ["listening", "accepted", "ready"]

    connecting, connected = of_client.next(TIMEOUT), of_client.next(TIMEOUT)
    assert connecting is not None and connecting.kind == "connecting"
    assert connecting.endpoint == endpoint and connecting.connection is None
    assert connected is not None and connected.kind == "connected"
    assert connected.endpoint == endpoint
    # Both sides are, or closing would break the handshake.
    ready = of_client.next(TIMEOUT)
    assert ready is not None and ready.kind == "ready"
    client.close()
    ended = of_server.next(TIMEOUT)
    assert ended is not None and ended.kind == "disconnected"
    assert [event.kind for event in of_client][-1] == "disconnected"
    assert of_client.next() is None
    assert of_server.lost == 0


def test_both_sides_hear_of_messages_that_were_dropped(pair: Pairs) -> None:
    pub = pair.socket(sealwire.PUB, sndhwm=2)
    sub = pair.socket(sealwire.SUB, rcvhwm=2)
    of_pub, of_sub = pub.monitor(), sub.monitor()
    pub.bind("inproc://drops")
    sub.connect("inproc://drops")
    sub.subscribe("")
    pub.wait_subscribed("", timeout=TIMEOUT)
    for _ in range(100):
        pub.send(b"news")
    dropped = pub.counters["dropped_at_send"]
    assert 0 < dropped < 100
    began = next(event for event in of_pub if event.kind == "drops_began")
    assert began.peer is not None and began.peer.socket_type == "SUB" and began.count is None
    for _ in range(100 - dropped):
        assert sub.recv() == b"news"
    with pytest.raises(sealwire.Again):
        sub.recv(flags=sealwire.NOBLOCK)
    assert sub.counters["missed"] == dropped
    for monitor, kind in [(of_pub, "drops_ended"), (of_sub, "messages_missed")]:
        told = next(event for event in monitor if event.kind == kind)
        assert told.count is not None and 0 < told.count <= dropped


def test_nobody_there_is_tried_again(pair: Pairs) -> None:
    push = pair.socket(sealwire.PUSH, reconnect_ivl=1, linger=0)
    monitor = push.monitor()
    push.connect("tcp://127.0.0.1:1")
    connecting, failed = monitor.next(TIMEOUT), monitor.next(TIMEOUT)
    assert connecting is not None and connecting.kind == "connecting"
    assert failed is not None and failed.kind == "failed"
    assert failed.cause == "connect" and not failed.is_handshake_failure
    assert "connect" in str(failed.reason)
    retrying = monitor.next(TIMEOUT)
    assert retrying is not None and retrying.kind == "retrying"
    assert retrying.count == 1 and retrying.cause is None
    assert retrying.delay is not None and retrying.delay > 0
    assert "tcp://127.0.0.1:1" in repr(retrying)


def test_waiting_has_a_limit_and_an_end(pair: Pairs) -> None:
    socket = pair.socket(sealwire.PULL)
    monitor = socket.monitor()
    assert monitor.try_next() is None
    assert monitor.next(0.01) is None
    with pytest.raises(ValueError):
        monitor.next(-1.0)
    thread = threading.Thread(target=socket.close)
    thread.start()
    assert list(monitor) == []
    thread.join(TIMEOUT)


def test_both_ends_of_a_connection(pair: Pairs) -> None:
    pull, push = pair.socket(sealwire.PULL), pair.socket(sealwire.PUSH)
    of_pull, of_push = pull.monitor(), push.monitor()

    def found(monitor: sealwire.Monitor, kind: str) -> sealwire.Event:
        while True:
            event = monitor.next(TIMEOUT)
            assert event is not None, kind
            if event.kind == kind:
                return event

    bound = pull.bind("tcp://127.0.0.1:0")
    push.connect(bound)
    listening = found(of_pull, "listening")
    assert listening.local_address == bound and listening.by_peer is None
    accepted, connected = found(of_pull, "accepted"), found(of_push, "connected")
    assert accepted.local_address == bound == connected.address
    assert connected.local_address == accepted.address
    assert None not in (numbers := [event.descriptor for event in (listening, accepted, connected)])
    assert len(set(numbers)) == 3
    client, server = found(of_pull, "ready").peer, found(of_push, "ready").peer
    assert client is not None and server is not None
    assert client.is_accepted and not server.is_accepted
    assert client.endpoint == server.endpoint == bound
    assert (client.local_address, client.descriptor) == (bound, accepted.descriptor)
    assert (server.local_address, server.descriptor) == (client.address, connected.descriptor)
    push.disconnect(bound)
    left, ended = found(of_push, "disconnected"), found(of_pull, "disconnected")
    assert (left.by_peer, ended.by_peer) == (False, True)
    assert ended.descriptor == accepted.descriptor


def test_within_the_process_there_is_no_address(pair: Pairs) -> None:
    pull, push = pair.socket(sealwire.PULL), pair.socket(sealwire.PUSH)
    push.connect(pull.bind("inproc://no-address"))
    push.send(b"work")
    peer = pull.recv_message().peer
    assert peer is not None and peer.endpoint == "inproc://no-address"
    assert peer.local_address is None and peer.descriptor is None
