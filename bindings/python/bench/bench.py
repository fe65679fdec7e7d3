"""The sockets beside pyzmq: messages per second from one process to another, and round trips.

    python bench/bench.py [--runs N] [--messages N] [--size BYTES]

Sender and receiver are processes on this machine, over TCP. The clock runs in the receiver, from the
first message of a run to its last. Runs of all lines alternate; the table has their medians, and in
the last column how many times pyzmq over NULL that is, with pyzmq at both ends. "Fed by Sealwire" is
pyzmq's receiver with Sealwire's batches as the sender, which shows what that receiver alone can take.
"""

from __future__ import annotations

import argparse
import asyncio
import platform
import statistics
import subprocess
import sys
import time
from typing import Any, Callable

import zmq
import zmq.asyncio

import sealwire
import sealwire.asyncio

#: Keys for both processes of a benchmark on one machine: nothing else is protected by them.
SERVER = sealwire.KeyPair(b"s" * 32)
CLIENT = sealwire.KeyPair(b"c" * 32)
#: Messages of a round trip's run, as a share of the others.
ROUND_TRIPS = 0.02


def ours(socket_type: int, mechanism: str, server: bool, module: Any = sealwire) -> Any:
    security = {
        ("null", True): lambda: sealwire.Security.plain_text(),
        ("null", False): lambda: sealwire.Security.plain_text(),
        ("curve", True): lambda: sealwire.Security.curve_server(SERVER, sealwire.AllowAnyone()),
        ("curve", False): lambda: sealwire.Security.curve_client(SERVER.public, CLIENT),
        ("blake3", True): lambda: sealwire.Security.blake3_server(SERVER, sealwire.AllowAnyone()),
        ("blake3", False): lambda: sealwire.Security.blake3_client(SERVER.public, CLIENT),
    }[mechanism, server]()
    return module.Socket(socket_type, security=security, linger=-1)


def theirs(socket_type: int, mechanism: str, server: bool, module: Any = zmq) -> Any:
    socket = module.Context.instance().socket(socket_type)
    if mechanism == "curve" and server:
        socket.curve_server = True
        socket.curve_secretkey = SERVER.secret.secret_z85().encode()
    elif mechanism == "curve":
        socket.curve_publickey = CLIENT.public.z85.encode()
        socket.curve_secretkey = CLIENT.secret.secret_z85().encode()
        socket.curve_serverkey = SERVER.public.z85.encode()
    return socket


