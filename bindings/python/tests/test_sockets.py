"""Blocking sockets: patterns, mechanisms, messages of every form, and what is refused."""

from __future__ import annotations

import array
import socket
import threading

import pytest

import sealwire
from conftest import TIMEOUT, TIMEOUT_MS, Pairs, securities
from sealwire.types import Buffer

MECHANISMS = ["NULL", "PLAIN", "CURVE", "BLAKE3"]


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_a_request_is_answered_and_says_who_asked(pair: Pairs, mechanism: str) -> None:
    server, client = pair(sealwire.REP, sealwire.REQ, mechanism)
    client.send(b"hello")
    request = server.recv_message()
    assert request.body == b"hello"
    assert request.text == "hello"
    assert request.peer is not None
    assert request.peer.user_id == (None if mechanism == "NULL" else "alice")
    assert request.peer.mechanism == mechanism
    assert request.peer.address.startswith("tcp://127.0.0.1:")
    server.send(b"welcome")
    assert client.recv() == b"welcome"


@pytest.mark.parametrize("size", [0, 1, 70, 71, 4095, 4096, 4097, 100_000, 3_000_000])
def test_every_size_arrives_from_every_kind_of_buffer(pair: Pairs, size: int) -> None:
    server, client = pair(sealwire.PULL, sealwire.PUSH)
    payload = bytes(i * 7 % 251 for i in range(size))
    given: list[Buffer] = [
        payload,
        bytearray(payload),
        memoryview(payload),
        array.array("B", payload),
        sealwire.Frame(payload),
    ]
    for data in given:
        client.send(data)
    for _ in given:
        assert server.recv() == payload


def test_a_frame_lends_its_bytes(pair: Pairs) -> None:
    server, client = pair(sealwire.PULL, sealwire.PUSH)
    for payload in [b"short", b"long" * 10_000]:
        client.send(payload)
        frame = server.recv(copy=False)
        view = memoryview(frame)
        assert view.readonly
        assert view == payload
        assert frame.buffer == view
        assert bytes(frame) == frame.bytes == payload
        assert len(frame) == len(payload)
        assert frame == payload
        assert hash(frame) == hash(payload)
        assert frame.peer is not None
        assert frame.peer.user_id == "alice"
        del frame
        # The view keeps the frame alive.
        assert bytes(view) == payload
        with pytest.raises(TypeError):
            view[0] = 1


def test_items_of_other_sizes_are_sent_as_bytes_and_gaps_are_refused(pair: Pairs) -> None:
    server, client = pair(sealwire.PULL, sealwire.PUSH)
    numbers = array.array("d", [1.5, -2.0])
    client.send(numbers)
    assert array.array("d", server.recv()) == numbers
    with pytest.raises(BufferError):
        client.send(memoryview(b"abcdef")[::2])


@pytest.mark.parametrize("wrong", ["text", 7, None, [b"a"]])
def test_what_has_no_bytes_is_a_type_error(pair: Pairs, wrong: object) -> None:
    _, client = pair(sealwire.PULL, sealwire.PUSH)
    with pytest.raises(TypeError, match="expected"):
        client.send(wrong)  # type: ignore[arg-type]


def test_frames_of_a_message_stay_together(pair: Pairs) -> None:
    router, dealer = pair(sealwire.ROUTER, sealwire.DEALER)
    dealer.send_multipart([b"a", bytearray(b"b" * 5000), b""])
    name, *frames = router.recv_multipart()
    assert frames == [b"a", b"b" * 5000, b""]
    router.send_multipart([name, b"back"])
    frames_back = dealer.recv_multipart(copy=False)
    assert [bytes(frame) for frame in frames_back] == [b"back"]
    with pytest.raises(TypeError, match="send_multipart|frames"):
        dealer.send_multipart(b"not a list")  # type: ignore[arg-type]
    with pytest.raises(sealwire.MessageError):
        dealer.send_multipart([])


def test_several_frames_where_one_is_wanted_are_not_lost(pair: Pairs) -> None:
    server, client = pair(sealwire.PULL, sealwire.PUSH)
    client.send_multipart([b"a", b"b"])
    with pytest.raises(sealwire.MessageError, match="recv_multipart") as caught:
        server.recv()
    assert caught.value.messages == [[b"a", b"b"]]
    client.send_multipart([b"c", b"d"])
    with pytest.raises(ValueError) as of_many:
        server.recv_many()
    assert of_many.value.messages == [[b"c", b"d"]]  # type: ignore[attr-defined]


