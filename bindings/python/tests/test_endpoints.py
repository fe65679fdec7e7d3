"""Endpoints: listening sockets of others, routing ids of one's own choice, queues, and the threads that serve them."""

from __future__ import annotations

import contextlib
import errno
import os
import pathlib
import socket
import subprocess
import sys
import threading
import time
from typing import Any, Callable

import pytest

import sealwire
import sealwire.asyncio
from conftest import TIMEOUT, TIMEOUT_MS, Pairs, securities
from sealwire import rpc


def eventually(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + TIMEOUT
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0)


def listening(host: str = "127.0.0.1") -> socket.socket:
    return socket.create_server((host, 0))


@pytest.mark.parametrize("mechanism", ["NULL", "BLAKE3"])
@pytest.mark.parametrize("by", ["object", "number"])
@pytest.mark.parametrize("ws", [None, "/chat"])
def test_a_listening_socket_is_taken_over(pair: Pairs, mechanism: str, by: str, ws: str | None) -> None:
    server_security, client_security = securities(mechanism)
    pull, push = pair.socket(sealwire.PULL, server_security), pair.socket(sealwire.PUSH, client_security)
    listener = listening()
    port = listener.getsockname()[1]
    what = os.fstat(listener.fileno())
    given: Any = listener if by == "object" else listener.detach()
    bound = pull.bind_listener(given, ws=ws)
    assert bound == (f"ws://127.0.0.1:{port}{ws}" if ws else f"tcp://127.0.0.1:{port}")
    assert pull.last_endpoint == bound and pull.bound_endpoints == [bound]
    push.connect(bound)
    push.send(b"hello")
    assert pull.recv() == b"hello"
    # It is not Python's any more, and its number may be of something else.
    if by == "object":
        assert listener.fileno() == -1
    else:
        with contextlib.suppress(OSError):
            assert not os.path.samestat(os.fstat(given), what)


@pytest.mark.parametrize("ws", [None, "/calls"])
def test_servers_of_calls_and_of_work_take_one_over_too(ws: str | None) -> None:
    server_security, client_security = securities("BLAKE3")
    scheme, path = ("ws", ws) if ws else ("tcp", "")
    with rpc.Server(server_security, lambda request: request.body) as server, listening() as listener:
        expected = f"{scheme}://127.0.0.1:{listener.getsockname()[1]}{path}"
        bound = server.bind_listener(listener, ws=ws)
        assert bound == expected and listener.fileno() == -1
        with rpc.Client(bound, client_security, request_timeout=TIMEOUT) as client:
            assert client.request(b"hello") == b"hello"
    with sealwire.Distributor(server_security) as distributor, listening() as listener:
        expected = f"{scheme}://127.0.0.1:{listener.getsockname()[1]}{path}"
        bound = distributor.bind_listener(listener.detach(), ws=ws)
        assert bound == expected
        with sealwire.Worker(bound, client_security) as worker:
            distributor.add(b"a task", timeout=TIMEOUT)
            task = worker.take(timeout=TIMEOUT)
            assert task is not None and task.body == b"a task"
            task.done()
    server = rpc.Server(server_security, lambda request: request.body)
    distributor = sealwire.Distributor(server_security)
    with socket.socket() as unbound:
        for bind_listener in (server.bind_listener, distributor.bind_listener):
            with pytest.raises(sealwire.ListenerError):
                bind_listener(unbound)
            os.fstat(unbound.fileno())
    server.shutdown()
    distributor.shutdown()


def test_the_file_of_a_listener_stays(pair: Pairs, tmp_path: pathlib.Path) -> None:
    pull, push = pair.socket(sealwire.PULL), pair.socket(sealwire.PUSH)
    path = tmp_path / "socket"
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(path))
    listener.listen()
    push.connect(pull.bind_listener(listener))
    push.send(b"hello")
    assert pull.recv() == b"hello"
    pull.close()
    assert path.is_socket()


def test_what_does_not_listen_is_refused_and_stays_open(pair: Pairs) -> None:
    pull = pair.socket(sealwire.PULL)
    with socket.socket() as unbound, socket.socket(type=socket.SOCK_DGRAM) as datagrams, listening() as listener:
        for wrong in (unbound, datagrams, os.open(os.devnull, os.O_RDONLY)):
            with pytest.raises(sealwire.ListenerError):
                pull.bind_listener(wrong)
            number = wrong if isinstance(wrong, int) else wrong.fileno()
            os.fstat(number)
        os.close(number)
        with pytest.raises(ValueError, match="not both"):
            pull.bind_listener(listener, ws="/", wss="/")
        with pytest.raises(sealwire.EndpointError, match="certificate"):
            pull.bind_listener(listener, wss="/")
        assert listener.fileno() != -1
    for no_descriptor in (-1, listening):
        with pytest.raises((ValueError, AttributeError)):
            pull.bind_listener(no_descriptor)


