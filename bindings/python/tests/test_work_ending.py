"""How distributors, workers and their programs end, and what becomes of tasks then."""

from __future__ import annotations

import threading
from typing import Any, Callable

import pytest

import sealwire
from conftest import TIMEOUT, Work, assert_interrupted, eventually

#: Seconds, for waits that end without what they wait for.
SHORT = 0.005


def test_a_worker_that_leaves_repeats_nothing(scene: Work) -> None:
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


def test_what_is_left_comes_back(scene: Work) -> None:
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


def test_a_shutdown_waits_for_what_is_with_workers(scene: Work) -> None:
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


def test_a_block_that_ends_before_its_tasks_says_so(scene: Work) -> None:
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
    assert_interrupted(INTERRUPTED, WAITING[call])


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
    scene: Work, run_python: Callable[..., Any]
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


def test_the_end_of_a_block_waits_for_outcomes(scene: Work) -> None:
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
