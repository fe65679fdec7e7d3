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
