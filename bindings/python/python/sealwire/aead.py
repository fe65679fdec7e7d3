"""ChaCha20-BLAKE3: authenticated encryption with keys of 32 bytes, nonces of 24 and tags of 32.

Experimental and not audited. A nonce must not be used twice with the same key; random ones
(``generate_nonce``) are long enough, ``Stream`` counts them.
"""

from ._exceptions import DecryptionError, StreamExhausted
from ._sealwire import Cipher, Session, Stream, StreamOpener, generate_key, generate_nonce

KEY_SIZE = 32
NONCE_SIZE = 24
TAG_SIZE = 32

__all__ = [
    "KEY_SIZE",
    "NONCE_SIZE",
    "TAG_SIZE",
    "Cipher",
    "DecryptionError",
    "Session",
    "Stream",
    "StreamExhausted",
    "StreamOpener",
    "generate_key",
    "generate_nonce",
]
