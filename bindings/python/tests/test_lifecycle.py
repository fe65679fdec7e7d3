"""The end of the interpreter, and fork: nothing hangs, crashes or is lost."""

from __future__ import annotations

import subprocess
from typing import Callable

import pytest

import sealwire
from conftest import TIMEOUT_MS

Run = Callable[..., "subprocess.CompletedProcess[str]"]

PREAMBLE = """
import os, sys, threading, sealwire
from sealwire import *
keys = KeyPair.generate()
"""

ENDINGS = {
    "with open sockets": """
server = Socket(REP, security=Security.blake3_server(keys, AllowAnyone()))
client = Socket(REQ, security=Security.blake3_client(keys.public))
client.connect(server.bind("tcp://127.0.0.1:0"))
client.send(b"x")
server.recv()
""",
    "with a thread that waits": """
server = Socket(PULL)
server.bind("tcp://127.0.0.1:0")
begun = threading.Event()
def wait():
    begun.set()
    try:
        server.recv()
    except SocketClosed:
        pass
threading.Thread(target=wait, daemon=True).start()
begun.wait()
""",
    "with many clients being decided about": """
asked = threading.Event()
def authenticate(client):
    asked.set()
    return threading.get_ident() % 2 == 0
server = Socket(PULL, security=Security.blake3_server(keys, authenticator=authenticate))
endpoint = server.bind("tcp://127.0.0.1:0")
clients = [Socket(PUSH, linger=0, security=Security.blake3_client(keys.public)) for _ in range(50)]
for client in clients:
    client.connect(endpoint)
asked.wait()
""",
    "with an authenticator in the middle": """
asked = threading.Event()
class Slow:
    def __call__(self, client):
        asked.set()
        for _ in range(1000):
            threading.Event().wait(0.0001)
        return True
server = Socket(PULL, security=Security.blake3_server(keys, Slow()))
client = Socket(PUSH, linger=0, security=Security.blake3_client(keys.public))
client.connect(server.bind("tcp://127.0.0.1:0"))
asked.wait()
""",
    "with servers of calls": """
from sealwire import rpc
server = rpc.Server(Security.blake3_server(keys, AllowAnyone()), lambda request: request.body)
client = rpc.Client(server.bind("tcp://127.0.0.1:0"), Security.blake3_client(keys.public))
client.request(b"x")
""",
    "with monitors, frames and views that live on": """
server = Socket(PULL)
client = Socket(PUSH)
monitor = server.monitor()
client.connect(server.bind("tcp://127.0.0.1:0"))
client.send(b"x" * 100_000)
frame = server.recv(copy=False)
view = memoryview(frame)
""",
    "with an event loop that was not closed": """
import asyncio, sealwire.asyncio
server = sealwire.asyncio.Socket(PULL)
server.bind("tcp://127.0.0.1:0")
loop = asyncio.new_event_loop()
async def main():
    task = loop.create_task(server.recv())
    await asyncio.sleep(0)
    task.cancel()
loop.run_until_complete(main())
""",
    "after an exception": """
server = Socket(PULL)
server.bind("tcp://127.0.0.1:0")
try:
    raise KeyError("x")
except KeyError:
    pass
""",
}


@pytest.mark.parametrize("ending", ENDINGS)
def test_the_interpreter_ends(run_python: Run, ending: str) -> None:
    ended = run_python(PREAMBLE + ENDINGS[ending] + "\nprint('the end')")
    assert ended.stdout == "the end\n", ended.stderr
    assert ended.returncode == 0, ended.stderr
    # Python's own modules may warn of what was left open.
    for trouble in ("panic", "Fatal", "SystemError", "sealwire"):
        assert trouble not in ended.stderr