#: Started with a socket, by a shell in the part of the service manager.
SERVE = """
import os, sys, sealwire

[(name, descriptor)] = sealwire.passed_listeners()
assert name == "web" and not os.get_inheritable(descriptor)
try:
    sealwire.passed_listeners()
except sealwire.ListenerError:
    pull = sealwire.Socket(sealwire.PULL, rcvtimeo=60_000)
    pull.bind_listener(descriptor)
    print(pull.recv().decode())
"""


def started(program: str, listener: socket.socket, process: str = "$$") -> subprocess.Popen[str]:
    manager = f'export LISTEN_PID={process}; exec "$0" -c "$1" 3<&0 0</dev/null'
    environment = {**os.environ, "LISTEN_FDS": "1", "LISTEN_FDNAMES": "web"}
    return subprocess.Popen(
        ["sh", "-c", manager, sys.executable, program],
        stdin=listener.fileno(), stdout=subprocess.PIPE, text=True, env=environment,
    )


def test_a_socket_that_a_service_manager_passed_is_served(pair: Pairs) -> None:
    assert sealwire.passed_listeners() == []
    with listening() as listener:
        child = started(SERVE, listener)
        push = pair.socket(sealwire.PUSH)
        push.connect(f"tcp://127.0.0.1:{listener.getsockname()[1]}")
        push.send(b"hello")
        output, _ = child.communicate(timeout=TIMEOUT)
    assert (child.returncode, output) == (0, "hello\n")


def test_sockets_of_another_process_are_refused() -> None:
    program = "import sealwire\ntry:\n    sealwire.passed_listeners()\nexcept sealwire.ListenerError as error:\n    print(error)"
    with listening() as listener:
        output, _ = started(program, listener, "1").communicate(timeout=TIMEOUT)
    assert "LISTEN_PID is 1" in output


def test_a_router_speaks_first_under_a_routing_id_that_it_chose(pair: Pairs) -> None:
    left, right = pair.socket(sealwire.ROUTER), pair.socket(sealwire.ROUTER)
    endpoint = right.bind("tcp://127.0.0.1:*")
    left.connect_with_routing_id(endpoint, "right")
    left.send_multipart([b"right", b"hello"])
    assert right.recv_multipart()[1] == b"hello"
    with pytest.raises(sealwire.RoutingIdInUse):
        left.connect_with_routing_id(endpoint, b"right")
    for wrong in ("", b"\0x", b"x" * 256):
        with pytest.raises(sealwire.OptionsError):
            left.connect_with_routing_id(endpoint, wrong)
    with pytest.raises(sealwire.Unsupported):
        pair.socket(sealwire.PUSH).connect_with_routing_id(endpoint, b"right")


def test_messages_wait_where_nobody_is_with_a_queue_per_endpoint(pair: Pairs) -> None:
    pull, late = pair.socket(sealwire.PULL), pair.socket(sealwire.PULL)
    push = pair.socket(sealwire.PUSH, queue_per_endpoint=True)
    push.connect(pull.bind("tcp://127.0.0.1:*"))
    push.connect("inproc://python-nobody-yet")
    push.send(b"work")
    push.send(b"work")
    late.bind("inproc://python-nobody-yet")
    assert pull.recv() == late.recv() == b"work"


def names_of_threads() -> set[str]:
    names = set()
    for task in pathlib.Path("/proc/self/task").iterdir():
        try:
            names.add((task / "comm").read_text().strip())
        except OSError:
            # It has ended meanwhile.
            continue
    return names


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux shows the names of threads")
@pytest.mark.parametrize("of", [sealwire.Context, sealwire.asyncio.Context])
def test_a_context_has_threads_until_it_is_joined(of: type[sealwire.Context]) -> None:
    context = of(io_threads=2, thread_name="py-io")
    names = {"py-io-0", "py-io-1"}
    eventually(lambda: names <= names_of_threads())
    push = sealwire.Socket(sealwire.PUSH, context, linger=TIMEOUT_MS)
    pull = sealwire.Socket(sealwire.PULL, rcvtimeo=TIMEOUT_MS)
    push.connect(pull.bind("tcp://127.0.0.1:*"))
    for _ in range(1_000):
        push.send(b"x" * 1_000)
    received: list[bytes] = []
    reader = threading.Thread(target=lambda: received.extend(pull.recv() for _ in range(1_000)))
    reader.start()
    # Before that its sockets send all that they were given.
    context.join()
    eventually(lambda: not names & names_of_threads())
    reader.join(TIMEOUT)
    assert len(received) == 1_000
    assert push.closed and context.closed
    with pytest.raises(sealwire.ContextTerminated):
        sealwire.Socket(sealwire.PUSH, context)
    pull.close(linger=0)


