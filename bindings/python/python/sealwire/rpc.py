"""Calls over encrypted connections: requests with answers, one-way messages and streams, in both
directions.

``Client`` and ``Server`` block and use threads; ``AsyncClient`` and ``AsyncServer`` are for
``asyncio``. They speak the same protocol, which is that of the Rust crate ``sealwire-rpc``.
"""

from __future__ import annotations

import asyncio
import atexit
import threading
from collections.abc import Mapping
from enum import IntEnum
from typing import TYPE_CHECKING, Any, AsyncIterator, Awaitable, Callable, Iterator
from weakref import WeakSet

from . import _socket
from ._exceptions import (
    CallError,
    Congested,
    ConnectError,
    ConnectionLost,
    DeadlineExceeded,
    MetadataError,
    RemoteError,
    ShuttingDown,
    StateError,
    StreamEnded,
    TooLarge,
)
from ._loop import run
from ._sealwire import (
    CallStream,
    ClientCore,
    Conn,
    ContextCore,
    Inbox,
    Metadata,
    Monitor,
    OneWay,
    Request,
    Security,
    ServerCore,
    TraceContext,
)
from ._telling import Raised
from .asyncio import Monitor as AsyncMonitor

if TYPE_CHECKING:
    from .types import AnyMetadata, Buffer

Mapping.register(Metadata)


class Code(IntEnum):
    """Why the other side did not reply. 1,000 and above are the application's."""

    CANCELLED = 1
    UNKNOWN = 2
    INVALID_ARGUMENT = 3
    DEADLINE_EXCEEDED = 4
    NOT_FOUND = 5
    ALREADY_EXISTS = 6
    PERMISSION_DENIED = 7
    RESOURCE_EXHAUSTED = 8
    FAILED_PRECONDITION = 9
    ABORTED = 10
    OUT_OF_RANGE = 11
    UNIMPLEMENTED = 12
    INTERNAL = 13
    UNAVAILABLE = 14
    DATA_LOSS = 15
    UNAUTHENTICATED = 16


class Status(Exception):
    """For handlers to raise: the caller gets a ``RemoteError`` with these. ``not_started`` promises
    that nothing was done, so that the caller may ask again."""

    def __init__(
        self, code: int, message: str = "", details: bytes = b"", *, not_started: bool = False
    ) -> None:
        if not 1 <= code <= 0xFFFF:
            raise ValueError(f"a code is a number from 1 to 65535, not {code}")
        super().__init__(code, message)
        self.code = code
        self.message = message
        self.details = details
        self.not_started = not_started


#: Answers a request with bytes, or raises.
Handler = Callable[[Request], "Buffer"]
#: Takes a one-way message.
MessageHandler = Callable[[OneWay], None]


def _fail(request: Request, error: BaseException, handler: object, raised: Raised) -> None:
    """Tells the caller, and for what the handler did not mean to raise, this side as well."""
    if isinstance(error, Status):
        status = error
    else:
        # The text may say what is nobody else's business.
        status = Status(Code.INTERNAL, "the handler failed")
        raised.tell(handler, error, ": its caller was told of an internal error")
    if not request._is_answered:
        request.fail(
            int(status.code), status.message, status.details, not_started=status.not_started
        )


class _Workers:
    """Threads that take what arrives and call a handler."""

    def __init__(
        self,
        inbox: Inbox,
        threads: int,
        handler: Handler,
        on_message: MessageHandler | None,
    ) -> None:
        self._inbox = inbox
        self._handler = handler
        self._on_message = on_message
        self._raised = Raised()
        # Daemons, as a program that ends need not wait for requests to come. `_end_all` ends them
        # before the interpreter does.
        self._threads = [
            threading.Thread(target=self._work, name=f"sealwire-rpc-{number}", daemon=True)
            for number in range(max(threads, 1))
        ]
        _running.add(self)
        for thread in self._threads:
            thread.start()

    def _work(self) -> None:
        while (arrived := self._inbox.next()) is not None:
            if isinstance(arrived, Request):
                self._answer(arrived)
            else:
                self._take(arrived)
            # Not kept while this thread waits for the next: dropping it tells the peer.
            del arrived

    def _answer(self, request: Request) -> None:
        if request.is_cancelled:
            return request.fail(int(Code.DEADLINE_EXCEEDED), not_started=True)
        try:
            reply = self._handler(request)
            if not request._is_answered:
                request.reply(reply)
        except BaseException as error:
            _fail(request, error, self._handler, self._raised)

    def _take(self, message: OneWay) -> None:
        if self._on_message is None:
            return
        try:
            self._on_message(message)
        except BaseException as error:
            self._raised.tell(self._on_message, error, "")

    def end(self, timeout: float) -> None:
        self._inbox.close()
        for thread in self._threads:
            if thread is not threading.current_thread():
                thread.join(timeout)


