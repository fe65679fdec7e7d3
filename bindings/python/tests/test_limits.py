"""Time limits of single calls, and when connecting ends."""

from __future__ import annotations

import asyncio
import pathlib
import socket as tcp
import threading
import time
from typing import Any

import pytest

import sealwire
import sealwire.asyncio
from conftest import TIMEOUT, TIMEOUT_MS, Pairs

RECEIVES = [
    "recv",
    "recv_multipart",
    "recv_message",
    "recv_string",
    "recv_json",
    "recv_many",
    "recv_many_multipart",
    "recv_many_messages",
]


@pytest.mark.parametrize("name", RECEIVES)
def test_a_receive_with_a_limit_of_its_own(pair: Pairs, name: str) -> None:
    pull, push = pair(sealwire.PULL, sealwire.PUSH)
    receive: Any = getattr(pull, name)
    begun = time.monotonic()
    with pytest.raises(sealwire.TimedOut, match="no message came within 20ms"):
        receive(timeout=20)
    assert time.monotonic() - begun >= 0.02
    pull.rcvtimeo = 0
    push.send(b"7")
    assert receive(timeout=TIMEOUT_MS)
    push.send(b"7")
    assert receive(timeout=-1)
    with pytest.raises(sealwire.TimedOut):
        receive()


@pytest.mark.parametrize("name", RECEIVES)
def test_the_same_with_coroutines(pair: Pairs, name: str) -> None:
    async def main() -> None:
        pull = sealwire.asyncio.Socket(sealwire.PULL)
        receive: Any = getattr(pull, name)
        push = pair.socket(sealwire.PUSH)
        push.connect(pull.bind("tcp://127.0.0.1:0"))
        with pytest.raises(sealwire.TimedOut, match="no message came within 20ms"):
            await receive(timeout=20)
        pull.rcvtimeo = 0
        push.send(b"7")
        assert await receive(timeout=TIMEOUT_MS)
        push.send(b"7")
        assert await receive(timeout=-1)
        with pytest.raises(sealwire.TimedOut):
            await receive()
        await pull.close()

    asyncio.run(asyncio.wait_for(main(), TIMEOUT))


def test_connecting_ends_for_a_reason(pair: Pairs) -> None:
    kinds: dict[int, list[str]] = {}
    for stop in (0, 1, 2):
        push = pair.socket(sealwire.PUSH, reconnect_stop=stop, reconnect_ivl=1)
        events = push.monitor()
        push.connect("tcp://127.0.0.1:1")
        assert next(events).kind == "connecting"
        kinds[stop] = [next(events).kind for _ in range(2)]
    assert kinds == {0: ["failed", "retrying"], 1: ["failed", "gave_up"], 2: ["failed", "retrying"]}
    with pytest.raises(ValueError, match="reconnect_stop is a sum of 1, 2, 4 and 8"):
        sealwire.Socket(sealwire.PUSH, reconnect_stop=16).connect("tcp://127.0.0.1:1")


def test_connections_of_an_address_have_a_rate(pair: Pairs) -> None:
    pull = pair.socket(sealwire.PULL, connection_rate_per_address=2, connection_rate_period=3_600_000)
    events = pull.monitor()
    port = int(pull.bind("tcp://127.0.0.1:0").rsplit(":", 1)[1])
    connections = [tcp.create_connection(("127.0.0.1", port), timeout=TIMEOUT) for _ in range(3)]
    failed = next(event for event in events if event.kind == "failed")
    assert failed.address == "tcp://127.0.0.1:%d" % connections[2].getsockname()[1]
    assert failed.reason is not None and "connection_rate_per_address" in failed.reason
    assert connections[2].recv(1) == b""
    for connection in connections:
        connection.close()


def test_a_loop_over_a_socket_ends_when_it_is_closed(pair: Pairs) -> None:
    pull, push = pair(sealwire.PULL, sealwire.PUSH)
    for number in range(3):
        push.send(b"%d" % number)
    seen = []
    for message in pull:
        seen.append(message)
        if len(seen) == 3:
            pull.close()
    assert seen == [b"0", b"1", b"2"]
    assert list(pull) == []
    # A time limit does not end it silently.
    idle = pair.socket(sealwire.PULL, rcvtimeo=1)
    with pytest.raises(sealwire.TimedOut):
        list(idle)
    with sealwire.Context() as context:
        ended = context.socket(sealwire.PULL)
        ended.bind("inproc://ended")
    assert list(ended) == []