def test_a_message_is_a_sequence_of_its_frames(pair: Pairs) -> None:
    server, client = pair(sealwire.PULL, sealwire.PUSH)
    client.send_multipart([b"a", b"bc"])
    message = server.recv_message()
    assert len(message) == 2
    assert message[0] == b"a"
    assert message[-1] == b"bc"
    assert message.frames == [b"a", b"bc"]
    assert bytes(message.frame(1)) == b"bc"
    assert bytes(message) == b"bc"
    for beyond in (2, -3):
        with pytest.raises(IndexError):
            message[beyond]


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_batches_keep_order_and_lose_nothing(pair: Pairs, mechanism: str) -> None:
    server, client = pair(sealwire.PULL, sealwire.PUSH, mechanism)
    count = 20_000
    sent = [str(number).encode() for number in range(count)]
    sender = threading.Thread(target=client.send_many, args=(iter(sent),))
    sender.start()
    received: list[bytes] = []
    while len(received) < count:
        batch = server.recv_many(limit=700)
        assert 1 <= len(batch) <= 700
        received += batch
    sender.join(TIMEOUT)
    assert received == sent


def test_batches_of_frames_and_of_messages(pair: Pairs) -> None:
    server, client = pair(sealwire.PULL, sealwire.PUSH)
    client.send_multipart([b"a", b"b"])
    assert server.recv_many_multipart() == [[b"a", b"b"]]
    client.send_multipart([b"c", b"d"])
    (message,) = server.recv_many_messages()
    assert message.frames == [b"c", b"d"]
    assert message.peer is not None


def test_sending_many_says_how_many_were_sent(pair: Pairs) -> None:
    _, client = pair(sealwire.PULL, sealwire.PUSH)
    with pytest.raises(TypeError) as caught:
        client.send_many([b"a", b"b", "no bytes"])  # type: ignore[list-item]
    assert caught.value.sent == 0  # type: ignore[attr-defined]
    assert client.send_many([b"a", b"b"]) == 2


def test_datagrams_go_to_a_plain_socket_and_come_from_it() -> None:
    with (
        sealwire.Socket(sealwire.DGRAM, rcvtimeo=TIMEOUT_MS) as dgram,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as plain,
    ):
        plain.settimeout(TIMEOUT)
        plain.bind(("127.0.0.1", 0))
        here = f"127.0.0.1:{plain.getsockname()[1]}".encode()
        with pytest.raises(sealwire.StateError, match="binds"):
            dgram.send_multipart([here, b"early"])
        port = int(dgram.bind("udp://127.0.0.1:0").rsplit(":", 1)[1])
        plain.sendto(b"hello", ("127.0.0.1", port))
        assert dgram.recv_multipart() == [here, b"hello"]
        dgram.send_multipart([here, b"welcome"])
        assert plain.recvfrom(100) == (b"welcome", ("127.0.0.1", port))
        with pytest.raises(sealwire.MessageError, match="not 0"):
            dgram.send_multipart([b"127.0.0.1:0", b"nobody"])
        with pytest.raises(sealwire.MessageError, match="one frame"):
            dgram.send(b"no address")
        with pytest.raises(sealwire.EndpointError):
            dgram.connect("udp://127.0.0.1:9")


def test_connect_peer_gives_the_number_to_send_to(pair: Pairs) -> None:
    server_security, client_security = securities("BLAKE3")
    server = pair.socket(sealwire.PEER, server_security)
    client = pair.socket(sealwire.PEER, client_security)
    routing_id = client.connect_peer(server.bind("tcp://127.0.0.1:0"))
    client.send(b"first", routing_id=routing_id)
    assert server.recv() == b"first"


