"""What the tests share. Tests wait for events or conditions, with a timeout of a minute."""

from __future__ import annotations

import contextlib
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time
from typing import Any, Callable, Iterator, NoReturn

import pytest

import sealwire

#: Seconds, and milliseconds, for what should happen.
TIMEOUT = 60
TIMEOUT_MS = 60_000

ROOT = pathlib.Path(__file__).resolve().parents[3]


def missing(what: str) -> NoReturn:
    """A test cannot run here: skipped with the reason, and a failure in CI."""
    if os.environ.get("CI") == "true":
        pytest.fail(what)
    pytest.skip(what)


def assert_interrupted(program: str, call: str) -> None:
    """Runs a program that says "waiting" and makes this call, and interrupts it: it has to say "interrupted" and end
    in order."""
    process = subprocess.Popen(
        [sys.executable, "-c", program, call], stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "waiting\n"
        # It may come before the call, at its start, or while it sleeps: each must do.
        process.send_signal(signal.SIGINT)
        output, _ = process.communicate(timeout=TIMEOUT)
    finally:
        process.kill()
    assert output == "interrupted\n"
    assert process.returncode == 0


@pytest.fixture
def server_keys() -> sealwire.KeyPair:
    return sealwire.KeyPair.generate()


class Pairs:
    """Makes two sockets that are connected over TCP, with a mechanism."""

    def __init__(self) -> None:
        self.sockets: list[sealwire.Socket] = []

    def socket(
        self, socket_type: int, security: sealwire.Security | None = None, **options: Any
    ) -> sealwire.Socket:
        options.setdefault("rcvtimeo", TIMEOUT_MS)
        options.setdefault("sndtimeo", TIMEOUT_MS)
        socket = sealwire.Socket(socket_type, security=security, **options)
        self.sockets.append(socket)
        return socket

    def __call__(
        self, bound: int, connected: int, mechanism: str = "BLAKE3"
    ) -> tuple[sealwire.Socket, sealwire.Socket]:
        server_security, client_security = securities(mechanism)
        server = self.socket(bound, server_security)
        client = self.socket(connected, client_security)
        client.connect(server.bind("tcp://127.0.0.1:0"))
        return server, client


def securities(mechanism: str) -> tuple[sealwire.Security, sealwire.Security]:
    """Of a server and of a client whom it calls alice."""
    keys, alice = sealwire.KeyPair.generate(), sealwire.KeyPair.generate()
    allowed = sealwire.AllowedKeys({alice.public: "alice"})
    of: dict[str, Callable[[], tuple[sealwire.Security, sealwire.Security]]] = {
        "NULL": lambda: (sealwire.Security.plain_text(), sealwire.Security.plain_text()),
        "PLAIN": lambda: (
            sealwire.Security.plain_server(sealwire.Passwords({"alice": "secret"})),
            sealwire.Security.plain_client("alice", "secret"),
        ),
        "CURVE": lambda: (
            sealwire.Security.curve_server(keys, allowed),
            sealwire.Security.curve_client(keys.public, alice),
        ),
        "BLAKE3": lambda: (
            sealwire.Security.blake3_server(keys, allowed),
            sealwire.Security.blake3_client(keys.public, alice),
        ),
    }
    return of[mechanism]()


@pytest.fixture
def pair() -> Iterator[Pairs]:
    pairs = Pairs()
    yield pairs
    for socket in pairs.sockets:
        # What a test left unsent is not the next one's, nor is it an error of this one.
        with contextlib.suppress(sealwire.Unsent):
            socket.close(linger=0)


@pytest.fixture
def run_python() -> Callable[..., subprocess.CompletedProcess[str]]:
    """Runs a program in a fresh interpreter."""

    def run(program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-X", "dev", "-c", program, *arguments],
            capture_output=True,
            text=True,
            timeout=TIMEOUT,
        )

    return run


@pytest.fixture(scope="session")
def program() -> str:
    """The program `sealwire`, built from the same tree: a peer in Rust."""
    given = os.environ.get("SEALWIRE_PROGRAM")
    if given:
        return given
    target = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    for profile in ("release", "debug"):
        built = target / profile / "sealwire"
        if built.exists():
            return str(built)
    if shutil.which("cargo") is None:
        missing("the program sealwire is not built, and there is no cargo")
    subprocess.run(["cargo", "build", "--quiet", "-p", "sealwire-cli"], cwd=ROOT, check=True)
    return str(target / "debug" / "sealwire")


class Work:
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
def scene() -> Iterator[Work]:
    scene = Work()
    yield scene
    for end in scene.ends:
        end._end()


def eventually(what: str, condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + TIMEOUT
    while not condition():
        assert time.monotonic() < deadline, what
        time.sleep(0.001)
