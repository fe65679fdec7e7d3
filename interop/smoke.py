#!/usr/bin/env python3
"""Proves that the peers talk among themselves, each with its own family.

What fails here is a fault of a peer program, not of the project. Needs setup.sh to have run.
"""

import hashlib
import itertools
import json
import pathlib
import subprocess
import sys

PEERS = pathlib.Path(__file__).resolve().parent / "target" / "peers"
SERVER_SECRET = "2122232425262728292a2b2c2d2e2f303132333435363738393a3b3c3d3e3f40"
SERVER_PUBLIC = "5869aff450549732cbaaed5e5df9b30a6da31cb0e5742bad5ad4a1a768f1a67b"
CLIENT_SECRET = "0102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f20"
CLIENT_PUBLIC = "07a37cbc142093c8b755dc1b10e86cb426374ad16aa853ed0bdfc0b2b86d1c7c"

# Binding type and its part, connecting type and its part.
PATTERNS = [
    ("rep", {"recv": 3}, "req", {"send": 3}),
    ("router", {"recv": 3}, "dealer", {"send": 3, "recv": 3}),
    ("router", {"recv": 3}, "req", {"send": 3}),
    # In step, because omq-tokio 0.13.0 forgets where a request came from when the next one comes.
    ("rep", {"recv": 3}, "dealer", {"send": 3, "lockstep": True, "delimiter": True}),
    ("dealer", {"recv": 3, "echo": True}, "dealer", {"send": 3, "recv": 3}),
    ("pull", {"recv": 3}, "push", {"send": 3}),
    ("push", {"send": 3}, "pull", {"recv": 3}),
    ("pair", {"recv": 3, "echo": True}, "pair", {"send": 3, "recv": 3}),
    ("pub", {"send": 3, "topic": "a."}, "sub", {"recv": 3, "subscribe": "a."}),
    ("pub", {"send": 3, "topic": "a."}, "xsub", {"recv": 3, "subscribe": "a."}),
    ("xpub", {"send": 3, "topic": "a."}, "sub", {"recv": 3, "subscribe": "a."}),
    ("xpub", {"send": 3, "topic": "a."}, "xsub", {"recv": 3, "subscribe": "a."}),
]
SHAPES = [{"size": 0}, {"size": 16}, {"size": 70_000, "parts": 3}]


class Peer:
    def __init__(self, program, **options):
        command = [str(PEERS / program), "--timeout-s", "10"]
        for name, value in options.items():
            command.append("--" + name.replace("_", "-"))
            if value is not True:
                command.append(str(value))
        self.command = command
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True)

    def event(self):
        line = self.process.stdout.readline()
        if not line:
            raise AssertionError(f"{self.command} ended without a word")
        event = json.loads(line)
        if event["event"] in ("error", "handshake_failed"):
            raise AssertionError(f"{self.command}: {event}")
        return event

    def until(self, name):
        """Events up to the first one called `name`."""
        events = [self.event()]
        while events[-1]["event"] != name:
            events.append(self.event())
        return events

    def tell(self):
        self.process.stdin.write("go\n")
        self.process.stdin.flush()

    def finish(self):
        self.process.stdin.close()
        if self.process.wait(10) != 0:
            raise AssertionError(f"{self.command} exits with {self.process.returncode}")


def expected(topic, index, parts, size):
    described = []
    for part in range(parts):
        body = bytes((i + 7 * part + 13 * index) % 251 for i in range(size))
        body = topic.encode() * (part == 0) + body
        if len(body) <= 256:
            described.append({"length": len(body), "hex": body.hex()})
        else:
            described.append({"length": len(body), "sha256": hashlib.sha256(body).hexdigest()})
    return described


