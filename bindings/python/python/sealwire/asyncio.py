"""The sockets for ``asyncio``, as ``zmq.asyncio`` has them: the same names, with coroutines. Distributors and workers
too.

Cancelling a coroutine gives its operation up: nothing was sent or taken.
"""

from __future__ import annotations

import asyncio
import json
from types import TracebackType
from typing import TYPE_CHECKING, Any, AsyncIterator, Iterable, Literal, overload

from . import _forms, _socket
from ._base import Options
from ._constants import NOBLOCK, POLLIN, POLLOUT
from ._exceptions import Again, Drained, ShutDown, SocketClosed, TimedOut, Unsent
from ._loop import Expired, driver, run
from ._poll import events_of
from ._sealwire import ContextCore, Event, Frame, Message, Operation, Security, SocketCore, Task
from ._sealwire import Monitor as _Monitor
from ._work import (
    CommonDistributor,
    CommonWorker,
    Outcome,
    UnfinishedTask,
    complain,
    outcome_of,
)

if TYPE_CHECKING:
    from .types import Buffer


class Context(_socket.Context):
    """A context whose sockets are those of this module."""

    _async_instance: Context | None = None

    @classmethod
    def instance(cls) -> Context:
        """The context of all sockets of this module that were given no other. Its ``inproc``
        names are not those of ``sealwire.Context.instance()``."""
        if Context._async_instance is None or not Context._async_instance._usable:
            Context._async_instance = Context()
        return Context._async_instance

    def socket(  # type: ignore[override]
        self, socket_type: int, *, security: Security | None = None, **options: Any
    ) -> Socket:
        """A socket of this context."""
        return Socket(socket_type, self, security=security, **options)


class Monitor:
    """Reads the events of one socket: ``async for event in monitor``."""

    def __init__(self, monitor: _Monitor) -> None:
        self._monitor = monitor

    async def next(self) -> Event | None:
        """The next event; ``None`` once the socket is closed and all events are read."""
        event: Event | None = await run(self._monitor._next_operation())
        return event

    @property
    def lost(self) -> int:
        """How many events were dropped because nobody read them in time."""
        return self._monitor.lost

    def __aiter__(self) -> Monitor:
        return self

    async def __anext__(self) -> Event:
        event = await self.next()
        if event is None:
            raise StopAsyncIteration
        return event


