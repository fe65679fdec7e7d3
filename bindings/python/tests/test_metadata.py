"""Metadata of calls and messages, and the trace that goes on in it."""

from __future__ import annotations

import asyncio
import queue
from collections.abc import Mapping
from typing import Any, Iterator

import pytest

from conftest import TIMEOUT, securities
from sealwire import rpc

PARENT = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
STATE = "rojo=00f067aa0ba902b7,congo=t61rcWkgMzE"
ENTRIES = [("tenant", b"blue"), ("hop", b"1"), ("hop", b"\xff")]


def shown(request: rpc.Request | rpc.OneWay) -> bytes:
    return repr(request.metadata.entries).encode()


class Ends:
    """A server that shows metadata, and a client that does likewise."""

    def __init__(self) -> None:
        self.heard: queue.Queue[bytes] = queue.Queue()

        def take(message: rpc.OneWay) -> None:
            self.heard.put(shown(message))

        security, self.client_security = securities("BLAKE3")
        self.server = rpc.Server(security, self.answer, on_message=take)
        self.endpoint = self.server.bind("tcp://127.0.0.1:0")
        self.client = rpc.Client(
            self.endpoint, self.client_security, handler=shown, on_message=take, request_timeout=TIMEOUT
        )

    def answer(self, request: rpc.Request) -> bytes:
        if request.body == b"show":
            return shown(request)
        caller = rpc.TraceContext.of(request.metadata)
        if caller is None:
            return b"no trace"
        # As a caller back, from a span of its own.
        own = caller.child(bytes([1] * 8))
        request.conn.send(b"", metadata=own.write())
        streamed = request.conn.open(b"", metadata=own.write()).answer()
        asked = request.conn.request(b"", metadata=own.write({"tenant": "blue"}))
        return streamed + asked


@pytest.fixture
def ends() -> Iterator[Ends]:
    made = Ends()
    yield made
    made.client.close()
    made.server.shutdown()


def written(*entries: tuple[str, bytes]) -> bytes:
    return repr(list(entries)).encode()


@pytest.mark.parametrize("metadata", [ENTRIES, tuple(ENTRIES), rpc.Metadata(ENTRIES)])
def test_a_call_carries_metadata(ends: Ends, metadata: Any) -> None:
    client, conn = ends.client, ends.client.conn()
    assert client.request(b"show", metadata=metadata) == written(*ENTRIES)
    assert conn.request(b"show", metadata=metadata) == written(*ENTRIES)
    with client.open(b"show", metadata=metadata) as stream:
        assert stream.answer() == written(*ENTRIES)
    with rpc.Stream(conn.open(b"show", metadata=metadata)) as stream:
        assert stream.answer() == written(*ENTRIES)
    # One by one: several threads take them.
    for calling in (client, conn):
        calling.send(b"", metadata=metadata)
        assert ends.heard.get(timeout=TIMEOUT) == written(*ENTRIES)
        calling.send(b"")
        assert ends.heard.get(timeout=TIMEOUT) == written()
    assert client.request(b"show") == written()
    assert client.request(b"show", metadata={"tenant": "grün"}) == written(("tenant", "grün".encode()))


def test_coroutines_carry_it_too(ends: Ends) -> None:
    async def main() -> None:
        security, client_security = securities("BLAKE3")

        async def handler(request: rpc.AsyncRequest) -> bytes:
            return repr(request.metadata.entries).encode()

        heard: asyncio.Queue[bytes] = asyncio.Queue()

        async def take(message: rpc.OneWay) -> None:
            heard.put_nowait(shown(message))

        async with rpc.AsyncServer(security, handler, on_message=take) as server:
            endpoint = server.bind("tcp://127.0.0.1:0")
            async with rpc.AsyncClient(endpoint, client_security, request_timeout=TIMEOUT) as client:
                assert await client.request(b"", metadata=ENTRIES) == written(*ENTRIES)
                async with await client.open(b"", metadata=ENTRIES) as stream:
                    assert await stream.answer() == written(*ENTRIES)
                await client.send(b"", metadata=ENTRIES)
                assert await asyncio.wait_for(heard.get(), TIMEOUT) == written(*ENTRIES)
                await client.send(b"")
                assert await asyncio.wait_for(heard.get(), TIMEOUT) == written()
                with pytest.raises(rpc.MetadataError):
                    await client.request(b"", metadata={"Tenant": "blue"})

    asyncio.run(main())