def test_threads_are_those_that_affinity_names(pair: Pairs) -> None:
    for wrong in (0, 65):
        with pytest.raises(sealwire.OptionsError):
            sealwire.Context(io_threads=wrong)
    context = sealwire.Context(3)
    pull, push = context.socket(sealwire.PULL, affinity=4, rcvtimeo=TIMEOUT_MS), pair.socket(sealwire.PUSH)
    push.connect(pull.bind("tcp://127.0.0.1:*"))
    push.send(b"work")
    assert pull.recv() == b"work"
    pull.affinity = 8
    with pytest.raises(sealwire.OptionsError):
        pull.bind("tcp://127.0.0.1:*")
    context.join()


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the name of the interface is Linux's")
def test_endpoints_have_sources_interfaces_and_paths_that_are_made_up(pair: Pairs) -> None:
    plain = sealwire.Security.plain_text()
    pull = pair.socket(sealwire.PULL, plain)
    assert pull.bind("tcp://lo:*").startswith("tcp://127.0.0.1:")
    tcp, unix = pull.bind("tcp://127.0.0.1:*"), pull.bind("ipc://*")
    assert pathlib.Path(unix.removeprefix("ipc://")).is_socket()
    for endpoint in (tcp.replace("tcp://", "tcp://127.0.0.3:0;"), unix):
        push = pair.socket(sealwire.PUSH, plain)
        push.connect(endpoint)
        push.send(b"hello")
        message = pull.recv_message()
        assert message.body == b"hello" and message.peer is not None
        assert not endpoint.startswith("tcp") or message.peer.address.startswith("tcp://127.0.0.3:")


def option_of_the_accepted(pair: Pairs, pull: sealwire.Socket, option: int) -> int:
    """Binds, and says what the system has for a connection that was accepted."""
    push = pair.socket(sealwire.PUSH)
    monitor = pull.monitor()
    push.connect(pull.bind("tcp://127.0.0.1:0"))
    event = monitor.next(TIMEOUT)
    while event is not None and event.kind != "accepted":
        event = monitor.next(TIMEOUT)
    assert event is not None and event.descriptor is not None
    with socket.socket(fileno=os.dup(event.descriptor)) as connection:
        return connection.getsockopt(socket.SOL_SOCKET, option)


@pytest.mark.skipif(sys.platform != "linux", reason="options of Linux")
@pytest.mark.parametrize("microseconds", [0, 47])
def test_the_device_is_polled_or_the_refusal_is_told(pair: Pairs, microseconds: int) -> None:
    # Python has no name for it.
    busy_poll = 46
    # Older kernels want a privilege for a longer time than the system's own.
    with socket.socket() as plain:
        try:
            plain.setsockopt(socket.SOL_SOCKET, busy_poll, microseconds)
        except PermissionError:
            permitted = False
        else:
            permitted = True
    pull = pair.socket(sealwire.PULL, busy_poll=microseconds)
    if permitted:
        assert option_of_the_accepted(pair, pull, busy_poll) == microseconds
    else:
        with pytest.raises(sealwire.SystemRefused) as refused:
            pull.bind("tcp://127.0.0.1:0")
        assert refused.value.errno == errno.EPERM


@pytest.mark.skipif(sys.platform != "linux", reason="options of Linux")
def test_the_system_is_told_about_packets(pair: Pairs) -> None:
    pull = pair.socket(sealwire.PULL, priority=5)
    assert option_of_the_accepted(pair, pull, socket.SO_PRIORITY) == 5
    push = pair.socket(sealwire.PUSH)
    for option in ("priority", "busy_poll"):
        with pytest.raises(ValueError, match=f"{option} is -1 or more"):
            setattr(push, option, -2)


@pytest.mark.skipif(sys.platform == "win32", reason="ports are shared on Unix")
def test_sockets_and_servers_share_a_port_if_all_of_them_say_so(pair: Pairs) -> None:
    first, second = pair.socket(sealwire.PULL, reuse_port=True), pair.socket(sealwire.PULL, reuse_port=True)
    endpoint = first.bind("tcp://127.0.0.1:0")
    assert second.bind(endpoint) == endpoint
    with pytest.raises(sealwire.SystemRefused):
        pair.socket(sealwire.PULL).bind(endpoint)

    def served(reuse_port: bool) -> rpc.Server:
        return rpc.Server(securities("BLAKE3")[0], lambda request: request.body, reuse_port=reuse_port)

    with served(True) as old, served(True) as new, served(False) as other:
        endpoint = old.bind("tcp://127.0.0.1:0")
        assert new.bind(endpoint) == endpoint
        with pytest.raises(sealwire.SystemRefused):
            other.bind(endpoint)
