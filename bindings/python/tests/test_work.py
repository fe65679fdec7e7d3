"""Acknowledged work: nothing is lost, whatever becomes of workers."""

from __future__ import annotations

import asyncio
import gc
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from typing import Any, Callable, Iterator

import pytest

import sealwire
import sealwire.asyncio
from conftest import TIMEOUT, securities

#: Seconds, for waits that end without what they wait for.
SHORT = 0.005

TASKS = 3_000


class Scene:
    """A distributor, workers for it, and where they meet."""

    def __init__(self) -> None:
        self.server, self.client = securities("BLAKE3")
        self.ends: list[sealwire.Distributor | sealwire.Worker] = []

    def distributor(self, **options: Any) -> sealwire.Distributor:
        options = {"retry_delay": 0, "silence_limit": TIMEOUT, **options}
        distributor = sealwire.Distributor(self.server, **options)
        self.endpoint = distributor.bind("tcp://127.0.0.1:0")
        self.ends.append(distributor)
        return distributor

    def worker(self, **options: Any) -> sealwire.Worker:
        options = {"silence_limit": TIMEOUT, **options}
        worker = sealwire.Worker(self.endpoint, self.client, **options)
        self.ends.append(worker)
        return worker


@pytest.fixture
def scene() -> Iterator[Scene]:
    scene = Scene()
    yield scene
    for end in scene.ends:
        end._end()


