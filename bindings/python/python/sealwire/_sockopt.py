"""The options of libzmq by number: what ``setsockopt`` and ``getsockopt`` do with each.

One table is what sets, reads and refuses options by number, what errors suggest, and what
``docs/migrating.md`` has.
"""

from __future__ import annotations

import difflib
from enum import IntEnum
from typing import TYPE_CHECKING, Any, Iterable

from ._exceptions import OptionsError

if TYPE_CHECKING:
    from ._base import Options


class SocketOption(IntEnum):
    """The options of a socket under libzmq's names and numbers.

    ``access`` says what can be done: ``"set"``, which is reading as well, by the attribute ``target``;
    ``"read"`` and ``"call"`` alone, with what ``target`` names; ``"none"``, and ``target`` says what to do instead."""

    access: str
    target: str

    def __new__(cls, number: int, access: str, target: str) -> SocketOption:
        member = int.__new__(cls, number)
        member._value_ = number
        member.access = access
        member.target = target
        return member

    HWM = 1, "set", "hwm"
    AFFINITY = 4, "set", "affinity"
    ROUTING_ID = 5, "set", "routing_id"
    IDENTITY = 5, "set", "routing_id"
    SUBSCRIBE = 6, "call", "subscribe(topic)"
    UNSUBSCRIBE = 7, "call", "unsubscribe(topic)"
    RATE = 8, "none", "there is no pgm and no norm"
    RECOVERY_IVL = 9, "none", "there is no pgm and no norm"
    SNDBUF = 11, "set", "sndbuf"
    RCVBUF = 12, "set", "rcvbuf"
    RCVMORE = 13, "read", "0, as a message is received whole"
    FD = 14, "read", "fileno()"
    EVENTS = 15, "read", "events"
    TYPE = 16, "read", "type"
    LINGER = 17, "set", "linger"
    RECONNECT_IVL = 18, "set", "reconnect_ivl"
    BACKLOG = 19, "set", "backlog"
    RECONNECT_IVL_MAX = 21, "set", "reconnect_ivl_max"
    MAXMSGSIZE = 22, "set", "maxmsgsize"
    SNDHWM = 23, "set", "sndhwm"
    RCVHWM = 24, "set", "rcvhwm"
    MULTICAST_HOPS = 25, "set", "multicast_hops"
    RCVTIMEO = 27, "set", "rcvtimeo"
    SNDTIMEO = 28, "set", "sndtimeo"
    IPV4ONLY = 31, "none", "set ipv6"
    LAST_ENDPOINT = 32, "read", "last_endpoint"
    ROUTER_MANDATORY = 33, "set", "router_mandatory"
    ROUTER_BEHAVIOR = 33, "set", "router_mandatory"
    FAIL_UNROUTABLE = 33, "set", "router_mandatory"
    TCP_KEEPALIVE = 34, "set", "tcp_keepalive"
    TCP_KEEPALIVE_CNT = 35, "set", "tcp_keepalive_cnt"
    TCP_KEEPALIVE_IDLE = 36, "set", "tcp_keepalive_idle"
    TCP_KEEPALIVE_INTVL = 37, "set", "tcp_keepalive_intvl"
    TCP_ACCEPT_FILTER = 38, "none", "decide by address or process with admit="
    IMMEDIATE = 39, "set", "immediate"
    DELAY_ATTACH_ON_CONNECT = 39, "set", "immediate"
    XPUB_VERBOSE = 40, "set", "xpub_verbose"
    ROUTER_RAW = 41, "none", "use a STREAM socket"
    IPV6 = 42, "set", "ipv6"
    MECHANISM = 43, "none", "BLAKE3 has no number; read the attribute mechanism"
    PLAIN_SERVER = 44, "none", "give the socket security=Security.plain_server(authenticator)"
    PLAIN_USERNAME = 45, "none", "give the socket security=Security.plain_client(username, password)"
    PLAIN_PASSWORD = 46, "none", "give the socket security=Security.plain_client(username, password)"
    CURVE_SERVER = 47, "none", "give the socket security=Security.curve_server(keys, authenticator)"
    CURVE_PUBLICKEY = 48, "none", "give the socket security=Security.curve_client(server_key, keys)"
    CURVE_SECRETKEY = 49, "none", "give the socket security=Security.curve_client(server_key, keys)"
    CURVE_SERVERKEY = 50, "none", "give the socket security=Security.curve_client(server_key, keys)"
    PROBE_ROUTER = 51, "set", "probe_router"
    REQ_CORRELATE = 52, "set", "req_correlate"
    REQ_RELAXED = 53, "set", "req_relaxed"
    CONFLATE = 54, "set", "conflate"
    ZAP_DOMAIN = 55, "set", "zap_domain"
    ROUTER_HANDOVER = 56, "set", "router_handover"
    TOS = 57, "set", "tos"
    IPC_FILTER_PID = 58, "none", "decide by address or process with admit="
    IPC_FILTER_UID = 59, "none", "decide by address or process with admit="
    IPC_FILTER_GID = 60, "none", "decide by address or process with admit="
    CONNECT_ROUTING_ID = 61, "none", "call connect_with_routing_id(endpoint, routing_id)"
    CONNECT_RID = 61, "none", "call connect_with_routing_id(endpoint, routing_id)"
    GSSAPI_SERVER = 62, "none", "there is no GSSAPI; use security="
    GSSAPI_PRINCIPAL = 63, "none", "there is no GSSAPI; use security="
    GSSAPI_SERVICE_PRINCIPAL = 64, "none", "there is no GSSAPI; use security="
    GSSAPI_PLAINTEXT = 65, "none", "there is no GSSAPI; use security="
    HANDSHAKE_IVL = 66, "set", "handshake_ivl"
    SOCKS_PROXY = 68, "set", "socks_proxy"
    XPUB_NODROP = 69, "set", "xpub_nodrop"
    BLOCKY = 70, "none", "set linger, which is finite by default"
    XPUB_MANUAL = 71, "set", "xpub_manual"
    XPUB_WELCOME_MSG = 72, "set", "xpub_welcome_msg"
    STREAM_NOTIFY = 73, "set", "stream_notify"
    INVERT_MATCHING = 74, "set", "invert_matching"
    HEARTBEAT_IVL = 75, "set", "heartbeat_ivl"
    HEARTBEAT_TTL = 76, "set", "heartbeat_ttl"
    HEARTBEAT_TIMEOUT = 77, "set", "heartbeat_timeout"
    XPUB_VERBOSER = 78, "set", "xpub_verboser"
    CONNECT_TIMEOUT = 79, "set", "connect_timeout"
    TCP_MAXRT = 80, "set", "tcp_maxrt"
    THREAD_SAFE = 81, "none", "every socket is"
    MULTICAST_MAXTPDU = 84, "none", "there is no pgm and no norm"
    VMCI_BUFFER_SIZE = 85, "none", "there is no vmci"
    VMCI_BUFFER_MIN_SIZE = 86, "none", "there is no vmci"
    VMCI_BUFFER_MAX_SIZE = 87, "none", "there is no vmci"
    VMCI_CONNECT_TIMEOUT = 88, "none", "there is no vmci"
    USE_FD = 89, "none", "call bind_listener(listener) with a socket that listens, or its descriptor"
    GSSAPI_PRINCIPAL_NAMETYPE = 90, "none", "there is no GSSAPI; use security="
    GSSAPI_SERVICE_PRINCIPAL_NAMETYPE = 91, "none", "there is no GSSAPI; use security="
    BINDTODEVICE = 92, "set", "bindtodevice"
    ZAP_ENFORCE_DOMAIN = 93, "none", "not needed: with zap_domain a missing handler refuses everybody"
    LOOPBACK_FASTPATH = 94, "none", "Windows dropped it"
    METADATA = 95, "call", "add_metadata(name, value)"
    MULTICAST_LOOP = 96, "set", "multicast_loop"
    ROUTER_NOTIFY = 97, "set", "router_notify"
    XPUB_MANUAL_LAST_VALUE = 98, "set", "xpub_manual_last_value"
    SOCKS_USERNAME = 99, "set", "socks_username"
    SOCKS_PASSWORD = 100, "set", "socks_password"
    IN_BATCH_SIZE = 101, "none", "batches follow the traffic"
    OUT_BATCH_SIZE = 102, "none", "batches follow the traffic"
    WSS_KEY_PEM = 103, "none", "give the socket tls_identity=TlsIdentity(chain, key)"
    WSS_CERT_PEM = 104, "none", "give the socket tls_identity=TlsIdentity(chain, key)"
    WSS_TRUST_PEM = 105, "none", "give the socket tls_trust=TlsTrust(authorities)"
    WSS_HOSTNAME = 106, "none", "give the socket tls_trust=TlsTrust(authorities, host_name=name)"
    WSS_TRUST_SYSTEM = 107, "none", "give the socket tls_trust=TlsTrust(system=True)"
    ONLY_FIRST_SUBSCRIBE = 108, "none", "not needed: a message of several frames is never a subscription"
    RECONNECT_STOP = 109, "set", "reconnect_stop"
    HELLO_MSG = 110, "set", "hello_msg"
    DISCONNECT_MSG = 111, "set", "disconnect_msg"
    PRIORITY = 112, "set", "priority"
    BUSY_POLL = 113, "set", "busy_poll"
    HICCUP_MSG = 114, "set", "hiccup_msg"
    XSUB_VERBOSE_UNSUBSCRIBE = 115, "set", "xsub_verbose_unsubscribe"
    TOPICS_COUNT = 116, "read", "topics"
    NORM_MODE = 117, "none", "there is no pgm and no norm"
    NORM_UNICAST_NACK = 118, "none", "there is no pgm and no norm"
    NORM_BUFFER_SIZE = 119, "none", "there is no pgm and no norm"
    NORM_SEGMENT_SIZE = 120, "none", "there is no pgm and no norm"
    NORM_BLOCK_SIZE = 121, "none", "there is no pgm and no norm"
    NORM_NUM_PARITY = 122, "none", "there is no pgm and no norm"
    NORM_NUM_AUTOPARITY = 123, "none", "there is no pgm and no norm"
    NORM_PUSH = 124, "none", "there is no pgm and no norm"


