"""Admission before the handshake, what a ROUTER and a CURVE server ask of clients, and what is held for
peers."""

from __future__ import annotations

import asyncio
import os
import pathlib
import sys
import threading
import time
from typing import Any, Callable

import pytest

import sealwire
import sealwire.asyncio
from conftest import TIMEOUT, TIMEOUT_MS, Pairs, securities
from sealwire import rpc
from test_auth import failure, unraisable

MECHANISMS = ["NULL", "PLAIN", "CURVE", "BLAKE3"]


class Door:
    """A PULL socket that asks `admit`, and a PUSH socket at its door."""

    def __init__(
        self, pair: Pairs, path: pathlib.Path, admit: Callable[..., Any], mechanism: str = "NULL"
    ) -> None:
        server, client = securities(mechanism)
        self.server = pair.socket(sealwire.PULL, server, admit=admit)
        self.client = pair.socket(sealwire.PUSH, client, linger=0)
        self.events = self.server.monitor()
        self.client.connect(self.server.bind(f"ipc://{path}/door"))


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_admit_is_told_the_process(pair: Pairs, tmp_path: pathlib.Path, mechanism: str) -> None:
    guests: list[sealwire.Guest] = []

    def admit(guest: sealwire.Guest) -> bool:
        guests.append(guest)
        return True

    door = Door(pair, tmp_path, admit, mechanism)
    assert door.server.admit is admit
    door.client.send(b"x")
    peer = door.server.recv_message().peer
    process = (os.getpid(), os.getuid(), os.getgid()) if sys.platform == "linux" else None
    assert peer is not None and peer.process == process
    (guest,) = guests
    assert guest.process == process
    assert sorted(guest.groups) == (sorted(os.getgroups()) if sys.platform == "linux" else [])
    assert guest.address.startswith("ipc://")


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_admit_goes_by_the_address_over_tcp(pair: Pairs, mechanism: str) -> None:
    guests: list[sealwire.Guest] = []
    refused = ["tcp://127.0.0.1:"]

    def admit(guest: sealwire.Guest) -> bool:
        guests.append(guest)
        if guest.address.startswith(tuple(refused)):
            raise sealwire.Refused("not from there", 400)
        return True

    server_security, client_security = securities(mechanism)
    server = pair.socket(sealwire.PULL, server_security, admit=admit)
    events = server.monitor()
    endpoint = server.bind("tcp://127.0.0.1:0")
    stranger = pair.socket(sealwire.PUSH, client_security, linger=0)
    stranger.connect(endpoint)
    event = failure(events)
    assert "not from there" in str(event) and event.is_handshake_failure
    assert event.address is not None and event.address.startswith("tcp://127.0.0.1:")
    assert guests[0].process is None and guests[0].groups == []
    stranger.disconnect(endpoint)
    refused.clear()
    client = pair.socket(sealwire.PUSH, client_security)
    client.connect(endpoint)
    client.send(b"x")
    peer = server.recv_message().peer
    # An attempt of the stranger may still have been under way.
    assert peer is not None and peer.address in {guest.address for guest in guests}
    assert peer.address.startswith("tcp://127.0.0.1:") and peer.process is None


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have not all addresses of 127.0.0.0/8")
def test_of_two_addresses_one_is_admitted(pair: Pairs) -> None:
    server_security, client_security = securities("BLAKE3")
    server = pair.socket(
        sealwire.PULL, server_security, admit=lambda guest: guest.address.startswith("tcp://127.0.0.1:")
    )
    events = server.monitor()
    endpoint = server.bind("tcp://127.0.0.1:0")
    other = pair.socket(sealwire.PUSH, client_security, linger=0)
    other.connect(endpoint.replace("tcp://", "tcp://127.0.0.3:0;"))
    event = failure(events)
    assert event.address is not None and event.address.startswith("tcp://127.0.0.3:")
    client = pair.socket(sealwire.PUSH, client_security)
    client.connect(endpoint)
    client.send(b"x")
    assert server.recv() == b"x"


