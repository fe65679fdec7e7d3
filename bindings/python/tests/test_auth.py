"""Authenticators of every kind, called from threads of Rust, and refusals that are named."""

from __future__ import annotations

import hmac
import os
import pathlib
import queue
import sys
import threading
from typing import Any, Callable

import pytest

import sealwire
from conftest import TIMEOUT, TIMEOUT_MS, Pairs


def failure(monitor: sealwire.Monitor) -> sealwire.Event:
    while True:
        event = monitor.next(TIMEOUT)
        assert event is not None
        if event.kind == "failed":
            return event


def unraisable(monkeypatch: pytest.MonkeyPatch) -> queue.Queue[Any]:
    """The exceptions that nobody could catch, with the callables that raised them."""
    reported: queue.Queue[Any] = queue.Queue()
    monkeypatch.setattr(
        sys, "unraisablehook", lambda told: reported.put((told.exc_type, told.object))
    )
    return reported


class Asked:
    """A server with this authenticator, and a client of it."""

    def __init__(
        self,
        pair: Pairs,
        authenticator: Any,
        mechanism: str = "blake3",
        endpoint: str = "tcp://127.0.0.1:0",
    ) -> None:
        self.keys, self.alice = sealwire.KeyPair.generate(), sealwire.KeyPair.generate()
        server_of = getattr(sealwire.Security, f"{mechanism}_server")
        client_of = getattr(sealwire.Security, f"{mechanism}_client")
        self.server = pair.socket(sealwire.PULL, server_of(self.keys, authenticator))
        self.client = pair.socket(
            sealwire.PUSH, client_of(self.keys.public, self.alice), linger=0
        )
        # Before anything can happen.
        self.server_events, self.client_events = self.server.monitor(), self.client.monitor()
        self.client.connect(self.server.bind(endpoint))


@pytest.mark.parametrize("mechanism", ["blake3", "curve"])
def test_a_callable_gives_names(pair: Pairs, mechanism: str) -> None:
    asked: list[sealwire.Client] = []

    def authenticate(client: sealwire.Client) -> str:
        asked.append(client)
        return "alice"

    sides = Asked(pair, authenticate, mechanism)
    sides.client.send(b"x")
    peer = sides.server.recv_message().peer
    assert peer is not None and peer.user_id == "alice"
    (client,) = asked
    assert client.public_key == sides.alice.public
    assert client.address.startswith("tcp://127.0.0.1:")
    assert client.username is None and client.password is None
    assert client.process is None


@pytest.mark.parametrize("mechanism", ["blake3", "curve"])
def test_a_callable_is_told_the_process(pair: Pairs, tmp_path: pathlib.Path, mechanism: str) -> None:
    asked: list[sealwire.Client] = []

    def authenticate(client: sealwire.Client) -> bool:
        asked.append(client)
        return True

    sides = Asked(pair, authenticate, mechanism, f"ipc://{tmp_path}/asked")
    sides.client.send(b"x")
    assert sides.server.recv() == b"x"
    (client,) = asked
    expected = (os.getpid(), os.getuid(), os.getgid()) if sys.platform == "linux" else None
    assert client.process == expected
    assert client.address.startswith("ipc://")


def test_true_lets_in_without_a_name(pair: Pairs) -> None:
    sides = Asked(pair, lambda client: True)
    sides.client.send(b"x")
    peer = sides.server.recv_message().peer
    assert peer is not None and peer.user_id is None


@pytest.mark.parametrize("answer", [False, None])
def test_a_refusal_is_known_to_both_sides(pair: Pairs, answer: object) -> None:
    sides = Asked(pair, lambda client: answer)
    refused = failure(sides.server_events)
    assert "not allowed here" in str(refused)
    assert "tcp://127.0.0.1" in str(refused.address)
    assert refused.is_handshake_failure
    assert "not allowed here" in str(failure(sides.client_events))


