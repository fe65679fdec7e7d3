"""Keys: text, files, and secrets that do not show."""

from __future__ import annotations

import copy
import os
import pathlib
import pickle

import pytest
import zmq.auth

import sealwire
import sealwire.aead


def test_public_keys_are_values() -> None:
    key = sealwire.KeyPair.generate().public
    other = sealwire.KeyPair.generate().public
    assert len(key.z85) == 40
    assert len(key.hex) == 64
    for given in [key.z85, key.hex, bytes(key), key.z85.encode(), bytearray(bytes(key)), key]:
        assert sealwire.PublicKey(given) == key  # type: ignore[arg-type]
    assert key != other
    assert len({key, other, sealwire.PublicKey(key.z85)}) == 2
    assert (key < other) != (other < key)
    assert str(key) == key.z85
    assert eval(repr(key), {"PublicKey": sealwire.PublicKey}) == key
    assert pickle.loads(pickle.dumps(key)) == key


@pytest.mark.parametrize("wrong", ["", "short", b"x" * 31, "z" * 64, b"\xff" * 32, b"\xff" * 40])
def test_what_is_no_key_is_a_value_error(wrong: str | bytes) -> None:
    with pytest.raises(ValueError):
        sealwire.PublicKey(wrong)
    if wrong != b"\xff" * 32:
        with pytest.raises(ValueError):
            sealwire.SecretKey(wrong)


def test_secrets_show_only_when_asked_by_name() -> None:
    keys = sealwire.KeyPair.generate()
    secret = keys.secret.secret_bytes()
    shown = "".join(
        f(x)
        for x in [
            keys,
            keys.secret,
            sealwire.Security.blake3_server(keys, sealwire.AllowAnyone()),
            sealwire.Security.plain_client("alice", "hunter2"),
            sealwire.Passwords({"alice": "hunter2"}),
            sealwire.aead.Cipher(secret),
        ]
        for f in (repr, str)
    )
    for hidden in [keys.secret.secret_z85(), secret.hex(), "hunter2"]:
        assert hidden not in shown
    assert keys.public.z85 in shown
    with pytest.raises(TypeError):
        bytes(keys.secret)  # type: ignore[call-overload]
    for copied in (keys, keys.secret):
        for attempt in (pickle.dumps, copy.copy, copy.deepcopy):
            with pytest.raises(TypeError, match="not pickled or copied"):
                attempt(copied)
    with pytest.raises(TypeError):
        hash(keys.secret)


def test_secrets_are_compared() -> None:
    keys = sealwire.KeyPair.generate()
    again = sealwire.KeyPair(keys.secret.secret_z85())
    assert again.secret == keys.secret
    assert again.public == keys.public
    assert sealwire.KeyPair(keys.secret.secret_bytes()).secret == keys.secret
    assert keys.secret != sealwire.KeyPair.generate().secret
    assert keys.secret != keys.secret.secret_bytes()


def test_key_files(tmp_path: pathlib.Path) -> None:
    keys = sealwire.KeyPair.generate()
    public, secret = keys.save(tmp_path / "server")
    assert sealwire.PublicKey.load(public) == keys.public
    assert sealwire.KeyPair.load(secret).secret == keys.secret
    assert os.stat(secret).st_mode & 0o777 == 0o600
    with pytest.raises(sealwire.KeyFileError):
        keys.save(tmp_path / "server")
    os.chmod(secret, 0o644)
    with pytest.raises(sealwire.KeyFileError, match="may be read by others"):
        sealwire.KeyPair.load(secret)
    with pytest.raises(sealwire.KeyFileError):
        sealwire.PublicKey.load(str(tmp_path / "missing"))


def test_certificates_of_pyzmq_are_read_and_written(tmp_path: pathlib.Path) -> None:
    public, secret = zmq.auth.create_certificates(tmp_path, "pyzmq")
    os.chmod(secret, 0o600)
    keys = sealwire.KeyPair.load(secret)
    assert sealwire.PublicKey.load(public) == keys.public

    _, ours = sealwire.KeyPair.generate().save(tmp_path / "ours", czmq=True)
    loaded_public, loaded_secret = zmq.auth.load_certificate(ours)
    assert loaded_secret is not None
    assert sealwire.KeyPair(loaded_secret).public.z85.encode() == loaded_public