_running: WeakSet[_Workers] = WeakSet()


def _end_all() -> None:
    for workers in list(_running):
        workers.end(5.0)


# Registered after the package's own, so it runs before sockets are closed.
atexit.register(_end_all)


class Client(ClientCore):
    """Calls a server. Connects when it is first used; may be used from several threads.

    ``handler`` and ``on_message`` answer what the server asks and take what it says, on ``threads``
    threads. Further keywords: ``max_connections``, ``calls_per_connection``, ``dial_attempts``,
    ``dial_timeout``, ``handshake_timeout``, ``retries``, and the limits ``max_calls``,
    ``one_way_window``, ``stream_window``, ``max_body``, ``request_budget``, ``message_budget``,
    ``answer_budget``, ``request_timeout``, ``write_timeout``, ``read_timeout``, ``linger``. Times are
    seconds, bodies and budgets bytes."""

    _workers: _Workers | None

    def __new__(
        cls,
        endpoint: str,
        security: Security,
        *,
        context: ContextCore | None = None,
        handler: Handler | None = None,
        on_message: MessageHandler | None = None,
        threads: int = 1,
        queue: int = 1024,
        **options: Any,
    ) -> Client:
        context = _socket.Context.instance() if context is None else context
        inbox = None if handler is None and on_message is None else Inbox(queue)
        client = super().__new__(cls, endpoint, security, context, inbox, **options)
        client._workers = None
        if inbox is not None:
            client._workers = _Workers(inbox, threads, handler or _unimplemented, on_message)
        return client

    def request(
        self, body: Buffer, *, timeout: float | None = None, metadata: AnyMetadata | None = None
    ) -> bytes:
        """Calls the server and waits for its answer, for up to ``timeout`` seconds. ``metadata`` goes beside the
        body: a mapping from str to str or bytes, or pairs of these."""
        return self._request(body, timeout, metadata)

    def send(self, body: Buffer, *, metadata: AnyMetadata | None = None) -> None:
        """Sends a message that nobody answers."""
        self._send(body, metadata)

    def open(
        self, body: Buffer, *, timeout: float | None = None, metadata: AnyMetadata | None = None
    ) -> Stream:
        """Calls the server with a stream of items in each direction."""
        return Stream(self._open(body, timeout, metadata))

    def conn(self) -> Conn:
        """The least loaded connection; opens one if there is none."""
        return self._conn()

    def monitor(self) -> Monitor:
        """What happens to the connections."""
        return self._monitor()

    def close(self, timeout: float = 3.0) -> bool:
        """Lets calls under way end, then closes the connections. ``False`` when ``timeout`` seconds
        were not enough."""
        ended = self._shutdown(timeout)
        if self._workers is not None:
            self._workers.end(timeout)
        return ended

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


def _unimplemented(request: Request) -> bytes:
    raise Status(Code.UNIMPLEMENTED, "nothing is served on this side", not_started=True)


class Stream:
    """The caller's end of a call with streams: iterate over the items of the other side. Leaving
    its ``with`` block before the answer cancels the call."""

    def __init__(self, stream: CallStream) -> None:
        self._stream = stream

    def send(self, item: Buffer) -> None:
        """Sends an item, waiting for the other side to want one."""
        self._stream.send(item)

    def finish(self) -> None:
        """Says that no more items follow."""
        self._stream.finish()

    def answer(self) -> bytes:
        """Waits for the answer that ends the call. Items that were not read are dropped."""
        return self._stream.answer()

    def close(self) -> None:
        """Cancels the call, unless it was answered."""
        self._stream.close()

    def __iter__(self) -> Iterator[bytes]:
        return iter(self._stream)

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


