"""Sealwire in C as a peer, in both roles, with BLAKE3 and CURVE. The tests of Ruby have Python as theirs."""

from __future__ import annotations

import os
import pathlib
import shutil
import subprocess
from typing import Callable

import pytest

import sealwire
from conftest import ROOT, TIMEOUT, Pairs, missing

#: Starts a peer: answer or ask, mechanism, endpoint, file of its keys, public key of the other.
Peer = Callable[[str, str, str, str, sealwire.PublicKey], "subprocess.Popen[str]"]

@pytest.fixture(scope="session")
def in_c(tmp_path_factory: pytest.TempPathFactory) -> Peer:
    folder = tmp_path_factory.mktemp("c")
    target = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    built = pathlib.Path(os.environ.get("SEALWIRE_BUILT", target / "release"))
    library = built / "libsealwire_c.a"
    if not library.exists():
        missing("the C library is not built: cargo build --release -p sealwire-capi")
    if shutil.which("cc") is None:
        missing("there is no C compiler")
    include = ROOT / "crates" / "sealwire-capi" / "include"
    source = pathlib.Path(__file__).with_name("peer.c")
    program = folder / "peer"
    subprocess.run(
        ["cc", "-Wall", "-Werror", f"-I{include}", str(source), str(library), "-lpthread", "-ldl",
         "-lm", "-o", str(program)],
        check=True,
    )  # fmt: skip

    def start(*arguments: object) -> subprocess.Popen[str]:
        return peer([str(program)], *arguments)

    return start


def peer(command: list[str], *arguments: object) -> subprocess.Popen[str]:
    (*texts, key) = arguments
    assert isinstance(key, sealwire.PublicKey)
    return subprocess.Popen(
        [*command, *map(str, texts), key.hex],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def ended(process: subprocess.Popen[str]) -> str:
    try:
        output, trouble = process.communicate(timeout=TIMEOUT)
    finally:
        process.kill()
    assert process.returncode == 0, trouble
    return output


@pytest.mark.parametrize("mechanism", ["blake3", "curve"])
def test_it_asks_python(
    pair: Pairs, tmp_path: pathlib.Path, in_c: Peer, mechanism: str
) -> None:
    keys, other = sealwire.KeyPair.generate(), sealwire.KeyPair.generate()
    _, secret = other.save(tmp_path / "other")
    server_of = getattr(sealwire.Security, f"{mechanism}_server")
    server = pair.socket(sealwire.REP, server_of(keys, sealwire.AllowedKeys({other.public: "C"})))
    endpoint = server.bind("tcp://127.0.0.1:0")
    process = in_c("ask", mechanism, endpoint, str(secret), keys.public)
    try:
        request = server.recv_message()
        server.send(b"python heard " + request.body)
        assert request.peer is not None
        assert request.peer.user_id == "C"
        assert ended(process) == "python heard from C"
    finally:
        process.kill()


@pytest.mark.parametrize("mechanism", ["blake3", "curve"])
def test_it_answers_python(
    pair: Pairs, tmp_path: pathlib.Path, in_c: Peer, mechanism: str
) -> None:
    keys, other = sealwire.KeyPair.generate(), sealwire.KeyPair.generate()
    _, secret = other.save(tmp_path / "other")
    client_of = getattr(sealwire.Security, f"{mechanism}_client")
    # It binds by a name, so that no port has to be found out.
    endpoint = f"ipc://{tmp_path}/socket"
    client = pair.socket(sealwire.REQ, client_of(other.public, keys), reconnect_ivl=1)
    client.connect(endpoint)
    process = in_c("answer", mechanism, endpoint, str(secret), keys.public)
    try:
        client.send(b"question")
        assert client.recv() == b"question"
        ended(process)
    finally:
        process.kill()
