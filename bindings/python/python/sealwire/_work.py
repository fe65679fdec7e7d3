"""Acknowledged work whose calls block: distributors, workers, and what becomes of tasks."""

from __future__ import annotations

from types import TracebackType
from typing import TYPE_CHECKING, Any, Iterator, NamedTuple, Tuple
from weakref import WeakSet

from . import _socket
from ._exceptions import Error, ShutDown, TimedOut, Unfinished
from ._sealwire import ContextCore, DistributorCore, Monitor, Security, Task, WorkerCore

if TYPE_CHECKING:
    from typing_extensions import Self

    from .types import Buffer


class UnfinishedTask(NamedTuple):
    """A task without an outcome: one that was set aside, or one that was left at the end. ``reason`` is why the last
    attempt failed, ``None`` where none has."""

    number: bytes
    attempts: int
    reason: str | None
    is_set_aside: bool
    body: bytes


class Outcome(NamedTuple):
    """The outcome of a task: ``result`` where it is done, ``set_aside`` where it has failed as often as it may."""

    number: bytes
    result: bytes | None
    set_aside: UnfinishedTask | None

    @property
    def is_done(self) -> bool:
        """Whether the task is done."""
        return self.set_aside is None


if TYPE_CHECKING:
    Unfinish = Tuple[bytes, int, "str | None", bool, bytes]
    Told = Tuple["tuple[bytes, bytes] | None", "Unfinish | None"]


def outcome_of(told: Told) -> Outcome:
    """What the distributor told, with names."""
    done, aside = told
    if done is not None:
        return Outcome(*done, None)
    assert aside is not None
    task = UnfinishedTask(*aside)
    return Outcome(task.number, None, task)


def complain(left: list[UnfinishedTask]) -> None:
    """Raises if tasks are left that were not set aside."""
    waiting = sum(not task.is_set_aside for task in left)
    if waiting:
        raise Unfinished(
            f"{waiting} tasks had no outcome when the distributor was shut down: wait with join, or keep what "
            "shutdown returns",
            left,
        )


class CommonDistributor(DistributorCore):
    """What distributors that block and those with coroutines have in common."""

    def __new__(
        cls, security: Security, *, context: ContextCore | None = None, **options: Any
    ) -> Self:
        context = _socket.Context.instance() if context is None else context
        return super().__new__(cls, security, context, **options)

    def try_outcome(self) -> Outcome | None:
        """Takes the outcome of a task if there is one: a result, or else a task that was set aside, which the
        distributor then no longer has. Results can also be taken after the end."""
        told = self._try_outcome()
        return None if told is None else outcome_of(told)

    def set_aside(self) -> list[UnfinishedTask]:
        """The tasks that have failed as often as they may, in the order of their numbers. They stay with the
        distributor."""
        return [UnfinishedTask(*task) for task in self._set_aside()]

    def drop_aside(self, number: Buffer) -> UnfinishedTask | None:
        """Forgets a task that was set aside, and gives it; ``None`` where it was not."""
        dropped = self._drop_aside(number)
        return None if dropped is None else UnfinishedTask(*dropped)

    def _left(self) -> list[UnfinishedTask]:
        return [UnfinishedTask(*task) for task in self._end()]


class Distributor(CommonDistributor):
    """Hands tasks out to workers, and keeps each until one says that it is done: at least once. ``security`` is that
    of the connections, a server's with the authenticator of workers. It may be used from several threads.

    Keywords: ``max_tasks`` and ``max_bytes`` bound what is held (65,536 and 256 MiB), ``max_task`` and ``max_result``
    are in bytes (4 MiB, 4 KiB), ``max_attempts`` (5) is how often a task may fail, ``attempt_limit`` (none) how long an attempt
    may take, ``retry_delay`` (1) the time before the next, ``keep_results`` (``False``), ``max_workers`` (1,024), ``silence_limit``
    (15), after which a silent worker is given up. Times are seconds.

    Leaving its ``with`` block shuts it down, and raises ``Unfinished`` if tasks had no outcome."""

    def add(self, task: Buffer, *, timeout: float | None = None) -> bytes:
        """Adds a task, waiting for room up to ``timeout`` seconds, and gives its number."""
        return self._add(task, timeout)

    def outcome(self, *, timeout: float | None = None) -> Outcome:
        """Takes the outcome of a task as ``try_outcome`` does, waiting for one up to ``timeout`` seconds."""
        return outcome_of(self._outcome(timeout))

    def join(self, *, timeout: float | None = None) -> None:
        """Waits until each task is done or set aside, up to ``timeout`` seconds."""
        self._join(timeout)

    def monitor(self) -> Monitor:
        """What happens to the connections."""
        return self._monitor()

    def shutdown(self, timeout: float = 3.0) -> list[UnfinishedTask]:
        """Hands out no more tasks, waits up to ``timeout`` seconds for the outcomes of those that are with workers,
        and ends the connections. Gives the tasks without an outcome, those that were set aside among them: after
        this they are nowhere else."""
        self._settle(timeout)
        return self._left()

    def __enter__(self) -> Distributor:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        left = self.shutdown()
        if error is None:
            complain(left)


class CommonWorker(WorkerCore):
    """What workers that block and those with coroutines have in common."""

    def __new__(
        cls, endpoint: str, security: Security, *, context: ContextCore | None = None, **options: Any
    ) -> Self:
        context = _socket.Context.instance() if context is None else context
        worker = super().__new__(cls, endpoint, security, context, **options)
        _open.add(worker)
        return worker


_open: WeakSet[CommonWorker] = WeakSet()


def leave_all() -> None:
    """For ``atexit``: outcomes that were given right before the end are told."""
    for worker in list(_open):
        try:
            # A task may have no outcome.
            worker._leave(5.0)
        except Error:
            # It has left, or is the parent's.
            pass


class Worker(CommonWorker):
    """Takes tasks of a distributor. Connects in the background, and again where its connection is lost. It may be
    used from several threads. Iterate over its tasks, and end each with ``done``, ``fail`` or ``give_back``.

    Keywords: ``credit`` (64) is how many tasks are here before some of them have an outcome, ``credit_bytes`` (16 MiB) how
    many bytes of them, ``max_task`` (4 MiB) the largest, ``silence_limit`` (15 s) the time after which a silent distributor
    is given up.

    Leaving its ``with`` block leaves in good order, within 10 seconds; within one after an exception."""

    def take(self, *, timeout: float | None = None) -> Task:
        """Takes a task, waiting for one up to ``timeout`` seconds."""
        return self._take(timeout)

    def leave(self, *, timeout: float | None = None) -> None:
        """Leaves in good order: takes no more tasks, gives those back that were not taken, which counts as no
        attempt, and waits up to ``timeout`` seconds until the others have outcomes and the distributor knows them.
        Then nothing is repeated. At the limit the worker ends, and others get what it had."""
        self._leave(timeout)

    def monitor(self) -> Monitor:
        """What happens to the connection."""
        return self._monitor()

    def __iter__(self) -> Iterator[Task]:
        while True:
            try:
                yield self.take()
            except ShutDown:
                return

    def __enter__(self) -> Worker:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        try:
            # An exception may hold on to a task.
            self.leave(timeout=10.0 if error is None else 1.0)
        except ShutDown:
            pass
        except TimedOut:
            if error is None:
                raise
