"""Attributes that are not there, and the options by libzmq's numbers."""

from __future__ import annotations

import re
from typing import Any

import pytest

import sealwire
import sealwire.asyncio
from conftest import ROOT, Pairs, missing
from sealwire import _constants, zmq
from sealwire._base import Option, Options
from sealwire._sockopt import SocketOption

#: Every name, aliases as well.
MEMBERS = SocketOption.__members__
OPTIONS = {name for name, value in vars(Options).items() if isinstance(value, Option)}

#: A value for each attribute that is not its default, as pyzmq writes it.
OTHER: dict[type, Any] = {int: 7, bool: 1, bytes: b"other"}
SPECIAL = {
    "ipv6": 0,
    "multicast_loop": 0,
    "stream_notify": 0,
    "socks_proxy": b"127.0.0.1:1080",
    "tcp_keepalive": 1,
    "router_notify": 3,
}

SETTABLE = [option for option in SocketOption if option.access == "set"]
#: What a PULL does not have.
OF_OTHER_TYPES = {
    SocketOption[name]
    for name in """
    HELLO_MSG INVERT_MATCHING PROBE_ROUTER REQ_CORRELATE REQ_RELAXED ROUTER_HANDOVER ROUTER_MANDATORY
    ROUTER_NOTIFY STREAM_NOTIFY XPUB_MANUAL XPUB_MANUAL_LAST_VALUE XPUB_NODROP XPUB_VERBOSE XPUB_VERBOSER XPUB_WELCOME_MSG
    MULTICAST_HOPS MULTICAST_LOOP XSUB_VERBOSE_UNSUBSCRIBE
    """.split()
}
REFUSED = [option for option in SocketOption if option.access == "none"]


def made(module: Any, options: dict[str, Any]) -> Any:
    return module.Socket(sealwire.PULL, **options)


def other_value(option: SocketOption) -> Any:
    default = getattr(sealwire.Socket(sealwire.PULL), option.target)
    return SPECIAL.get(option.target, b"other" if isinstance(default, str) else OTHER[type(default)])


def test_the_numbers_are_those_of_pyzmq() -> None:
    try:
        import zmq as pyzmq
    except ImportError:
        missing("pyzmq is not installed")
    theirs = pyzmq.SocketOption.__members__
    assert {name: MEMBERS[name].value for name in MEMBERS if name in theirs} == {
        name: theirs[name].value for name in MEMBERS if name in theirs
    }
    assert set(theirs) <= set(MEMBERS)


def test_the_module_has_every_name() -> None:
    for name, option in MEMBERS.items():
        assert getattr(zmq, name) is option
    public = {name for name in vars(_constants) if not name.startswith("_")}
    assert {"REQ", "NOBLOCK", "POLLIN", "SocketType"} <= public <= set(sealwire.__all__)
    program: dict[str, Any] = {}
    exec("from sealwire.zmq import *", program)
    others = {"Again", "Context", "ContextTerminated", "Frame", "Poller", "Socket", "SocketOption", "ZMQError", "asyncio", "proxy"}
    assert program.keys() - {"__builtins__"} == public | set(MEMBERS) | others


def test_every_attribute_of_the_table_is_an_option() -> None:
    for option in SETTABLE:
        assert option.target in OPTIONS | {"hwm"}, option
    # What libzmq has not is an attribute only.
    own = OPTIONS - {option.target for option in SETTABLE}
    assert all(not hasattr(zmq, name.upper()) for name in own - {"tls_identity", "tls_trust"}), own


@pytest.mark.parametrize("module", [sealwire, sealwire.asyncio], ids=["blocking", "asyncio"])
@pytest.mark.parametrize("option", SETTABLE, ids=lambda option: option.name)
def test_an_option_is_set_and_read_by_number(option: SocketOption, module: Any) -> None:
    socket, value = module.Socket(sealwire.PULL), other_value(option)
    assert socket.getsockopt(option) != value
    socket.setsockopt(int(option), value)
    read = socket.getsockopt(int(option))
    assert (read, type(read)) == (value, bytes if isinstance(value, bytes) else int)
    attribute = getattr(socket, option.target)
    assert (attribute.encode() if isinstance(attribute, str) else attribute) == value
    again = module.Socket(sealwire.PULL)
    again.set(option, read)
    assert again.get(option) == read


