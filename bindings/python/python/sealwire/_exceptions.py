"""The exceptions of the package."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ._work import UnfinishedTask


class Error(Exception):
    """The base of everything that goes wrong in Sealwire."""


class Again(Error):
    """The operation would have to wait (``NOBLOCK``), or has waited as long as it may."""


class TimedOut(Again, TimeoutError):
    """The time limit ran out. ``last_failure`` says why the last connection failed, if it did, and ``cause`` names
    that for programs, as ``Event.cause`` does."""

    def __init__(
        self,
        text: str,
        last_failure: str | None = None,
        address: str | None = None,
        cause: str | None = None,
    ) -> None:
        super().__init__(text)
        self.last_failure = last_failure
        self.address = address
        self.cause = cause


class HandshakeError(TimedOut):
    """Nothing came in time, and the last connection was refused in its handshake: a wrong key, a
    client that is not let in, another mechanism. ``last_failure`` has the reason, ``address`` says
    where the peer is."""


class SocketClosed(Error):
    """The socket is closed."""


class Drained(Error):
    """The socket was drained: everything that its peers sent has been received, and it takes no new ones.
    ``cut_off`` connections did not end in good order within the time limit; what was on its way over
    them is lost."""

    def __init__(self, text: str, cut_off: int) -> None:
        super().__init__(text)
        self.cut_off = cut_off


class ContextTerminated(SocketClosed):
    """The context of the socket has ended, and the socket with it."""


class Unsupported(Error):
    """The socket type has no such operation."""


class StateError(Error):
    """Not the turn for this operation: REQ and REP sockets alternate, options are set before the
    first ``bind`` or ``connect``."""


class Forked(StateError):
    """This was made before a fork, and this is the child, which makes its own."""


class EngineFailed(Error):
    """The thread of the context has ended by a fault: the system refused to poll, or this library
    failed. Sockets of other contexts go on."""


class RequestLost(Error):
    """REQ: the peer went away before it answered. It may have acted on the request."""


class Unroutable(Error):
    """No peer has this routing id, or number."""


class MessageError(Error, ValueError):
    """The message is not one that this socket type sends, or this call receives. Messages that had
    been taken already are in ``messages``, each a list of its frames."""

    def __init__(self, text: str, messages: list[list[bytes]] | None = None) -> None:
        super().__init__(text)
        self.messages = [] if messages is None else messages


class EndpointError(Error, ValueError):
    """The endpoint cannot be understood, or not be used by this socket."""


class NoSecurity(EndpointError):
    """The endpoint leads off this machine and the socket was given no ``security``: give it a
    ``Security`` that encrypts, or ``Security.plain_text()``."""


class ListenerError(EndpointError):
    """A listening socket that was opened elsewhere cannot be used, or none was passed to this process."""


class RoutingIdInUse(Error, ValueError):
    """Another peer of the socket has the routing id that was chosen."""


class OptionsError(Error, ValueError):
    """The options contradict each other or the socket type."""


class TlsConfigError(Error, ValueError):
    """Certificates or keys of TLS that cannot be used."""


class SystemRefused(Error, OSError):
    """The system refused what was asked for: an address in use, no descriptor left."""


class Unsent(Error):
    """Closing gave up when the linger time was over; ``count`` messages were not sent."""

    def __init__(self, text: str, count: int) -> None:
        super().__init__(text)
        self.count = count


class KeyFileError(Error):
    """A key file cannot be read or written, or others may read the secret in it."""


class DecryptionError(Error):
    """Not authentic under this key. Nothing more is said, on purpose."""


class VerificationError(Error):
    """The signature is not one of this message by this key, or the tag is another."""


class WeakKeyError(Error, ValueError):
    """The public key has low order: every secret key agrees with it on the same, known key."""


class StreamExhausted(Error, OverflowError):
    """A sealed stream has no position left."""


class DirectionError(Error, ValueError):
    """A session was to seal after it has opened, or the other way round."""


class Refused(Exception):
    """For authenticators to raise: the client is turned away with this reason, which the server's
    monitor has and BLAKE3 clients are told. ``status`` is ZAP's: 300 later perhaps, 400 no, 500
    the authenticator failed."""

    def __init__(self, reason: str, status: int = 400) -> None:
        if status not in (300, 400, 500):
            raise ValueError(f"a status is 300, 400 or 500, not {status}")
        super().__init__(reason)
        self.reason = reason
        self.status = status


class CallError(Error):
    """A call or one-way message did not succeed. ``may_have_run`` says whether the other side may
    have acted on it; ``False`` is a promise."""

    def __init__(self, text: str, may_have_run: bool = False) -> None:
        super().__init__(text)
        self.may_have_run = may_have_run


class RemoteError(CallError):
    """The other side answered with an error: ``code``, ``message`` and ``details``."""

    def __init__(
        self, text: str, may_have_run: bool, code: int, message: str, details: bytes
    ) -> None:
        super().__init__(text, may_have_run)
        self.code = code
        self.message = message
        self.details = details


class DeadlineExceeded(CallError, TimeoutError):
    """No answer in time."""


class ConnectionLost(CallError, ConnectionError):
    """The connection was lost."""


class ConnectError(CallError, ConnectionError):
    """No connection came about."""


class Congested(CallError):
    """There was no room for the message in time."""


class TooLarge(CallError, ValueError):
    """The body is larger than the other side takes."""


class ShuttingDown(CallError):
    """One of both sides shuts down and takes nothing new."""


class MetadataError(Error, ValueError):
    """An entry that metadata cannot have: its key has another form, or a limit would be exceeded. Nothing was
    sent."""


class StreamEnded(CallError):
    """This side or the other has ended the stream."""


class DistributorFull(Again):
    """The distributor holds as much as it may: ``tasks``, those that are set aside and results that were not
    read among them, and ``bytes`` of them."""

    def __init__(self, text: str, tasks: int, bytes: int) -> None:
        super().__init__(text)
        self.tasks = tasks
        self.bytes = bytes


class TaskTooLarge(Error, ValueError):
    """The task has more bytes than may be handed out (``max_task``)."""


class ResultTooLarge(Error, ValueError):
    """The result has more bytes than the distributor takes (``max_result``). The attempt has failed."""


class ShutDown(Error):
    """The distributor or worker was shut down, or the worker leaves."""


class Unfinished(Error):
    """The ``with`` block of a distributor ended before its tasks did. ``tasks`` has those without an outcome."""

    def __init__(self, text: str, tasks: list[UnfinishedTask]) -> None:
        super().__init__(text)
        self.tasks = tasks