def test_a_wrong_key_is_why_nobody_is_connected(pair: Pairs) -> None:
    server_security, _ = securities("BLAKE3")
    _, stranger = securities("BLAKE3")
    server = pair.socket(sealwire.PULL, server_security)
    client = pair.socket(sealwire.PUSH, stranger)
    events = client.monitor()
    client.connect(server.bind("tcp://127.0.0.1:0"))
    assert any(event.kind == "failed" for event in events)
    with pytest.raises(sealwire.HandshakeError):
        client.wait_connected(timeout=20)


def test_inproc_and_ipc(pair: Pairs, tmp_path: object) -> None:
    for endpoint in ["inproc://here", f"ipc://{tmp_path}/socket"]:
        pull, push = pair.socket(sealwire.PULL), pair.socket(sealwire.PUSH)
        assert pull.bind(endpoint) == endpoint
        push.connect(endpoint)
        push.send(b"x")
        assert pull.recv() == b"x"


def test_websocket(pair: Pairs) -> None:
    server_security, client_security = securities("BLAKE3")
    pull = pair.socket(sealwire.PULL, server_security)
    push = pair.socket(sealwire.PUSH, client_security)
    push.connect(pull.bind("ws://127.0.0.1:0/path"))
    push.send(b"x")
    assert pull.recv() == b"x"


def test_text_and_json(pair: Pairs) -> None:
    server, client = pair(sealwire.PULL, sealwire.PUSH)
    client.send_string("grüße")
    assert server.recv_string() == "grüße"
    client.send_json({"a": [1, None]})
    assert server.recv_json() == {"a": [1, None]}
    client.send(b"\xff")
    message = server.recv_message()
    with pytest.raises(UnicodeDecodeError):
        _ = message.text


def test_turns_are_kept(pair: Pairs) -> None:
    server, client = pair(sealwire.REP, sealwire.REQ)
    with pytest.raises(sealwire.StateError, match="request"):
        client.recv()
    with pytest.raises(sealwire.StateError):
        server.send(b"unasked")


def test_nothing_there_is_again(pair: Pairs) -> None:
    server, _ = pair(sealwire.PULL, sealwire.PUSH)
    for attempt in (server.recv, server.recv_multipart, server.recv_message):
        with pytest.raises(sealwire.Again):
            attempt(sealwire.NOBLOCK)
    with pytest.raises(sealwire.Again):
        server.recv_many(10, sealwire.NOBLOCK)


def test_a_time_limit_ends_waiting_and_says_how_long() -> None:
    with sealwire.Socket(sealwire.PULL, rcvtimeo=20) as pull:
        pull.bind("tcp://127.0.0.1:0")
        for attempt in (pull.recv, pull.recv_many, pull.recv_message):
            with pytest.raises(sealwire.TimedOut, match="20ms"):
                attempt()
        assert issubclass(sealwire.TimedOut, TimeoutError)
        assert issubclass(sealwire.TimedOut, sealwire.Again)
    with sealwire.Socket(sealwire.PUSH, sndtimeo=20, linger=0) as push:
        push.bind("tcp://127.0.0.1:0")
        with pytest.raises(sealwire.TimedOut, match="no peer was connected"):
            push.send(b"to nobody")
        with pytest.raises(sealwire.TimedOut):
            push.send_many([b"to nobody"])
        with pytest.raises(sealwire.Again):
            push.send(b"to nobody", sealwire.NOBLOCK)


@pytest.mark.parametrize(
    "endpoint", ["tcp://*:0", "tcp://0.0.0.0:0", "tcp://[::]:0", "ws://*:0/", "tcp://a.invalid:0"]
)
def test_plain_text_leaves_the_machine_by_name_only(endpoint: str) -> None:
    with sealwire.Socket(sealwire.PULL) as silent:
        assert silent.security is None
        with pytest.raises(sealwire.NoSecurity, match="leaves this machine") as refused:
            silent.bind(endpoint)
        assert isinstance(refused.value, sealwire.EndpointError)
        assert "plain_text" in str(refused.value) and "blake3_server" in str(refused.value)
        with pytest.raises(sealwire.NoSecurity):
            silent.connect("tcp://192.0.2.1:9")
        silent.bind("tcp://127.0.0.1:0")
        silent.bind("tcp://localhost:0")
        silent.connect("inproc://plain-text")


