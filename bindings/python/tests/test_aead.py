"""The cipher against vectors of another implementation, and its streams."""

from __future__ import annotations

import json
import threading
from typing import Callable

import pytest

from conftest import ROOT
from sealwire import aead

VECTORS = json.loads((ROOT / "vectors" / "chacha20-blake3.json").read_text())["cases"]
CONTINUOUS = json.loads((ROOT / "vectors" / "blake3zmq-continuous.json").read_text())
DERIVED = json.loads((ROOT / "vectors" / "blake3-derive-key.json").read_text())


def parts(case: dict[str, str]) -> tuple[bytes, bytes, bytes, bytes, bytes, bytes]:
    names = ["key", "nonce", "aad", "plaintext", "ciphertext", "tag"]
    key, nonce, aad, plaintext, ciphertext, tag = (bytes.fromhex(case[name]) for name in names)
    return key, nonce, aad, plaintext, ciphertext, tag


def test_the_vectors_hold() -> None:
    assert len(VECTORS) > 50
    for case in VECTORS:
        key, nonce, aad, plaintext, ciphertext, tag = parts(case)
        cipher = aead.Cipher(key)
        assert cipher.encrypt(nonce, plaintext, aad) == ciphertext + tag
        assert cipher.decrypt(nonce, ciphertext + tag, aad) == plaintext
        assert cipher.encrypt_detached(nonce, plaintext, aad) == (ciphertext, tag)
        assert cipher.decrypt_detached(nonce, ciphertext, tag, aad) == plaintext
        assert cipher.encrypt_many([(nonce, plaintext, aad)] * 3) == [ciphertext + tag] * 3
        assert cipher.decrypt_many([(nonce, ciphertext + tag, aad)]) == [plaintext]


def test_any_buffer_will_do() -> None:
    for case in VECTORS:
        given = [memoryview(bytearray(part)) for part in parts(case)]
        key, nonce, aad, plaintext, ciphertext, tag = given
        sealed = aead.Cipher(key).encrypt(nonce, plaintext, aad)
        assert sealed == bytes(ciphertext) + bytes(tag)


@pytest.mark.parametrize("size", [0, 1, 5000, 1_000_000])
def test_what_is_changed_is_not_opened(size: int) -> None:
    cipher, nonce = aead.Cipher(aead.generate_key()), aead.generate_nonce()
    sealed = cipher.encrypt(nonce, b"x" * size, b"aad")
    assert len(sealed) == size + aead.TAG_SIZE
    changed = bytearray(sealed)
    changed[-1] ^= 1
    attempts: list[Callable[[], bytes]] = [
        lambda: cipher.decrypt(nonce, changed, b"aad"),
        lambda: cipher.decrypt(nonce, sealed, b"other"),
        lambda: cipher.decrypt(nonce, sealed),
        lambda: cipher.decrypt(aead.generate_nonce(), sealed, b"aad"),
        lambda: cipher.decrypt(nonce, sealed[:31], b"aad"),
    ]
    for attempt in attempts:
        with pytest.raises(aead.DecryptionError):
            attempt()
    batch: list[tuple[bytes, bytes] | tuple[bytes, bytes, bytes]] = [
        (nonce, sealed, b"aad"),
        (nonce, bytes(changed), b"aad"),
        (nonce, b"short"),
    ]
    assert cipher.decrypt_many(batch) == [b"x" * size, None, None]


def test_sizes_are_checked() -> None:
    with pytest.raises(ValueError, match="a key has 32 bytes, not 31"):
        aead.Cipher(b"x" * 31)
    cipher = aead.Cipher(b"x" * 32)
    with pytest.raises(ValueError, match="a nonce has 24 bytes"):
        cipher.encrypt(b"", b"text")
    with pytest.raises(ValueError, match="a tag"):
        cipher.decrypt_detached(b"n" * 24, b"", b"")
    with pytest.raises(TypeError):
        cipher.encrypt(b"n" * 24, "text")  # type: ignore[arg-type]
    with pytest.raises(ValueError):
        cipher.encrypt_many([(b"n" * 24,)])  # type: ignore[list-item]


def test_a_stream_is_opened_in_order() -> None:
    key, nonce = aead.generate_key(), aead.generate_nonce()
    sealing, opening = aead.Stream(key, nonce), aead.StreamOpener(key, nonce)
    first, second = sealing.seal(b"first"), sealing.seal(b"second", b"aad")
    assert sealing.position == 2
    with pytest.raises(aead.DecryptionError):
        opening.open(second, b"aad")
    assert opening.position == 0
    assert opening.open(first) == b"first"
    assert opening.open(second, b"aad") == b"second"
    with pytest.raises(aead.DecryptionError):
        opening.open(second, b"aad")
    # Where an earlier one stopped.
    assert aead.StreamOpener(key, nonce, 1).open(second, b"aad") == b"second"


