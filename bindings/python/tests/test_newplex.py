"""Newplex against what its reference in Go gives, and what is refused."""

from __future__ import annotations

import copy
import io
import json
import pickle
from typing import Any

import pytest

from conftest import ROOT
from sealwire import newplex
from sealwire.newplex import Cipher, Digest, KeyedDigest, Protocol

RECORDED = json.loads((ROOT / "vectors" / "newplex.json").read_text())
unhex = bytes.fromhex


def label_of(op: dict[str, Any], name: str = "label") -> str | bytes:
    given: str | None = op.get(name)
    return given if given is not None else unhex(op[name + "_hex"])


def joined(pieces: list[str]) -> bytes:
    return b"".join(map(unhex, pieces))


def apply(live: dict[int, Protocol], op: dict[str, Any]) -> None:
    """One operation of a transcript. There is none in pieces here: their pieces are joined."""
    kind, p = op["op"], op["p"]
    into = op.get("into", [])
    if kind == "init":
        live[p] = Protocol(label_of(op, "domain"))
    elif kind == "unmarshal":
        live[p] = Protocol.from_bytes(unhex(op["input"]))
    elif kind == "marshal":
        assert live[p].to_bytes() == unhex(op["output"])
    elif kind == "clone":
        live[into[0]] = live[p].clone()
    elif kind == "mix":
        live[p].mix(label_of(op), unhex(op["input"]))
    elif kind in ("mix_writer", "mix_reader"):
        live[p].mix(label_of(op), joined(op.get("chunks", [])))
    elif kind == "mix_writer_branch":
        live[into[0]] = live[p].clone()
        live[into[0]].mix(label_of(op), unhex(op["chunks"][0]))
        live[p].mix(label_of(op), joined(op["chunks"]))
    elif kind == "derive":
        assert live[p].derive(label_of(op), op["n"]) == unhex(op["output"])
    elif kind == "mask":
        assert live[p].mask(label_of(op), unhex(op["input"])) == unhex(op["output"])
    elif kind == "unmask":
        assert live[p].unmask(label_of(op), unhex(op["input"])) == unhex(op["output"])
    elif kind == "mask_stream":
        assert live[p].mask(label_of(op), joined(op["chunks"])) == joined(op["outputs"])
    elif kind == "unmask_stream":
        assert live[p].unmask(label_of(op), joined(op["chunks"])) == joined(op["outputs"])
    elif kind == "seal":
        assert live[p].seal(label_of(op), unhex(op["input"])) == unhex(op["output"])
    elif kind == "open" and "error" in op:
        with pytest.raises(newplex.DecryptionError, match="not authentic"):
            live[p].open(label_of(op), unhex(op["input"]))
    elif kind == "open":
        assert live[p].open(label_of(op), unhex(op["input"])) == unhex(op["output"])
    elif kind in ("fork", "fork_n"):
        branches = live[p].fork(label_of(op), *map(unhex, op.get("values", [])))
        live.update(zip(into, branches))
        assert len(into) == len(branches)
    elif kind == "ratchet":
        live[p].ratchet(label_of(op))
    elif kind == "equal":
        assert (live[p].to_bytes() == live[op["with"]].to_bytes()) == op["equal"]
    else:
        # How Go shows a protocol.
        assert kind == "string"
    if "state" in op:
        assert live[p].to_bytes() == unhex(op["state"])


@pytest.mark.parametrize("section, count", [("protocol", 217), ("transcripts", 300)])
def test_transcripts_are_those_of_the_reference(section: str, count: int) -> None:
    vectors = RECORDED[section]["vectors"]
    assert len(vectors) == count
    for vector in vectors:
        live: dict[int, Protocol] = {}
        for op in vector["ops"]:
            apply(live, op)
        for final in vector["finals"]:
            if "state" in final:
                assert live[final["p"]].to_bytes() == unhex(final["state"])
            assert live[final["p"]].derive("final", 32) == unhex(final["output"])


def test_states_are_those_of_the_reference() -> None:
    cases = RECORDED["protocol"]["unmarshal"]
    assert {case["accept"] for case in cases} == {True, False}
    for case in cases:
        if case["accept"]:
            protocol = Protocol.from_bytes(unhex(case["input"]))
            assert protocol.derive("after", 16) == unhex(case["derive"])
        else:
            with pytest.raises(ValueError, match="state"):
                Protocol.from_bytes(unhex(case["input"]))


