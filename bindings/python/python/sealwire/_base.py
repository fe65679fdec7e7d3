"""What the sockets of the package have in common: options as attributes, and conveniences."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

from . import _poll, _sockopt
from ._constants import POLLIN, POLLOUT, SocketType

if TYPE_CHECKING:
    from ._sealwire import Readiness, SocketCore, TlsIdentity, TlsTrust
    from .types import Admit, Buffer

T = TypeVar("T")


class Option(Generic[T]):
    """An option of a socket as an attribute."""

    def __init__(self, doc: str) -> None:
        self.__doc__ = doc
        self._name = ""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, socket: None, owner: type) -> Option[T]: ...
    @overload
    def __get__(self, socket: Any, owner: type) -> T: ...
    def __get__(self, socket: SocketCore | None, owner: type) -> Option[T] | T:
        if socket is None:
            return self
        value: T = socket._get_option(self._name)
        return value

    def __set__(self, socket: Any, value: T) -> None:
        socket._set_option(self._name, value)


class Strict:
    """Takes no attribute that its class does not name, so that a misspelt option is noticed. A subclass names its
    own in its body, or begins them with ``_``."""

    # Type checkers know the attributes by themselves, and would take any with these.
    if not TYPE_CHECKING:

        def __setattr__(self, name: str, value: object) -> None:
            for owner in type(self).__mro__:
                if name in vars(owner):
                    if callable(vars(owner)[name]) and not callable(value):
                        raise AttributeError(f"'{name}' is a method: call {name}(...)")
                    break
                if name in getattr(owner, "__annotations__", ()):
                    break
            else:
                if not name.startswith("_"):
                    raise AttributeError(self._no_attribute(name))
            super().__setattr__(name, value)

        def __getattr__(self, name: str) -> object:
            if name.startswith("_"):
                raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")
            raise AttributeError(self._no_attribute(name))

    def _no_attribute(self, name: str) -> str:
        raise NotImplementedError


class Options(Strict):
    """The options of a socket under pyzmq's names. Times are milliseconds. ``docs/options.md`` has what each does.

    They can be set at any time. Time limits, ``linger``, high-water marks, byte budgets and options of single socket types
    (``router_mandatory``, ``xpub_verbose`` and so on) change at once; others, and ``security``, are those of endpoints that
    are bound or connected from then on. ``spin`` is fixed by the first ``bind``, ``connect`` or other use: then it is an
    ``OptionsError``."""

    sndhwm = Option[int]("Messages queued for each peer; 0 for no limit.")
    rcvhwm = Option[int]("Messages queued from each peer; 0 for no limit.")
    snd_byte_budget = Option[int]("Payload bytes queued for each peer; 0 for no limit.")
    rcv_byte_budget = Option[int]("Payload bytes queued from each peer; 0 for no limit.")
    linger = Option[int]("How long closing waits for unsent messages; -1 for ever.")
    sndtimeo = Option[int]("How long a send waits; -1 for ever. May be set at any time.")
    rcvtimeo = Option[int]("How long a receive waits; -1 for ever. May be set at any time.")
    maxmsgsize = Option[int]("Largest message taken, all frames together; -1 for no limit.")
    routing_id = Option[bytes]("What ROUTER peers are to call this socket.")
    immediate = Option[bool]("Sending waits for a peer whose handshake is done.")
    queue_per_endpoint = Option[bool](
        "Each endpoint that is connected to has a queue of its own at once, as with libzmq."
    )
    affinity = Option[int](
        "I/O threads of the context for endpoints from then on: a bit for each; 0 for any of them."
    )
    conflate = Option[bool]("Each queue holds the latest message only.")
    ipv6 = Option[bool]("Whether IPv6 is used.")
    reuse_port = Option[bool](
        "Whether other sockets with it, also of other processes, may listen on the TCP ports that are bound to (SO_REUSEPORT)."
    )
    backlog = Option[int]("Connections the system holds before they are accepted.")
    ipc_mode = Option[int]("Who may connect to the files of ipc endpoints that are bound: a mode as of chmod.")
    tos = Option[int]("Type of service of outgoing packets; -1 for the system's.")
    priority = Option[int]("Priority of outgoing packets within this machine (Linux); -1 for the system's.")
    busy_poll = Option[int](
        "Microseconds that the system polls the network device before it sleeps (Linux); -1 for the system's."
    )
    sndbuf = Option[int]("The system's send buffer in bytes; -1 for its default.")
    rcvbuf = Option[int]("The system's receive buffer in bytes; -1 for its default.")
    handshake_ivl = Option[int]("How long a handshake may take.")
    connect_timeout = Option[int]("How long one attempt to connect may take; 0 as a handshake.")
    reconnect_ivl = Option[int]("Wait before connecting again; -1 for never again.")
    reconnect_ivl_max = Option[int]("Longest wait before connecting again.")
    reconnect_stop = Option[int](
        "After what connecting ends: 1 refused, 2 handshake failed, 4 disconnected, 8 unreachable."
    )
    heartbeat_ivl = Option[int](
        "Time without traffic before a PING; 0 for no heartbeats. The others follow from it."
    )
    heartbeat_timeout = Option[int]("How long to wait for a sign of life; -1 for three intervals.")
    heartbeat_ttl = Option[int](
        "What the peer is asked to wait; -1 as heartbeat_timeout, 0 leaves that to the peer."
    )
    tcp_keepalive = Option[int]("1 on, 0 off, -1 the system's default.")
    tcp_keepalive_cnt = Option[int]("Probes; -1 for the system's default.")
    tcp_keepalive_idle = Option[int]("Seconds before the first probe; -1 for the default.")
    tcp_keepalive_intvl = Option[int]("Seconds between probes; -1 for the default.")
    tcp_maxrt = Option[int]("How long sent data may stay unacknowledged; 0 for the default.")
    bindtodevice = Option[str]("Network interface that TCP is bound to.")
    multicast_hops = Option[int]("RADIO: networks that multicast passes through.")
    multicast_loop = Option[bool]("RADIO: whether this machine gets its own multicast.")
    probe_router = Option[bool]("Says hello to each ROUTER with an empty message.")
    router_mandatory = Option[bool]("ROUTER: sending to an unknown routing id is an error.")
    router_handover = Option[bool]("ROUTER: a new connection takes a routing id over.")
    router_notify = Option[int]("ROUTER: empty messages tell of peers: 1 who came, 2 who left.")
    routing_id_is_user_id = Option[bool](
        "ROUTER: a peer's routing id is the name that the authenticator gave to its key."
    )
    req_correlate = Option[bool]("REQ: takes only the answer to its own request.")
    req_relaxed = Option[bool]("REQ: sending again gives the earlier request up.")
    xpub_verbose = Option[bool]("XPUB: reads every subscription.")
    xpub_verboser = Option[bool]("XPUB: reads every subscription and cancellation.")
    xpub_manual = Option[bool]("XPUB: grants subscriptions itself.")
    xpub_manual_last_value = Option[bool](
        "XPUB: as xpub_manual; the next message after a subscription was received is for that subscriber alone."
    )
    xsub_verbose_unsubscribe = Option[bool]("XSUB: publishers get every cancellation, not the last of a topic alone.")
    xpub_nodrop = Option[bool]("XPUB, PUB, RADIO: sending waits for slow subscribers.")
    xpub_welcome_msg = Option[bytes]("XPUB, PUB: a message to each new subscriber.")
    invert_matching = Option[bool]("Subscribers get what they did not subscribe to.")
    stream_notify = Option[bool]("STREAM: empty messages tell of connections.")
    omit_routing_id = Option[bool]("SERVER, PEER: the routing id of a connection is in ``peer`` only.")
    connection_events = Option[bool](
        "SERVER, PEER: a message without a frame when a connection begins and when it has ended."
    )
    hello_msg = Option[bytes]("The first message to each new peer.")
    disconnect_msg = Option[bytes]("What this socket receives when a peer is gone.")
    hiccup_msg = Option[bytes]("What this socket receives when a connection is made again.")
    socks_proxy = Option[str]("HOST:PORT of a SOCKS5 proxy for all TCP connections.")
    socks_username = Option[str]("For a proxy that asks.")
    socks_password = Option[str]("For a proxy that asks.")
    ws_allow_origins = Option[str]("Origins of web pages that ws and wss accept, by spaces.")
    ws_allow_any_origin = Option[bool]("Web pages of every origin may connect.")
    ws_allow_hosts = Option[str]("Names that requests to loopback may ask for, by spaces.")
    tls_identity = Option["TlsIdentity | None"]("What wss endpoints show that this socket binds.")
    tls_trust = Option["TlsTrust | None"]("Whom this socket believes at wss endpoints that it connects to.")
    zap_domain = Option[str]("Asks the ZAP handler of the context under this name.")
    zap_timeout = Option[int]("How long the ZAP handler may take.")
    admit = Option["Admit | None"](
        "Decides about each peer by address and process, before anybody else is asked."
    )
    spin_us = Option[int]("Microseconds that a thread which waits for a message spins before it sleeps.")
    max_handshakes = Option[int]("Handshakes one listener serves at a time.")
    max_connections = Option[int]("Connections one listener keeps.")
    max_connections_per_address = Option[int]("The same from one address; -1 for no limit.")
    max_handshakes_per_address = Option[int](
        "Handshakes from one address; -1 for a quarter of max_handshakes."
    )
    max_connections_per_key = Option[int](
        "Established connections of one key; -1 for a quarter of max_connections, at least 64."
    )
    connection_rate_per_address = Option[int](
        "Connections from one address in each connection_rate_period; -1 for no limit."
    )
    connection_rate_period = Option[int]("The period of connection_rate_per_address.")

    if TYPE_CHECKING:

        def bind(self, endpoint: str) -> str: ...
        def subscribe(self, topic: str | Buffer) -> None: ...
        def unsubscribe(self, topic: str | Buffer) -> None: ...
        def add_metadata(self, name: str, value: str | Buffer) -> None: ...
        def readiness(self) -> Readiness: ...
        @property
        def socket_type(self) -> int: ...
        @property
        def last_endpoint(self) -> str | None: ...

    def _set_options(self, options: dict[str, Any]) -> None:
        for name, value in options.items():
            if not isinstance(getattr(type(self), name, None), (Option, property)):
                raise AttributeError(self._no_attribute(name))
            setattr(self, name, value)

    def _no_attribute(self, name: str) -> str:
        cls = type(self)
        names = [known for known in dir(cls) if isinstance(getattr(cls, known), (Option, property))]
        return _sockopt.no_such_option(name, names)

    def setsockopt(self, option: int, value: Any) -> None:
        """Sets an option by its number, which ``sealwire.zmq`` has by its name, as pyzmq does. :class:`Options` says
        from when on it counts."""
        _sockopt.set_option(self, option, value)

    def getsockopt(self, option: int) -> Any:
        """The value of an option by its number: a number, or bytes."""
        return _sockopt.get_option(self, option)

    def setsockopt_string(self, option: int, text: str, encoding: str = "utf-8") -> None:
        """Sets an option by its number to text."""
        self.setsockopt(option, text.encode(encoding))

    def getsockopt_string(self, option: int, encoding: str = "utf-8") -> str:
        """The value of an option by its number as text."""
        return _sockopt.get_text(self, option, encoding)

    set = setsockopt
    get = getsockopt
    set_string = setsockopt_string
    get_string = getsockopt_string

    def fileno(self) -> int:
        """A descriptor for an event loop: it becomes readable when ``events`` may have changed, and
        unreadable when those are read."""
        return self._own_readiness().fileno()

    @property
    def events(self) -> int:
        """The operations that would not block now: ``POLLIN``, ``POLLOUT``."""
        return _poll.events_of(self._own_readiness(), POLLIN | POLLOUT)

    def _own_readiness(self) -> Readiness:
        own: Readiness | None = self.__dict__.get("_readiness")
        if own is None:
            own = self.__dict__.setdefault("_readiness", self.readiness())
        return own

    @property
    def type(self) -> SocketType:
        """The type of the socket."""
        return SocketType(self.socket_type)

    @property
    def hwm(self) -> int:
        """Both high-water marks at once; reading gives that of sending."""
        return self.sndhwm

    @hwm.setter
    def hwm(self, messages: int) -> None:
        self.sndhwm = messages
        self.rcvhwm = messages

    @property
    def identity(self) -> bytes:
        """The older name of ``routing_id``."""
        return self.routing_id

    @identity.setter
    def identity(self, name: bytes) -> None:
        self.routing_id = name

    def bind_to_random_port(self, address: str) -> int:
        """Binds ``tcp://HOST`` to a port that the system chooses, and gives the port."""
        return int(self.bind(f"{address}:0").rsplit(":", 1)[1].split("/")[0])
