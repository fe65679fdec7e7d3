"""Names for annotations."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Callable, Iterable, Mapping, Protocol, Tuple, Union

if TYPE_CHECKING:
    from typing_extensions import Buffer

    from ._sealwire import Client, Guest, PublicKey
elif sys.version_info >= (3, 12):
    from collections.abc import Buffer
else:
    # Anything with the buffer protocol, which had no name before.
    Buffer = Any

#: A public key, or what one can be made of: Z85 or hex text, or 32 bytes.
AnyPublicKey = Union["PublicKey", str, bytes]

#: Decides about a client: let in or not, or let in under this name.
Authenticator = Callable[["Client"], Union[bool, str, None]]

#: Decides about a peer by its address and process. A name says no more than ``True``.
Admit = Callable[["Guest"], Union[bool, str, None]]

#: What a call or message may have beside its body: values by key, or pairs, as a key may come more than once. Texts
#: are sent in UTF-8.
AnyMetadata = Union[
    "Mapping[str, Union[str, Buffer]]", "Iterable[Tuple[str, Union[str, Buffer]]]"
]


class HasFileno(Protocol):
    """A file or socket of the system."""

    def fileno(self) -> int:
        """Its descriptor."""
        ...


__all__ = ["Admit", "AnyMetadata", "AnyPublicKey", "Authenticator", "Buffer", "HasFileno"]
