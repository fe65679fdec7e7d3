"""Options: names, defaults, values, and what is refused."""

from __future__ import annotations

import socket as tcp
from typing import Any

import pytest

import sealwire
from conftest import TIMEOUT_MS, Pairs
from sealwire._base import Option, Options

NAMES = [name for name, value in vars(Options).items() if isinstance(value, Option)]


def test_every_option_has_a_default_and_takes_it_back() -> None:
    assert len(NAMES) > 50
    for name in NAMES:
        socket = sealwire.Socket(sealwire.PULL)
        value = getattr(socket, name)
        setattr(socket, name, value)
        assert getattr(socket, name) == value


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("sndhwm", 5),
        ("rcvhwm", 0),
        ("snd_byte_budget", 1 << 20),
        ("linger", -1),
        ("maxmsgsize", -1),
        ("routing_id", b"me"),
        ("immediate", True),
        ("ipv6", False),
        ("reuse_port", True),
        ("backlog", 3),
        ("ipc_mode", 0o660),
        ("tos", 8),
        ("sndbuf", 65536),
        ("rcvbuf", 65536),
        ("handshake_ivl", 1000),
        ("connect_timeout", 1000),
        ("reconnect_ivl", 5),
        ("reconnect_ivl", -1),
        ("reconnect_ivl_max", 50),
        ("heartbeat_ivl", 100),
        ("tcp_keepalive", 1),
        ("tcp_keepalive", 0),
        ("zap_timeout", 5),
        ("spin_us", 50),
        ("max_handshakes", 4),
        ("max_connections", 4),
        ("max_connections_per_address", 4),
        ("max_handshakes_per_address", 4),
        ("max_connections_per_key", 4),
    ],
)
def test_options_reach_a_socket_that_works(pair: Pairs, name: str, value: Any) -> None:
    router = pair.socket(sealwire.ROUTER, **{name: value})
    dealer = pair.socket(sealwire.DEALER, **{name: value})
    dealer.connect(router.bind("tcp://127.0.0.1:0"))
    dealer.send(b"x")
    routing_id, message = router.recv_multipart()
    assert message == b"x"
    if name == "routing_id":
        assert routing_id == b"me"


def test_web_pages_are_refused_unless_allowed(pair: Pairs) -> None:
    request = (
        b"GET / HTTP/1.1\r\nHost: name.example\r\nOrigin: https://page.example\r\n"
        b"Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
        b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
        b"Sec-WebSocket-Protocol: ZWS2.0/NULL\r\n\r\n"
    )
    allowed: list[tuple[dict[str, Any], bytes]] = [
        ({}, b"403"),
        ({"ws_allow_hosts": "name.example"}, b"403"),
        ({"ws_allow_origins": "https://page.example"}, b"403"),
        (
            {
                "ws_allow_origins": "https://a.example https://page.example",
                "ws_allow_hosts": "name.example",
            },
            b"101",
        ),
        ({"ws_allow_any_origin": True, "ws_allow_hosts": "name.example"}, b"101"),
    ]
    for options, status in allowed:
        pull = pair.socket(sealwire.PULL, **options)
        port = int(pull.bind("ws://127.0.0.1:*").split(":")[2].split("/")[0])
        with tcp.create_connection(("127.0.0.1", port), timeout=30) as browser:
            browser.sendall(request)
            answer = b""
            while len(answer) < 12:
                answer += browser.recv(12 - len(answer))
        assert answer == b"HTTP/1.1 " + status, options


def test_limits_bind(pair: Pairs) -> None:
    pull = pair.socket(sealwire.PULL, maxmsgsize=10)
    push = pair.socket(sealwire.PUSH)
    monitor = pull.monitor()
    push.connect(pull.bind("tcp://127.0.0.1:0"))
    push.send(b"x" * 11)
    failures = (event for event in monitor if event.kind == "failed")
    assert "large" in str(next(failures)) or "limit" in str(next(failures))


@pytest.mark.parametrize(
    ("name", "value", "error"),
    [
        ("sndhwm", -1, ValueError),
        ("sndhwm", "5", TypeError),
        ("sndhwm", 1.5, TypeError),
        ("linger", -2, ValueError),
        ("immediate", 2, TypeError),
        ("immediate", "yes", TypeError),
        ("routing_id", 7, TypeError),
        ("socks_proxy", b"host:1", TypeError),
        ("handshake_ivl", 0, ValueError),
        ("sndhwm", 1 << 70, OverflowError),
    ],
)
def test_wrong_values_are_refused(name: str, value: Any, error: type[Exception]) -> None:
    socket = sealwire.Socket(sealwire.PUSH)
    with pytest.raises(error):
        setattr(socket, name, value)
    with pytest.raises(error):
        sealwire.Socket(sealwire.PUSH, **{name: value})


def test_unknown_options_are_refused() -> None:
    with pytest.raises(AttributeError, match="no option 'use_fd'"):
        sealwire.Socket(sealwire.PUSH, use_fd=1)


def test_socket_types_have_the_numbers_of_the_library() -> None:
    for number in range(64):
        if number not in list(sealwire.SocketType):
            with pytest.raises(ValueError, match=f"no socket type {number}$"):
                sealwire.Socket(number)
            continue
        kind = sealwire.SocketType(number)
        # An option that it does not have makes the library say its name.
        option = "req_relaxed" if kind in (sealwire.RADIO, sealwire.DGRAM) else "multicast_hops"
        socket = sealwire.Socket(kind)
        setattr(socket, option, 1)
        with pytest.raises(sealwire.OptionsError, match=f"a {kind.name} socket has no option"):
            socket.bind("udp://127.0.0.1:0" if kind == sealwire.DGRAM else "inproc://numbers")