def exchange(binding, connecting, security, pattern, shape):
    """One pair of peers through one pattern; checks each message both of them report."""
    bind_type, bind_part, connect_type, connect_part = pattern
    bound = Peer(
        binding, type=bind_type, bind="tcp://127.0.0.1:0", **shape, **bind_part, **security[0]
    )
    endpoint = bound.until("ready")[-1]["endpoint"]
    other = Peer(
        connecting, type=connect_type, connect=endpoint, **shape, **connect_part, **security[1]
    )
    events = {}
    if bind_type == "pub":
        # The subscriber says `synced` before its messages; only then do they begin.
        seen = other.until("synced")
        bound.tell()
        events["connecting"] = seen + other.until("done")
        events["binding"] = bound.until("done")
    else:
        events["connecting"] = other.until("done")
        events["binding"] = bound.until("done")
    for side, kind in (("binding", bind_type), ("connecting", connect_type)):
        messages = [e["parts"] for e in events[side] if e["event"] == "message"]
        if kind == "router":
            assert all(len(parts.pop(0)["hex"]) > 0 for parts in messages)
            if connect_type == "req":
                assert all(parts.pop(0)["length"] == 0 for parts in messages)
        if kind == "xpub":
            assert messages.pop(0) == [{"length": 3, "hex": b"\x01a.".hex()}]
        topic = bind_part.get("topic", "")
        wanted = [expected(topic, i, shape.get("parts", 1), shape["size"]) for i in range(3)]
        assert messages in ([], wanted), f"{bound.command} {other.command}: {messages}"
        part = bind_part if side == "binding" else connect_part
        assert bool(messages) == ("recv" in part or "lockstep" in part or kind == "req")
    other.finish()
    bound.finish()


def blake3_security(allow=CLIENT_PUBLIC):
    server = {"mechanism": "blake3", "server": True, "secret_key": SERVER_SECRET, "allow": allow}
    client = {"mechanism": "blake3", "server_key": SERVER_PUBLIC, "secret_key": CLIENT_SECRET}
    return server, client


def family(name, programs, security):
    count = 0
    for (binding, connecting), pattern, shape in itertools.product(
        itertools.product(programs, repeat=2), PATTERNS, SHAPES
    ):
        exchange(binding, connecting, security, pattern, shape)
        count += 1
    print(f"{name}: {count} exchanges agree")


def refusal(program):
    """A client that is not on the list gets no handshake."""
    server, client = blake3_security(allow=SERVER_PUBLIC)
    bound = Peer(program, type="rep", bind="tcp://127.0.0.1:0", recv=1, **server)
    endpoint = bound.until("ready")[-1]["endpoint"]
    other = Peer(program, type="req", connect=endpoint, send=1, **client)
    # omq-tokio has no event for a refusal: there the second dial shows the first one failed.
    signs = {"omq-peer": ["connected", "connected"], "omq-codec-peer": ["handshake_failed"]}[program]
    for line in other.process.stdout:
        event = json.loads(line)["event"]
        assert event not in ("handshake", "message"), f"{other.command}: {event}"
        if event == signs[0] and not (signs := signs[1:]):
            break
    assert not signs, f"{other.command} ended without a sign of refusal"
    for peer in (bound, other):
        peer.process.terminate()
        peer.process.wait(10)
    print(f"{program}: a client that is not on the list is refused")


def main():
    null = ({"mechanism": "null"}, {"mechanism": "null"})
    libzmq = [p for p in ("zmq-peer-c", "zmq-peer-python") if (PEERS / p).exists()]
    if libzmq:
        family("libzmq, NULL", libzmq, null)
    for program in ("omq-peer", "omq-codec-peer"):
        if (PEERS / program).exists():
            family(f"{program}, NULL", [program], null)
            family(f"{program}, BLAKE3", [program], blake3_security())
            refusal(program)
    if libzmq and (PEERS / "omq-peer").exists():
        exchange("omq-peer", libzmq[0], null, PATTERNS[0], SHAPES[1])
        exchange(libzmq[0], "omq-peer", null, PATTERNS[0], SHAPES[1])
        print("omq-peer and libzmq, NULL: agree")


if __name__ == "__main__":
    sys.exit(main())