def test_a_stream_ends_before_positions_repeat() -> None:
    key, nonce = aead.generate_key(), aead.generate_nonce()
    stream = aead.Stream(key, nonce, 2**64 - 2)
    stream.seal(b"the last")
    with pytest.raises(aead.StreamExhausted):
        stream.seal(b"one too many")
    with pytest.raises(aead.StreamExhausted):
        aead.StreamOpener(key, nonce, 2**64 - 1).open(b"x" * 40)


def test_a_stream_is_shared_by_threads() -> None:
    key, nonce = aead.generate_key(), aead.generate_nonce()
    stream, sealed = aead.Stream(key, nonce), []
    lock = threading.Lock()

    def seal() -> None:
        for _ in range(50):
            made = stream.seal(b"x" * 10_000)
            with lock:
                sealed.append(made)

    threads = [threading.Thread(target=seal) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert stream.position == 200
    assert len(set(sealed)) == 200


def test_a_session_goes_on() -> None:
    keys, nonce = (b"e" * 32, b"a" * 32), b"n" * 8
    sealing, opening = aead.Session(*keys, nonce), aead.Session(*keys, nonce)
    for size in (0, 1, 64, 5000):
        assert opening.open(sealing.seal(b"x" * size, b"aad"), b"aad") == b"x" * size
    with pytest.raises(aead.DecryptionError):
        opening.open(b"x" * 40)


def test_what_is_made_is_random() -> None:
    assert len({aead.generate_key() for _ in range(10)}) == 10
    assert len(aead.generate_nonce()) == aead.NONCE_SIZE


def test_derived_keys_are_those_of_blake3() -> None:
    assert len(DERIVED["cases"]) == 35
    for case in DERIVED["cases"]:
        material = bytes(i % 251 for i in range(case["material_size"]))
        derived = bytes.fromhex(case["derived"])
        assert aead.derive_key(DERIVED["context"], material, len(derived)) == derived
        assert aead.derive_key(DERIVED["context"], bytearray(material)) == derived[: aead.KEY_SIZE]
    assert len(aead.derive_key("context", b"material", length=65_535)) == 65_535
    for length in (0, 65_536):
        with pytest.raises(ValueError, match=f"1 to 65535 bytes, not {length}"):
            aead.derive_key("context", b"material", length)
    with pytest.raises(TypeError):
        aead.derive_key("context", "material")  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        aead.derive_key(b"context", b"material")  # type: ignore[arg-type]


@pytest.mark.parametrize("side", ["client_to_server", "server_to_client"])
def test_a_session_is_what_another_implementation_recorded(side: str) -> None:
    recorded = CONTINUOUS[side]
    names = ["enc_key", "auth_key", "nonce"]
    encryption_key, authentication_key, nonce = (bytes.fromhex(recorded[name]) for name in names)
    sealing = aead.Session(encryption_key, authentication_key, nonce)
    opening = aead.Session(encryption_key, authentication_key, nonce)
    assert len(recorded["frames"]) == 10
    for frame in recorded["frames"]:
        plaintext, wire = bytes.fromhex(frame["plaintext"]), bytes.fromhex(frame["wire"])
        # Flags and length, which the tag covers.
        header = wire[: len(wire) - len(plaintext) - aead.TAG_SIZE]
        sealed = wire[len(header) :]
        assert sealing.block_counter == frame["first_block_decimal"]
        assert sealing.seal(plaintext, header) == sealed
        with pytest.raises(aead.DecryptionError):
            opening.open(sealed, header + b"x")
        assert opening.block_counter == frame["first_block_decimal"]
        assert opening.open(sealed, header) == plaintext


def test_a_session_has_one_direction() -> None:
    keys = (b"e" * 32, b"a" * 32, b"n" * 8)
    sealing, opening = aead.Session(*keys), aead.Session(*keys)
    sealed = sealing.seal(b"text")
    with pytest.raises(aead.DirectionError, match="make one for each direction"):
        sealing.open(sealed)
    assert opening.open(sealed) == b"text"
    with pytest.raises(aead.DirectionError):
        opening.seal(b"text")
    assert opening.block_counter == 1