class Socket(Options, SocketCore):
    """A socket for coroutines of any number of tasks, and of any loop.

    Options are attributes or keywords, and so is ``security``. :class:`Options` says what those do that are set
    later."""

    def __new__(
        cls,
        socket_type: int,
        context: ContextCore | None = None,
        *,
        security: Security | None = None,
        **options: Any,
    ) -> Socket:
        context = _socket.Context.instance() if context is None else context
        socket = super().__new__(cls, socket_type, context, security=security)
        socket._set_options(options)
        return socket

    async def send(
        self,
        data: Buffer,
        flags: int = 0,
        *,
        routing_id: int | None = None,
        group: str | bytes | None = None,
    ) -> None:
        """Sends a message of one frame."""
        await self._send(data, False, flags, routing_id, group)

    async def send_multipart(self, frames: Iterable[Buffer], flags: int = 0) -> None:
        """Sends a message of several frames."""
        frames = frames if isinstance(frames, (list, tuple, bytes, str)) else list(frames)
        await self._send(frames, True, flags, None, None)

    async def send_many(self, messages: Iterable[Buffer]) -> int:
        """Sends messages of one frame each, in order, and gives their number."""
        sent = 0
        for message in messages:
            await self._send(message, False, 0, None, None)
            sent += 1
        return sent

    async def send_string(
        self, text: str, flags: int = 0, *, encoding: str = "utf-8"
    ) -> None:
        """Sends text as a message of one frame."""
        await self.send(text.encode(encoding), flags)

    async def send_json(self, value: Any, flags: int = 0, **how: Any) -> None:
        """Sends what ``json.dumps`` makes of a value."""
        await self.send(json.dumps(value, separators=(",", ":"), **how).encode(), flags)

    async def _send(
        self,
        data: Any,
        multipart: bool,
        flags: int,
        routing_id: int | None,
        group: str | bytes | None,
    ) -> None:
        here = driver()
        await here.yield_now()
        operation = self._start_send(data, multipart, routing_id, group)
        if operation is None:
            return
        if flags & NOBLOCK:
            operation.cancel()
            raise Again("nothing can be sent or received now: try again later, or wait")
        limit = self.sndtimeo
        try:
            await here.run(operation, None if limit < 0 else limit / 1000)
        except Expired:
            self._last_send(data, multipart, routing_id, group, float(limit))

    @overload
    async def recv(
        self, flags: int = 0, copy: Literal[True] = True, *, timeout: float | None = None
    ) -> bytes: ...
    @overload
    async def recv(
        self, flags: int = 0, *, copy: Literal[False], timeout: float | None = None
    ) -> Frame: ...
    async def recv(
        self, flags: int = 0, copy: bool = True, *, timeout: float | None = None
    ) -> bytes | Frame:
        """Receives a message of one frame: ``bytes``, or with ``copy=False`` a ``Frame``. Waits for up to ``timeout``
        milliseconds, or ``rcvtimeo``."""
        form = _forms.BYTES if copy else _forms.FRAME
        received: bytes | Frame = await self._recv(form, flags, timeout)
        return received

    @overload
    async def recv_multipart(
        self, flags: int = 0, copy: Literal[True] = True, *, timeout: float | None = None
    ) -> list[bytes]: ...
    @overload
    async def recv_multipart(
        self, flags: int = 0, *, copy: Literal[False], timeout: float | None = None
    ) -> list[Frame]: ...
    async def recv_multipart(
        self, flags: int = 0, copy: bool = True, *, timeout: float | None = None
    ) -> list[bytes] | list[Frame]:
        """Receives a message as the list of its frames."""
        form = _forms.BYTES_LIST if copy else _forms.FRAME_LIST
        received: list[bytes] | list[Frame] = await self._recv(form, flags, timeout)
        return received

    async def recv_message(self, flags: int = 0, *, timeout: float | None = None) -> Message:
        """Receives a message with who sent it."""
        received: Message = await self._recv(_forms.MESSAGE, flags, timeout)
        return received

    async def recv_string(
        self, flags: int = 0, *, encoding: str = "utf-8", timeout: float | None = None
    ) -> str:
        """Receives a message of one frame as text."""
        return (await self.recv(flags, timeout=timeout)).decode(encoding)

    async def recv_json(self, flags: int = 0, *, timeout: float | None = None, **how: Any) -> Any:
        """Receives a message of one frame and gives what ``json.loads`` makes of it."""
        return json.loads(await self.recv(flags, timeout=timeout), **how)

    async def _recv(self, form: int, flags: int, timeout: float | None) -> Any:
        here = driver()
        await here.yield_now()
        started = self._start_recv(form)
        if isinstance(started, tuple):
            return started[0]
        if flags & NOBLOCK:
            started.cancel()
            raise Again("nothing can be sent or received now: try again later, or wait")
        limit = self.rcvtimeo if timeout is None else timeout
        try:
            return await here.run(started, None if limit < 0 else limit / 1000)
        except Expired:
            return self._last_recv(form, float(limit))

    async def recv_many(self, limit: int = 1000, *, timeout: float | None = None) -> list[bytes]:
        """Waits for a message, then takes up to ``limit`` that are there, as ``bytes``."""
        received: list[bytes] = await self._recv_many(_forms.BYTES, limit, timeout)
        return received

    async def recv_many_multipart(
        self, limit: int = 1000, *, timeout: float | None = None
    ) -> list[list[bytes]]:
        """The same with messages as lists of frames."""
        received: list[list[bytes]] = await self._recv_many(_forms.BYTES_LIST, limit, timeout)
        return received

    async def recv_many_messages(
        self, limit: int = 1000, *, timeout: float | None = None
    ) -> list[Message]:
        """The same with messages that know who sent them."""
        received: list[Message] = await self._recv_many(_forms.MESSAGE, limit, timeout)
        return received

    async def _recv_many(self, form: int, limit: int, timeout: float | None) -> Any:
        wait = self.rcvtimeo if timeout is None else timeout
        try:
            operation = self._start_recv_many(form, limit)
            return await run(operation, None if wait < 0 else wait / 1000)
        except Expired:
            return [self._last_recv(form, float(wait))]

    async def wait_connected(self, peers: int = 1, timeout: float | None = None) -> None:
        """Waits until at least ``peers`` peers are connected, their handshakes done: for up to
        ``timeout`` milliseconds, or ``sndtimeo``."""
        wait = self.sndtimeo if timeout is None else timeout
        try:
            operation = self._start_wait_connected(peers)
            await run(operation, None if wait < 0 else wait / 1000)
        except Expired:
            self._last_wait_connected(peers, float(wait))

    async def wait_subscribed(
        self, topic: str | Buffer, peers: int = 1, timeout: float | None = None
    ) -> None:
        """PUB, XPUB: waits until a message that begins with ``topic`` would go to at least ``peers``
        peers; RADIO: the same for a group. For up to ``timeout`` milliseconds, or ``sndtimeo``."""
        wait = self.sndtimeo if timeout is None else timeout
        try:
            operation = self._start_wait_subscribed(topic, peers)
            await run(operation, None if wait < 0 else wait / 1000)
        except Expired:
            self._last_wait_subscribed(topic, peers, float(wait))

    async def connect_peer(self, endpoint: str) -> int:
        """SERVER, PEER: connects, waits for the handshake, and returns the routing id of the connection."""
        routing_id: int = await run(self._start_connect_peer(endpoint))
        return routing_id

    async def poll(self, timeout: float | None = None, flags: int = POLLIN) -> int:
        """Waits until something of ``flags`` can be done, for up to ``timeout`` milliseconds, and
        gives what of it can be."""
        readiness = self.readiness()
        loop = asyncio.get_running_loop()
        changed = asyncio.Event()

        async def wait() -> int:
            while not (events := events_of(readiness, flags)):
                changed.clear()
                await changed.wait()
            return events

        loop.add_reader(readiness.fileno(), changed.set)
        try:
            limit = None if timeout is None or timeout < 0 else timeout / 1000
            return await asyncio.wait_for(wait(), limit)
        except asyncio.TimeoutError:
            return events_of(readiness, flags)
        finally:
            loop.remove_reader(readiness.fileno())

    def monitor(self) -> Monitor:
        """Reads what happens to the connections from now on."""
        return Monitor(self._monitor())

    async def close(self, linger: float | None = None) -> None:
        """Closes the socket and waits until what is queued was sent, within the linger time: ``linger`` in
        milliseconds, or else the option. What that is too short for is dropped, and raises ``Unsent``. Where the
        socket is closing already, a shorter ``linger`` takes the place of the longer one."""
        operation = self._start_close(linger)
        if operation is not None:
            await run(operation)

    def __aiter__(self) -> AsyncIterator[bytes]:
        """Receives messages of one frame, one after the other, until the socket is closed or was drained."""
        return self._messages()

    async def _messages(self) -> AsyncIterator[bytes]:
        while True:
            try:
                message = await self.recv()
            except (Drained, SocketClosed):
                return
            yield message

    async def __aenter__(self) -> Socket:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        try:
            await self.close()
        except Unsent:
            # Not instead of what went wrong before.
            if error is None:
                raise


