"""Waiting for sockets and descriptors together."""

from __future__ import annotations

import os
import select
import threading

import pytest

import sealwire
from conftest import TIMEOUT, TIMEOUT_MS, Pairs
from sealwire import POLLIN, POLLOUT


def test_a_socket_is_polled(pair: Pairs) -> None:
    server, client = pair(sealwire.PULL, sealwire.PUSH)
    assert client.poll(TIMEOUT_MS, POLLOUT) == POLLOUT
    assert server.poll(0) == 0
    assert server.poll(1) == 0
    client.send(b"x")
    assert server.poll(TIMEOUT_MS) == POLLIN
    # Polling takes nothing.
    assert server.poll() == POLLIN
    assert server.poll(TIMEOUT_MS, POLLIN | POLLOUT) == POLLIN
    assert server.recv() == b"x"
    assert server.poll(0) == 0


def test_a_poller_waits_for_sockets_and_descriptors(pair: Pairs) -> None:
    server, client = pair(sealwire.PULL, sealwire.PUSH)
    other, other_client = pair(sealwire.PULL, sealwire.PUSH)
    read, write = os.pipe()
    try:
        poller = sealwire.Poller()
        poller.register(server, POLLIN)
        poller.register(other, POLLIN)
        poller.register(read, POLLIN)
        assert server in poller and read in poller and client not in poller
        assert poller.poll(0) == []
        client.send(b"x")
        assert poller.poll(TIMEOUT_MS) == [(server, POLLIN)]
        os.write(write, b"x")
        other_client.send(b"x")
        assert other.poll(TIMEOUT_MS) == POLLIN
        assert dict(poller.poll()) == {server: POLLIN, other: POLLIN, read: POLLIN}
        server.recv()
        other.recv()
        os.read(read, 1)
        assert poller.poll(1) == []
        poller.modify(server, POLLOUT)
        assert poller.poll(1) == []
        poller.unregister(other)
        poller.register(read, 0)
        assert other not in poller and read not in poller
        with pytest.raises(KeyError):
            poller.unregister(other)
    finally:
        os.close(read)
        os.close(write)


def test_a_poller_is_woken_by_another_thread(pair: Pairs) -> None:
    server, client = pair(sealwire.PULL, sealwire.PUSH)
    poller = sealwire.Poller()
    poller.register(server, POLLIN)
    sender = threading.Thread(target=client.send, args=(b"x",))
    sender.start()
    assert poller.poll() == [(server, POLLIN)]
    sender.join(TIMEOUT)


def test_a_closed_socket_wakes_its_poller(pair: Pairs) -> None:
    server, _ = pair(sealwire.PULL, sealwire.PUSH)
    poller = sealwire.Poller()
    poller.register(server, POLLIN)
    closer = threading.Thread(target=server.close)
    closer.start()
    assert poller.poll(TIMEOUT_MS) == [(server, POLLIN)]
    closer.join(TIMEOUT)
    with pytest.raises(sealwire.SocketClosed):
        server.recv()


def test_the_descriptor_of_a_socket_serves_other_loops(pair: Pairs) -> None:
    server, client = pair(sealwire.PULL, sealwire.PUSH)
    system = select.poll()
    system.register(server.fileno(), select.POLLIN)
    client.send(b"x")
    while not server.events & POLLIN:
        assert system.poll(TIMEOUT_MS)
    assert server.recv(sealwire.NOBLOCK) == b"x"