def digest_of(case: dict[str, Any], data: bytes | None = None) -> Digest | KeyedDigest:
    if "key" in case:
        return KeyedDigest(case["domain"], unhex(case["key"]), data)
    return Digest(case["domain"], data)


def test_digests_are_those_of_the_reference() -> None:
    for case in RECORDED["digest"]["vectors"]:
        digest = digest_of(case)
        for step in case["steps"]:
            if step["op"] == "write":
                digest.update(unhex(step["input"]))
            elif step["op"] == "reset":
                digest = digest_of(case)
            else:
                value = unhex(step["output"][len(step.get("prefix", "")) :])
                assert digest.digest() == value
                assert digest.hexdigest() == value.hex()
    for case in RECORDED["digest"]["sweep"]:
        assert len(case["outputs"]) == 301
        for output in case["outputs"]:
            digest = digest_of(case, unhex(case["buffer"])[: output["len"]])
            assert digest.hexdigest() == output["output"]


def test_another_tag_is_refused() -> None:
    digest = KeyedDigest("com.example.test", b"key", b"message")
    tag = digest.digest()
    digest.verify(tag)
    wrong = [tag[:-1], tag + b"\0", b""]
    wrong += [bytes(byte ^ (i == at) for i, byte in enumerate(tag)) for at in range(len(tag))]
    for other in wrong:
        with pytest.raises(newplex.VerificationError, match="not the tag"):
            digest.verify(other)


def test_sealed_messages_are_those_of_the_reference() -> None:
    def of(case: dict[str, Any]) -> tuple[Cipher, bytes, bytes]:
        return Cipher(case["domain"], unhex(case["key"])), unhex(case["nonce"]), unhex(case["ad"])

    seen = refused = 0
    for case in RECORDED["aead"]["vectors"]:
        if len(case["nonce"]) == 2 * newplex.NONCE_SIZE:
            cipher, nonce, aad = of(case)
            sealed, text = unhex(case["ciphertext"]), unhex(case["plaintext"])
            assert cipher.encrypt(nonce, text, aad) == sealed
            assert cipher.decrypt(nonce, sealed, aad) == text
            seen += 1
    for case in RECORDED["aead"]["sweep"]:
        cipher, nonce, aad = of(case)
        for output in case["outputs"]:
            text = unhex(case["buffer"])[: output["len"]]
            assert cipher.encrypt(nonce, text, aad).hex() == output["output"]
            assert cipher.decrypt(nonce, unhex(output["output"]), aad=aad) == text
            seen += 1
    for case in RECORDED["aead"]["reject"]:
        if len(case["nonce"]) == 2 * newplex.NONCE_SIZE:
            cipher, nonce, aad = of(case)
            with pytest.raises(newplex.DecryptionError, match="not authentic"):
                cipher.decrypt(nonce, unhex(case["ciphertext"]), aad)
            refused += 1
    assert (seen, refused) == (322, 68)


def set_up(case: dict[str, Any]) -> Protocol:
    protocol = Protocol(case["domain"])
    for mix in case["setup"]:
        protocol.mix(mix["label"], unhex(mix["input"]))
    return protocol


class Trickle(io.RawIOBase):
    """A file that takes and gives less than it is asked for."""

    def __init__(self, content: bytes = b"") -> None:
        self.content = content

    def read(self, size: int = -1) -> bytes:
        piece = self.content[: min(size, 7)]
        self.content = self.content[len(piece) :]
        return piece

    def write(self, data: Any) -> int:
        self.content += bytes(data[:7])
        return min(len(data), 7)


def test_streams_are_those_of_the_reference() -> None:
    streams = RECORDED["aestream"]
    assert len(streams["vectors"]) == 36
    for case in streams["vectors"]:
        sealed = unhex(case["ciphertext"])
        for file in (io.BytesIO(), Trickle()):
            writer = newplex.Writer(set_up(case), file)
            for piece in case["writes"]:
                assert writer.write(unhex(piece)) == len(piece) // 2
            protocol = writer.finish()
            written = file.getvalue() if isinstance(file, io.BytesIO) else file.content
            assert written == sealed
            assert protocol.derive("final", 32) == unhex(case["final"])
        reader = newplex.Reader(set_up(case), Trickle(sealed))
        assert reader.read() == joined(case["writes"])
        assert reader.read(1) == b""
        assert reader.finish().derive("final", 32) == unhex(case["final"])