def eventually(what: str, condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + TIMEOUT
    while not condition():
        assert time.monotonic() < deadline, what
        time.sleep(0.001)


DOOMED = """
import sealwire, sys, threading
key = sealwire.PublicKey(sys.argv[2])
worker = sealwire.Worker(sys.argv[1], sealwire.Security.blake3_client(key))
taken = [worker.take() for _ in range(5)]
print("taken", flush=True)
threading.Event().wait(120)
"""


def test_of_three_workers_one_is_killed_and_nothing_is_lost(scene: Scene) -> None:
    keys = sealwire.KeyPair.generate()
    scene.server = sealwire.Security.blake3_server(keys, sealwire.AllowAnyone())
    scene.client = sealwire.Security.blake3_client(keys.public)
    distributor = scene.distributor()
    times: Counter[bytes] = Counter()
    lock = threading.Lock()

    def work(worker: sealwire.Worker) -> None:
        for task in worker:
            with lock:
                times[task.body] += 1
            task.done()

    workers = [scene.worker(), scene.worker()]
    threads = [threading.Thread(target=work, args=(worker,)) for worker in workers]
    for thread in threads:
        thread.start()
    doomed = subprocess.Popen(
        [sys.executable, "-c", DOOMED, scene.endpoint, str(keys.public)],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert doomed.stdout is not None
    eventually("all workers are there", lambda: distributor.counters["workers"] == 3)
    bodies = [number.to_bytes(4, "big") + bytes(1_000) for number in range(TASKS)]
    for body in bodies[: TASKS // 3]:
        distributor.add(body, timeout=TIMEOUT)
    assert doomed.stdout.readline() == "taken\n"
    # With those that it took, and with those in its buffers.
    doomed.send_signal(signal.SIGKILL)
    doomed.communicate(timeout=TIMEOUT)
    for body in bodies[TASKS // 3 :]:
        distributor.add(body, timeout=TIMEOUT)
    distributor.join(timeout=TIMEOUT)
    for worker in workers:
        worker.leave(timeout=TIMEOUT)
    for thread in threads:
        thread.join(TIMEOUT)
    assert sorted(times) == bodies
    counters = distributor.counters
    assert (counters["added"], counters["done"]) == (TASKS, TASKS)
    assert (counters["pending"], counters["set_aside"], counters["out"]) == (0, 0, 0)
    assert counters["held_bytes"] == 0
    assert counters["lost"] >= 5
    assert counters["handed_out_again"] == counters["lost"]
    assert counters["handed_out"] == TASKS + counters["lost"] + counters["returned"]
    assert counters["repeated"] == sum(times.values()) - TASKS
    for name in ("failed", "overdue", "foreign", "violations", "silent"):
        assert counters[name] == 0
    assert sum(worker.counters["done"] for worker in workers) == sum(times.values())


def test_repetitions_are_counted(scene: Scene) -> None:
    distributor = scene.distributor(attempt_limit=0.02)
    slow = scene.worker(credit=1)
    number = distributor.add(b"task")
    first = slow.take(timeout=TIMEOUT)
    eventually("the attempt is overdue", lambda: distributor.counters["overdue"] == 1)
    second = scene.worker(credit=1).take(timeout=TIMEOUT)
    assert (first.number, second.number) == (number, number) and len(number) == 16
    assert (first.attempt, second.attempt) == (1, 2)
    assert number.hex() in repr(second) and "attempt 2" in repr(second)
    first.done()
    distributor.join(timeout=TIMEOUT)
    second.done()
    eventually("the repetition is known", lambda: distributor.counters["repeated"] == 1)
    assert distributor.counters["done"] == 1
    assert distributor.counters["late"] >= 1


def test_what_fails_is_set_aside_put_back_and_dropped(scene: Scene) -> None:
    distributor = scene.distributor(max_attempts=2)
    worker = scene.worker()
    number = distributor.add(b"task")
    for attempts, reason in ((2, "no such file"), (4, "dropped without an outcome")):
        worker.take(timeout=TIMEOUT).fail("no such file")
        if attempts == 2:
            worker.take(timeout=TIMEOUT).fail(reason)
        else:
            # Nobody has it any more.
            worker.take(timeout=TIMEOUT)
            gc.collect()
        distributor.join(timeout=TIMEOUT)
        (aside,) = distributor.set_aside()
        assert tuple(aside) == (number, attempts, reason, True, b"task")
        assert (aside.number, aside.body, aside.is_set_aside) == (number, b"task", True)
        assert distributor.counters["set_aside"] == 1
        if attempts == 2:
            assert distributor.put_back(number)
            assert not distributor.put_back(number)
    assert distributor.counters["failed"] == worker.counters["failed"] == 4
    dropped = distributor.drop_aside(number)
    assert dropped is not None and dropped.body == b"task"
    assert distributor.drop_aside(number) is None
    assert distributor.set_aside() == []


def test_outcomes_come_one_by_one(scene: Scene) -> None:
    distributor = scene.distributor(max_attempts=2, keep_results=True, max_result=8)
    worker = scene.worker(credit=1)
    assert distributor.try_outcome() is None and distributor.next_result() is None
    with pytest.raises(sealwire.TimedOut):
        distributor.outcome(timeout=SHORT)
    first = distributor.add(b"first")
    task = worker.take(timeout=TIMEOUT)
    assert (task.body, task.max_result) == (b"first", 8)
    with pytest.raises(sealwire.ResultTooLarge, match="9 bytes exceeds"):
        task.done(b"123456789")
    task = worker.take(timeout=TIMEOUT)
    assert task.attempt == 2
    task.done(bytearray(b"12345678"))
    outcome = distributor.outcome(timeout=TIMEOUT)
    assert tuple(outcome) == (first, b"12345678", None) and outcome.is_done

    second = distributor.add(b"second")
    worker.take(timeout=TIMEOUT).fail("no")
    worker.take(timeout=TIMEOUT).fail("never")
    outcome = distributor.outcome()
    assert tuple(outcome) == (second, None, (second, 2, "never", True, b"second"))
    assert not outcome.is_done and outcome.set_aside is not None
    assert outcome.set_aside.reason == "never"
    assert distributor.set_aside() == []

    third = distributor.add(b"third")
    worker.take(timeout=TIMEOUT).done()
    distributor.join(timeout=TIMEOUT)
    assert distributor.next_result() == (third, b"")
    third = distributor.add(b"third")
    worker.take(timeout=TIMEOUT).done(b"late")
    distributor.join(timeout=TIMEOUT)
    assert distributor.shutdown() == []
    assert distributor.try_outcome() == (third, b"late", None)
    assert distributor.try_outcome() is None
    with pytest.raises(sealwire.ShutDown):
        distributor.outcome()


def test_a_full_distributor_says_so_or_waits(scene: Scene) -> None:
    distributor = scene.distributor(max_tasks=1, max_task=8)
    distributor.try_add(b"first")
    with pytest.raises(sealwire.DistributorFull, match="1 tasks and 133 bytes") as full:
        distributor.try_add(b"second")
    assert (full.value.tasks, full.value.bytes) == (1, 133)
    assert isinstance(full.value, sealwire.Again)
    with pytest.raises(TimeoutError):
        distributor.add(b"second", timeout=SHORT)
    with pytest.raises(sealwire.TaskTooLarge, match="max_task"):
        distributor.add(b"123456789")
    with pytest.raises(sealwire.TimedOut):
        distributor.join(timeout=SHORT)
    worker = scene.worker()
    adding = threading.Thread(target=distributor.add, args=(b"second",))
    adding.start()
    worker.take(timeout=TIMEOUT).done()
    adding.join(TIMEOUT)
    task = worker.take(timeout=TIMEOUT)
    assert task.body == b"second"
    task.done()
    distributor.join()
    assert worker.try_take() is None
    with pytest.raises(sealwire.TimedOut):
        worker.take(timeout=SHORT)
    limited = scene.distributor(max_bytes=300)
    limited.try_add(bytes(100))
    with pytest.raises(sealwire.DistributorFull):
        limited.try_add(bytes(100))


def test_bounds_of_workers(scene: Scene) -> None:
    distributor = scene.distributor(max_workers=1)
    for _ in range(3):
        distributor.add(bytes(100))
    worker = scene.worker(credit_bytes=128 + 100)
    first = worker.take(timeout=TIMEOUT)
    assert worker.is_connected
    assert distributor.counters["out"] == 1
    other = scene.worker()
    first.done()
    for _ in range(2):
        worker.take(timeout=TIMEOUT).done()
    distributor.join(timeout=TIMEOUT)
    assert not other.is_connected
    worker.leave(timeout=TIMEOUT)
    eventually("there is room for the other", lambda: other.is_connected)
    other.leave(timeout=TIMEOUT)
    small = scene.worker(max_task=1)
    eventually("it is not let in", lambda: distributor.counters["violations"] > 0)
    assert not small.is_connected


def test_a_worker_that_leaves_repeats_nothing(scene: Scene) -> None:
    distributor = scene.distributor()
    leaving = scene.worker(credit=10)
    for number in range(20):
        distributor.add(bytes([number]))
    begun = leaving.take(timeout=TIMEOUT)
    eventually("its credit is used up", lambda: distributor.counters["out"] == 10)
    leaving.take(timeout=TIMEOUT).give_back()
    eventually("it has another", lambda: distributor.counters["returned"] == 1)
    left = threading.Thread(target=leaving.leave, kwargs={"timeout": TIMEOUT})
    left.start()
    # Of those that it has now, or that cross with its leave.
    eventually("the rest is given back", lambda: distributor.counters["out"] == 1)
    with pytest.raises(sealwire.ShutDown):
        leaving.try_take()
    assert left.is_alive()
    begun.done()
    left.join(TIMEOUT)
    for ended in (leaving.take, leaving.leave, leaving.try_take):
        with pytest.raises(sealwire.ShutDown):
            ended()
    assert list(leaving) == []
    assert leaving.counters["done"] == 1 and leaving.counters["taken"] == 2
    assert leaving.counters["connections"] == 1

    attempts = []
    with scene.worker() as other:
        for task in other:
            attempts.append(task.attempt)
            task.done()
            if len(attempts) == 19:
                break
    distributor.join(timeout=TIMEOUT)
    assert attempts == [1] * 19
    counters = distributor.counters
    assert (counters["done"], counters["lost"]) == (20, 0)
    assert (counters["repeated"], counters["handed_out_again"]) == (0, 0)

    distributor.add(b"kept")
    last = scene.worker()
    kept = last.take(timeout=TIMEOUT)
    with pytest.raises(sealwire.TimedOut):
        last.leave(timeout=SHORT)
    eventually("others may have it", lambda: distributor.counters["lost"] == 1)
    with pytest.raises(sealwire.ShutDown):
        last.take()
    kept.done()


def test_what_is_left_comes_back(scene: Scene) -> None:
    distributor = scene.distributor()
    monitor = distributor.monitor()
    worker = scene.worker(credit=1)
    watching = worker.monitor()
    distributor.add(b"done")
    left, too = distributor.add(b"left"), distributor.add(b"too")
    worker.take(timeout=TIMEOUT).done()
    begun = worker.take(timeout=TIMEOUT)
    assert distributor.shutdown(SHORT) == [
        (left, 1, None, False, b"left"),
        (too, 0, None, False, b"too"),
    ]
    assert distributor.shutdown() == []
    for ended in (
        lambda: distributor.add(b"x"),
        lambda: distributor.try_add(b"x"),
        distributor.join,
        lambda: distributor.bind("tcp://127.0.0.1:0"),
    ):
        with pytest.raises(sealwire.ShutDown):
            ended()
    names = [event.kind for event in monitor]
    assert "ready" in names and "disconnected" in names
    assert any(event.kind == "disconnected" for event in watching)
    begun.done()


def test_a_shutdown_waits_for_what_is_with_workers(scene: Scene) -> None:
    distributor = scene.distributor()
    worker = scene.worker(credit=1)
    distributor.add(b"with a worker")
    waiting = distributor.add(b"waiting")
    task = worker.take(timeout=TIMEOUT)
    left: list[Any] = []
    ending = threading.Thread(target=lambda: left.extend(distributor.shutdown(TIMEOUT)))
    ending.start()

    def is_stopped() -> bool:
        try:
            distributor.try_add(b"more")
        except sealwire.ShutDown:
            return True
        return False

    eventually("nothing is added any more", is_stopped)
    task.done()
    ending.join(TIMEOUT)
    assert distributor.counters["done"] == 1
    assert left[0] == (waiting, 0, None, False, b"waiting")


def test_a_block_that_ends_before_its_tasks_says_so(scene: Scene) -> None:
    with pytest.raises(sealwire.Unfinished, match="1 tasks had no outcome") as unfinished:
        with scene.distributor() as distributor:
            number = distributor.add(b"task")
    assert [task.number for task in unfinished.value.tasks] == [number]
    # Not instead of what went wrong before.
    with pytest.raises(KeyError):
        with scene.distributor() as distributor:
            distributor.add(b"task")
            raise KeyError
    with scene.distributor(max_attempts=1) as distributor:
        distributor.add(b"task")
        scene.worker().take(timeout=TIMEOUT).fail("no")
        distributor.join(timeout=TIMEOUT)


def test_a_task_has_one_outcome(scene: Scene) -> None:
    distributor = scene.distributor()
    worker = scene.worker()
    distributor.add(b"task")
    task = worker.take(timeout=TIMEOUT)
    with pytest.raises(TypeError):
        task.done("text")  # type: ignore[arg-type]
    task.done()
    for again in (task.done, task.fail, task.give_back):
        with pytest.raises(sealwire.StateError, match="has an outcome already"):
            again()
    assert task.body == b"task" and task.attempt == 1
    distributor.join(timeout=TIMEOUT)
    assert distributor.counters["done"] == 1 and distributor.counters["failed"] == 0


def test_wrong_arguments(scene: Scene) -> None:
    distributor = scene.distributor()
    for wrong in ("text", 3, None):
        with pytest.raises(TypeError):
            distributor.add(wrong)  # type: ignore[arg-type]
    for number in (b"", bytes(15), bytes(17)):
        with pytest.raises(ValueError, match="16 bytes"):
            distributor.put_back(number)
        with pytest.raises(ValueError, match="16 bytes"):
            distributor.drop_aside(number)
    assert not distributor.put_back(bytes(16))
    with pytest.raises(ValueError, match="time limit"):
        distributor.add(b"x", timeout=-1)
    with pytest.raises(ValueError, match="time limit"):
        distributor.shutdown(-1)
    with pytest.raises(sealwire.EndpointError):
        distributor.bind("nowhere")
    with pytest.raises(sealwire.EndpointError):
        sealwire.Worker("nowhere", scene.client)
    for options in ({"credit": -1}, {"max_task": 1 << 32}):
        with pytest.raises(OverflowError):
            scene.worker(**options)
    with pytest.raises(TypeError):
        scene.worker(max_workers=1)
    with pytest.raises(TypeError):
        scene.distributor(credit=1)
    with pytest.raises(ValueError):
        scene.distributor(attempt_limit=-1)


WAITING = {
    "add": "distributor.add(b'no room')",
    "join": "distributor.join()",
    "outcome": "distributor.outcome()",
    "take": "idle.take()",
    "iteration": "list(idle)",
    "leave": "busy.leave()",
    "shutdown": "distributor.shutdown(300)",
}

INTERRUPTED = """
import sealwire, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
keys = sealwire.KeyPair.generate()
security = sealwire.Security.blake3_server(keys, sealwire.AllowAnyone())
distributor = sealwire.Distributor(security, max_tasks=1)
endpoint = distributor.bind("tcp://127.0.0.1:0")
distributor.add(b"task")
busy = sealwire.Worker(endpoint, sealwire.Security.blake3_client(keys.public))
task = busy.take()
idle = sealwire.Worker(endpoint, sealwire.Security.blake3_client(keys.public))
try:
    print("waiting", flush=True)
    exec(sys.argv[1])
except KeyboardInterrupt:
    if "shutdown" in sys.argv[1]:
        # What was left is still to be had.
        assert [left.body for left in distributor.shutdown(0)] == [b"task"]
    print("interrupted", flush=True)
    import os
    os._exit(0)
"""


@pytest.mark.parametrize("call", WAITING)
def test_an_interrupt_ends_the_call(call: str) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED, WAITING[call]], stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "waiting\n"
        process.send_signal(signal.SIGINT)
        output, _ = process.communicate(timeout=TIMEOUT)
        assert output == "interrupted\n" and process.returncode == 0
    finally:
        process.kill()


FORKED = """
import os, sys, sealwire
keys = sealwire.KeyPair.generate()
security = sealwire.Security.blake3_server(keys, sealwire.AllowAnyone())
distributor = sealwire.Distributor(security)
worker = sealwire.Worker(distributor.bind("tcp://127.0.0.1:0"), sealwire.Security.blake3_client(keys.public))
distributor.add(b"task")
task = worker.take()
child = os.fork()
if child == 0:
    number = bytes(16)
    for call in (
        lambda: distributor.add(b"x"), lambda: distributor.try_add(b"x"), distributor.join,
        distributor.outcome, distributor.try_outcome, distributor.next_result, distributor.set_aside,
        lambda: distributor.put_back(number), lambda: distributor.drop_aside(number),
        distributor.shutdown, lambda: distributor.counters, distributor.monitor,
        lambda: distributor.bind("tcp://127.0.0.1:0"),
        worker.take, worker.try_take, worker.leave, lambda: worker.counters, lambda: worker.is_connected,
        worker.monitor, task.done, task.fail, task.give_back,
    ):
        try:
            call()
        except sealwire.Forked:
            pass
        else:
            os._exit(1)
    del task, worker, distributor
    own = sealwire.Distributor(security)
    other = sealwire.Worker(own.bind("tcp://127.0.0.1:0"), sealwire.Security.blake3_client(keys.public))
    own.add(b"made in the child")
    other.take().done()
    own.join()
    os._exit(0)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
task.done()
distributor.join()
assert distributor.counters["handed_out"] == 1
print("done", flush=True)
"""


def test_a_child_of_a_fork_makes_its_own(run_python: Callable[..., Any]) -> None:
    ended = run_python(FORKED)
    assert ended.stdout == "done\n", ended.stderr


def test_a_program_ends_with_work_under_way(run_python: Callable[..., Any]) -> None:
    program = FORKED.split("child = os.fork()")[0] + "distributor.add(b'more'); print('done')"
    ended = run_python(program)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "done\n", "")


ENDING = """
import sealwire, sys
key = sealwire.PublicKey(sys.argv[2])
worker = sealwire.Worker(sys.argv[1], sealwire.Security.blake3_client(key))
while worker.counters["received"] < 10:
    pass
for _ in range(5):
    worker.take(timeout=60).done()
"""


def test_a_program_that_ends_tells_its_outcomes(
    scene: Scene, run_python: Callable[..., Any]
) -> None:
    keys = sealwire.KeyPair.generate()
    scene.server = sealwire.Security.blake3_server(keys, sealwire.AllowAnyone())
    distributor = scene.distributor()
    for number in range(10):
        distributor.add(bytes([number]))
    ended = run_python(ENDING, scene.endpoint, str(keys.public))
    assert (ended.returncode, ended.stderr) == (0, "")
    eventually("it has gone", lambda: distributor.counters["workers"] == 0)
    counters = distributor.counters
    assert (counters["done"], counters["returned"], counters["lost"]) == (5, 5, 0)


def test_the_end_of_a_block_waits_for_outcomes(scene: Scene) -> None:
    distributor = scene.distributor()
    distributor.add(b"begun")
    distributor.add(b"given back")
    with scene.worker(credit=2) as worker:
        task = worker.take(timeout=TIMEOUT)
        eventually("both are there", lambda: worker.counters["received"] == 2)

        def end() -> None:
            eventually("the worker leaves", lambda: distributor.counters["returned"] == 1)
            task.done()

        ending = threading.Thread(target=end)
        ending.start()
    ending.join(TIMEOUT)
    assert distributor.counters["done"] == 1
    assert distributor.counters["lost"] == 0


def test_coroutines(scene: Scene) -> None:
    server, client = scene.server, scene.client

    async def work(worker: sealwire.asyncio.Worker, done: Counter[bytes]) -> None:
        async for task in worker:
            done[task.body] += 1
            if task.body == b"7":
                task.fail("seven")
            else:
                task.done(task.body * 2)

    async def main() -> None:
        done: Counter[bytes] = Counter()
        results = {}
        distributor = sealwire.asyncio.Distributor(
            server, keep_results=True, max_attempts=2, retry_delay=0, max_tasks=50
        )
        async with distributor:
            endpoint = distributor.bind("tcp://127.0.0.1:0")
            monitor = distributor.monitor()
            with pytest.raises(sealwire.TimedOut):
                await distributor.outcome(timeout=SHORT)
            async with sealwire.asyncio.Worker(endpoint, client) as worker:
                with pytest.raises(sealwire.TimedOut):
                    await worker.take(timeout=SHORT)
                # Cancelled, it takes none.
                waiting = asyncio.ensure_future(worker.take())
                await asyncio.sleep(0)
                waiting.cancel()
                working = [asyncio.ensure_future(work(worker, done)) for _ in range(3)]

                async def add() -> None:
                    for number in range(100):
                        await distributor.add(str(number).encode(), timeout=TIMEOUT)

                adding = asyncio.ensure_future(add())
                for _ in range(100):
                    outcome = await distributor.outcome(timeout=TIMEOUT)
                    if outcome.set_aside is None:
                        results[outcome.number] = outcome.result
                    else:
                        assert outcome.set_aside[1:] == (2, "seven", True, b"7")
                await adding
                await distributor.join(timeout=TIMEOUT)
                await worker.leave(timeout=TIMEOUT)
                await asyncio.gather(*working)
                assert worker.monitor().lost == 0
            async for event in monitor:
                if event.kind == "ready":
                    break
        expected = {str(number).encode() * 2 for number in range(100) if number != 7}
        assert set(results.values()) == expected
        assert done == Counter({str(number).encode(): 1 + (number == 7) for number in range(100)})
        with pytest.raises(sealwire.ShutDown):
            await distributor.add(b"x")

        with pytest.raises(sealwire.Unfinished) as unfinished:
            async with sealwire.asyncio.Distributor(server, silence_limit=TIMEOUT) as distributor:
                number = await distributor.add(b"task")
                endpoint = distributor.bind("tcp://127.0.0.1:0")
                worker = sealwire.asyncio.Worker(endpoint, client)
                task = await worker.take(timeout=TIMEOUT)
                with pytest.raises(sealwire.TimedOut):
                    await worker.leave(timeout=SHORT)
                while distributor.counters["lost"] == 0:
                    await asyncio.sleep(0.001)
                assert task.number == number
        assert [left.number for left in unfinished.value.tasks] == [number]

    asyncio.run(asyncio.wait_for(main(), 4 * TIMEOUT))


def test_a_shutdown_of_coroutines_waits_for_what_is_with_workers(scene: Scene) -> None:
    async def main() -> None:
        distributor = sealwire.asyncio.Distributor(scene.server, silence_limit=TIMEOUT)
        endpoint = distributor.bind("tcp://127.0.0.1:0")
        worker = sealwire.asyncio.Worker(endpoint, scene.client, silence_limit=TIMEOUT)
        await distributor.add(b"task")
        task = await worker.take(timeout=TIMEOUT)
        ending = asyncio.ensure_future(distributor.shutdown(TIMEOUT))
        with pytest.raises(sealwire.ShutDown):
            while True:
                await asyncio.sleep(0.001)
                await distributor.add(b"more")
        task.done()
        left = await ending
        assert all(other.body == b"more" for other in left)
        assert distributor.counters["done"] == 1

    asyncio.run(asyncio.wait_for(main(), 2 * TIMEOUT))


def test_coroutines_keep_no_task_that_was_dropped(scene: Scene) -> None:
    async def drop(worker: sealwire.asyncio.Worker) -> None:
        async for task in worker:
            del task

    async def main() -> None:
        distributor = sealwire.asyncio.Distributor(scene.server, max_attempts=1)
        endpoint = distributor.bind("tcp://127.0.0.1:0")
        worker = sealwire.asyncio.Worker(endpoint, scene.client)
        dropping = asyncio.ensure_future(drop(worker))
        await distributor.add(b"task")
        await distributor.join(timeout=TIMEOUT)
        assert [task.body for task in distributor.set_aside()] == [b"task"]
        await worker.leave(timeout=TIMEOUT)
        await dropping
        await distributor.shutdown()

    asyncio.run(asyncio.wait_for(main(), 2 * TIMEOUT))