def test_what_a_type_has_no_use_for_is_refused_at_its_first_use() -> None:
    socket = sealwire.Socket(sealwire.PUSH, router_mandatory=True)
    with pytest.raises(sealwire.OptionsError, match="router_mandatory"):
        socket.bind("tcp://127.0.0.1:0")
    # It was not made, so the mistake can be put right.
    socket.router_mandatory = False
    socket.bind("tcp://127.0.0.1:0")
    with pytest.raises(sealwire.OptionsError, match="router_mandatory"):
        socket.router_mandatory = True
    assert socket.router_mandatory is False
    socket.rcvtimeo = 5
    assert socket.rcvtimeo == 5
    wrong: list[dict[str, Any]] = [{"tos": 256}, {"multicast_hops": 300}, {"socks_proxy": "x"}]
    for options in wrong:
        with pytest.raises(ValueError):
            sealwire.Socket(sealwire.PUSH, **options).bind("tcp://127.0.0.1:0")


def test_older_names(pair: Pairs) -> None:
    socket = pair.socket(sealwire.DEALER)
    socket.identity = b"name"
    assert socket.routing_id == socket.identity == b"name"
    socket.hwm = 7
    assert socket.sndhwm == socket.rcvhwm == socket.hwm == 7


def test_metadata_is_read_by_the_peer(pair: Pairs) -> None:
    pull, push = pair.socket(sealwire.PULL), pair.socket(sealwire.PUSH)
    push.add_metadata("X-Version", b"1.2")
    push.connect(pull.bind("tcp://127.0.0.1:0"))
    push.send(b"x")
    peer = pull.recv_message().peer
    assert peer is not None
    assert peer.metadata("x-version") == b"1.2"
    assert peer.metadata("X-Other") is None
    later = pair.socket(sealwire.PULL)
    push.add_metadata("X-Late", b"")
    push.connect(later.bind("tcp://127.0.0.1:0"))
    push.wait_connected(2)
    push.send(b"in turns")
    push.send(b"in turns")
    peer = later.recv_message().peer
    assert peer is not None and peer.metadata("X-Late") == b""


def test_each_endpoint_has_the_keys_that_it_was_connected_with(pair: Pairs) -> None:
    servers = []
    client = pair.socket(sealwire.DEALER)
    for _ in range(2):
        keys = sealwire.KeyPair.generate()
        server = pair.socket(sealwire.REP)
        server.security = sealwire.Security.blake3_server(keys, sealwire.AllowAnyone())
        client.security = sealwire.Security.blake3_client(keys.public)
        client.connect(server.bind("tcp://127.0.0.1:0"))
        servers.append(server)
    client.wait_connected(2)


def test_a_queue_grows_and_a_lingering_close_is_cut_short_on_a_socket_in_use() -> None:
    push = sealwire.Socket(sealwire.PUSH, sndhwm=1, linger=-1)
    push.connect("tcp://127.0.0.1:1")
    push.send(b"x", sealwire.NOBLOCK)
    with pytest.raises(sealwire.Again):
        push.send(b"x", sealwire.NOBLOCK)
    push.sndhwm = 2
    push.send(b"x", sealwire.NOBLOCK)
    # Without this, closing would last for ever.
    push.linger = 0
    with pytest.raises(sealwire.Unsent):
        push.close()


def test_time_limits_change_on_a_socket_in_use() -> None:
    # Without the change, each call would wait for a minute.
    with sealwire.Socket(sealwire.PULL, rcvtimeo=TIMEOUT_MS) as pull:
        pull.bind("inproc://live-limits")
        with sealwire.Socket(sealwire.PUSH, sndtimeo=TIMEOUT_MS) as push:
            push.connect("inproc://live-limits")
            push.send(b"x")
            assert pull.recv() == b"x"
            pull.rcvtimeo = 1
            for attempt in (pull.recv, pull.recv_many, pull.recv_message):
                with pytest.raises(sealwire.TimedOut, match="1ms"):
                    attempt()
            push.disconnect("inproc://live-limits")
            push.sndtimeo = 2
            with pytest.raises(sealwire.TimedOut, match="2ms"):
                push.send(b"to nobody")
            with pytest.raises(sealwire.TimedOut, match="2ms"):
                push.send_many([b"to nobody"])
            # Longer ones too.
            pull.rcvtimeo = TIMEOUT_MS
            push.sndtimeo = TIMEOUT_MS
            push.connect("inproc://live-limits")
            push.send(b"again")
            assert pull.recv() == b"again"


def test_a_router_begins_to_mind_unknown_names_while_it_is_used(pair: Pairs) -> None:
    router, dealer = pair(sealwire.ROUTER, sealwire.DEALER)
    dealer.send(b"x")
    name, _ = router.recv_multipart()
    router.send_multipart([b"nobody", b"lost"])
    router.router_mandatory = True
    with pytest.raises(sealwire.Unroutable, match="nobody|6e6f626f6479"):
        router.send_multipart([b"nobody", b"refused"])
    router.send_multipart([name, b"known"])
    assert dealer.recv() == b"known"
    router.router_mandatory = False
    router.send_multipart([b"nobody", b"lost"])
