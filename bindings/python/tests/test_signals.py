"""Signals end calls that block, at once and without a timer."""

from __future__ import annotations

import os
import signal
import threading
from types import FrameType
from typing import Callable, Iterator

import pytest

import sealwire
from conftest import TIMEOUT, assert_interrupted

WAITING = {
    "recv": "socket.recv()",
    "recv_many": "socket.recv_many()",
    "poll": "socket.poll()",
    "poller": "poller.poll()",
    "monitor": "list(socket.monitor())",
    "send": "sealwire.Socket(sealwire.PUSH, linger=0).send(b'nobody takes it')",
    "close": "unsent.close()",
}

PROGRAM = """
import sealwire, signal, sys
# Ignored where the tests run in the background of a shell.
signal.signal(signal.SIGINT, signal.default_int_handler)
socket = sealwire.Socket(sealwire.PULL)
socket.bind("tcp://127.0.0.1:0")
poller = sealwire.Poller()
poller.register(socket, sealwire.POLLIN)
unsent = sealwire.Socket(sealwire.PUSH, linger=300_000)
if "unsent" in sys.argv[1]:
    unsent.connect("tcp://127.0.0.1:1")
    unsent.send(b"nobody takes it")
try:
    print("waiting", flush=True)
    exec(sys.argv[1])
except KeyboardInterrupt:
    print("interrupted", flush=True)
    import os
    os._exit(0)
"""


@pytest.mark.parametrize("call", WAITING)
def test_an_interrupt_ends_the_call(call: str) -> None:
    assert_interrupted(PROGRAM, WAITING[call])


@pytest.fixture
def on_signal() -> Iterator[Callable[[Callable[[], object]], None]]:
    before = signal.getsignal(signal.SIGUSR1)

    def install(act: Callable[[], object]) -> None:
        def handle(number: int, frame: FrameType | None) -> None:
            act()

        signal.signal(signal.SIGUSR1, handle)

    yield install
    signal.signal(signal.SIGUSR1, before)


def test_a_handler_that_raises_nothing_lets_the_call_go_on(
    on_signal: Callable[[Callable[[], object]], None],
) -> None:
    with sealwire.Socket(sealwire.PULL) as pull, sealwire.Socket(sealwire.PUSH) as push:
        push.connect(pull.bind("inproc://signals"))
        handled: list[int] = []

        def act() -> None:
            handled.append(len(handled))
            if len(handled) < 100:
                os.kill(os.getpid(), signal.SIGUSR1)
            else:
                push.send(b"done")

        on_signal(act)
        os.kill(os.getpid(), signal.SIGUSR1)
        assert pull.recv() == b"done"
        assert len(handled) == 100


def test_a_handler_may_block_on_a_socket_itself(
    on_signal: Callable[[Callable[[], object]], None],
) -> None:
    with sealwire.Socket(sealwire.PAIR) as one, sealwire.Socket(sealwire.PAIR) as other:
        one.connect(other.bind("inproc://nested"))
        inner: list[bytes] = []

        def act() -> None:
            other.send(b"inner")
            inner.append(one.recv())
            other.send(b"outer")

        on_signal(act)
        sender = threading.Thread(target=os.kill, args=(os.getpid(), signal.SIGUSR1))
        sender.start()
        assert one.recv() == b"outer"
        sender.join(TIMEOUT)
        assert inner == [b"inner"]