@pytest.mark.parametrize("option", REFUSED, ids=lambda option: option.name)
def test_what_is_not_here_says_what_to_do(option: SocketOption) -> None:
    socket = sealwire.Socket(sealwire.PULL)
    for use in (lambda: socket.setsockopt(option, 1), lambda: socket.getsockopt(option)):
        with pytest.raises(sealwire.OptionsError, match=re.escape(f"{option.name} is not here: {option.target}")):
            use()
    # The mechanism is an attribute to be read.
    advice = "is not writable" if option is SocketOption.MECHANISM else re.escape(option.target)
    with pytest.raises(AttributeError, match=advice):
        setattr(socket, option.name.lower(), 1)
    with pytest.raises(AttributeError, match=re.escape(option.target)):
        made(sealwire, {option.name.lower(): 1})


@pytest.mark.parametrize("option", SETTABLE, ids=lambda option: option.name)
def test_a_socket_in_use_takes_options_as_pyzmq_does(pair: Pairs, option: SocketOption) -> None:
    socket = pair.socket(sealwire.PULL)
    value, before = other_value(option), socket.getsockopt(option)
    socket.bind("inproc://in-use")
    if option not in OF_OTHER_TYPES:
        socket.setsockopt(option, value)
        assert socket.getsockopt(option) == value
        return
    with pytest.raises(sealwire.OptionsError, match="socket has no option"):
        socket.setsockopt(option, value)
    assert socket.getsockopt(option) == before


def test_options_that_are_calls(pair: Pairs) -> None:
    publisher, subscriber = pair.socket(sealwire.XPUB), pair.socket(sealwire.SUB)
    publisher.setsockopt(zmq.METADATA, b"X-Name:a:b")
    subscriber.setsockopt(zmq.SUBSCRIBE, b"a")
    subscriber.connect(publisher.bind("tcp://127.0.0.1:0"))
    assert publisher.recv() == b"\1a"
    publisher.send(b"a message")
    peer = subscriber.recv_message().peer
    assert peer is not None and peer.metadata("X-Name") == b"a:b"
    subscriber.setsockopt_string(zmq.SUBSCRIBE, "b")
    assert publisher.recv() == b"\1b"
    subscriber.setsockopt(zmq.UNSUBSCRIBE, b"a")
    assert publisher.recv() == b"\0a"
    assert subscriber.getsockopt(zmq.TOPICS_COUNT) == publisher.getsockopt(zmq.TOPICS_COUNT) == 1
    for option in (zmq.SUBSCRIBE, zmq.UNSUBSCRIBE, zmq.METADATA):
        with pytest.raises(sealwire.OptionsError, match=f"{option.name} cannot be read"):
            subscriber.getsockopt(option)
    with pytest.raises(sealwire.OptionsError, match="METADATA is NAME:VALUE"):
        sealwire.Socket(sealwire.PULL).setsockopt(zmq.METADATA, b"no value")


def test_options_to_be_read(pair: Pairs) -> None:
    pull, push = pair(sealwire.PULL, sealwire.PUSH)
    assert pull.getsockopt(zmq.TYPE) == sealwire.PULL
    assert pull.getsockopt(zmq.LAST_ENDPOINT) == (pull.last_endpoint or "").encode()
    assert sealwire.Socket(sealwire.PULL).getsockopt(zmq.LAST_ENDPOINT) == b""
    assert pull.getsockopt_string(zmq.LAST_ENDPOINT) == pull.last_endpoint
    assert pull.getsockopt(zmq.FD) == pull.fileno()
    assert pull.getsockopt(zmq.EVENTS) == 0
    assert pull.getsockopt(zmq.RCVMORE) == 0
    push.send(b"x")
    pull.poll()
    assert pull.getsockopt(zmq.EVENTS) == sealwire.POLLIN
    reading = [option for option in SocketOption if option.access == "read"]
    assert {option.name for option in reading} == {"TYPE", "LAST_ENDPOINT", "FD", "EVENTS", "RCVMORE", "TOPICS_COUNT"}
    for option in reading:
        with pytest.raises(sealwire.OptionsError, match=f"{option.name} can be read only"):
            pull.setsockopt(option, 1)
    with pytest.raises(TypeError, match="TYPE is a number"):
        pull.getsockopt_string(zmq.TYPE)


def test_numbers_that_are_no_options() -> None:
    socket = sealwire.Socket(sealwire.PULL)
    for number in (0, 2, 4711, -1):
        for use in (lambda: socket.setsockopt(number, 1), lambda: socket.getsockopt(number)):
            with pytest.raises(sealwire.OptionsError, match=f"no option with the number {number}$"):
                use()
    with pytest.raises(TypeError, match="sndhwm takes a whole number"):
        socket.setsockopt(zmq.SNDHWM, b"7")
    with pytest.raises(ValueError, match="sndhwm is 0 or more"):
        socket.setsockopt(zmq.SNDHWM, -1)