async def _within(operation: Operation, timeout: float | None) -> Any:
    try:
        return await run(operation, timeout)
    except Expired:
        raise TimedOut("not in time") from None


class Distributor(CommonDistributor):
    """``sealwire.Distributor`` with coroutines. Cancelling one gives its operation up: nothing was added or taken."""

    async def add(self, task: Buffer, *, timeout: float | None = None) -> bytes:
        """Adds a task, waiting for room up to ``timeout`` seconds, and gives its number."""
        number: bytes = await _within(self._start_add(task), timeout)
        return number

    async def outcome(self, *, timeout: float | None = None) -> Outcome:
        """Takes the outcome of a task as ``try_outcome`` does, waiting for one up to ``timeout`` seconds."""
        return outcome_of(await _within(self._start_outcome(), timeout))

    async def join(self, *, timeout: float | None = None) -> None:
        """Waits until each task is done or set aside, up to ``timeout`` seconds."""
        await _within(self._start_join(), timeout)

    def monitor(self) -> Monitor:
        """What happens to the connections."""
        return Monitor(self._monitor())

    async def shutdown(self, timeout: float = 3.0) -> list[UnfinishedTask]:
        """Hands out no more tasks, waits up to ``timeout`` seconds for the outcomes of those that are with workers,
        and ends the connections. Gives the tasks without an outcome: after this they are nowhere else."""
        try:
            await run(self._start_settle(), timeout)
        except Expired:
            pass
        # Queued messages are still sent, which blocks a thread.
        return await asyncio.get_running_loop().run_in_executor(None, self._left)

    async def __aenter__(self) -> Distributor:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        left = await self.shutdown()
        if error is None:
            complain(left)


class Worker(CommonWorker):
    """``sealwire.Worker`` with coroutines: ``async for task in worker``. Any number of coroutines may take tasks."""

    async def take(self, *, timeout: float | None = None) -> Task:
        """Takes a task, waiting for one up to ``timeout`` seconds."""
        task: Task = await _within(self._start_take(), timeout)
        return task

    async def leave(self, *, timeout: float | None = None) -> None:
        """Leaves in good order, as ``sealwire.Worker.leave`` does. At the limit the worker ends, and others get what
        it had."""
        try:
            await _within(self._start_leave(), timeout)
        except TimedOut:
            await asyncio.get_running_loop().run_in_executor(None, self._end)
            raise

    def monitor(self) -> Monitor:
        """What happens to the connection."""
        return Monitor(self._monitor())

    async def __aiter__(self) -> AsyncIterator[Task]:
        while True:
            try:
                task = await self.take()
            except ShutDown:
                return
            yield task
            # Not kept while the next is waited for: one that is dropped has failed.
            del task

    async def __aenter__(self) -> Worker:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        try:
            # An exception may hold on to a task.
            await self.leave(timeout=10.0 if error is None else 1.0)
        except ShutDown:
            pass
        except TimedOut:
            if error is None:
                raise


__all__ = ["POLLIN", "POLLOUT", "Context", "Distributor", "Monitor", "Socket", "Worker"]
