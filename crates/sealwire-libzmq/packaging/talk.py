"""Messages between sockets of this process, over tcp and ipc, and what pyzmq says of its library: a line of JSON.

With an argument, an endpoint of a PULL socket, it prints the first message that comes there instead.
"""

import json
import sys
import tempfile

import zmq


def libraries() -> list:
    """The files with libzmq's name that are mapped."""
    with open("/proc/self/maps", encoding="utf-8") as maps:
        paths = {line.split(maxsplit=5)[-1].strip() for line in maps}
    return sorted(path for path in paths if "libzmq.so" in path)


def exchange(context: zmq.Context, endpoint: str) -> int:
    """A request and its answer. Returns the mechanism of both ends."""
    server, client = context.socket(zmq.REP), context.socket(zmq.REQ)
    for socket in (server, client):
        socket.setsockopt(zmq.RCVTIMEO, 30_000)
        socket.setsockopt(zmq.LINGER, 0)
    server.bind(endpoint)
    client.connect(server.getsockopt(zmq.LAST_ENDPOINT).decode().rstrip("\0"))
    client.send_multipart([b"question", bytes(100_000)])
    assert server.recv_multipart() == [b"question", bytes(100_000)]
    server.send(b"answer")
    assert client.recv() == b"answer"
    mechanisms = {socket.getsockopt(zmq.MECHANISM) for socket in (server, client)}
    server.close()
    client.close()
    (mechanism,) = mechanisms
    return mechanism


def main() -> None:
    context = zmq.Context()
    if len(sys.argv) > 1:
        pull = context.socket(zmq.PULL)
        pull.setsockopt(zmq.RCVTIMEO, 30_000)
        pull.bind(sys.argv[1])
        print(pull.recv().decode(), flush=True)
        return
    with tempfile.TemporaryDirectory() as folder:
        endpoints = ["tcp://127.0.0.1:*", f"ipc://{folder}/socket"]
        (mechanism,) = {exchange(context, endpoint) for endpoint in endpoints}
    said = {"version": zmq.zmq_version(), "mechanism": mechanism, "libraries": libraries()}
    context.term()
    print(json.dumps(said))


main()
