"""Newplex: hashing, authentication, encryption and signatures as labelled operations on one state.

``Protocol`` is that state: ``mix``, ``derive``, ``mask``, ``seal``, ``fork``, ``ratchet``, each under a label. What it
gives depends on all that went before. The others put it to use: ``Digest`` and ``KeyedDigest``, ``Cipher`` for
single messages, ``Writer`` and ``Reader`` for streams (``Sealer`` and ``Opener`` for their blocks), ``SigningKey`` and
``VerifyingKey`` over ristretto255. The bytes are those of ``codahale/newplex`` in Go.

Domains and labels are constants of the program, as texts or bytes; a domain is unique to the application and the
purpose. Before a protocol encrypts, mix a key of high entropy, and something that never repeats under it.

Nonces: two messages of the same size that are sealed in the same state, as by a ``Cipher`` with the same nonce and
``aad``, give anyone who sees both the XOR of the plaintexts, up to and with the block of 94 bytes where they first
differ. Random nonces rule it out: after 2^48 messages under a key two of 16 bytes are equal with a chance of about 2^-33.

What this is not: a standard, audited, or old. Its design is by one author and aims at 128 bits of security. Nothing else
in Sealwire depends on it; ``sealwire.aead`` is the cipher for those who need none of this. Lengths are not hidden. Secrets
inside of these objects are wiped; ``bytes`` are Python's and are not.
"""

from __future__ import annotations

import io
from typing import TYPE_CHECKING
from typing import Protocol as _Interface

from ._exceptions import DecryptionError, Error, StateError, VerificationError
from ._sealwire import (
    Digest,
    KeyedDigest,
    Opener,
    Protocol,
    Sealer,
    SigningKey,
    VerifyingKey,
)
from ._sealwire import NewplexCipher as Cipher
from ._sealwire import generate_newplex_key as generate_key
from ._sealwire import generate_newplex_nonce as generate_nonce

if TYPE_CHECKING:
    from types import TracebackType

    from .types import Buffer

KEY_SIZE = 32
NONCE_SIZE = 16
TAG_SIZE = 16
DIGEST_SIZE = 32
SIGNATURE_SIZE = 64
STATE_SIZE = 130
#: Bytes of text that a block of a stream can carry.
MAX_BLOCK_SIZE = 65_535
#: Bytes with which a block begins: its size, encrypted.
HEADER_SIZE = 2
#: Bytes that a block is longer than what it carries.
BLOCK_OVERHEAD = 18


class _Writable(_Interface):
    def write(self, data: bytes, /) -> int | None: ...


class _Readable(_Interface):
    def read(self, size: int, /) -> bytes | None: ...


class Writer:
    """Seals what is written to it, and writes it to a binary file that blocks.

    ``finish`` ends the stream, and only then can it be read to its end; as a context manager it does so unless an
    exception ends the block, so that what was cut short is noticed. Every write becomes a block of its own, or several
    if it is longer than 65,535 bytes: each costs 18 bytes, so gather short ones. It does not close the file. Takes over
    the state of ``protocol``.
    """

    def __init__(self, protocol: Protocol, file: _Writable) -> None:
        self._sealer = Sealer(protocol)
        self._file = file
        self._failed = False

    def write(self, data: Buffer) -> int:
        """Writes all of the data, and returns how many bytes these are. After an error of the file every further write
        is a ``StateError``: how much of a block the file took is not known."""
        with memoryview(data) as view, view.cast("B") as octets:
            for start in range(0, len(octets), MAX_BLOCK_SIZE):
                self._put(self._sealer.seal(octets[start : start + MAX_BLOCK_SIZE]))
            return len(octets)

    def finish(self) -> Protocol:
        """Ends the stream, and returns the protocol to go on with."""
        block, protocol = self._sealer.end()
        self._put(block)
        flush = getattr(self._file, "flush", None)
        if flush is not None:
            flush()
        return protocol

    def _put(self, block: bytes) -> None:
        if self._failed:
            raise StateError("an earlier write to this stream failed; it cannot go on")
        self._failed = True
        while block:
            written = self._file.write(block)
            if written is None:
                raise BlockingIOError("the file would have to wait: give one that blocks")
            block = block[written:]
        self._failed = False

    def __enter__(self) -> Writer:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if kind is None:
            self.finish()


class Reader(io.RawIOBase):
    """Opens what a ``Writer`` sealed, from a binary file that blocks.

    A file of Python: ``read``, ``readinto``, and in an ``io.BufferedReader`` lines too. Bytes are handed out only once
    their block is known to be authentic. A stream that was changed or cut off is a ``DecryptionError``, then and at every
    further read. It does not close the file. Takes over the state of ``protocol``.
    """

    def __init__(self, protocol: Protocol, file: _Readable) -> None:
        super().__init__()
        self._opener = Opener(protocol)
        self._file = file
        self._text = b""
        self._error: Error | None = None

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Buffer) -> int:
        """Reads up to as many bytes as there is room for. 0 at the end."""
        with memoryview(buffer) as view, view.cast("B") as octets:
            if not self._text and octets and not self._opener.ended:
                self._text = self._next()
            size = min(len(octets), len(self._text))
            octets[:size] = self._text[:size]
            self._text = self._text[size:]
            return size

    def finish(self) -> Protocol:
        """The protocol to go on with, once all was read."""
        return self._opener.end()

    def _next(self) -> bytes:
        if self._error is not None:
            raise self._error
        try:
            header = self._exactly(HEADER_SIZE, b"")
            return self._opener.open(self._exactly(self._opener.block_size(header), header))
        except DecryptionError as error:
            self._error = error
            raise
        except BaseException:
            # Part of a block may be gone.
            self._error = StateError("an earlier read of this stream failed; it cannot go on")
            raise

    def _exactly(self, size: int, block: bytes) -> bytes:
        while len(block) < size:
            piece = self._file.read(size - len(block))
            if piece is None:
                raise BlockingIOError("the file would have to wait: give one that blocks")
            if not piece:
                raise DecryptionError("the stream was cut off")
            block += piece
        return block


__all__ = [
    "BLOCK_OVERHEAD",
    "DIGEST_SIZE",
    "HEADER_SIZE",
    "KEY_SIZE",
    "MAX_BLOCK_SIZE",
    "NONCE_SIZE",
    "SIGNATURE_SIZE",
    "STATE_SIZE",
    "TAG_SIZE",
    "Cipher",
    "DecryptionError",
    "Digest",
    "KeyedDigest",
    "Opener",
    "Protocol",
    "Reader",
    "Sealer",
    "SigningKey",
    "StateError",
    "VerificationError",
    "VerifyingKey",
    "Writer",
    "generate_key",
    "generate_nonce",
]
