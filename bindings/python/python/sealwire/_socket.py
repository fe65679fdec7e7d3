"""Contexts and sockets whose calls block."""

from __future__ import annotations

import json
from types import TracebackType
from typing import Any, Iterator, NamedTuple

from . import _poll
from ._base import Options, Strict
from ._constants import POLLIN
from ._exceptions import Drained, SocketClosed, Unsent
from ._sealwire import BlockingSocket, ContextCore, Monitor, Security


class Metric(NamedTuple):
    """A number of a context: its name, its labels, and its value, a count or seconds."""

    name: str
    labels: dict[str, str]
    value: int | float


class Context(Strict, ContextCore):
    """What sockets share: ``io_threads`` threads that do their I/O (1 to 64), whose names begin with ``thread_name``, and the
    names of ``inproc`` endpoints. Most programs never name one.

    Each endpoint is served by the thread that serves least when it is bound or connected, of those whose bit ``affinity``
    of its socket has."""

    _instance: Context | None = None

    @classmethod
    def instance(cls) -> Context:
        """The context of all sockets that were given no other."""
        # A child of ``fork`` makes its own.
        if Context._instance is None or not Context._instance._usable:
            Context._instance = Context()
        return Context._instance

    def socket(
        self, socket_type: int, *, security: Security | None = None, **options: Any
    ) -> Socket:
        """A socket of this context."""
        return Socket(socket_type, self, security=security, **options)

    def metrics(self) -> list[Metric]:
        """The numbers of this context, its sockets, endpoints and peers, with the names and labels that
        ``docs/guide/metrics.md`` lists. ``prometheus`` has them as text.

        It takes the lock of one socket after another, so ask a few times a second at most."""
        return [Metric(*number) for number in self._numbers()]

    def _no_attribute(self, name: str) -> str:
        return f"a context has no attribute '{name}'; options are those of a socket"

    def __enter__(self) -> Context:
        return self

    def __exit__(self, *exception: object) -> None:
        self.term()


class Socket(Options, BlockingSocket):
    """A socket whose calls block the thread. Other threads run meanwhile, signals interrupt, and it
    may be used from several threads at once.

    Options are attributes (``socket.rcvhwm = 10``) or keywords, and so is ``security``. :class:`Options` says what
    those do that are set later."""

    def __new__(
        cls,
        socket_type: int,
        context: ContextCore | None = None,
        *,
        security: Security | None = None,
        **options: Any,
    ) -> Socket:
        context = Context.instance() if context is None else context
        socket = super().__new__(cls, socket_type, context, security=security)
        socket._set_options(options)
        return socket

    def send_string(
        self, text: str, flags: int = 0, *, encoding: str = "utf-8"
    ) -> None:
        """Sends text as a message of one frame."""
        self.send(text.encode(encoding), flags)

    def recv_string(
        self, flags: int = 0, *, encoding: str = "utf-8", timeout: float | None = None
    ) -> str:
        """Receives a message of one frame as text."""
        return self.recv(flags, timeout=timeout).decode(encoding)

    def send_json(self, value: Any, flags: int = 0, **how: Any) -> None:
        """Sends what ``json.dumps`` makes of a value."""
        self.send(json.dumps(value, separators=(",", ":"), **how).encode(), flags)

    def recv_json(self, flags: int = 0, *, timeout: float | None = None, **how: Any) -> Any:
        """Receives a message of one frame and gives what ``json.loads`` makes of it."""
        return json.loads(self.recv(flags, timeout=timeout), **how)

    def monitor(self) -> Monitor:
        """Reads what happens to the connections from now on."""
        return self._monitor()

    def poll(self, timeout: float | None = None, flags: int = POLLIN) -> int:
        """Waits until something of ``flags`` can be done, for up to ``timeout`` milliseconds, and
        gives what of it can be."""
        return _poll.wait(self.readiness(), flags, timeout)

    def __iter__(self) -> Iterator[bytes]:
        """Receives messages of one frame, one after the other, until the socket is closed or was drained."""
        while True:
            try:
                message = self.recv()
            except (Drained, SocketClosed):
                return
            yield message

    def __enter__(self) -> Socket:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        try:
            self.close()
        except Unsent:
            # Not instead of what went wrong before.
            if error is None:
                raise


__all__ = ["Context", "Socket"]
