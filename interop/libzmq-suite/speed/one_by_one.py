"""Messages with pyzmq over TCP, a call for each: one_by_one.py SIZE COUNT threads|processes, between two of these."""

import subprocess
import sys
import threading
import time

import zmq

size, count, between = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
context = zmq.Context()


def send(endpoint):
    push = context.socket(zmq.PUSH)
    push.connect(endpoint)
    body = bytes(size)
    for _ in range(count):
        push.send(body)
    push.close()


if between == "sender":
    send(sys.argv[4])
    context.term()
    sys.exit()
pull = context.socket(zmq.PULL)
port = pull.bind_to_random_port("tcp://127.0.0.1")
endpoint = f"tcp://127.0.0.1:{port}"
if between == "threads":
    sender = threading.Thread(target=send, args=(endpoint,))
    sender.start()
else:
    sender = subprocess.Popen([sys.executable, __file__, *sys.argv[1:3], "sender", endpoint])
pull.recv()
begun = time.perf_counter()
for _ in range(count - 1):
    pull.recv()
print(f"mean throughput: {(count - 1) / (time.perf_counter() - begun):.0f} [msg/s]")
if between == "threads":
    sender.join()
else:
    sender.wait()
pull.close()
context.term()
