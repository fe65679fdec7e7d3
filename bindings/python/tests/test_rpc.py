"""Calls, one-way messages and streams, blocking and async, in both directions."""

from __future__ import annotations

import asyncio
import threading
from typing import Any, Callable, Coroutine, Iterator

import pytest

import sealwire
from conftest import TIMEOUT, securities
from sealwire import rpc

Made = Callable[..., tuple[rpc.Server, rpc.Client]]


@pytest.fixture
def made() -> Iterator[Made]:
    ends: list[rpc.Server | rpc.Client] = []

    def make(handler: rpc.Handler, **options: Any) -> tuple[rpc.Server, rpc.Client]:
        server_security, client_security = securities("BLAKE3")
        of_client = {name[7:]: options.pop(name) for name in list(options) if name[:7] == "client_"}
        server = rpc.Server(server_security, handler, **options)
        client = rpc.Client(
            server.bind("tcp://127.0.0.1:0"),
            client_security,
            **{"request_timeout": TIMEOUT, **of_client},
        )
        ends.extend([client, server])
        return server, client

    yield make
    for end in ends:
        end.close() if isinstance(end, rpc.Client) else end.shutdown()


def echo(request: rpc.Request) -> bytes:
    return request.body


def test_a_request_is_answered_and_says_who_asked(made: Made) -> None:
    asked: list[tuple[bytes, str | None, float | None]] = []

    def handler(request: rpc.Request) -> bytes:
        asked.append((request.body, request.conn.user_id, request.time_left))
        return b"you said " + request.body

    server, client = made(handler)
    assert client.request(b"hello") == b"you said hello"
    assert client.request(bytearray(b"x" * 100_000)) == b"you said " + b"x" * 100_000
    (body, user_id, time_left) = asked[0]
    assert (body, user_id) == (b"hello", "alice")
    assert time_left is not None and 0 < time_left <= TIMEOUT * 9 / 8
    assert server.counters["requests"] == 2
    assert client.counters["calls"] == 2
    (conn,) = client.connections
    assert conn.is_open and "tcp://" in repr(conn)
    assert conn.public_key is not None
    assert client.conn().request(b"x", timeout=TIMEOUT) == b"you said x"


def test_an_error_reaches_the_caller(made: Made) -> None:
    def handler(request: rpc.Request) -> bytes:
        raise rpc.Status(1234, "no such thing", b"\x00details")

    _, client = made(handler)
    with pytest.raises(rpc.RemoteError, match="no such thing") as caught:
        client.request(b"x")
    assert caught.value.code == 1234
    assert caught.value.message == "no such thing"
    assert caught.value.details == b"\x00details"
    assert caught.value.may_have_run
    with pytest.raises(ValueError):
        rpc.Status(0)


def raised_by_handlers(caplog: pytest.LogCaptureFixture) -> list[type[BaseException]]:
    """What the log says of exceptions."""
    records = [record for record in caplog.records if record.name == "sealwire"]
    return [record.exc_info[0] for record in records if record.exc_info and record.exc_info[0]]


def test_a_handler_that_fails_is_reported_here_and_not_told_there(
    made: Made, caplog: pytest.LogCaptureFixture
) -> None:
    def handler(request: rpc.Request) -> bytes:
        raise KeyError("the secret of this side")

    _, client = made(handler)
    with pytest.raises(rpc.RemoteError) as caught:
        client.request(b"x")
    assert caught.value.code == rpc.Code.INTERNAL
    assert "secret" not in str(caught.value)
    assert raised_by_handlers(caplog) == [KeyError]
    [line] = caplog.messages
    assert "a_handler_that_fails" in line
    assert line.endswith("raised an exception: its caller was told of an internal error")


def test_what_a_handler_must_not_give_is_an_internal_error(made: Made) -> None:
    _, client = made(lambda request: "text")
    with pytest.raises(rpc.RemoteError) as caught:
        client.request(b"x")
    assert caught.value.code == rpc.Code.INTERNAL


def test_a_time_limit(made: Made) -> None:
    release = threading.Event()

    def handler(request: rpc.Request) -> bytes:
        release.wait(TIMEOUT)
        return b""

    _, client = made(handler)
    client.conn()
    try:
        with pytest.raises(rpc.DeadlineExceeded) as caught:
            client.request(b"x", timeout=0.2)
    finally:
        release.set()
    assert isinstance(caught.value, TimeoutError)


