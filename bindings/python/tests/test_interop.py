"""Other implementations: libzmq by pyzmq in both roles, and the Rust API by the program `sealwire`."""

from __future__ import annotations

import pathlib
import subprocess
import sys
from typing import Any, Iterator

import pytest
import zmq

import sealwire
from conftest import TIMEOUT, TIMEOUT_MS, Pairs


@pytest.fixture
def libzmq() -> Iterator[zmq.Context[Any]]:
    context: zmq.Context[Any] = zmq.Context()
    context.linger = TIMEOUT_MS
    context.setsockopt(zmq.RCVTIMEO, TIMEOUT_MS)
    context.setsockopt(zmq.SNDTIMEO, TIMEOUT_MS)
    yield context
    context.destroy(linger=0)


def exchange(rep: Any, req: Any) -> None:
    req.send(b"question")
    assert rep.recv() == b"question"
    rep.send_multipart([b"answer", b"", b"x" * 100_000])
    assert req.recv_multipart() == [b"answer", b"", b"x" * 100_000]


def test_null_with_libzmq_in_both_roles(pair: Pairs, libzmq: zmq.Context[Any]) -> None:
    ours, theirs = pair.socket(sealwire.REP), libzmq.socket(zmq.REQ)
    theirs.connect(ours.bind("tcp://127.0.0.1:0"))
    exchange(ours, theirs)
    ours, theirs = pair.socket(sealwire.REQ), libzmq.socket(zmq.REP)
    port = theirs.bind_to_random_port("tcp://127.0.0.1")
    ours.connect(f"tcp://127.0.0.1:{port}")
    exchange(theirs, ours)


def test_curve_with_libzmq_as_client(pair: Pairs, libzmq: zmq.Context[Any]) -> None:
    keys = sealwire.KeyPair.generate()
    public, secret = zmq.curve_keypair()
    allowed = sealwire.AllowedKeys({public: "libzmq"})
    ours = pair.socket(sealwire.REP, sealwire.Security.curve_server(keys, allowed))
    theirs = libzmq.socket(zmq.REQ)
    theirs.curve_publickey, theirs.curve_secretkey = public, secret
    theirs.curve_serverkey = keys.public.z85.encode()
    theirs.connect(ours.bind("tcp://127.0.0.1:0"))
    exchange(ours, theirs)
    theirs.send(b"who?")
    peer = ours.recv_message().peer
    assert peer is not None
    assert (peer.user_id, peer.mechanism) == ("libzmq", "CURVE")
    assert peer.public_key == sealwire.PublicKey(public)


def test_curve_with_libzmq_as_server(pair: Pairs, libzmq: zmq.Context[Any]) -> None:
    public, secret = zmq.curve_keypair()
    theirs = libzmq.socket(zmq.REP)
    theirs.curve_server = True
    theirs.curve_secretkey = secret
    port = theirs.bind_to_random_port("tcp://127.0.0.1")
    security = sealwire.Security.curve_client(public, sealwire.KeyPair.generate())
    ours = pair.socket(sealwire.REQ, security)
    ours.connect(f"tcp://127.0.0.1:{port}")
    exchange(theirs, ours)


def test_plain_with_libzmq(pair: Pairs, libzmq: zmq.Context[Any]) -> None:
    security = sealwire.Security.plain_server(sealwire.Passwords({"alice": "secret"}))
    ours, theirs = pair.socket(sealwire.REP, security), libzmq.socket(zmq.REQ)
    theirs.plain_username, theirs.plain_password = b"alice", b"secret"
    theirs.connect(ours.bind("tcp://127.0.0.1:0"))
    exchange(ours, theirs)