def test_the_same_loop_with_coroutines(pair: Pairs) -> None:
    async def main() -> None:
        pull = sealwire.asyncio.Socket(sealwire.PULL)
        push = pair.socket(sealwire.PUSH)
        push.connect(pull.bind("tcp://127.0.0.1:0"))
        push.send(b"only")
        seen = []
        async for message in pull:
            seen.append(message)
            await pull.close()
        assert seen == [b"only"]
        assert [message async for message in pull] == []

    asyncio.run(asyncio.wait_for(main(), TIMEOUT))


@pytest.mark.parametrize("linger", [0, 20])
def test_closing_tells_what_was_not_sent(linger: int) -> None:
    push = sealwire.Socket(sealwire.PUSH, linger=linger)
    push.connect("tcp://127.0.0.1:1")
    push.send_many([b"to", b"nobody"])
    with pytest.raises(sealwire.Unsent) as unsent:
        push.close()
    assert unsent.value.count == 2
    with pytest.raises(sealwire.Unsent), sealwire.Socket(sealwire.PUSH, linger=linger) as push:
        push.connect("tcp://127.0.0.1:1")
        push.send(b"to nobody")
    # What went wrong before goes first.
    with pytest.raises(KeyError), sealwire.Socket(sealwire.PUSH, linger=linger) as push:
        push.connect("tcp://127.0.0.1:1")
        push.send(b"to nobody")
        raise KeyError


def test_closing_with_a_linger_time_of_its_own_drops_what_is_left_and_counts_it() -> None:
    push = sealwire.Socket(sealwire.PUSH, linger=-1)
    push.connect("tcp://127.0.0.1:1")
    push.send_many([b"to", b"nobody"])
    with pytest.raises(sealwire.Unsent) as unsent:
        push.close(linger=0)
    assert unsent.value.count == 2
    push.close(linger=0)


def test_a_socket_that_is_closing_ends_at_once_when_told_so() -> None:
    push = sealwire.Socket(sealwire.PUSH, linger=-1)
    push.connect("tcp://127.0.0.1:1")
    push.send(b"to nobody")
    caught: list[int] = []

    def close() -> None:
        try:
            push.close()
        except sealwire.Unsent as error:
            caught.append(error.count)

    closing = threading.Thread(target=close)
    closing.start()
    while not push.closed:
        time.sleep(0.001)
    push.close(linger=0)
    closing.join(TIMEOUT)
    assert caught == [1]


def test_a_linger_time_of_closing_may_be_longer_than_the_option(pair: Pairs, tmp_path: pathlib.Path) -> None:
    push, pull = pair.socket(sealwire.PUSH, linger=0), pair.socket(sealwire.PULL)
    push.connect(f"ipc://{tmp_path}/later")
    push.send(b"waits for somebody")
    closing = threading.Thread(target=lambda: push.close(linger=-1))
    closing.start()
    while not push.closed:
        time.sleep(0.001)
    pull.bind(f"ipc://{tmp_path}/later")
    assert pull.recv() == b"waits for somebody"
    closing.join(TIMEOUT)
    assert not closing.is_alive()


def test_an_async_socket_has_a_linger_time_of_closing_too() -> None:
    async def main() -> None:
        push = sealwire.asyncio.Socket(sealwire.PUSH, linger=-1)
        push.connect("tcp://127.0.0.1:1")
        await push.send(b"to nobody")
        closing = asyncio.ensure_future(push.close())
        while not push.closed:
            await asyncio.sleep(0)
        await push.close(linger=0)
        with pytest.raises(sealwire.Unsent):
            await closing

    asyncio.run(asyncio.wait_for(main(), TIMEOUT))


def test_a_context_ends_with_a_linger_time_for_all() -> None:
    context = sealwire.Context()
    sockets = [context.socket(sealwire.PUSH, linger=-1) for _ in range(2)]
    for push in sockets:
        push.connect("tcp://127.0.0.1:1")
        push.send(b"to nobody")
    context.destroy(linger=0)
    assert context.closed and all(push.closed for push in sockets)
