"""Publishers and subscribers, groups: topics, and who is waited for."""

from __future__ import annotations

import threading

import pytest

import sealwire
from conftest import TIMEOUT, Pairs, securities


def test_topics(pair: Pairs) -> None:
    xpub, subscriber = pair(sealwire.XPUB, sealwire.SUB)
    subscriber.subscribe("news")
    assert xpub.recv() == b"\x01news"
    xpub.send(b"other")
    xpub.send(b"news: rain")
    assert subscriber.recv() == b"news: rain"
    subscriber.unsubscribe("news")
    assert xpub.recv() == b"\x00news"
    with pytest.raises(sealwire.StateError):
        subscriber.unsubscribe("news")


def test_the_last_value_of_a_topic_goes_to_a_new_subscriber_alone(pair: Pairs) -> None:
    publisher = pair.socket(sealwire.XPUB, xpub_manual_last_value=True)
    first, second = pair.socket(sealwire.SUB), pair.socket(sealwire.SUB)
    bound = publisher.bind("tcp://127.0.0.1:0")
    for subscriber, value in (first, b"a1"), (second, b"a2"):
        subscriber.connect(bound)
        subscriber.subscribe("a")
        assert publisher.recv() == b"\1a"
        publisher.subscribe("a")
        publisher.send(value)
    publisher.send(b"a3")
    assert (first.recv(), first.recv()) == (b"a1", b"a3")
    assert (second.recv(), second.recv()) == (b"a2", b"a3")


@pytest.mark.parametrize("verbose", [True, False])
def test_cancellations_of_an_xsub_are_all_passed_or_the_last_alone(pair: Pairs, verbose: bool) -> None:
    publisher = pair.socket(sealwire.XPUB, xpub_verboser=True)
    subscriber = pair.socket(sealwire.XSUB, xsub_verbose_unsubscribe=verbose)
    subscriber.connect(publisher.bind("tcp://127.0.0.1:0"))
    subscriber.send(b"\1a")
    subscriber.send(b"\1a")
    assert publisher.recv() == b"\1a"
    # The first of two.
    subscriber.send(b"\0a")
    subscriber.send(b"\1b")
    assert publisher.recv() == (b"\0a" if verbose else b"\1b")


def test_topics_are_counted(pair: Pairs) -> None:
    publisher, subscriber = pair(sealwire.XPUB, sealwire.SUB)
    assert subscriber.topics == publisher.topics == 0
    for topic in "a", "a", "b":
        subscriber.subscribe(topic)
    assert publisher.recv() == b"\1a"
    assert publisher.recv() == b"\1b"
    assert subscriber.topics == publisher.topics == 2
    with pytest.raises(sealwire.Unsupported):
        pair.socket(sealwire.PULL).topics


def test_topics_may_be_asked_for_before_options_are_set() -> None:
    with sealwire.Socket(sealwire.SUB) as subscriber:
        subscriber.subscribe(b"")
        subscriber.rcvhwm = 10
        subscriber.connect("tcp://127.0.0.1:1")
        subscriber.rcvhwm = 11
        assert subscriber.rcvhwm == 11
    with sealwire.Socket(sealwire.PUSH) as push, pytest.raises(sealwire.Unsupported):
        push.subscribe(b"")


def test_groups_and_numbered_connections(pair: Pairs) -> None:
    server, client = pair(sealwire.SERVER, sealwire.CLIENT)
    client.send(b"question")
    question = server.recv_message()
    assert question.routing_id is not None
    assert question.body == b"question"
    server.send(b"answer", routing_id=question.routing_id)
    assert client.recv() == b"answer"
    client.send(b"again")
    assert server.recv() == b"again"
    with pytest.raises(sealwire.Unroutable):
        server.send(b"nobody", routing_id=0xFFFF_FFF0)

    dish, radio = pair(sealwire.DISH, sealwire.RADIO)
    dish.join("weather")
    with pytest.raises(sealwire.StateError):
        dish.join("weather")
    # Whether the radio has heard of the group shows in what arrives: sent until it does.
    arrived = threading.Event()

    def broadcast() -> None:
        while not arrived.is_set():
            radio.send(b"rain", group="weather")
            arrived.wait(0.01)

    sender = threading.Thread(target=broadcast)
    sender.start()
    try:
        message = dish.recv_message()
    finally:
        arrived.set()
        sender.join(TIMEOUT)
    assert (message.group, message.body) == (b"weather", b"rain")


def test_subscribers_that_were_waited_for_miss_nothing(pair: Pairs) -> None:
    server_security, client_security = securities("BLAKE3")
    publisher = pair.socket(sealwire.PUB, server_security)
    subscriber = pair.socket(sealwire.SUB, client_security)
    events = publisher.monitor()
    with pytest.raises(sealwire.TimedOut, match="no peer was connected"):
        publisher.wait_connected(timeout=0)
    subscriber.connect(publisher.bind("tcp://127.0.0.1:0"))
    publisher.wait_connected()
    with pytest.raises(sealwire.TimedOut, match="subscribers.* within 20ms"):
        publisher.wait_subscribed("weather.", timeout=20)
    subscriber.subscribe("weather")
    publisher.wait_subscribed(b"weather.", peers=1)
    subscribed = next(event for event in events if event.kind == "subscribed")
    assert subscribed.peer is not None and subscribed.peer.user_id == "alice"
    publisher.send(b"weather.today")
    assert subscriber.recv() == b"weather.today"
    with pytest.raises(sealwire.Unsupported):
        subscriber.wait_subscribed("")