def test_a_program_may_send_and_return(run_python: Run) -> None:
    with sealwire.Socket(sealwire.PULL, rcvtimeo=TIMEOUT_MS) as pull:
        endpoint = pull.bind("tcp://127.0.0.1:0")
        for held in ("push = ", ""):
            program = PREAMBLE + (
                f"def send():\n    push = Socket(PUSH)\n    push.connect({endpoint!r})\n"
                "    for i in range(500): push.send(b'%d' % i)\n    return push\n"
                f"{held}send()\n"
            )
            assert run_python(program).returncode == 0
            received: list[bytes] = []
            while len(received) < 500:
                received += pull.recv_many()
            assert received == [b"%d" % i for i in range(500)]


def test_a_child_of_fork_makes_its_own(run_python: Run) -> None:
    program = PREAMBLE + """
server = Socket(PULL, rcvtimeo=60_000)
endpoint = server.bind("tcp://127.0.0.1:0")
client = Socket(PUSH)
client.connect(endpoint)
client.send(b"from the parent")
assert server.recv() == b"from the parent"
child = os.fork()
if child == 0:
    for attempt in (server.recv, lambda: client.send(b"x"), client.close, server.monitor):
        try:
            attempt()
        except Forked as error:
            assert "fork" in str(error)
        else:
            assert attempt == client.close
    del server, client
    with Socket(PUSH) as own:
        own.connect(endpoint)
        own.send(b"from the child")
    sys.exit(7)
assert server.recv() == b"from the child"
_, status = os.waitpid(child, 0)
assert os.waitstatus_to_exitcode(status) == 7
client.send(b"still here")
assert server.recv() == b"still here"
"""
    ended = run_python(program)
    assert ended.returncode == 0, ended.stderr


def test_a_child_is_told_of_the_fork_while_a_thread_of_the_parent_receives(run_python: Run) -> None:
    program = PREAMBLE + """
import signal
context = Context()
server = context.socket(PULL, rcvtimeo=60_000, linger=0)
client = context.socket(PUSH, sndtimeo=60_000, linger=0)
endpoint = server.bind("tcp://127.0.0.1:0")
client.connect(endpoint)
received = []
first = threading.Event()
def receive():
    for _ in range(3):
        received.append(server.recv())
        first.set()
thread = threading.Thread(target=receive)
thread.start()
client.send(b"before")
assert first.wait(60)
# The thread waits by the first fork, or by one of those that follow.
for number in range(10):
    child = os.fork()
    if child == 0:
        # A child that hangs is ended, and its parent sees by what.
        signal.alarm(50)
        attempts = [
            server.recv, server.recv_message, server.recv_many, lambda: server.recv(NOBLOCK),
            lambda: client.send(b"x"), lambda: client.send(b"x", NOBLOCK), lambda: client.send_many([b"x"]),
            lambda: server.poll(60_000), lambda: server.bind("tcp://127.0.0.1:0"),
            lambda: client.wait_connected(1, timeout=60_000), server.monitor,
            lambda: context.socket(PULL).bind("tcp://127.0.0.1:0"),
        ]
        for index, attempt in enumerate(attempts):
            try:
                attempt()
            except Forked:
                continue
            os._exit(100 + index)
        sys.exit(7)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 7, (number, status)
client.send_many([b"between", b"after"])
thread.join(60)
assert received == [b"before", b"between", b"after"]
"""
    ended = run_python(program)
    assert ended.returncode == 0, ended.stderr


def test_sockets_that_are_dropped_are_closed() -> None:
    import gc

    with sealwire.Socket(sealwire.PULL, rcvtimeo=TIMEOUT_MS) as pull:
        monitor = pull.monitor()
        endpoint = pull.bind("tcp://127.0.0.1:0")
        for number in range(20):
            push = sealwire.Socket(sealwire.PUSH)
            push.connect(endpoint)
            push.send(b"%d" % number)
            del push
            gc.collect()
        assert {pull.recv() for _ in range(20)} == {b"%d" % number for number in range(20)}
        gone = 0
        while gone < 20:
            event = monitor.next(60)
            assert event is not None
            gone += event.kind == "disconnected"
