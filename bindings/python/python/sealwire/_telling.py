"""Failures that are not errors of a call, for ``logging``."""

from __future__ import annotations

import logging

_log = logging.getLogger("sealwire")


def tell(text: str) -> None:
    """Logs one line as a warning. Without handlers, ``logging`` prints warnings."""
    # It may hold what a peer chose, and goes to a terminal.
    shown = "".join(
        character if character.isprintable() else character.encode("unicode_escape").decode() for character in text
    )
    _log.warning("%s", shown)