def test_a_refusal_may_have_a_reason(pair: Pairs) -> None:
    def authenticate(client: sealwire.Client) -> bool:
        raise sealwire.Refused("the licence is over")

    sides = Asked(pair, authenticate)
    assert "the licence is over" in str(failure(sides.server_events))
    assert "the licence is over" in str(failure(sides.client_events))
    with pytest.raises(ValueError):
        sealwire.Refused("no", 200)


@pytest.mark.parametrize(
    ("authenticate", "error"),
    [
        (lambda client: 1 / 0, ZeroDivisionError),
        (lambda client: 7, TypeError),
        (lambda: True, TypeError),
    ],
)
def test_an_exception_refuses_and_is_reported(
    pair: Pairs,
    monkeypatch: pytest.MonkeyPatch,
    authenticate: Callable[..., object],
    error: type[Exception],
) -> None:
    reported = unraisable(monkeypatch)
    sides = Asked(pair, authenticate)
    assert "could not decide" in str(failure(sides.server_events))
    assert reported.get(timeout=TIMEOUT) == (error, authenticate)


def test_a_timeout_names_the_refusal(pair: Pairs) -> None:
    sides = Asked(pair, lambda client: False)
    failure(sides.server_events)
    failure(sides.client_events)
    sides.server.rcvtimeo = 1
    with pytest.raises(sealwire.HandshakeError, match="not allowed here") as caught:
        sides.server.recv()
    assert caught.value.last_failure is not None and caught.value.cause == "refused"
    assert caught.value.address is not None
    assert "tcp://127.0.0.1" in caught.value.address


def test_a_wrong_server_key_is_a_handshake_error(pair: Pairs) -> None:
    keys, wrong = sealwire.KeyPair.generate(), sealwire.KeyPair.generate()
    server = pair.socket(
        sealwire.REP, sealwire.Security.blake3_server(keys, sealwire.AllowAnyone())
    )
    client = pair.socket(
        sealwire.REQ, sealwire.Security.blake3_client(wrong.public), linger=0, rcvtimeo=1
    )
    events = client.monitor()
    client.connect(server.bind("tcp://127.0.0.1:0"))
    client.send(b"to somebody else")
    failure(events)
    with pytest.raises(sealwire.HandshakeError) as caught:
        client.recv()
    assert caught.value.cause == "closed_in_handshake"


def test_an_authenticator_may_use_sockets_and_wait(pair: Pairs) -> None:
    database = pair.socket(sealwire.REP)
    endpoint = database.bind("tcp://127.0.0.1:0")

    def serve() -> None:
        database.recv()
        database.send(b"alice of the database")

    thread = threading.Thread(target=serve)
    thread.start()

    def authenticate(client: sealwire.Client) -> str:
        with sealwire.Socket(sealwire.REQ, rcvtimeo=TIMEOUT_MS) as request:
            request.connect(endpoint)
            request.send(bytes(client.public_key))  # type: ignore[arg-type]
            return request.recv_string()

    sides = Asked(pair, authenticate)
    sides.client.send(b"x")
    peer = sides.server.recv_message().peer
    assert peer is not None and peer.user_id == "alice of the database"
    thread.join(TIMEOUT)


def test_sets_and_files_of_keys(pair: Pairs, tmp_path: pathlib.Path) -> None:
    sides = Asked(pair, sealwire.AllowedKeys([]))
    assert "not allowed" in str(failure(sides.server_events))

    bob = sealwire.KeyPair.generate()
    (tmp_path / "allowed").mkdir()
    bob.save(tmp_path / "allowed" / "bob", czmq=True)
    keys = sealwire.KeyPair.generate()
    allowed = sealwire.AllowedKeysFile(tmp_path / "allowed")
    server = pair.socket(sealwire.PULL, sealwire.Security.blake3_server(keys, allowed))
    client = pair.socket(sealwire.PUSH, sealwire.Security.blake3_client(str(keys.public), bob))
    client.connect(server.bind("tcp://127.0.0.1:0"))
    client.send(b"x")
    peer = server.recv_message().peer
    assert peer is not None and peer.user_id == "bob"
    with pytest.raises(sealwire.KeyFileError):
        sealwire.AllowedKeysFile(tmp_path / "missing")


