"""NaCl's ``box`` and ``secretbox``: X25519 and XSalsa20-Poly1305, as NaCl, libsodium and PyNaCl have them.

``Box`` is between the owners of two key pairs (``sealwire.KeyPair``), ``SecretBox`` between those who have
the same key of 32 bytes. A sealed message has its nonce in front, which is random unless one is given::

    | nonce, 24 bytes | tag, 16 | ciphertext |

Nonces: two messages sealed under the same key and nonce give anyone who sees both the XOR of the
plaintexts, as far as the shorter one goes, and the key of their tags, with which other messages are
forged under that nonce. The key itself and messages under other nonces stay secret. What rules it out is the
random nonce: after 2^64 messages under a key two are equal with a chance below 2^-64. The two directions
between two key pairs have one key, so a nonce that counts has to differ between them as well.

What this is not: a proof to others, as the receiver of a ``Box`` could have sealed it; a guard against
messages that are dropped, repeated, reordered or sent back to who sealed them; forward secrecy, as who learns either
secret key later opens all that was recorded. Poly1305 does not commit to a key: who has two keys can make
one message that opens under both. ``sealwire.aead`` commits to its key, and binds associated data. Lengths are
not hidden.
"""

from ._exceptions import DecryptionError, WeakKeyError
from ._sealwire import Box, SecretBox
from ._sealwire import generate_box_key as generate_key
from ._sealwire import generate_box_nonce as generate_nonce

KEY_SIZE = 32
NONCE_SIZE = 24
TAG_SIZE = 16

__all__ = [
    "KEY_SIZE",
    "NONCE_SIZE",
    "TAG_SIZE",
    "Box",
    "DecryptionError",
    "SecretBox",
    "WeakKeyError",
    "generate_key",
    "generate_nonce",
]