def test_what_is_changed_or_cut_off_is_not_read() -> None:
    streams = RECORDED["aestream"]
    assert len(streams["reject"]) == 22
    for case in streams["reject"]:
        reader = newplex.Reader(set_up(case), io.BytesIO(unhex(case["ciphertext"])))
        released = b""
        with pytest.raises(newplex.DecryptionError):
            while piece := reader.read(5):
                released += piece
        assert released == unhex(case["released"])
        with pytest.raises(newplex.DecryptionError):
            reader.read(1)
        with pytest.raises(newplex.StateError, match="cut off"):
            reader.finish()
    for case in streams["edge"]:
        reader = newplex.Reader(set_up(case), io.BytesIO(unhex(case["ciphertext"])))
        assert reader.readall() == unhex(case["released"])


def test_large_writes_become_several_blocks() -> None:
    for case in RECORDED["aestream"]["large"]:
        file = io.BytesIO()
        at, pieces = 0, []
        for size in case["write_sizes"]:
            pieces.append(bytes((i * case["mul"] + case["add"]) % 251 for i in range(at, at + size)))
            at += size
        with newplex.Writer(set_up(case), file) as writer:
            for piece in pieces:
                writer.write(memoryview(bytearray(piece)))
        assert len(file.getvalue()) == case["ciphertext_length"]
        assert Digest("kat.large", file.getvalue()).hexdigest() == case["ciphertext_newplex_digest"]
        file.seek(0)
        reader = io.BufferedReader(newplex.Reader(set_up(case), file))
        assert reader.read() == b"".join(pieces)


def test_an_exception_leaves_a_stream_without_its_end() -> None:
    file = io.BytesIO()
    with pytest.raises(KeyError):
        with newplex.Writer(Protocol("test"), file) as writer:
            writer.write(b"half of it")
            raise KeyError
    file.seek(0)
    reader = newplex.Reader(Protocol("test"), file)
    assert reader.read(100) == b"half of it"
    with pytest.raises(newplex.DecryptionError, match="cut off"):
        reader.read(100)


class Broken(io.RawIOBase):
    def __init__(self, outcome: BaseException | None) -> None:
        self.outcome = outcome

    def write(self, data: Any) -> Any:
        if self.outcome:
            raise self.outcome

    def read(self, size: int = -1) -> Any:
        if self.outcome:
            raise self.outcome


@pytest.mark.parametrize("outcome", [OSError(28, "full"), KeyboardInterrupt(), None])
def test_a_file_that_fails_ends_the_stream(outcome: BaseException | None) -> None:
    expected = type(outcome) if outcome else BlockingIOError
    file: Any = Broken(outcome)
    writer = newplex.Writer(Protocol("test"), file)
    reader = newplex.Reader(Protocol("test"), file)
    with pytest.raises(expected):
        writer.write(b"text")
    with pytest.raises(expected):
        reader.read(1)
    with pytest.raises(newplex.StateError, match="cannot go on"):
        writer.write(b"text")
    with pytest.raises(newplex.StateError, match="cannot go on"):
        writer.finish()
    with pytest.raises(newplex.StateError, match="cannot go on"):
        reader.read(1)


def test_streams_take_the_protocol_over() -> None:
    protocol = Protocol("test")
    sealer = newplex.Sealer(protocol)
    for use in (protocol.clone, lambda: newplex.Sealer(protocol), lambda: protocol.derive("a", 1)):
        with pytest.raises(newplex.StateError, match="handed over"):
            use()
    block = sealer.seal(b"hello")
    end, after = sealer.end()
    with pytest.raises(newplex.StateError, match="has ended"):
        sealer.seal(b"more")
    with pytest.raises(newplex.StateError, match="has ended"):
        sealer.end()
    opener = newplex.Opener(Protocol("test"))
    assert opener.block_size(block[: newplex.HEADER_SIZE]) == len(block) == 5 + newplex.BLOCK_OVERHEAD
    with pytest.raises(newplex.StateError, match="cut off"):
        opener.end()
    assert opener.open(block) == b"hello" and not opener.ended
    assert opener.open(end) == b"" and opener.ended
    with pytest.raises(newplex.DecryptionError):
        opener.open(end)
    assert opener.end().to_bytes() == after.to_bytes()
    with pytest.raises(newplex.StateError, match="given back"):
        opener.end()
    with pytest.raises(newplex.StateError, match="given back"):
        opener.open(block)
    sealer = newplex.Sealer(Protocol("test"))
    for size in (0, newplex.MAX_BLOCK_SIZE + 1):
        with pytest.raises(ValueError, match=f"1 to 65535 bytes, not {size}"):
            sealer.seal(bytes(size))


