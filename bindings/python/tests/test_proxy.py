"""Proxies."""

from __future__ import annotations

import threading
from typing import Any, Callable

import pytest

import sealwire
from conftest import TIMEOUT, Pairs


def proxied(pair: Pairs, *sockets: sealwire.Socket) -> Callable[[], list[BaseException]]:
    """Runs a proxy in a thread; gives what waits for its end, and gives what it raised."""
    raised: list[BaseException] = []

    def run() -> None:
        try:
            sealwire.proxy(*sockets)
        except BaseException as error:
            raised.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()

    def ended() -> list[BaseException]:
        thread.join(TIMEOUT)
        assert not thread.is_alive()
        return raised

    return ended


def test_requests_and_answers_pass_and_are_captured(pair: Pairs) -> None:
    frontend, backend = pair.socket(sealwire.ROUTER), pair.socket(sealwire.DEALER)
    capture, seen = pair.socket(sealwire.PUSH), pair.socket(sealwire.PULL)
    seen.connect(capture.bind("inproc://capture"))
    client, worker = pair.socket(sealwire.REQ), pair.socket(sealwire.REP)
    client.connect(frontend.bind("tcp://127.0.0.1:0"))
    worker.connect(backend.bind("tcp://127.0.0.1:0"))
    ended = proxied(pair, frontend, backend, capture)
    client.send(b"question")
    assert worker.recv() == b"question"
    worker.send(b"answer")
    assert client.recv() == b"answer"
    assert [seen.recv_multipart()[-1] for _ in range(2)] == [b"question", b"answer"]
    frontend.close()
    (error,) = ended()
    assert isinstance(error, sealwire.SocketClosed)


def test_what_has_no_proxy(pair: Pairs) -> None:
    with pytest.raises(sealwire.StateError):
        sealwire.proxy(pair.socket(sealwire.REQ), pair.socket(sealwire.REP))


def test_ctrl_c_ends_it_and_leaves_the_sockets_open(run_python: Callable[..., Any]) -> None:
    ended = run_python("""
import os, signal, threading
import sealwire
# Ignored where the tests run in the background of a shell.
signal.signal(signal.SIGINT, signal.default_int_handler)
frontend, backend = sealwire.Socket(sealwire.PULL), sealwire.Socket(sealwire.PUSH)
source, sink = sealwire.Socket(sealwire.PUSH), sealwire.Socket(sealwire.PULL, rcvtimeo=60_000)
source.connect(frontend.bind("tcp://127.0.0.1:0"))
sink.connect(backend.bind("tcp://127.0.0.1:0"))
def interrupt():
    source.send(b"through")
    assert sink.recv() == b"through"
    os.kill(os.getpid(), signal.SIGINT)
threading.Thread(target=interrupt).start()
try:
    sealwire.proxy(frontend, backend)
except KeyboardInterrupt:
    print("interrupted", frontend.closed, backend.closed)
source.send(b"to the frontend")
assert frontend.recv() == b"to the frontend"
""")
    assert (ended.stdout, ended.returncode) == ("interrupted False False\n", 0), ended.stderr