def test_metadata_is_a_mapping_to_first_values() -> None:
    metadata = rpc.Metadata(ENTRIES)
    assert isinstance(metadata, Mapping)
    assert dict(metadata) == {"tenant": b"blue", "hop": b"1"}
    assert (len(metadata), list(metadata), "hop" in metadata, "hip" in metadata) == (2, ["tenant", "hop"], True, False)
    other: Any = 7
    assert other not in metadata
    assert (list(metadata.keys()), list(metadata.values())) == (["tenant", "hop"], [b"blue", b"1"])
    assert list(metadata.items()) == ENTRIES[:2]
    assert (metadata["hop"], metadata.get("hop"), metadata.get("hip"), metadata.get("hip", b"")) == (b"1", b"1", None, b"")
    assert (metadata.get_all("hop"), metadata.get_all("hip")) == ([b"1", b"\xff"], [])
    assert metadata.entries == ENTRIES
    assert metadata == rpc.Metadata(ENTRIES) != rpc.Metadata(ENTRIES[:2])
    assert not rpc.Metadata() and rpc.Metadata({}) == rpc.Metadata()
    with pytest.raises(KeyError, match="hip"):
        metadata["hip"]
    # Values may be credentials.
    assert "hop" in repr(metadata) and "blue" not in repr(metadata)


def test_what_metadata_cannot_have_is_refused_before_anything_is_sent(ends: Ends) -> None:
    for key in ["", "Tenant", "a b", "ü", "\ud800", "x" * 256]:
        with pytest.raises(rpc.MetadataError, match="is not 1 to 255 of the characters"):
            ends.client.request(b"show", metadata={key: "blue"})
    with pytest.raises(rpc.MetadataError, match="at most 64 entries"):
        ends.client.send(b"", metadata=(("hop", str(number)) for number in iter(int, 1)))
    with pytest.raises(rpc.MetadataError, match="8193 bytes, and at most 8192"):
        ends.client.open(b"show", metadata=[("key", bytes(8_187))])
    assert len(ends.client.request(b"show", metadata=[("key", bytes(8_186))])) > 8_186
    wrong: Any
    for wrong in ["text", 7, ["text"], [("key",)], {"key": 7}, {7: "value"}, [("key", None)]]:
        with pytest.raises(TypeError):
            ends.client.request(b"show", metadata=wrong)
    assert ends.server.counters["requests"] == 1


def test_a_handler_continues_the_trace_of_its_caller(ends: Ends) -> None:
    own = "00-4bf92f3577b34da6a3ce929d0e0e4736-0101010101010101-01"
    trace = [("traceparent", own.encode()), ("tracestate", STATE.encode())]
    answer = written(*trace) + written(("tenant", b"blue"), *trace)
    sent = {"traceparent": PARENT, "tracestate": STATE}
    assert ends.client.request(b"pass", metadata=sent) == answer
    assert ends.heard.get(timeout=TIMEOUT) == written(*trace)
    assert ends.client.request(b"pass", metadata=rpc.TraceContext(PARENT, STATE).write()) == answer
    broken: Any
    for broken in [{}, {"traceparent": "00-1"}, [("traceparent", PARENT)] * 2]:
        assert ends.client.request(b"pass", metadata=broken) == b"no trace"


def test_trace_contexts_are_those_of_the_standard() -> None:
    context = rpc.TraceContext(PARENT, STATE)
    assert (context.traceparent, str(context), context.tracestate) == (PARENT, PARENT, STATE)
    assert context.trace_id.hex() == "4bf92f3577b34da6a3ce929d0e0e4736"
    assert context.parent_id.hex() == "00f067aa0ba902b7"
    assert context.is_sampled and not rpc.TraceContext(PARENT[:-1] + "0").is_sampled
    assert context == rpc.TraceContext(PARENT, STATE) != rpc.TraceContext(PARENT)
    assert PARENT in repr(context)
    assert context.child(b"\x01" * 8).child(context.parent_id) == context
    one, other = context.child(), context.child()
    assert one.parent_id != other.parent_id and one.trace_id == context.trace_id and one.tracestate == STATE
    with pytest.raises(ValueError, match="55 characters"):
        rpc.TraceContext("00-1")
    with pytest.raises(ValueError, match="key=value"):
        rpc.TraceContext(PARENT, "rojo")
    with pytest.raises(ValueError, match="stands for no span"):
        context.child(bytes(8))
    with pytest.raises(ValueError, match="8 bytes, not 7"):
        context.child(bytes(7))
    # It takes the place of the one that is there, and needs room.
    assert context.write(rpc.TraceContext(PARENT[:-1] + "0").write()) == context.write()
    with pytest.raises(rpc.MetadataError, match="at most 64 entries"):
        context.write([("hop", "")] * 64)
    long = rpc.TraceContext(PARENT, ",".join(f"k{number}={'v' * 120}" for number in range(32)))
    kept = long.write([("other", bytes(7_000))])["tracestate"].decode()
    assert len(kept) <= 512 and long.tracestate.startswith(kept)
