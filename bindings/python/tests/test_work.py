"""Acknowledged work: nothing is lost, whatever becomes of workers."""

from __future__ import annotations

import gc
import signal
import subprocess
import sys
import threading
from collections import Counter

import pytest

import sealwire
from conftest import TIMEOUT, Work, eventually

#: Seconds, for waits that end without what they wait for.
SHORT = 0.005

TASKS = 3_000


DOOMED = """
import sealwire, sys, threading
key = sealwire.PublicKey(sys.argv[2])
worker = sealwire.Worker(sys.argv[1], sealwire.Security.blake3_client(key))
taken = [worker.take() for _ in range(5)]
print("taken", flush=True)
threading.Event().wait(120)
"""


def test_of_three_workers_one_is_killed_and_nothing_is_lost(scene: Work) -> None:
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


def test_repetitions_are_counted(scene: Work) -> None:
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


def test_what_fails_is_set_aside_put_back_and_dropped(scene: Work) -> None:
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


def test_outcomes_come_one_by_one(scene: Work) -> None:
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


def test_a_full_distributor_says_so_or_waits(scene: Work) -> None:
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


def test_bounds_of_workers(scene: Work) -> None:
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


def test_a_task_has_one_outcome(scene: Work) -> None:
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


def test_wrong_arguments(scene: Work) -> None:
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