def test_allowed_keys_are_counted_and_checked() -> None:
    key = sealwire.KeyPair.generate().public
    assert len(sealwire.AllowedKeys([key, key.z85, bytes(key)])) == 1
    assert len(sealwire.AllowedKeys({key: "alice", sealwire.KeyPair.generate().public: None})) == 2
    with pytest.raises(ValueError):
        sealwire.AllowedKeys(["no key"])


def test_passwords(pair: Pairs) -> None:
    def authenticate(client: sealwire.Client) -> bool:
        assert client.public_key is None and client.password is not None
        return hmac.compare_digest(client.password, b"secret") and client.username == b"alice"

    for authenticator in (authenticate, sealwire.Passwords({"alice": "secret"})):
        security = sealwire.Security.plain_server(authenticator)
        server = pair.socket(sealwire.PULL, security)
        endpoint = server.bind("tcp://127.0.0.1:0")
        good = pair.socket(sealwire.PUSH, sealwire.Security.plain_client("alice", b"secret"))
        good.connect(endpoint)
        good.send(b"x")
        assert server.recv() == b"x"
        bad = pair.socket(
            sealwire.PUSH, sealwire.Security.plain_client("alice", "wrong"), linger=0
        )
        events = bad.monitor()
        bad.connect(endpoint)
        assert "400" in str(failure(events))


def test_a_server_may_have_two_keys_for_a_while(pair: Pairs) -> None:
    old, new = sealwire.KeyPair.generate(), sealwire.KeyPair.generate()
    security = sealwire.Security.blake3_server(new, sealwire.AllowAnyone(), additional_keys=[old])
    server = pair.socket(sealwire.PULL, security)
    endpoint = server.bind("tcp://127.0.0.1:0")
    for keys in (old, new):
        client = pair.socket(sealwire.PUSH, sealwire.Security.blake3_client(keys.public))
        client.connect(endpoint)
        client.send(b"x")
        assert server.recv() == b"x"


@pytest.mark.parametrize("wrong", [None, 7, "key", sealwire.AllowAnyone, [b"x"]])
def test_what_cannot_decide_is_a_type_error(wrong: object) -> None:
    keys = sealwire.KeyPair.generate()
    with pytest.raises(TypeError, match="authenticator"):
        sealwire.Security.blake3_server(keys, wrong)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="authenticator"):
        sealwire.Security.plain_server(wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("keeps", [False, True])
def test_a_server_changes_its_key_while_clients_are_there(keeps: bool) -> None:
    old, new = sealwire.KeyPair.generate(), sealwire.KeyPair.generate()
    anyone = sealwire.AllowAnyone()

    def client(keys: sealwire.KeyPair) -> sealwire.Socket:
        socket = sealwire.Socket(sealwire.REQ, security=sealwire.Security.blake3_client(keys.public))
        socket.rcvtimeo = socket.sndtimeo = TIMEOUT_MS
        socket.connect(endpoint)
        return socket

    def echo(asking: sealwire.Socket) -> None:
        asking.send(b"hello")
        server.send(server.recv())
        assert asking.recv() == b"hello"

    with sealwire.Socket(sealwire.REP, security=sealwire.Security.blake3_server(old, anyone)) as server:
        server.rcvtimeo = server.sndtimeo = TIMEOUT_MS
        endpoint = server.bind("tcp://127.0.0.1:*")
        with client(old) as before:
            echo(before)
            server.security = sealwire.Security.blake3_server(old, anyone, additional_keys=[new])
            server.reconfigure_endpoint(endpoint)
            echo(before)
            with client(new) as after:
                echo(after)
                events = server.monitor()
                server.security = sealwire.Security.blake3_server(new, anyone)
                server.reconfigure_endpoint(endpoint, keep_withdrawn=keeps)
                echo(after)
                if keeps:
                    echo(before)
                else:
                    assert any(event.cause == "key_withdrawn" for event in events)
    with sealwire.Socket(sealwire.PULL) as pull:
        with pytest.raises(sealwire.Error):
            pull.reconfigure_endpoint("tcp://127.0.0.1:1")