def send(argv: list[str]) -> None:
    """The other process: sends, or answers, until it has done so `count` times."""
    how, mechanism, endpoint, count, size = argv[0], argv[1], argv[2], int(argv[3]), int(argv[4])
    library, kind = how.split("-")
    make = ours if library == "sealwire" else theirs
    socket = make(zmq.REP if kind == "echo" else zmq.PUSH, mechanism, server=False)
    socket.connect(endpoint)
    payload = b"x" * size
    if kind == "echo":
        for _ in range(count):
            socket.send(socket.recv())
    elif kind == "batch":
        batch = [payload] * 1000
        for _ in range(count // 1000):
            socket.send_many(batch)
    else:
        for _ in range(count):
            socket.send(payload)
    socket.close(None)
    if library == "pyzmq":
        zmq.Context.instance().term()


def endpoint_of(socket: Any) -> str:
    if isinstance(socket, zmq.Socket):
        return f"tcp://127.0.0.1:{socket.bind_to_random_port('tcp://127.0.0.1')}"
    bound: str = socket.bind("tcp://127.0.0.1:0")
    return bound


def one_by_one(socket: Any, count: int) -> float:
    receive = socket.recv
    receive()
    begun = time.perf_counter()
    for _ in range(count - 1):
        receive()
    return time.perf_counter() - begun


def in_batches(socket: Any, count: int) -> float:
    left = count - len(socket.recv_many(1))
    begun = time.perf_counter()
    while left > 0:
        left -= len(socket.recv_many())
    return time.perf_counter() - begun


def round_trips(socket: Any, count: int, payload: bytes) -> float:
    socket.send(payload)
    socket.recv()
    begun = time.perf_counter()
    for _ in range(count - 1):
        socket.send(payload)
        socket.recv()
    return time.perf_counter() - begun


def with_coroutines(socket: Any, count: int, batches: bool) -> float:
    async def main() -> float:
        await socket.recv()
        begun = time.perf_counter()
        left = count - 1
        while left > 0:
            left -= len(await socket.recv_many()) if batches else len([await socket.recv()])
        return time.perf_counter() - begun

    return asyncio.run(main())


#: Name, library and kind of the sender, mechanism, type, module of the receiver, what it does.
Line = tuple[str, str, str, int, Any, Callable[[Any, int, bytes], float]]


def lines() -> list[Line]:
    by_one: Callable[[Any, int, bytes], float] = lambda s, n, _: one_by_one(s, n)
    batch: Callable[[Any, int, bytes], float] = lambda s, n, _: in_batches(s, n)
    tasks: Callable[[Any, int, bytes], float] = lambda s, n, _: with_coroutines(s, n, False)
    task_batch: Callable[[Any, int, bytes], float] = lambda s, n, _: with_coroutines(s, n, True)
    made: list[Line] = [
        ("pyzmq, NULL, one by one", "pyzmq-one", "null", zmq.PULL, zmq, by_one),
        ("pyzmq, NULL, fed by Sealwire", "sealwire-batch", "null", zmq.PULL, zmq, by_one),
        ("pyzmq, CURVE, one by one", "pyzmq-one", "curve", zmq.PULL, zmq, by_one),
    ]
    for mechanism in ("null", "curve", "blake3"):
        name = f"Sealwire, {mechanism.upper()}"
        made += [
            (f"{name}, one by one", "sealwire-one", mechanism, zmq.PULL, sealwire, by_one),
            (f"{name}, in batches", "sealwire-batch", mechanism, zmq.PULL, sealwire, batch),
        ]
    made += [
        ("pyzmq, NULL, asyncio", "pyzmq-one", "null", zmq.PULL, zmq.asyncio, tasks),
        ("Sealwire, NULL, asyncio", "sealwire-batch", "null", zmq.PULL, sealwire.asyncio, tasks),
        (
            "Sealwire, BLAKE3, asyncio", "sealwire-batch", "blake3", zmq.PULL,
            sealwire.asyncio, tasks,
        ),
        (
            "Sealwire, BLAKE3, asyncio in batches", "sealwire-batch", "blake3", zmq.PULL,
            sealwire.asyncio, task_batch,
        ),
        ("pyzmq, NULL, round trips", "pyzmq-echo", "null", zmq.REQ, zmq, round_trips),
        ("pyzmq, CURVE, round trips", "pyzmq-echo", "curve", zmq.REQ, zmq, round_trips),
        ("Sealwire, NULL, round trips", "sealwire-echo", "null", zmq.REQ, sealwire, round_trips),
        ("Sealwire, CURVE, round trips", "sealwire-echo", "curve", zmq.REQ, sealwire, round_trips),
        (
            "Sealwire, BLAKE3, round trips", "sealwire-echo", "blake3", zmq.REQ,
            sealwire, round_trips,
        ),
    ]  # fmt: skip
    return made


def measure(line: Line, count: int, size: int) -> float:
    """Messages, or round trips, per second."""
    _, sender, mechanism, socket_type, module, receive = line
    if receive is round_trips:
        count = int(count * ROUND_TRIPS)
    make = theirs if module in (zmq, zmq.asyncio) else ours
    socket = make(socket_type, mechanism, True, module)
    arguments = ["send", sender, mechanism, endpoint_of(socket), str(count), str(size)]
    other = subprocess.Popen([sys.executable, __file__, *arguments])
    try:
        spent = receive(socket, count, b"x" * size)
        if other.wait(60) != 0:
            raise SystemExit(f"the other process of '{line[0]}' failed")
    finally:
        other.kill()
        closed = socket.close()
        if asyncio.iscoroutine(closed):
            asyncio.run(closed)
    return (count - 1) / spent


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--messages", type=int, default=500_000, help="a multiple of 1,000")
    parser.add_argument("--size", type=int, default=64)
    options = parser.parse_args()
    rates: dict[str, list[float]] = {line[0]: [] for line in lines()}
    for _ in range(options.runs):
        for line in lines():
            rates[line[0]].append(measure(line, options.messages, options.size))
    medians = {name: statistics.median(of_line) for name, of_line in rates.items()}
    base = medians["pyzmq, NULL, one by one"]
    print(
        f"{options.size} B, {options.messages:,} messages, median of {options.runs} runs; "
        f"CPython {platform.python_version()}, pyzmq {zmq.__version__} with libzmq "
        f"{zmq.zmq_version()}, sealwire {sealwire.__version__}\n"
    )
    print("| | per second | range | beside pyzmq, NULL |\n|---|---:|---:|---:|")
    for name, median in medians.items():
        low, high = min(rates[name]), max(rates[name])
        of_base = medians["pyzmq, NULL, round trips"] if name.endswith("trips") else base
        print(f"| {name} | {median:,.0f} | {low:,.0f} to {high:,.0f} | {median / of_base:.2f} |")


if __name__ == "__main__":
    if sys.argv[1:2] == ["send"]:
        send(sys.argv[2:])
    else:
        main()
