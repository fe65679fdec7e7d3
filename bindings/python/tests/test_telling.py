"""A socket that waits tells the log, once, why its handshake failed."""

from __future__ import annotations

import asyncio
import logging
import subprocess
import sys
import threading
import time
from typing import Callable, Iterator

import pytest

import sealwire
import sealwire.asyncio
from sealwire import KeyPair, Security

from sealwire._telling import Raised

from conftest import TIMEOUT

REFUSED = """
import os, sys, threading
import sealwire
from sealwire import KeyPair, Security

keys, others = KeyPair.generate(), KeyPair.generate()
server = sealwire.Socket(sealwire.PUSH, security=Security.blake3_server(keys, sealwire.AllowAnyone()))
client = sealwire.Socket(sealwire.PULL, security=Security.blake3_client(others.public), linger=0)
client.connect(server.bind("tcp://127.0.0.1:0"))
threading.Thread(target=client.recv, daemon=True).start()
sys.stdin.read()
monitor = client.monitor()
for _ in range(3):
    next(event for event in monitor if event.kind == "failed")
os._exit(0)
"""


class Heard(logging.Handler):
    """Keeps what it hears, and then does more."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []
        self.then: Callable[[], object] = lambda: None

    def emit(self, record: logging.LogRecord) -> None:
        assert record.levelno == logging.WARNING
        self.texts.append(record.getMessage())
        self.then()


@pytest.fixture
def heard() -> Iterator[Heard]:
    handler = Heard()
    log = logging.getLogger("sealwire")
    log.addHandler(handler)
    yield handler
    log.removeHandler(handler)


def with_a_wrong_key() -> tuple[sealwire.Socket, str, Security]:
    keys, others = KeyPair.generate(), KeyPair.generate()
    server = sealwire.Socket(sealwire.PUSH, security=Security.blake3_server(keys, sealwire.AllowAnyone()), linger=0)
    return server, server.bind("tcp://127.0.0.1:0"), Security.blake3_client(others.public)


def test_a_thread_that_waits_for_ever_tells_why(heard: Heard) -> None:
    server, endpoint, security = with_a_wrong_key()
    client = sealwire.Socket(sealwire.PULL, security=security)
    told = threading.Event()
    heard.then = told.set
    ended: list[BaseException] = []

    def receive() -> None:
        try:
            client.recv()
        except sealwire.Error as error:
            ended.append(error)

    thread = threading.Thread(target=receive)
    with server:
        client.connect(endpoint)
        thread.start()
        assert told.wait(TIMEOUT)
        client.close()
        thread.join(TIMEOUT)
    assert len(ended) == 1
    assert len(heard.texts) == 1
    assert heard.texts[0].startswith("a PULL waits, and a connection of it failed: ")


def test_the_log_is_told_once_and_may_use_the_socket(heard: Heard) -> None:
    server, endpoint, security = with_a_wrong_key()
    with server, sealwire.Socket(sealwire.PULL, security=security, rcvtimeo=TIMEOUT * 1000) as client:
        client.connect(endpoint)
        inside: list[bool] = []

        def use() -> None:
            with pytest.raises(sealwire.Again):
                client.recv(sealwire.NOBLOCK)
            inside.append(True)
            client.rcvtimeo = 0

        heard.then = use
        while not heard.texts:
            with pytest.raises(sealwire.Error):
                client.wait_connected(timeout=50)
        for _ in range(3):
            with pytest.raises(sealwire.HandshakeError):
                client.recv()
        assert inside == [True]
        assert len(heard.texts) == 1


def test_a_handler_that_raises_ends_no_call(heard: Heard, monkeypatch: pytest.MonkeyPatch) -> None:
    raised: list[str] = []
    reported = threading.Event()

    def report(unraisable: "sys.UnraisableHookArgs") -> None:
        raised.append(str(unraisable.exc_value))
        reported.set()

    def fail() -> None:
        raise ValueError("a handler's own")

    monkeypatch.setattr(sys, "unraisablehook", report)
    heard.then = fail
    server, endpoint, security = with_a_wrong_key()
    with server, sealwire.Socket(sealwire.PULL, security=security) as client:
        client.connect(endpoint)
        while not reported.is_set():
            with pytest.raises(sealwire.Again):
                client.wait_connected(timeout=50)
    assert raised == ["a handler's own"]


@pytest.mark.parametrize("raises", [False, True])
def test_a_coroutine_that_waits_for_ever_tells_why(
    heard: Heard, raises: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def main() -> None:
        keys, others = KeyPair.generate(), KeyPair.generate()
        told = asyncio.Event()

        def then() -> None:
            told.set()
            if raises:
                raise ValueError("a handler's own")

        heard.then = then
        security = Security.blake3_server(keys, sealwire.AllowAnyone())
        async with sealwire.asyncio.Socket(sealwire.PUSH, security=security, linger=0) as server:
            endpoint = server.bind("tcp://127.0.0.1:0")
            security = Security.blake3_client(others.public)
            async with sealwire.asyncio.Socket(sealwire.PULL, security=security) as client:
                client.connect(endpoint)
                waiting = [asyncio.ensure_future(client.recv()), asyncio.ensure_future(client.wait_connected())]
                await asyncio.wait_for(told.wait(), TIMEOUT)
                assert not any(task.done() for task in waiting)
                for task in waiting:
                    task.cancel()
                await asyncio.gather(*waiting, return_exceptions=True)

    monkeypatch.setattr(sys, "unraisablehook", lambda unraisable: None)
    asyncio.run(main())
    assert len(heard.texts) == 1


def test_nobody_at_the_endpoint_is_not_told(heard: Heard) -> None:
    listening = sealwire.Socket(sealwire.PUSH, linger=0)
    endpoint = listening.bind("tcp://127.0.0.1:0")
    listening.close()
    with sealwire.Socket(sealwire.PULL) as client:
        monitor = client.monitor()
        client.connect(endpoint)
        with pytest.raises(sealwire.Again):
            client.wait_connected(timeout=50)
        assert any(event.kind == "retrying" for event in monitor)
        with pytest.raises(sealwire.Again):
            client.wait_connected(timeout=50)
    assert heard.texts == []


def test_without_handlers_it_is_printed_once() -> None:
    command = [sys.executable, "-c", REFUSED]
    program = subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert program.stderr is not None
    try:
        assert program.stderr.readline().startswith("a PULL waits, and a connection of it failed: ")
        _, later = program.communicate(timeout=TIMEOUT)
    finally:
        program.kill()
        program.communicate()
    assert later == ""
    assert program.returncode == 0


def test_what_handlers_raise_is_logged_once_a_second(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 100.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    raised = Raised()

    def handler() -> None: ...

    for now in (100.0, 100.1, 100.9, 101.0, 101.5):
        raised.tell(handler, KeyError(str(now)), "")
    name = "test_what_handlers_raise_is_logged_once_a_second.<locals>.handler"
    assert caplog.messages == [
        f"the handler {name} raised an exception",
        f"the handler {name} raised an exception (2 more like it before)",
    ]
    assert [record.exc_info[1].args for record in caplog.records if record.exc_info and record.exc_info[1]] == [
        ("100.0",),
        ("101.0",),
    ]