class Server(ServerCore):
    """Answers calls with ``handler``, on ``threads`` threads of Python; ``queue`` requests may wait
    for one, and more are turned away as not started.

    ``handler`` gets a ``Request`` and gives the reply, or raises ``Status``. Anything else it raises
    is an internal error for the caller, and goes to the logger ``sealwire`` here. Further keywords:
    ``max_connections``, ``connection_wait``, ``handshake_timeout``, ``reuse_port`` (other servers with it may
    listen on the same port), and the limits of ``Client``."""

    _workers: _Workers

    def __new__(
        cls,
        security: Security,
        handler: Handler,
        *,
        on_message: MessageHandler | None = None,
        context: ContextCore | None = None,
        threads: int = 4,
        queue: int = 1024,
        **options: Any,
    ) -> Server:
        context = _socket.Context.instance() if context is None else context
        inbox = Inbox(queue)
        server = super().__new__(cls, security, context, inbox, **options)
        server._workers = _Workers(inbox, threads, handler, on_message)
        return server

    def monitor(self) -> Monitor:
        """What happens to the connections."""
        return self._monitor()

    def shutdown(self, timeout: float = 3.0) -> bool:
        """Accepts nothing new, lets requests under way end, then closes the connections. ``False``
        when ``timeout`` seconds were not enough."""
        ended = self._shutdown(timeout)
        self._workers.end(timeout)
        return ended

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *exception: object) -> None:
        self.shutdown()


class AsyncClient(ClientCore):
    """``Client`` with coroutines. It has no handler: what the server calls is unimplemented."""

    def __new__(
        cls,
        endpoint: str,
        security: Security,
        *,
        context: ContextCore | None = None,
        **options: Any,
    ) -> AsyncClient:
        context = _socket.Context.instance() if context is None else context
        return super().__new__(cls, endpoint, security, context, None, **options)

    async def request(
        self, body: Buffer, *, timeout: float | None = None, metadata: AnyMetadata | None = None
    ) -> bytes:
        """Calls the server. Cancelling the coroutine cancels the call."""
        answer: bytes = await run(self._start_request(body, timeout, metadata))
        return answer

    async def send(self, body: Buffer, *, metadata: AnyMetadata | None = None) -> None:
        """Sends a message that nobody answers."""
        await run(self._start_send(body, metadata))

    async def open(
        self, body: Buffer, *, timeout: float | None = None, metadata: AnyMetadata | None = None
    ) -> AsyncStream:
        """Calls the server with a stream of items in each direction."""
        return AsyncStream(await run(self._start_open(body, timeout, metadata)))

    def monitor(self) -> AsyncMonitor:
        """What happens to the connections."""
        return AsyncMonitor(self._monitor())

    async def close(self, timeout: float = 3.0) -> bool:
        """Lets calls under way end, then closes the connections."""
        ended: bool = await run(self._start_shutdown(timeout))
        return ended

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(self, *exception: object) -> None:
        await self.close()


class AsyncStream:
    """``Stream`` with coroutines."""

    def __init__(self, stream: CallStream) -> None:
        self._stream = stream

    async def send(self, item: Buffer) -> None:
        """Sends an item, waiting for the other side to want one."""
        await run(self._stream._start_send(item))

    def finish(self) -> None:
        """Says that no more items follow."""
        self._stream.finish()

    async def answer(self) -> bytes:
        """Waits for the answer that ends the call."""
        answer: bytes = await run(self._stream._start_answer())
        return answer

    def close(self) -> None:
        """Cancels the call, unless it was answered."""
        self._stream.close()

    async def __aiter__(self) -> AsyncIterator[bytes]:
        while (item := await run(self._stream._start_next())) is not None:
            yield item

    async def __aenter__(self) -> AsyncStream:
        return self

    async def __aexit__(self, *exception: object) -> None:
        self.close()


class AsyncRequest:
    """A request, for handlers that are coroutines."""

    def __init__(self, request: Request) -> None:
        self._request = request

    @property
    def body(self) -> bytes:
        """The body of the request."""
        return self._request.body

    @property
    def conn(self) -> Conn:
        """The connection it came through."""
        return self._request.conn

    @property
    def metadata(self) -> Metadata:
        """What the caller sent beside the body, which is theirs to choose: only ``conn`` says who they are."""
        return self._request.metadata

    @property
    def time_left(self) -> float | None:
        """Seconds that the caller still waits; ``None`` for ever."""
        return self._request.time_left

    @property
    def is_cancelled(self) -> bool:
        """Whether the caller has stopped waiting."""
        return self._request.is_cancelled

    async def send(self, item: Buffer) -> None:
        """Sends an item to the caller, waiting for it to want one."""
        await run(self._request._start_send(item))

    async def __aiter__(self) -> AsyncIterator[bytes]:
        """The items of the caller."""
        while (item := await run(self._request._start_next())) is not None:
            yield item


