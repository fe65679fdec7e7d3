"""The sockets of `sealwire.asyncio`: tasks, cancellation, batches, several loops."""

from __future__ import annotations

import asyncio
import threading
from typing import Any, Coroutine, TypeVar

import pytest

import sealwire
import sealwire.asyncio
from conftest import TIMEOUT, TIMEOUT_MS, Pairs, securities

T = TypeVar("T")


def run(coroutine: Coroutine[Any, Any, T]) -> T:
    return asyncio.run(asyncio.wait_for(coroutine, TIMEOUT))


def made(bound: int, connected: int, mechanism: str = "BLAKE3", **options: Any) -> tuple[
    sealwire.asyncio.Socket, sealwire.asyncio.Socket
]:
    server_security, client_security = securities(mechanism)
    server = sealwire.asyncio.Socket(bound, security=server_security, **options)
    client = sealwire.asyncio.Socket(connected, security=client_security, **options)
    client.connect(server.bind("tcp://127.0.0.1:0"))
    return server, client


@pytest.mark.parametrize("mechanism", ["NULL", "PLAIN", "CURVE", "BLAKE3"])
def test_a_request_is_answered(mechanism: str) -> None:
    async def main() -> None:
        server, client = made(sealwire.REP, sealwire.REQ, mechanism)
        async with server, client:
            await client.send(b"hello")
            request = await server.recv_message()
            assert request.body == b"hello"
            await server.send_string("welcome")
            assert await client.recv_string() == "welcome"

    run(main())


def test_waiting_before_and_after() -> None:
    async def main() -> None:
        server, client = made(sealwire.PULL, sealwire.PUSH)
        async with server, client:
            waiting = asyncio.ensure_future(server.recv())
            await asyncio.sleep(0)
            await client.send(b"x")
            assert await waiting == b"x"
            await client.send_multipart([b"a", b"b"])
            assert await server.recv_multipart() == [b"a", b"b"]
            await client.send_json([1])
            assert await server.recv_json() == [1]
            await client.send(b"lent")
            assert bytes(await server.recv(copy=False)) == b"lent"

    run(main())


def test_iterating_many_messages() -> None:
    async def main() -> None:
        server, client = made(sealwire.PULL, sealwire.PUSH)
        async with server, client:
            count = 5000
            sent = [str(number).encode() for number in range(count)]
            sending = asyncio.ensure_future(client.send_many(sent))
            received = []
            async for message in server:
                received.append(message)
                if len(received) == count:
                    break
            assert received == sent
            assert await sending == count

    run(main())


def test_batches() -> None:
    async def main() -> None:
        server, client = made(sealwire.PULL, sealwire.PUSH)
        async with server, client:
            sending = asyncio.ensure_future(client.send_many([b"x"] * 5000))
            taken = 0
            while taken < 5000:
                taken += len(await server.recv_many(300))
            await sending
            await client.send_multipart([b"a", b"b"])
            assert await server.recv_many_multipart() == [[b"a", b"b"]]
            await client.send(b"who")
            (message,) = await server.recv_many_messages()
            assert message.peer is not None and message.peer.user_id == "alice"

    run(main())


def test_many_tasks_share_a_socket() -> None:
    async def main() -> None:
        server, client = made(sealwire.PULL, sealwire.PUSH)
        async with server, client:
            tasks = [asyncio.ensure_future(server.recv()) for _ in range(200)]
            await asyncio.sleep(0)
            sent = [str(number).encode() for number in range(200)]
            await client.send_many(sent)
            assert sorted(await asyncio.gather(*tasks)) == sorted(sent)

    run(main())


def test_a_cancelled_receive_loses_nothing() -> None:
    async def main() -> None:
        server, client = made(sealwire.PULL, sealwire.PUSH)
        async with server, client:
            received: list[bytes] = []

            async def receive() -> None:
                received.append(await server.recv())

            for number in range(300):
                task = asyncio.ensure_future(receive())
                await asyncio.sleep(0)
                await client.send(str(number).encode())
                # The message comes before, with or after this, as it happens.
                for _ in range(number % 7):
                    await asyncio.sleep(0)
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)
            while len(received) < 300:
                received.append(await server.recv())
            assert received == [str(number).encode() for number in range(300)]

    run(main())


def test_time_limits() -> None:
    async def main() -> None:
        pull = sealwire.asyncio.Socket(sealwire.PULL, rcvtimeo=10)
        pull.bind("tcp://127.0.0.1:0")
        with pytest.raises(sealwire.TimedOut, match="10ms"):
            await pull.recv()
        with pytest.raises(sealwire.TimedOut):
            await pull.recv_many()
        with pytest.raises(sealwire.Again):
            await pull.recv(sealwire.NOBLOCK)
        with pytest.raises(asyncio.TimeoutError):
            pull.rcvtimeo = -1
            await asyncio.wait_for(pull.recv(), 0.01)
        push = sealwire.asyncio.Socket(sealwire.PUSH, sndtimeo=10, linger=0)
        push.bind("tcp://127.0.0.1:0")
        with pytest.raises(sealwire.TimedOut, match="no peer was connected"):
            await push.send(b"to nobody")
        with pytest.raises(sealwire.Again):
            await push.send(b"to nobody", sealwire.NOBLOCK)
        await pull.close()
        await push.close()

    run(main())