def test_batches_with_libzmq(pair: Pairs, libzmq: zmq.Context[Any]) -> None:
    count = 5000
    sent = [b"%d" % number for number in range(count)]
    ours, theirs = pair.socket(sealwire.PULL, rcvhwm=0), libzmq.socket(zmq.PUSH)
    theirs.sndhwm = 0
    theirs.connect(ours.bind("tcp://127.0.0.1:0"))
    for message in sent:
        theirs.send(message)
    received: list[bytes] = []
    while len(received) < count:
        received += ours.recv_many()
    assert received == sent
    ours, theirs = pair.socket(sealwire.PUSH, sndhwm=0), libzmq.socket(zmq.PULL)
    theirs.rcvhwm = 0
    port = theirs.bind_to_random_port("tcp://127.0.0.1")
    ours.connect(f"tcp://127.0.0.1:{port}")
    assert ours.send_many(sent) == count
    assert [theirs.recv() for _ in range(count)] == sent


@pytest.mark.parametrize("mechanism", ["blake3", "curve"])
def test_the_program_sends_to_python(
    program: str, pair: Pairs, tmp_path: pathlib.Path, mechanism: str
) -> None:
    keys, alice = sealwire.KeyPair.generate(), sealwire.KeyPair.generate()
    server_key, _ = keys.save(tmp_path / "server")
    _, secret = alice.save(tmp_path / "alice")
    server_of = getattr(sealwire.Security, f"{mechanism}_server")
    allowed = sealwire.AllowedKeys({alice.public: "alice"})
    pull = pair.socket(sealwire.PULL, server_of(keys, allowed))
    sent = subprocess.run(
        [program, "push", "--connect", pull.bind("tcp://127.0.0.1:0"), "--mechanism", mechanism,
         "--server-key", str(server_key), "--secret-key-file", str(secret)],
        input="hello\nworld\n",
        text=True,
        capture_output=True,
        timeout=TIMEOUT,
    )  # fmt: skip
    assert sent.returncode == 0, sent.stderr
    for line in (b"hello", b"world"):
        message = pull.recv_message()
        assert message.body == line
        assert message.peer is not None and message.peer.user_id == "alice"


@pytest.mark.parametrize("mechanism", ["blake3", "curve"])
def test_python_sends_to_the_program(
    program: str, pair: Pairs, tmp_path: pathlib.Path, mechanism: str
) -> None:
    keys, alice = sealwire.KeyPair.generate(), sealwire.KeyPair.generate()
    _, server_secret = keys.save(tmp_path / "server")
    alice.save(tmp_path / "alice")
    # The program binds by a name, so that no port has to be found out.
    endpoint = f"ipc://{tmp_path}/socket"
    receiver = subprocess.Popen(
        [program, "pull", "--bind", endpoint, "--mechanism", mechanism, "--server",
         "--secret-key-file", str(server_secret), "--allow", str(tmp_path / "alice.pub"),
         "--count", "2"],
        stdout=subprocess.PIPE,
        stderr=sys.stderr,
        text=True,
    )  # fmt: skip
    try:
        client_of = getattr(sealwire.Security, f"{mechanism}_client")
        push = pair.socket(sealwire.PUSH, client_of(keys.public, alice), reconnect_ivl=1)
        push.connect(endpoint)
        push.send_many([b"hello", b"world"])
        output, _ = receiver.communicate(timeout=TIMEOUT)
    finally:
        receiver.kill()
    assert output.splitlines() == ["hello", "world"]
    assert receiver.returncode == 0


def test_calls_between_the_program_and_python(program: str, tmp_path: pathlib.Path) -> None:
    from sealwire import rpc

    keys, alice = sealwire.KeyPair.generate(), sealwire.KeyPair.generate()
    server_key, _ = keys.save(tmp_path / "server")
    _, secret = alice.save(tmp_path / "alice")
    security = sealwire.Security.blake3_server(keys, sealwire.AllowedKeys([alice.public]))
    with rpc.Server(security, lambda request: b"python heard " + request.body) as server:
        called = subprocess.run(
            [program, "rpc", "call", "--connect", server.bind("tcp://127.0.0.1:0"),
             "--server-key", str(server_key), "--secret-key-file", str(secret), "-d", "hello"],
            capture_output=True,
            text=True,
            timeout=TIMEOUT,
        )  # fmt: skip
    assert called.returncode == 0, called.stderr
    assert called.stdout.strip() == "python heard hello"