#: Answers a request with bytes, or raises, as a coroutine.
AsyncHandler = Callable[[AsyncRequest], Awaitable["Buffer"]]
#: Takes a one-way message, as a coroutine.
AsyncMessageHandler = Callable[[OneWay], Awaitable[None]]


class AsyncServer(ServerCore):
    """``Server`` whose handlers are coroutines, each a task of its own, ``concurrency`` of them at a
    time. It serves from ``start`` on, or inside its ``async with`` block."""

    _inbox: Inbox
    _handler: AsyncHandler
    _on_message: AsyncMessageHandler | None
    _room: asyncio.Semaphore | None
    _concurrency: int
    _serving: asyncio.Task[None] | None
    _tasks: set[asyncio.Task[None]]
    _raised: Raised

    def __new__(
        cls,
        security: Security,
        handler: AsyncHandler,
        *,
        on_message: AsyncMessageHandler | None = None,
        context: ContextCore | None = None,
        concurrency: int = 256,
        queue: int = 1024,
        **options: Any,
    ) -> AsyncServer:
        context = _socket.Context.instance() if context is None else context
        inbox = Inbox(queue)
        server = super().__new__(cls, security, context, inbox, **options)
        server._inbox = inbox
        server._handler = handler
        server._on_message = on_message
        server._room = None
        server._concurrency = max(concurrency, 1)
        server._serving = None
        server._tasks = set()
        server._raised = Raised()
        return server

    def start(self) -> None:
        """Serves on the running loop from now on."""
        if self._serving is not None:
            raise StateError("the server has been started")
        self._room = asyncio.Semaphore(self._concurrency)
        self._serving = asyncio.get_running_loop().create_task(self._serve(self._room))

    async def _serve(self, room: asyncio.Semaphore) -> None:
        while True:
            await room.acquire()
            arrived = await run(self._inbox.start_next())
            if arrived is None:
                return
            task = asyncio.get_running_loop().create_task(self._process(arrived))
            # The loop itself keeps no tasks alive.
            self._tasks.add(task)
            task.add_done_callback(self._done)
            del arrived

    def _done(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if self._room is not None:
            self._room.release()

    async def _process(self, arrived: Request | OneWay) -> None:
        if isinstance(arrived, Request):
            await self._answer(arrived)
        elif self._on_message is not None:
            try:
                await self._on_message(arrived)
            except Exception as error:
                self._raised.tell(self._on_message, error, "")

    async def _answer(self, request: Request) -> None:
        try:
            request.reply(await self._handler(AsyncRequest(request)))
        except asyncio.CancelledError:
            request.fail(int(Code.CANCELLED))
            raise
        except Exception as error:
            _fail(request, error, self._handler, self._raised)

    def monitor(self) -> AsyncMonitor:
        """What happens to the connections."""
        return AsyncMonitor(self._monitor())

    async def shutdown(self, timeout: float = 3.0) -> bool:
        """Accepts nothing new, lets requests under way end, then closes the connections. ``False``
        when ``timeout`` seconds were not enough; what is left is cancelled."""
        ended: bool = await run(self._start_shutdown(timeout))
        self._inbox.close()
        for task in list(self._tasks):
            task.cancel()
        if self._serving is not None:
            await asyncio.gather(self._serving, *self._tasks, return_exceptions=True)
        return ended

    async def __aenter__(self) -> AsyncServer:
        self.start()
        return self

    async def __aexit__(self, *exception: object) -> None:
        await self.shutdown()


__all__ = [
    "AsyncClient",
    "AsyncRequest",
    "AsyncServer",
    "AsyncStream",
    "CallError",
    "CallStream",
    "Client",
    "Code",
    "Congested",
    "Conn",
    "ConnectError",
    "ConnectionLost",
    "DeadlineExceeded",
    "Metadata",
    "MetadataError",
    "OneWay",
    "RemoteError",
    "Request",
    "Server",
    "ShuttingDown",
    "Status",
    "Stream",
    "StreamEnded",
    "TooLarge",
    "TraceContext",
]