def test_a_refusal_is_named() -> None:
    async def main() -> None:
        keys = sealwire.KeyPair.generate()
        server = sealwire.asyncio.Socket(
            sealwire.REP, security=sealwire.Security.blake3_server(keys, lambda client: False)
        )
        client = sealwire.asyncio.Socket(
            sealwire.REQ,
            security=sealwire.Security.blake3_client(keys.public),
            linger=0,
            rcvtimeo=1,
        )
        monitor = client.monitor()
        client.connect(server.bind("tcp://127.0.0.1:0"))
        await client.send(b"hello?")
        async for event in monitor:
            if event.kind == "failed":
                break
        with pytest.raises(sealwire.HandshakeError, match="not allowed here"):
            await client.recv()
        # Without a linger time the question is reported all the same.
        with pytest.raises(sealwire.Unsent) as unsent:
            await client.close()
        assert unsent.value.count == 1
        await server.close()
        kinds = [event.kind async for event in monitor]
        assert "ready" not in kinds
        assert await monitor.next() is None
        assert monitor.lost == 0

    run(main())


def test_a_full_queue_lets_others_run() -> None:
    async def main() -> None:
        server, client = made(sealwire.PULL, sealwire.PUSH, sndhwm=1, rcvhwm=1)
        async with server, client:

            async def send() -> None:
                for _ in range(100):
                    await client.send(b"x" * 300_000)

            sending = asyncio.ensure_future(send())
            for _ in range(100):
                assert len(await server.recv()) == 300_000
            await sending

    run(main())


def test_a_sender_that_never_waits_lets_others_run() -> None:
    async def main() -> None:
        server, client = made(sealwire.PULL, sealwire.PUSH, sndhwm=0, rcvhwm=0)
        async with server, client:
            stopped = False

            async def stop() -> None:
                nonlocal stopped
                await asyncio.sleep(0)
                stopped = True

            task = asyncio.ensure_future(stop())
            while not stopped:
                await client.send(b"x")
            await task

    run(main())


def test_polling() -> None:
    async def main() -> None:
        server, client = made(sealwire.PULL, sealwire.PUSH)
        async with server, client:
            assert await server.poll(1) == 0
            assert await client.poll(TIMEOUT_MS, sealwire.POLLOUT) == sealwire.POLLOUT
            await client.send(b"x")
            assert await server.poll() == sealwire.POLLIN
            assert await server.recv() == b"x"

    run(main())


def test_connect_peer() -> None:
    async def main() -> None:
        server_security, client_security = securities("CURVE")
        server = sealwire.asyncio.Socket(sealwire.PEER, security=server_security)
        client = sealwire.asyncio.Socket(sealwire.PEER, security=client_security)
        async with server, client:
            routing_id = await client.connect_peer(server.bind("tcp://127.0.0.1:0"))
            await client.send(b"first", routing_id=routing_id)
            assert await server.recv() == b"first"
            with pytest.raises(sealwire.EndpointError):
                await client.connect_peer("nowhere")

    run(main())


def test_subscribers_that_were_waited_for_miss_nothing() -> None:
    async def main() -> None:
        publisher, subscriber = made(sealwire.PUB, sealwire.SUB)
        async with publisher, subscriber:
            await publisher.wait_connected()
            with pytest.raises(sealwire.TimedOut, match="subscribers.* within 20ms"):
                await publisher.wait_subscribed("weather.", timeout=20)
            with pytest.raises(sealwire.TimedOut):
                await publisher.wait_connected(2, timeout=20)
            subscriber.subscribe("weather")
            await publisher.wait_subscribed("weather.", 1)
            await publisher.send(b"weather.today")
            assert await subscriber.recv() == b"weather.today"

    run(main())


def test_closing_ends_who_waits() -> None:
    async def main() -> None:
        server, client = made(sealwire.PULL, sealwire.PUSH)
        waiting = asyncio.ensure_future(server.recv())
        await asyncio.sleep(0)
        await server.close()
        with pytest.raises(sealwire.SocketClosed):
            await waiting
        await server.close()
        await client.close(linger=0)
        assert server.closed and client.closed
        unsent = sealwire.asyncio.Socket(sealwire.PUSH, linger=1)
        unsent.connect("tcp://127.0.0.1:1")
        await unsent.send(b"to nobody")
        with pytest.raises(sealwire.Unsent):
            await unsent.close()

    run(main())


def test_each_loop_has_a_descriptor_and_one_socket_serves_several(pair: Pairs) -> None:
    server, client = made(sealwire.PULL, sealwire.PUSH)
    received: list[bytes] = []

    def in_a_loop() -> None:
        async def main() -> None:
            for _ in range(100):
                received.append(await server.recv())

        run(main())

    threads = [threading.Thread(target=in_a_loop) for _ in range(3)]
    for thread in threads:
        thread.start()

    async def send() -> None:
        await client.send_many([b"x"] * 300)

    run(send())
    for thread in threads:
        thread.join(TIMEOUT)
    assert received == [b"x"] * 300


def test_blocking_and_async_sockets_talk(pair: Pairs) -> None:
    async def main() -> None:
        server_security, client_security = securities("BLAKE3")
        blocking = pair.socket(sealwire.REP, server_security)
        async with sealwire.asyncio.Socket(sealwire.REQ, security=client_security) as client:
            client.connect(blocking.bind("tcp://127.0.0.1:0"))
            await client.send(b"x")
            loop = asyncio.get_running_loop()
            assert await loop.run_in_executor(None, blocking.recv) == b"x"
            blocking.send(b"y")
            assert await client.recv() == b"y"

    run(main())


def test_a_context_of_this_module_makes_its_sockets() -> None:
    context = sealwire.asyncio.Context()
    assert isinstance(context.socket(sealwire.PULL), sealwire.asyncio.Socket)
    assert sealwire.asyncio.Context.instance() is sealwire.asyncio.Context.instance()
    context.term()
