"""Waiting for several sockets, and other descriptors, at once."""

from __future__ import annotations

import select
import time
from typing import Union

from ._constants import POLLIN, POLLOUT
from ._sealwire import Readiness, SocketCore, poll_descriptors
from .types import HasFileno

Pollable = Union[SocketCore, HasFileno, int]


def _mask(ready: tuple[bool, bool, bool]) -> int:
    receive, send, closed = ready
    if closed:
        # Whatever is tried says so at once.
        return POLLIN | POLLOUT
    return (POLLIN if receive else 0) | (POLLOUT if send else 0)


def events_of(readiness: Readiness, wanted: int) -> int:
    """What of ``wanted`` a socket can do now."""
    return _mask(readiness.take()) & wanted


def wait(readiness: Readiness, wanted: int, timeout: float | None) -> int:
    """Waits for one socket; ``timeout`` in milliseconds, ``None`` or negative for no limit."""
    limit = -1.0 if timeout is None else float(timeout)
    end = time.monotonic() + limit / 1000
    left = limit
    while not (events := events_of(readiness, wanted)) and left != 0.0:
        left = max((end - time.monotonic()) * 1000, 0.0) if limit >= 0 else -1.0
        poll_descriptors([(readiness.fileno(), select.POLLIN)], left)
    return events


class Poller:
    """Waits for several sockets, files and descriptors, as pyzmq's does."""

    def __init__(self) -> None:
        self._sockets: dict[SocketCore, tuple[Readiness, int]] = {}
        self._others: dict[int, tuple[Pollable, int]] = {}

    def register(self, socket: Pollable, flags: int = POLLIN | POLLOUT) -> None:
        """Adds a socket, or says anew what of it to wait for. Without flags it is taken off."""
        if not flags:
            return self.unregister(socket)
        if isinstance(socket, SocketCore):
            known = self._sockets.get(socket)
            self._sockets[socket] = (known[0] if known else socket.readiness(), flags)
        else:
            self._others[_descriptor(socket)] = (socket, flags)

    def modify(self, socket: Pollable, flags: int = POLLIN | POLLOUT) -> None:
        """Says anew what of a socket to wait for."""
        self.register(socket, flags)

    def unregister(self, socket: Pollable) -> None:
        """Takes a socket off; ``KeyError`` when it is not on."""
        if isinstance(socket, SocketCore):
            del self._sockets[socket]
        else:
            del self._others[_descriptor(socket)]

    def __contains__(self, socket: Pollable) -> bool:
        if isinstance(socket, SocketCore):
            return socket in self._sockets
        return _descriptor(socket) in self._others

    def poll(self, timeout: float | None = None) -> list[tuple[Pollable, int]]:
        """Those that can do something now, each with what; waits for up to ``timeout``
        milliseconds, ``None`` or negative for no limit."""
        limit = -1.0 if timeout is None else float(timeout)
        end = time.monotonic() + limit / 1000
        while True:
            ready: list[tuple[Pollable, int]] = []
            for socket, (readiness, wanted) in self._sockets.items():
                if events := events_of(readiness, wanted):
                    ready.append((socket, events))
            left = max((end - time.monotonic()) * 1000, 0.0) if limit >= 0 else -1.0
            found = dict(poll_descriptors(self._descriptors(), 0.0 if ready else left))
            for descriptor, (other, wanted) in self._others.items():
                if events := _of_system(found.get(descriptor, 0), wanted):
                    ready.append((other, events))
            if ready or (limit >= 0 and left == 0.0):
                return ready

    def _descriptors(self) -> list[tuple[int, int]]:
        watched = [(readiness.fileno(), select.POLLIN) for readiness, _ in self._sockets.values()]
        for descriptor, (_, wanted) in self._others.items():
            events = select.POLLIN if wanted & POLLIN else 0
            watched.append((descriptor, events | (select.POLLOUT if wanted & POLLOUT else 0)))
        return watched


def _descriptor(other: Pollable) -> int:
    return other if isinstance(other, int) else other.fileno()  # type: ignore[union-attr]


def _of_system(found: int, wanted: int) -> int:
    trouble = found & (select.POLLERR | select.POLLHUP | select.POLLNVAL)
    events = POLLIN if found & select.POLLIN or trouble else 0
    return (events | (POLLOUT if found & select.POLLOUT or trouble else 0)) & wanted
