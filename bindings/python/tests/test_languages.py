"""Sealwire in other languages as peers: C and Ruby, in both roles, with BLAKE3 and CURVE."""

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

RUBY = """
require "sealwire"
role, mechanism, endpoint, keys, other = ARGV
keys = Sealwire::KeyPair.read(keys)
other = Sealwire::PublicKey.new(other)
if role == "answer"
  security = Sealwire::Security.public_send("#{mechanism}_server", keys: keys, allow: [other])
  socket = Sealwire::REP.new(security: security)
  socket.bind(endpoint)
  socket << socket.receive.to_s
else
  security = Sealwire::Security.public_send("#{mechanism}_client", server_key: other, keys: keys)
  socket = Sealwire::REQ.new(security: security)
  socket.connect(endpoint)
  socket << "from Ruby"
  print socket.receive.to_s
end
socket.close
"""


@pytest.fixture(scope="session")
def in_c(tmp_path_factory: pytest.TempPathFactory) -> Peer:
    folder = tmp_path_factory.mktemp("c")
    target = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    library = target / "release" / "libsealwire_c.a"
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


@pytest.fixture(scope="session")
def in_ruby() -> Peer:
    if shutil.which("ruby") is None:
        missing("there is no ruby")
    # The gem that was built in place for the tests, or an installed one.
    in_place = str(ROOT / "bindings" / "ruby" / "lib")
    command = ["ruby", "-W0", "-I", os.environ.get("SEALWIRE_RUBY_LIB", in_place)]
    if subprocess.run([*command, "-r", "sealwire", "-e", ""], capture_output=True).returncode:
        missing("the Ruby gem is neither built nor installed: bindings/ruby/install.sh")

    def start(*arguments: object) -> subprocess.Popen[str]:
        return peer([*command, "-e", RUBY, "--"], *arguments)

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


@pytest.fixture(params=["C", "Ruby"])
def language(request: pytest.FixtureRequest) -> tuple[str, Peer]:
    start: Peer = request.getfixturevalue("in_c" if request.param == "C" else "in_ruby")
    return request.param, start


@pytest.mark.parametrize("mechanism", ["blake3", "curve"])
def test_it_asks_python(
    pair: Pairs, tmp_path: pathlib.Path, language: tuple[str, Peer], mechanism: str
) -> None:
    name, start = language
    keys, other = sealwire.KeyPair.generate(), sealwire.KeyPair.generate()
    _, secret = other.save(tmp_path / "other")
    server_of = getattr(sealwire.Security, f"{mechanism}_server")
    server = pair.socket(sealwire.REP, server_of(keys, sealwire.AllowedKeys({other.public: name})))
    endpoint = server.bind("tcp://127.0.0.1:0")
    process = start("ask", mechanism, endpoint, str(secret), keys.public)
    try:
        request = server.recv_message()
        server.send(b"python heard " + request.body)
        assert request.peer is not None
        assert request.peer.user_id == name
        assert ended(process) == f"python heard from {name}"
    finally:
        process.kill()


@pytest.mark.parametrize("mechanism", ["blake3", "curve"])
def test_it_answers_python(
    pair: Pairs, tmp_path: pathlib.Path, language: tuple[str, Peer], mechanism: str
) -> None:
    _, start = language
    keys, other = sealwire.KeyPair.generate(), sealwire.KeyPair.generate()
    _, secret = other.save(tmp_path / "other")
    client_of = getattr(sealwire.Security, f"{mechanism}_client")
    # It binds by a name, so that no port has to be found out.
    endpoint = f"ipc://{tmp_path}/socket"
    client = pair.socket(sealwire.REQ, client_of(other.public, keys), reconnect_ivl=1)
    client.connect(endpoint)
    process = start("answer", mechanism, endpoint, str(secret), keys.public)
    try:
        client.send(b"question")
        assert client.recv() == b"question"
        ended(process)
    finally:
        process.kill()
