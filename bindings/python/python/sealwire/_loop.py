"""Operations of Rust on an event loop: one descriptor per loop, whatever waits on it."""

from __future__ import annotations

import asyncio
import itertools
from typing import Any
from weakref import WeakKeyDictionary

from ._sealwire import Operation, Reactor

#: Operations that end at once, before other tasks of the loop run.
_IN_A_ROW = 64


class Expired(Exception):
    """The time limit of an operation ran out."""


class Driver:
    """Looks at the operations of one loop when they say so."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._reactor = Reactor()
        self._numbers = itertools.count()
        self._waiting: dict[int, asyncio.Future[None]] = {}
        self._in_a_row = 0
        loop.add_reader(self._reactor.fileno(), self._look)

    def _look(self) -> None:
        for number in self._reactor.take():
            future = self._waiting.get(number)
            if future is not None and not future.done():
                future.set_result(None)

    async def yield_now(self) -> None:
        """Lets other tasks run after each ``_IN_A_ROW`` operations that ended at once. To be called before
        something is taken or sent: a coroutine may be cancelled here."""
        self._in_a_row += 1
        if self._in_a_row >= _IN_A_ROW:
            self._in_a_row = 0
            await asyncio.sleep(0)

    async def run(self, operation: Operation, limit: float | None = None) -> Any:
        """Waits for the end of an operation and gives its result. When the coroutine is cancelled,
        or ``limit`` seconds are over, the operation is given up."""
        number = next(self._numbers)
        ended = operation.poll(self._reactor, number)
        if ended is not None:
            return ended[0]
        loop = asyncio.get_running_loop()
        clock = None
        expired = False

        def expire() -> None:
            nonlocal expired
            expired = True
            future = self._waiting.get(number)
            if future is not None and not future.done():
                future.set_result(None)

        try:
            # In place before anything can be said, as that is said on this loop.
            future = self._waiting[number] = loop.create_future()
            if limit is not None:
                clock = loop.call_later(limit, expire)
            while True:
                await future
                # Looked at in this turn: a result that is there cannot be lost to a cancellation.
                future = self._waiting[number] = loop.create_future()
                ended = operation.poll(self._reactor, number)
                if ended is not None:
                    self._in_a_row = 0
                    return ended[0]
                if expired:
                    raise Expired
        finally:
            del self._waiting[number]
            if clock is not None:
                clock.cancel()
            if ended is None:
                operation.cancel()


_drivers: WeakKeyDictionary[asyncio.AbstractEventLoop, Driver] = WeakKeyDictionary()


def driver() -> Driver:
    """That of the running loop."""
    loop = asyncio.get_running_loop()
    known = _drivers.get(loop)
    if known is None:
        known = _drivers[loop] = Driver(loop)
    return known


async def run(operation: Operation, limit: float | None = None) -> Any:
    """Waits for the end of an operation on the running loop."""
    here = driver()
    await here.yield_now()
    return await here.run(operation, limit)