def test_many_threads_call_at_once(made: Made) -> None:
    _, client = made(echo, threads=4)
    answers: dict[int, bool] = {}

    def call(number: int) -> None:
        answers[number] = all(
            client.request(f"{number} {i}".encode()) == f"{number} {i}".encode()
            for i in range(50)
        )

    threads = [threading.Thread(target=call, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(TIMEOUT)
    assert answers == dict.fromkeys(range(8), True)


def test_one_way_messages(made: Made) -> None:
    received: list[bytes] = []
    all_there = threading.Event()

    def take(message: rpc.OneWay) -> None:
        received.append(message.body)
        if len(received) == 3000:
            all_there.set()

    _, client = made(echo, on_message=take, threads=1, client_write_timeout=TIMEOUT)
    for number in range(3000):
        client.send(str(number).encode())
    assert all_there.wait(TIMEOUT)
    assert received == [str(number).encode() for number in range(3000)]


def test_streams_in_both_directions(made: Made) -> None:
    def handler(request: rpc.Request) -> bytes:
        assert request.has_streams
        total = 0
        while (item := request.next()) is not None:
            total += int(item)
            request.send(b"so far %d" % total)
        return b"total %d" % total

    _, client = made(handler)
    with client.open(b"sum", timeout=TIMEOUT) as stream:
        for number in (1, 2, 3):
            stream.send(b"%d" % number)
        stream.finish()
        assert list(stream) == [b"so far 1", b"so far 3", b"so far 6"]
        assert stream.answer() == b"total 6"
        with pytest.raises(rpc.StreamEnded):
            stream.send(b"late")


def test_a_server_calls_its_client(made: Made) -> None:
    def handler(request: rpc.Request) -> bytes:
        return b"the client says " + request.conn.request(b"who?", timeout=TIMEOUT)

    _, client = made(handler, client_handler=lambda request: b"alice to " + request.body)
    assert client.request(b"x") == b"the client says alice to who?"


def test_a_client_without_a_handler_serves_nothing(made: Made) -> None:
    def handler(request: rpc.Request) -> bytes:
        with pytest.raises(rpc.RemoteError) as caught:
            request.conn.request(b"who?", timeout=TIMEOUT)
        assert not caught.value.may_have_run
        return str(caught.value.code).encode()

    _, client = made(handler)
    assert int(client.request(b"x")) == rpc.Code.UNIMPLEMENTED


def test_too_much_is_turned_away_as_not_started(made: Made) -> None:
    release, begun = threading.Event(), threading.Semaphore(0)

    def handler(request: rpc.Request) -> bytes:
        begun.release()
        release.wait(TIMEOUT)
        return b""

    _, client = made(handler, threads=1, queue=1, client_retries=0)
    outcomes: list[BaseException | bytes] = []

    def call() -> None:
        try:
            outcomes.append(client.request(b"x"))
        except rpc.CallError as error:
            outcomes.append(error)

    threads = [threading.Thread(target=call) for _ in range(6)]
    # The first one runs before the others come: then one waits and four are turned away.
    threads[0].start()
    assert begun.acquire(timeout=TIMEOUT)
    for thread in threads[1:]:
        thread.start()
    for thread in threads[1:]:
        while thread.is_alive() and sum(isinstance(o, rpc.RemoteError) for o in outcomes) < 4:
            thread.join(0.01)
    release.set()
    for thread in threads:
        thread.join(TIMEOUT)
    errors = [outcome for outcome in outcomes if isinstance(outcome, rpc.RemoteError)]
    assert len(errors) == 4
    assert all(error.code == rpc.Code.RESOURCE_EXHAUSTED for error in errors)
    assert not any(error.may_have_run for error in errors)
    assert outcomes.count(b"") == 2


def test_nobody_there_and_nobody_any_more(made: Made) -> None:
    security = sealwire.Security.blake3_client(sealwire.KeyPair.generate().public)
    with rpc.Client("tcp://127.0.0.1:1", security) as client:
        with pytest.raises(rpc.ConnectError):
            client.request(b"x")
    server, client = made(echo)
    assert client.request(b"x") == b"x"
    assert server.shutdown()
    with pytest.raises(rpc.CallError) as caught:
        client.request(b"x", timeout=5)
    assert not caught.value.may_have_run


def test_a_refused_client_learns_why() -> None:
    keys = sealwire.KeyPair.generate()
    security = sealwire.Security.blake3_server(keys, lambda client: None)
    with rpc.Server(security, echo) as server:
        client_security = sealwire.Security.blake3_client(keys.public)
        with rpc.Client(server.bind("tcp://127.0.0.1:0"), client_security) as client:
            with pytest.raises(rpc.ConnectError, match="not allowed here"):
                client.request(b"x")


def test_limits(made: Made) -> None:
    _, client = made(echo, max_body=1000)
    with pytest.raises(rpc.TooLarge):
        client.request(b"x" * 1001)
    with pytest.raises(TypeError, match="no limit 'max_bodies'"):
        rpc.Client("tcp://127.0.0.1:1", sealwire.Security.plain_text(), max_bodies=1)


def run(coroutine: Coroutine[Any, Any, None]) -> None:
    asyncio.run(asyncio.wait_for(coroutine, TIMEOUT))


async def async_echo(request: rpc.AsyncRequest) -> bytes:
    return request.body


def test_async_calls() -> None:
    async def main() -> None:
        server_security, client_security = securities("BLAKE3")
        async with rpc.AsyncServer(server_security, async_echo) as server:
            endpoint = server.bind("tcp://127.0.0.1:0")
            async with rpc.AsyncClient(endpoint, client_security) as client:
                bodies = [str(number).encode() for number in range(500)]
                calls = (client.request(body, timeout=TIMEOUT) for body in bodies)
                assert await asyncio.gather(*calls) == bodies
            with pytest.raises(sealwire.StateError):
                server.start()

    run(main())


def test_async_errors_streams_and_messages(caplog: pytest.LogCaptureFixture) -> None:
    async def main() -> None:
        told: asyncio.Queue[bytes] = asyncio.Queue()

        async def handler(request: rpc.AsyncRequest) -> bytes:
            if request.body == b"refuse":
                raise rpc.Status(rpc.Code.PERMISSION_DENIED, "no")
            if request.body == b"fail":
                raise ZeroDivisionError
            count = 0
            async for item in request:
                await request.send(item * 2)
                count += 1
            return b"%d" % count

        async def on_message(message: rpc.OneWay) -> None:
            await told.put(message.body)

        server_security, client_security = securities("CURVE")
        server = rpc.AsyncServer(server_security, handler, on_message=on_message)
        async with server:
            endpoint = server.bind("tcp://127.0.0.1:0")
            async with rpc.AsyncClient(endpoint, client_security) as client:
                with pytest.raises(rpc.RemoteError) as refused:
                    await client.request(b"refuse")
                assert refused.value.code == rpc.Code.PERMISSION_DENIED
                with pytest.raises(rpc.RemoteError) as failed:
                    await client.request(b"fail")
                assert failed.value.code == rpc.Code.INTERNAL
                await client.send(b"psst")
                assert await told.get() == b"psst"
                async with await client.open(b"double", timeout=TIMEOUT) as stream:
                    await stream.send(b"a")
                    await stream.send(b"b")
                    stream.finish()
                    assert [item async for item in stream] == [b"aa", b"bb"]
                    assert await stream.answer() == b"2"

    run(main())
    assert raised_by_handlers(caplog) == [ZeroDivisionError]


def test_a_cancelled_call_is_seen_by_the_handler() -> None:
    async def main() -> None:
        begun, cancelled = asyncio.Event(), asyncio.Event()

        async def handler(request: rpc.AsyncRequest) -> bytes:
            begun.set()
            while not request.is_cancelled:
                await asyncio.sleep(0.001)
            cancelled.set()
            return b""

        server_security, client_security = securities("BLAKE3")
        async with rpc.AsyncServer(server_security, handler) as server:
            endpoint = server.bind("tcp://127.0.0.1:0")
            async with rpc.AsyncClient(endpoint, client_security) as client:
                call = asyncio.ensure_future(client.request(b"x", timeout=TIMEOUT))
                await begun.wait()
                call.cancel()
                await asyncio.gather(call, return_exceptions=True)
                await cancelled.wait()

    run(main())


def test_blocking_and_async_ends_talk(made: Made) -> None:
    server, client = made(echo)

    async def main() -> None:
        server_security, client_security = securities("BLAKE3")
        async with rpc.AsyncServer(server_security, async_echo) as async_server:
            endpoint = async_server.bind("tcp://127.0.0.1:0")
            loop = asyncio.get_running_loop()

            def call() -> bytes:
                with rpc.Client(endpoint, client_security) as blocking:
                    return blocking.request(b"from a thread", timeout=TIMEOUT)

            assert await loop.run_in_executor(None, call) == b"from a thread"

    run(main())
    assert client.request(b"x") == b"x"
    assert server.monitor().try_next() is None