@pytest.mark.parametrize("mechanism", MECHANISMS)
@pytest.mark.parametrize("answer", [False, None])
def test_who_is_not_admitted_is_refused(
    pair: Pairs, tmp_path: pathlib.Path, mechanism: str, answer: object
) -> None:
    door = Door(pair, tmp_path, lambda guest: answer, mechanism)
    refused = failure(door.events)
    assert "this peer is not allowed here" in str(refused)
    assert refused.is_handshake_failure


def test_admit_may_give_a_reason(pair: Pairs, tmp_path: pathlib.Path) -> None:
    def admit(guest: sealwire.Guest) -> bool:
        raise sealwire.Refused("closed on Sundays", 300)

    assert "closed on Sundays" in str(failure(Door(pair, tmp_path, admit).events))


async def nobody_awaits_this(guest: sealwire.Guest) -> bool:
    return True


@pytest.mark.parametrize(
    ("admit", "error"),
    [
        (lambda guest: 1 / 0, ZeroDivisionError),
        (lambda guest: sys.exit(3), SystemExit),
        (lambda guest: 7, TypeError),
        (lambda: True, TypeError),
        (nobody_awaits_this, TypeError),
    ],
)
@pytest.mark.filterwarnings("ignore:coroutine 'nobody_awaits_this' was never awaited")
def test_an_exception_in_admit_refuses_and_is_reported(
    pair: Pairs,
    tmp_path: pathlib.Path,
    monkeypatch: pytest.MonkeyPatch,
    admit: Callable[..., object],
    error: type[BaseException],
) -> None:
    reported = unraisable(monkeypatch)
    door = Door(pair, tmp_path, admit)
    assert "could not decide" in str(failure(door.events))
    assert reported.get(timeout=TIMEOUT) == (error, admit)


