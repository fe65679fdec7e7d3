"""ChaCha20-BLAKE3: authenticated encryption with keys of 32 bytes, nonces of 24 and tags of 32.

Nonces: two messages sealed under the same key and nonce share their derived keys. Anyone who sees both
has the XOR of the plaintexts, as far as the shorter one goes, so who knows one plaintext reads the
other; and each opens where the other is expected. The key of the tags repeats too, which enables no
forgery: keyed BLAKE3 is a pseudorandom function, unlike Poly1305 and GHASH. The key itself and
messages under other nonces stay secret. What rules it out:

* a random nonce for each message (``generate_nonce``): after 2^64 messages under a key two are equal
  with a chance below 2^-64, after 2^80 below 2^-32;
* ``Stream``, which counts nonces; each stream needs a key or a random nonce of its own.

``Session`` takes no nonce for a message: each needs keys of its own.

The tag commits to key, nonce, associated data and message, short of a collision of BLAKE3 (2^128
steps); that of a ``Session`` commits to the key of the tags alone. What this is not: a standard, or
audited; resistant to the misuse of nonces; a guard against messages that are dropped, repeated or
reordered, but for ``StreamOpener``. Lengths are not hidden.

``derive_key`` makes keys for several purposes from one secret, with BLAKE3. The context is a constant of
the program that no other purpose shares; the material is as hard to guess as a key, so never a password.
"""

from ._exceptions import DecryptionError, DirectionError, StreamExhausted
from ._sealwire import (
    Cipher,
    Session,
    Stream,
    StreamOpener,
    derive_key,
    generate_key,
    generate_nonce,
)

KEY_SIZE = 32
NONCE_SIZE = 24
TAG_SIZE = 32

__all__ = [
    "KEY_SIZE",
    "NONCE_SIZE",
    "TAG_SIZE",
    "Cipher",
    "DecryptionError",
    "DirectionError",
    "Session",
    "Stream",
    "StreamExhausted",
    "StreamOpener",
    "derive_key",
    "generate_key",
    "generate_nonce",
]