def test_a_program_for_pyzmq() -> None:
    with zmq.Context() as context:
        server, client = context.socket(zmq.REP), context.socket(zmq.REQ)
        for socket in (server, client):
            socket.setsockopt(zmq.LINGER, 1000)
            socket.setsockopt(zmq.RCVTIMEO, 60_000)
        client.setsockopt_string(zmq.IDENTITY, "me")
        client.connect(server.bind("tcp://127.0.0.1:0"))
        client.send(b"hello")
        assert server.recv() == b"hello"
        server.send(b"world")
        assert client.recv() == b"world"
        with pytest.raises(zmq.ZMQError):
            client.recv()
        with pytest.raises(zmq.Again):
            server.recv(zmq.NOBLOCK)


@pytest.mark.parametrize("module", [sealwire, sealwire.asyncio], ids=["blocking", "asyncio"])
@pytest.mark.parametrize(
    ("name", "advice"),
    [
        ("use_fd", r"call bind_listener\(listener\) with a socket that listens, or its descriptor"),
        ("SNDHWM", "write sndhwm"),
        ("send_hwm", "did you mean sndhwm"),
        ("rcv_timeo", "did you mean rcvtimeo"),
        ("colour", r"help\(sealwire.Socket\) lists all"),
        ("curve_server", r"give the socket security=Security.curve_server\(keys, authenticator\)"),
    ],
)
def test_an_attribute_that_is_not_there(module: Any, name: str, advice: str) -> None:
    socket = module.Socket(sealwire.PULL)
    text = f"a socket has no option '{name}'.*{advice}"
    with pytest.raises(AttributeError, match=text):
        setattr(socket, name, 1)
    with pytest.raises(AttributeError, match=text):
        getattr(socket, name)
    with pytest.raises(AttributeError, match=text):
        made(module, {name: 1})
    assert name not in vars(socket)


def test_a_method_is_not_an_option() -> None:
    socket = sealwire.Socket(sealwire.SUB)
    for name in ("subscribe", "bind", "setsockopt"):
        with pytest.raises(AttributeError, match=f"'{name}' is a method: call {name}"):
            setattr(socket, name, b"topic")
        with pytest.raises(AttributeError):
            made(sealwire, {name: b"topic"})
    # As tests do that replace a method.
    setattr(socket, "bind", lambda endpoint: "replaced")
    assert socket.bind("tcp://127.0.0.1:0") == "replaced"


def test_a_subclass_has_attributes_of_its_own() -> None:
    class Named(sealwire.Socket):
        name: str
        count = 0

    socket = Named(sealwire.PULL, rcvhwm=3)
    socket.name, socket.count = "worker", 2
    socket._anything = 1  # type: ignore[attr-defined]
    assert (socket.name, socket.count, socket.rcvhwm) == ("worker", 2, 3)
    with pytest.raises(AttributeError, match="no option 'nmae'"):
        socket.nmae = "x"  # type: ignore[attr-defined]


def test_keywords_are_the_attributes() -> None:
    assert sealwire.Socket(sealwire.PULL, hwm=3, identity=b"me").rcvhwm == 3
    with pytest.raises(AttributeError):
        sealwire.Socket(sealwire.PULL, type=3)
    assert not hasattr(sealwire.Socket(sealwire.PULL), "use_fd")


def test_a_context_takes_no_options() -> None:
    with sealwire.Context() as context:
        with pytest.raises(AttributeError, match="a context has no attribute 'linger'; options are those of a socket"):
            context.linger = 0  # type: ignore[attr-defined]
        with pytest.raises(AttributeError, match="no attribute 'linger'"):
            context.linger  # type: ignore[attr-defined]


def documented() -> str:
    """The table of options as ``docs/migrating.md`` has it."""
    rows: dict[str, list[str]] = {}
    for name, option in MEMBERS.items():
        plain = option.target == name.lower()
        texts = {
            "set": "the same in small letters" if plain else f"`{option.target}`",
            "read": f"to be read: `{option.target.split(',')[0]}`{','.join(['', *option.target.split(',')[1:]])}",
            "call": f"`{option.target}`",
            "none": f"none: {option.target}",
        }
        rows.setdefault(texts[option.access], []).append(f"`{name}`")
    return "".join(f"| {', '.join(names)} | {text} |\n" for text, names in rows.items())


def test_the_document_has_the_table() -> None:
    assert documented() in (ROOT / "docs" / "migrating.md").read_text()