def test_the_word_for_plain_text() -> None:
    security = sealwire.Security.plain_text()
    with sealwire.Socket(sealwire.PULL, security=security) as named:
        assert security.mechanism == "NULL"
        named.bind("tcp://*:0")
    with sealwire.Socket(sealwire.PUSH, security=security, linger=0) as named:
        named.connect("tcp://192.0.2.1:9")


def test_mistakes_are_named() -> None:
    socket = sealwire.Socket(sealwire.PUSH)
    with pytest.raises(sealwire.EndpointError, match="is not an endpoint"):
        socket.bind("localhost:5555")
    with pytest.raises(ValueError):
        socket.connect("tcp://127.0.0.1:99999")
    with pytest.raises(sealwire.EndpointError):
        socket.disconnect("tcp://127.0.0.1:1")
    with pytest.raises(ValueError):
        sealwire.Socket(99)
    with sealwire.Socket(sealwire.PULL) as first, sealwire.Socket(sealwire.PULL) as second:
        endpoint = first.bind("tcp://127.0.0.1:0")
        with pytest.raises(sealwire.SystemRefused) as caught:
            second.bind(endpoint)
        assert isinstance(caught.value, OSError)
        assert caught.value.errno is not None
    socket.close()


def test_many_threads_share_a_socket(pair: Pairs) -> None:
    server, client = pair(sealwire.PULL, sealwire.PUSH)
    count, threads = 500, 4
    received: list[bytes] = []
    lock = threading.Lock()

    def receive() -> None:
        for _ in range(count):
            message = server.recv()
            with lock:
                received.append(message)

    def send(number: int) -> None:
        for index in range(count):
            client.send(f"{number} {index}".encode())

    workers = [threading.Thread(target=receive) for _ in range(threads)]
    workers += [threading.Thread(target=send, args=(number,)) for number in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(TIMEOUT)
    expected = {f"{n} {i}".encode() for n in range(threads) for i in range(count)}
    assert len(received) == len(expected)
    assert set(received) == expected


def test_iterating_receives(pair: Pairs) -> None:
    server, client = pair(sealwire.PULL, sealwire.PUSH)
    client.send_many([b"a", b"b", b"end"])
    received = []
    for message in server:
        received.append(message)
        if message == b"end":
            break
    assert received == [b"a", b"b", b"end"]


def test_endpoints_and_peers_are_listed(pair: Pairs) -> None:
    server, client = pair(sealwire.REP, sealwire.REQ)
    (bound,) = server.bound_endpoints
    assert server.last_endpoint == bound
    assert client.connected_endpoints == [bound]
    client.send(b"x")
    server.recv()
    (peer,) = server.peers
    assert peer.user_id == "alice"
    assert peer.socket_type == "REQ"
    assert server.counters["messages_received"] == 1
    server.unbind(bound)
    assert server.bound_endpoints == []
    client.disconnect(bound)
    assert client.connected_endpoints == []


def test_an_endpoint_is_unbound_with_those_who_came_through_it(pair: Pairs) -> None:
    pull, push = pair.socket(sealwire.PULL), pair.socket(sealwire.PUSH)
    push.connect(pull.bind("inproc://left"))
    assert len(pull.peers) == 1
    pull.unbind_and_disconnect("inproc://left")
    assert not pull.peers and not push.peers
    assert pull.bound_endpoints == []


def test_a_random_port(pair: Pairs) -> None:
    pull, push = pair.socket(sealwire.PULL), pair.socket(sealwire.PUSH)
    port = pull.bind_to_random_port("tcp://127.0.0.1")
    push.connect(f"tcp://127.0.0.1:{port}")
    push.send(b"x")
    assert pull.recv() == b"x"
    assert TIMEOUT_MS == pull.rcvtimeo


def test_what_a_socket_prints_says_what_it_is() -> None:
    keys = sealwire.KeyPair.generate()
    security = sealwire.Security.blake3_server(keys, sealwire.AllowAnyone())
    with sealwire.Socket(sealwire.REP, security=security) as socket:
        assert repr(socket) == "<sealwire.Socket REP BLAKE3, not bound or connected>"
        endpoint = socket.bind("tcp://127.0.0.1:0")
        assert endpoint in repr(socket)
        assert socket.type is sealwire.REP
        assert socket.mechanism == "BLAKE3"
    assert "closed" in repr(socket)
