"""NaCl's box and secretbox against the answers of its paper, and beside PyNaCl."""

from __future__ import annotations

import copy
import json
import pickle
from typing import Callable

import pytest

import sealwire
from conftest import ROOT, missing
from sealwire import KeyPair, box

ANSWERS = {
    name: bytes.fromhex(text)
    for name, text in json.loads((ROOT / "vectors" / "nacl.json").read_text())["box"].items()
}
ALICE, BOB = KeyPair(ANSWERS["alice_secret"]), KeyPair(ANSWERS["bob_secret"])
NONCE, MESSAGE = ANSWERS["nonce"], ANSWERS["message"]
SEALED = ANSWERS["tag"] + ANSWERS["ciphertext"]


def test_boxes_are_those_of_the_paper() -> None:
    assert bytes(ALICE.public) == ANSWERS["alice_public"]
    ours, theirs = box.Box(ALICE, BOB.public), box.Box(BOB, ANSWERS["alice_public"])
    assert ours.shared_key() == theirs.shared_key() == ANSWERS["shared"]
    for sealing in (ours, theirs, box.SecretBox(ours.shared_key())):
        assert sealing.encrypt(MESSAGE, NONCE) == NONCE + SEALED
        assert sealing.decrypt(NONCE + SEALED) == MESSAGE
        assert sealing.decrypt(SEALED, NONCE) == MESSAGE


def test_any_buffer_will_do() -> None:
    given = (memoryview(bytearray(part)) for part in (ANSWERS["shared"], MESSAGE, NONCE))
    key, message, nonce = given
    sealed = box.SecretBox(key).encrypt(message, nonce)
    assert sealed == NONCE + SEALED
    assert box.SecretBox(key).decrypt(bytearray(SEALED), nonce) == MESSAGE


@pytest.mark.parametrize("size", [0, 1, 5000, 1_000_000])
def test_what_is_changed_is_not_opened(size: int) -> None:
    sealing = box.SecretBox(box.generate_key())
    text = b"x" * size
    sealed = sealing.encrypt(text)
    assert len(sealed) == size + box.NONCE_SIZE + box.TAG_SIZE
    assert sealing.decrypt(sealed) == text
    nonce, rest = sealed[: box.NONCE_SIZE], sealed[box.NONCE_SIZE :]
    attempts: list[Callable[[], bytes]] = [
        lambda: sealing.decrypt(rest, box.generate_nonce()),
        lambda: sealing.decrypt(sealed[:-1]),
        lambda: sealing.decrypt(rest[:15], nonce),
        lambda: sealing.decrypt(nonce),
        lambda: sealing.decrypt(b""),
        lambda: box.SecretBox(box.generate_key()).decrypt(sealed),
    ]
    for attempt in attempts:
        with pytest.raises(box.DecryptionError, match="not authentic"):
            attempt()
    # A byte of the nonce, of the tag, and of the text where there is one.
    for at in (0, box.NONCE_SIZE, len(sealed) - 1):
        changed = bytearray(sealed)
        changed[at] ^= 1
        with pytest.raises(box.DecryptionError):
            sealing.decrypt(changed)


def test_nonces_are_random() -> None:
    sealing = box.Box(KeyPair.generate(), KeyPair.generate().public)
    sealed = [sealing.encrypt(b"the same") for _ in range(10)]
    assert len({one[: box.NONCE_SIZE] for one in sealed}) == 10
    assert len({box.generate_key() for _ in range(10)}) == 10
    assert len(box.generate_key()) == box.KEY_SIZE
    assert len(box.generate_nonce()) == box.NONCE_SIZE


def test_keys_of_low_order_are_refused() -> None:
    for first in (0, 1):
        with pytest.raises(box.WeakKeyError, match="low order"):
            box.Box(ALICE, bytes([first]) + bytes(31))
    assert issubclass(sealwire.WeakKeyError, sealwire.Error)
    assert issubclass(sealwire.WeakKeyError, ValueError)


def test_sizes_and_types_are_checked() -> None:
    with pytest.raises(ValueError, match="a key has 32 bytes, not 31"):
        box.SecretBox(b"x" * 31)
    sealing = box.SecretBox(b"x" * 32)
    with pytest.raises(ValueError, match="a nonce has 24 bytes, not 8"):
        sealing.encrypt(b"text", b"n" * 8)
    with pytest.raises(ValueError, match="a nonce has 24 bytes, not 0"):
        sealing.decrypt(b"text", b"")
    with pytest.raises(TypeError):
        sealing.encrypt("text")  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        box.Box(b"s" * 32, BOB.public)  # type: ignore[arg-type]


def test_secrets_are_not_shown() -> None:
    for sealing in (box.Box(ALICE, BOB.public), box.SecretBox(ANSWERS["shared"])):
        assert repr(sealing) == f"<sealwire.box.{type(sealing).__name__}>"
        with pytest.raises(TypeError):
            pickle.dumps(sealing)
        with pytest.raises(TypeError):
            copy.copy(sealing)


@pytest.mark.parametrize("size", [0, 1, 64, 5000])
def test_pynacl_opens_it_and_the_other_way_round(size: int) -> None:
    try:
        from nacl import exceptions, public, secret
    except ImportError:
        missing("PyNaCl is not installed")
    text = bytes(i % 251 for i in range(size))
    ours = KeyPair.generate()
    theirs = public.PrivateKey.generate()
    here = box.Box(ours, bytes(theirs.public_key))
    there = public.Box(theirs, public.PublicKey(bytes(ours.public)))
    assert here.shared_key() == there.shared_key()
    assert there.decrypt(here.encrypt(text)) == text
    assert here.decrypt(there.encrypt(text)) == text
    nonce = box.generate_nonce()
    assert here.encrypt(text, nonce) == there.encrypt(text, nonce)

    key = box.generate_key()
    here_secret, there_secret = box.SecretBox(key), secret.SecretBox(key)
    assert there_secret.decrypt(here_secret.encrypt(text)) == text
    assert here_secret.decrypt(there_secret.encrypt(text)) == text
    changed = bytearray(here_secret.encrypt(text))
    changed[-1] ^= 1
    with pytest.raises(exceptions.CryptoError):
        there_secret.decrypt(bytes(changed))
    with pytest.raises(box.DecryptionError):
        here_secret.decrypt(changed)
