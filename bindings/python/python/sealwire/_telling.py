"""Failures that are not errors of a call, for ``logging``."""

from __future__ import annotations

import logging
import threading
import time

_log = logging.getLogger("sealwire")


class Raised:
    """What the handlers of one server or client raise, for ``logging``: one traceback a second at most, as peers
    choose how often they ask."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._next = time.monotonic()
        self._left_out = 0

    def tell(self, handler: object, error: BaseException, outcome: str) -> None:
        """Logs it as an error, with what became of the request."""
        with self._lock:
            now = time.monotonic()
            if now < self._next:
                self._left_out += 1
                return
            self._next = now + 1
            left_out, self._left_out = self._left_out, 0
        name = getattr(handler, "__qualname__", None) or type(handler).__qualname__
        before = f" ({left_out} more like it before)" if left_out else ""
        _log.error("the handler %s raised an exception%s%s", name, outcome, before, exc_info=error)


def tell(text: str) -> None:
    """Logs one line as a warning. Without handlers, ``logging`` prints warnings."""
    # It may hold what a peer chose, and goes to a terminal.
    shown = "".join(
        character if character.isprintable() else character.encode("unicode_escape").decode() for character in text
    )
    _log.warning("%s", shown)
