"""What becomes of messages, sockets and contexts at their end."""

from __future__ import annotations

import threading

import pytest

import sealwire
from conftest import TIMEOUT, TIMEOUT_MS, Pairs


def test_a_worker_leaves_with_what_it_was_sent(pair: Pairs) -> None:
    leaving, push = pair(sealwire.PULL, sealwire.PUSH, "NULL")
    staying = pair.socket(sealwire.PULL)
    push.connect(staying.bind("tcp://127.0.0.1:*"))
    push.wait_connected(2, timeout=TIMEOUT_MS)
    for number in range(500):
        push.send_string(str(number))
    received = [int(leaving.recv())]
    leaving.drain(TIMEOUT_MS)
    received.extend(int(message) for message in leaving)
    with pytest.raises(sealwire.Drained) as drained:
        leaving.recv()
    assert drained.value.cut_off == 0
    while len(received) < 500:
        received.append(int(staying.recv()))
    assert sorted(received) == list(range(500))
    with pytest.raises(sealwire.Unsupported):
        push.drain(0)


def test_a_closed_socket_says_so() -> None:
    socket = sealwire.Socket(sealwire.PULL)
    socket.bind("tcp://127.0.0.1:0")
    assert not socket.closed
    socket.close()
    assert socket.closed
    socket.close()
    for attempt in (socket.recv, socket.recv_many, lambda: socket.bind("tcp://127.0.0.1:0")):
        with pytest.raises(sealwire.SocketClosed):
            attempt()
    unused = sealwire.Socket(sealwire.PULL)
    unused.close()
    with pytest.raises(sealwire.SocketClosed):
        unused.recv()


def test_closing_waits_for_what_is_queued(pair: Pairs) -> None:
    server, client = pair(sealwire.PULL, sealwire.PUSH)
    count = 3000
    receiver_done: list[int] = []

    def receive() -> None:
        taken = 0
        while taken < count:
            taken += len(server.recv_many())
        receiver_done.append(taken)

    receiver = threading.Thread(target=receive)
    receiver.start()
    with client:
        client.send_many([b"x" * 100] * count)
    receiver.join(TIMEOUT)
    assert receiver_done == [count]


def test_what_cannot_be_sent_is_counted_when_the_linger_time_is_over() -> None:
    socket = sealwire.Socket(sealwire.PUSH, linger=10)
    socket.connect("tcp://127.0.0.1:1")
    socket.send(b"to nobody")
    with pytest.raises(sealwire.Unsent) as caught:
        socket.close()
    assert caught.value.count == 1


def test_another_exception_is_not_hidden_by_closing() -> None:
    with pytest.raises(RuntimeError, match="the first"):
        with sealwire.Socket(sealwire.PUSH, linger=10) as socket:
            socket.connect("tcp://127.0.0.1:1")
            socket.send(b"to nobody")
            raise RuntimeError("the first")


def test_the_context_ends_its_sockets_and_who_waits_on_them() -> None:
    context = sealwire.Context()
    socket = context.socket(sealwire.PULL)
    socket.bind("tcp://127.0.0.1:0")
    caught: list[BaseException] = []
    waiting = threading.Event()

    def wait() -> None:
        waiting.set()
        try:
            socket.recv()
        except BaseException as error:
            caught.append(error)

    thread = threading.Thread(target=wait)
    thread.start()
    waiting.wait(TIMEOUT)
    context.term()
    thread.join(TIMEOUT)
    assert [type(error) for error in caught] == [sealwire.ContextTerminated]
    assert context.closed
    with pytest.raises(sealwire.ContextTerminated):
        context.socket(sealwire.PULL)
    with pytest.raises(sealwire.ContextTerminated):
        socket.recv()


def test_contexts_have_names_of_their_own() -> None:
    with sealwire.Context() as one, sealwire.Context() as other:
        with one.socket(sealwire.PULL) as first, other.socket(sealwire.PULL) as second:
            first.bind("inproc://name")
            second.bind("inproc://name")
    assert sealwire.Context.instance() is sealwire.Context.instance()
