"""Messages from one thread to another with pyzmq, over TCP: one_by_one.py SIZE COUNT."""

import sys
import threading
import time

import zmq

size, count = map(int, sys.argv[1:])
context = zmq.Context()
pull = context.socket(zmq.PULL)
port = pull.bind_to_random_port("tcp://127.0.0.1")


def send():
    push = context.socket(zmq.PUSH)
    push.connect(f"tcp://127.0.0.1:{port}")
    body = bytes(size)
    for _ in range(count):
        push.send(body)
    push.close()


thread = threading.Thread(target=send)
thread.start()
pull.recv()
begun = time.perf_counter()
for _ in range(count - 1):
    pull.recv()
print(f"mean throughput: {(count - 1) / (time.perf_counter() - begun):.0f} [msg/s]")
thread.join()
pull.close()
context.term()
