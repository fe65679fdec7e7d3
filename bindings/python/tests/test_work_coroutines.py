"""Acknowledged work with coroutines."""

from __future__ import annotations

import asyncio
from collections import Counter

import pytest

import sealwire
import sealwire.asyncio
from conftest import TIMEOUT, Work

#: Seconds, for waits that end without what they wait for.
SHORT = 0.005


def test_coroutines(scene: Work) -> None:
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


def test_a_shutdown_of_coroutines_waits_for_what_is_with_workers(scene: Work) -> None:
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


def test_coroutines_keep_no_task_that_was_dropped(scene: Work) -> None:
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