def test_signatures_are_those_of_the_reference() -> None:
    for case in RECORDED["sig"]["vectors"]:
        key = newplex.SigningKey(case["domain"], unhex(case["private_key"]))
        assert key.public_key == unhex(case["public_key"])
        assert key.secret_key() == unhex(case["private_key"])
        signature = key.sign(unhex(case["message"]), unhex(case["rand"]))
        assert signature == unhex(case["signature"])
        verifying = newplex.VerifyingKey(case["domain"], key.public_key)
        verifying.verify(unhex(case["message"]), signature)
        assert verifying.public_key == key.public_key
    assert len(RECORDED["sig"]["reject"]) == 18
    for case in RECORDED["sig"]["reject"]:
        verifying = newplex.VerifyingKey(case["domain"], unhex(case["public_key"]))
        with pytest.raises(newplex.VerificationError, match="not a signature"):
            verifying.verify(unhex(case["message"]), unhex(case["signature"]))
    for case in RECORDED["sig"]["edge"]:
        # The reference takes the identity.
        with pytest.raises(ValueError, match="identity"):
            newplex.VerifyingKey(case["domain"], unhex(case["public_key"]))


def test_keys_are_random_and_signatures_belong_to_one() -> None:
    one, other = (newplex.SigningKey.generate("test") for _ in range(2))
    assert one.public_key != other.public_key
    assert newplex.SigningKey("test", one.secret_key()).public_key == one.public_key
    signature = one.sign(b"text")
    assert one.sign(b"text") == signature != one.sign(b"text", b"hedge")
    assert len(signature) == newplex.SIGNATURE_SIZE
    newplex.VerifyingKey("test", one.public_key).verify(b"text", signature)
    with pytest.raises(newplex.VerificationError):
        newplex.VerifyingKey("test", other.public_key).verify(b"text", signature)
    assert len({newplex.generate_key() for _ in range(10)}) == 10
    assert len(newplex.generate_key()) == newplex.KEY_SIZE
    assert len({newplex.generate_nonce() for _ in range(10)}) == 10
    assert len(newplex.generate_nonce()) == newplex.NONCE_SIZE


def test_sizes_and_types_are_checked() -> None:
    protocol = Protocol("test")
    before = protocol.to_bytes()
    assert len(before) == newplex.STATE_SIZE
    with pytest.raises(ValueError, match="256 branches"):
        protocol.fork("many", *[b""] * 256)
    with pytest.raises(TypeError):
        protocol.mix("label", "text")  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        protocol.mix(7, b"data")  # type: ignore[arg-type]
    with pytest.raises(newplex.DecryptionError):
        protocol.open("label", b"short")
    assert protocol.to_bytes() == before
    with pytest.raises(ValueError, match="a nonce has 16 bytes, not 24"):
        Cipher("test", b"key").encrypt(bytes(24), b"text")
    with pytest.raises(ValueError, match="32 bytes are needed, not 31"):
        newplex.SigningKey("test", bytes(31))
    with pytest.raises(ValueError, match="scalar zero"):
        newplex.SigningKey("test", bytes(32))
    with pytest.raises(ValueError, match="canonical"):
        newplex.VerifyingKey("test", b"\xff" * 32)


def test_secrets_are_not_shown() -> None:
    signing = newplex.SigningKey.generate("test")
    for made in (
        Protocol("test"),
        KeyedDigest("test", b"key"),
        Cipher("test", b"key"),
        newplex.Sealer(Protocol("test")),
        newplex.Opener(Protocol("test")),
        signing,
    ):
        assert repr(made) == f"<sealwire.newplex.{type(made).__name__}>"
        assert type(made).__module__ == "sealwire.newplex"
        with pytest.raises(TypeError):
            pickle.dumps(made)
        with pytest.raises(TypeError):
            copy.copy(made)
