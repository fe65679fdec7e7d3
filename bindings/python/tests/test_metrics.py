"""The numbers of contexts."""

from __future__ import annotations

import sealwire


def test_a_context_measures_itself() -> None:
    with sealwire.Context() as context, sealwire.Socket(sealwire.PULL, context) as pull:
        with sealwire.Socket(sealwire.PUSH) as push:
            push.connect(pull.bind("tcp://127.0.0.1:*"))
            push.send(b"a message")
            assert pull.recv() == b"a message"
            numbers = {(metric.name, *metric.labels.values()): metric.value for metric in context.metrics()}
            assert numbers["sealwire_messages_total", "1", "PULL", "in"] == 1
            assert numbers["sealwire_bytes_total", "1", "PULL", "in"] == 9
            age = numbers["sealwire_context_age_seconds",]
            assert isinstance(age, float) and age > 0
            assert ("sealwire_time_in_queue_seconds_count", "1", "PULL", "in") in numbers
            assert all("PUSH" not in metric.labels.values() for metric in context.metrics())
            shared = sealwire.Context.instance().metrics()
            assert any(metric.labels.get("type") == "PUSH" for metric in shared)
            lines = [line for line in context.prometheus().splitlines() if not line.startswith("#")]
            of_peers = [metric for metric in context.metrics() if metric.name.startswith("sealwire_peer_")]
            assert of_peers and len(lines) == len(context.metrics()) - len(of_peers)
            assert 'sealwire_messages_total{socket="1",type="PULL",direction="in"} 1' in lines