_BY_NUMBER = {int(option): option for option in SocketOption}


def _known(option: int) -> SocketOption:
    known = _BY_NUMBER.get(option)
    if known is None:
        raise OptionsError(f"there is no option with the number {option}")
    if known.access == "none":
        raise OptionsError(f"{known.name} is not here: {known.target}")
    return known


def set_option(socket: Options, option: int, value: Any) -> None:
    """Sets an option by its number."""
    known = _known(option)
    if known.access == "read":
        raise OptionsError(f"{known.name} can be read only")
    if known is SocketOption.SUBSCRIBE:
        socket.subscribe(value)
    elif known is SocketOption.UNSUBSCRIBE:
        socket.unsubscribe(value)
    elif known is SocketOption.METADATA:
        name, colon, text = (value.encode() if isinstance(value, str) else bytes(value)).partition(b":")
        if not colon:
            raise OptionsError("METADATA is NAME:VALUE")
        socket.add_metadata(name.decode(), text)
    else:
        if isinstance(getattr(socket, known.target), str) and isinstance(value, bytes):
            value = value.decode()
        setattr(socket, known.target, value)


def get_option(socket: Options, option: int) -> Any:
    """The value of an option by its number: a number, or bytes."""
    known = _known(option)
    if known.access == "call":
        raise OptionsError(f"{known.name} cannot be read")
    if known is SocketOption.RCVMORE:
        return 0
    if known is SocketOption.FD:
        return socket.fileno()
    value = getattr(socket, known.target)
    if value is None:
        return b""
    return value.encode() if isinstance(value, str) else int(value) if isinstance(value, int) else value


def get_text(socket: Options, option: int, encoding: str) -> str:
    """The same as text."""
    value = get_option(socket, option)
    if not isinstance(value, bytes):
        raise TypeError(f"{_known(option).name} is a number: read it with getsockopt")
    return value.decode(encoding)


def no_such_option(name: str, names: Iterable[str]) -> str:
    """Says that there is no option of this name among ``names``, and what to do."""
    text = f"a socket has no option '{name}'"
    option = SocketOption.__members__.get(name.upper())
    if option is not None and option.access == "none":
        return f"{text}: {option.target}"
    if option is not None:
        return f"{text}: write {option.target}"
    if near := difflib.get_close_matches(name.lower(), names, n=2):
        return f"{text}; did you mean {' or '.join(near)}?"
    return f"{text}; help(sealwire.Socket) lists all"


__all__ = ["SocketOption", "get_option", "get_text", "no_such_option", "set_option"]