def test_peers_do_not_choose_how_often_exceptions_are_reported(
    pair: Pairs, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = threading.Semaphore(0)
    reported: list[Any] = []

    def admit(guest: sealwire.Guest) -> bool:
        asked.release()
        raise LookupError("the database is down")

    monkeypatch.setattr(sys, "unraisablehook", reported.append)
    started = time.monotonic()
    server = pair.socket(sealwire.PULL, admit=admit)
    client = pair.socket(sealwire.PUSH, linger=0, reconnect_ivl=1, reconnect_ivl_max=1)
    client.connect(server.bind(f"ipc://{tmp_path}/door"))
    for _ in range(100):
        assert asked.acquire(timeout=TIMEOUT)
    # One a second, and the first at once.
    assert 1 <= len(reported) <= 2 + time.monotonic() - started


def test_admit_takes_a_callable_or_nothing() -> None:
    socket = sealwire.Socket(sealwire.PULL)
    assert socket.admit is None
    socket.admit = lambda guest: True
    socket.admit = None
    with pytest.raises(TypeError, match="a callable or None"):
        socket.admit = 7  # type: ignore[assignment]
    stream = sealwire.Socket(sealwire.STREAM, admit=lambda guest: True)
    with pytest.raises(sealwire.OptionsError):
        stream.bind("tcp://127.0.0.1:0")


def test_admit_with_coroutines(tmp_path: pathlib.Path) -> None:
    async def exchange() -> None:
        admitted: list[str] = []

        def admit(guest: sealwire.Guest) -> bool:
            admitted.append(guest.address)
            return True

        async with sealwire.asyncio.Socket(sealwire.PULL, admit=admit) as pull:
            endpoint = pull.bind(f"ipc://{tmp_path}/door")
            async with sealwire.asyncio.Socket(sealwire.PUSH) as push:
                push.connect(endpoint)
                await push.send(b"x")
                assert await asyncio.wait_for(pull.recv(), TIMEOUT) == b"x"
                (peer,) = pull.accounts
                assert peer.account.held["received"] == 0
                assert pull.exceeded["received"] == 0
        assert len(admitted) == 1

    asyncio.run(exchange())


def test_a_routing_id_is_its_owners(pair: Pairs) -> None:
    keys, alice = sealwire.KeyPair.generate(), sealwire.KeyPair.generate()
    allowed = sealwire.AllowedKeys({alice.public: "alice"})
    router = pair.socket(
        sealwire.ROUTER,
        sealwire.Security.blake3_server(keys, allowed),
        routing_id_is_user_id=True,
    )
    events = router.monitor()
    endpoint = router.bind("tcp://127.0.0.1:0")
    as_alice = sealwire.Security.blake3_client(keys.public, alice)
    pair.socket(sealwire.DEALER, as_alice, routing_id=b"bob", linger=0).connect(endpoint)
    assert failure(events).is_handshake_failure
    dealer = pair.socket(sealwire.DEALER, as_alice, routing_id=b"alice")
    dealer.connect(endpoint)
    dealer.send(b"mine")
    assert router.recv_multipart() == [b"alice", b"mine"]


def test_users_come_from_a_file_that_is_read_again(pair: Pairs, tmp_path: pathlib.Path) -> None:
    def replace(content: str) -> None:
        other = tmp_path / "other"
        other.touch(0o600)
        other.write_text(content)
        other.replace(path)

    path = tmp_path / "passwords"
    with pytest.raises(sealwire.KeyFileError):
        sealwire.PasswordFile(path)
    replace("alice secret\n")
    server = pair.socket(
        sealwire.PULL, sealwire.Security.plain_server(sealwire.PasswordFile(path))
    )
    client = pair.socket(sealwire.PUSH, sealwire.Security.plain_client("alice", "secret"), linger=0)
    events = server.monitor()
    client.connect(server.bind("tcp://127.0.0.1:0"))
    client.send(b"x")
    peer = server.recv_message().peer
    assert peer is not None and peer.user_id == "alice"
    replace("bob secret\n")
    peer = failure(events).peer
    assert peer is not None and peer.user_id == "alice"


def test_accepting_gaps_is_warned_of(pair: Pairs) -> None:
    keys, alice = sealwire.KeyPair.generate(), sealwire.KeyPair.generate()
    security = sealwire.Security
    server = pair.socket(
        sealwire.PULL,
        security.curve_server_accepting_gaps_unauthenticated_order(keys, sealwire.AllowAnyone()),
    )
    client = pair.socket(
        sealwire.PUSH,
        security.curve_client_accepting_gaps_unauthenticated_order(keys.public, alice),
    )
    monitors = [server.monitor(), client.monitor()]
    client.connect(server.bind("tcp://127.0.0.1:0"))
    client.send(b"x")
    assert server.recv() == b"x"
    for monitor in monitors:
        while (event := monitor.next(TIMEOUT)) is not None and event.kind != "warning":
            pass
        assert event is not None


def test_connections_are_messages_where_asked_for(pair: Pairs) -> None:
    server = pair.socket(sealwire.SERVER, connection_events=True, omit_routing_id=True)
    client = pair.socket(sealwire.CLIENT)
    client.connect(server.bind("tcp://127.0.0.1:0"))
    client.send(b"hello")
    began, hello = server.recv_message(), server.recv_message()
    assert len(began) == 0 and began.body == b"" and began.frames == []
    assert hello.frames == [b"hello"] and hello.routing_id is None
    assert began.peer is not None and hello.peer is not None
    assert began.peer.connection_routing_id == hello.peer.connection_routing_id != 0
    client.close()
    with pytest.raises(sealwire.MessageError, match="or of none") as raised:
        server.recv()
    assert raised.value.messages == [[]]


def test_what_is_held_is_on_the_account_of_who_sent_it(pair: Pairs) -> None:
    server, client = securities("BLAKE3")
    pull = pair.socket(sealwire.PULL, server, rcvhwm=2)
    push = pair.socket(sealwire.PUSH, client)
    push.connect(pull.bind("tcp://127.0.0.1:0"))
    for _ in range(10):
        push.send(b"twenty bytes of text")
    pause = threading.Event()
    for _ in range(TIMEOUT_MS):
        if pull.exceeded["received"] == 0:
            pause.wait(0.001)
    (peer,) = pull.accounts
    account = peer.account
    assert peer.user_id == "alice"
    assert account.held["received"] >= 40 and account.held["queued"] == 0
    assert account.exceeded["received"] > 0 and account.exceeded["arriving"] == 0
    assert account.inbound >= account.held["received"] and account.outbound == 0
    assert account.written > 0
    assert list(account.held) == list(account.exceeded) == list(pull.exceeded)
    for _ in range(10):
        pull.recv()
    assert [peer.account.held["received"] for peer in pull.accounts] == [0]
    numbers = peer.numbers
    assert (numbers["messages_received"], numbers["inbound_messages"], numbers["bytes_received"]) == (10, 0, 200)
    assert isinstance(numbers["age"], float) and numbers["age"] > 0
    assert numbers["inbound_most_messages"] >= 2 and numbers["messages_sent"] == 0


def test_a_connection_of_calls_has_an_account() -> None:
    server_security, client_security = securities("BLAKE3")
    held: list[int] = []

    def handler(request: rpc.Request) -> bytes:
        held.append(request.conn.account.held["requests"])
        return b"done"

    with rpc.Server(server_security, handler) as server:
        with rpc.Client(server.bind("tcp://127.0.0.1:0"), client_security) as client:
            assert client.request(b"x" * 100, timeout=TIMEOUT) == b"done"
    assert held[0] >= 100


def test_connections_of_an_address_come_at_a_rate(pair: Pairs) -> None:
    # One a day: the second is refused, whenever it comes.
    server = pair.socket(
        sealwire.PULL, connection_rate_per_address=1, connection_rate_period=86_400_000
    )
    events = server.monitor()
    endpoint = server.bind("tcp://127.0.0.1:0")
    first, second = pair.socket(sealwire.PUSH), pair.socket(sealwire.PUSH, linger=0)
    first.connect(endpoint)
    first.send(b"x")
    assert server.recv() == b"x"
    second.connect(endpoint)
    assert failure(events).is_handshake_failure


def test_connecting_ends_for_the_reasons_given(pair: Pairs) -> None:
    listener = pair.socket(sealwire.PULL)
    endpoint = listener.bind("tcp://127.0.0.1:0")
    listener.close()
    client = pair.socket(sealwire.PUSH, reconnect_stop=15)
    events = client.monitor()
    client.connect(endpoint)
    while (event := events.next(TIMEOUT)) is not None and event.kind != "gave_up":
        assert event.kind != "retrying"
    assert event is not None and event.endpoint == endpoint
    # One attempt and no more, whatever reasons are named beside it.
    once = pair.socket(sealwire.PUSH, reconnect_ivl=-1, reconnect_stop=2)
    events = once.monitor()
    once.connect(endpoint)
    while (event := events.next(TIMEOUT)) is not None and event.kind != "gave_up":
        assert event.kind != "retrying"
    assert event is not None
    with pytest.raises(ValueError, match="sum of 1, 2, 4 and 8"):
        pair.socket(sealwire.PUSH, reconnect_stop=16).connect(endpoint)


ENGINE = """
import os, sealwire
from sealwire import rpc

def pollers():
    numbers = [int(name) for name in os.listdir("/proc/self/fd")]
    return {fd for fd in numbers if leads_to(fd) == "anon_inode:[eventpoll]"}

def leads_to(fd):
    try:
        return os.readlink(f"/proc/self/fd/{fd}")
    except OSError:
        return None

before = pollers()
context = sealwire.Context()
pull = context.socket(sealwire.PULL)
pull.bind("tcp://127.0.0.1:0")
caller = rpc.Client("tcp://127.0.0.1:1", sealwire.Security.plain_text(), context=context)
null = os.open("/dev/null", os.O_RDONLY)
for fd in pollers() - before:
    os.dup2(null, fd)
# Wakes the thread, which then polls what cannot be polled.
try:
    pull.bind("tcp://127.0.0.1:0")
except sealwire.EngineFailed:
    pass
for attempt in pull.recv, lambda: pull.bind("tcp://127.0.0.1:0"), lambda: caller.request(b""):
    try:
        attempt()
    except sealwire.EngineFailed as error:
        print(error)
sealwire.Context().socket(sealwire.PULL).bind("tcp://127.0.0.1:0")
print("alive", flush=True)
os._exit(0)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not tell what polls")
def test_the_end_of_the_engine_has_an_exception(run_python: Callable[..., Any]) -> None:
    ended = run_python(ENGINE)
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.count("the I/O thread of the context ended by a fault") == 2
    assert ended.stdout.count("a thread that moves messages ended by a fault") == 1
    assert ended.stdout.endswith("alive\n")
