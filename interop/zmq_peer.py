#!/usr/bin/env python3
"""libzmq through pyzmq, driven by a test: NULL, PLAIN and CURVE, all eleven socket types.

Arguments, payloads and events are those of the other peers; README.md describes them.
"""

import argparse
import hashlib
import json
import os
import select
import sys
import time

import zmq
import zmq.auth
import zmq.utils.z85
from zmq.auth.thread import ThreadAuthenticator

SHOWN_WHOLE = 256
SYNC_PERIOD_MS = 10
LINGER_MS = 5000
KINDS = "pair pub sub xpub xsub req rep dealer router push pull".split()


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--type", choices=KINDS)
    place = parser.add_mutually_exclusive_group(required=True)
    place.add_argument("--bind")
    place.add_argument("--connect")
    place.add_argument("--make", help="only make a certificate: NAME.key and NAME.key_secret")
    place.add_argument("--read", help="only read a certificate")
    parser.add_argument("--mechanism", default="null", choices=["null", "plain", "curve"])
    parser.add_argument("--server", action="store_true")
    parser.add_argument("--secret-key")
    parser.add_argument("--server-key")
    parser.add_argument("--allow")
    parser.add_argument("--certificate", help="instead of --secret-key: a file NAME.key_secret")
    parser.add_argument("--server-certificate", help="instead of --server-key: a file NAME.key")
    parser.add_argument("--allow-certificates", help="instead of --allow: a folder of NAME.key")
    parser.add_argument("--username")
    parser.add_argument("--password")
    parser.add_argument("--identity", default="")
    parser.add_argument("--subscribe", action="append")
    parser.add_argument("--topic", default="")
    parser.add_argument("--send", type=int, default=0)
    sizes = lambda text: [int(size) for size in text.split(",")]
    parser.add_argument("--size", type=sizes, default=[16])
    parser.add_argument("--parts", type=int, default=1)
    parser.add_argument("--recv", type=int, default=0)
    parser.add_argument("--cancel", action="store_true")
    parser.add_argument("--echo", action="store_true")
    parser.add_argument("--delimiter", action="store_true")
    parser.add_argument("--lockstep", action="store_true")
    parser.add_argument("--heartbeat-ms", type=int)
    parser.add_argument("--timeout-s", type=int, default=30)
    return parser.parse_args()


def report(event, **fields):
    print(json.dumps({"event": event, **fields}), flush=True)


def report_message(parts):
    def describe(part):
        if len(part) <= SHOWN_WHOLE:
            return {"length": len(part), "hex": part.hex()}
        return {"length": len(part), "sha256": hashlib.sha256(part).hexdigest()}

    report("message", parts=[describe(part) for part in parts])


def payload(topic, index, parts, sizes):
    ring = bytes(range(251)) * (max(sizes) // 251 + 2)
    message = []
    for part in range(parts):
        size = sizes[(index + part) % len(sizes)]
        start = (7 * part + 13 * index) % 251
        message.append(ring[start : start + size])
    message[0] = topic.encode() + message[0]
    return message


class Script:
    """What a peer does, by socket type."""

    def __init__(self, args, socket):
        self.args = args
        self.socket = socket
        self.deadline = time.monotonic() + args.timeout_s

    def left_ms(self):
        return max(0, int((self.deadline - time.monotonic()) * 1000))

    def send(self, parts):
        self.socket.sndtimeo = self.left_ms()
        self.socket.send_multipart(parts)

    def recv(self):
        self.socket.rcvtimeo = self.left_ms()
        return self.socket.recv_multipart()

    def run(self):
        args = self.args
        lockstep = args.lockstep or args.type == "req"
        if args.type == "pub":
            self.sync_until_told()
        elif args.type == "xpub" and args.send:
            report_message(self.recv())
        received = 0
        for index in range(args.send):
            message = payload(args.topic, index, args.parts, args.size)
            self.send([b""] + message if args.delimiter else message)
            if lockstep:
                self.recv_and_report()
                received += 1
        echoes = args.echo or args.type in ("rep", "router")
        while not lockstep and received < args.recv:
            message = self.recv_and_report()
            received += 1
            if echoes:
                self.send(message)
        if args.cancel:
            self.unsubscribe()
        report("done", sent=args.send + (received if echoes else 0), received=received)

    def recv_and_report(self):
        synced = False
        while True:
            message = self.recv()
            sync = len(message) == 1 and message[0].endswith(b"\0sync")
            if self.args.type in ("sub", "xsub") and sync:
                if not synced:
                    report("synced")
                synced = True
                continue
            shown = message[1:] if self.args.delimiter and not message[0] else message
            report_message(shown)
            return message

    def unsubscribe(self):
        for topic in self.args.subscribe or [""]:
            if self.args.type == "sub":
                self.socket.unsubscribe(topic)
            else:
                self.send([b"\x00" + topic.encode()])

    def sync_until_told(self):
        while True:
            self.send([self.args.topic.encode() + b"\0sync"])
            if select.select([sys.stdin], [], [], SYNC_PERIOD_MS / 1000)[0]:
                sys.stdin.readline()
                return
            if not self.left_ms():
                raise TimeoutError("no line on standard input told this publisher to start")


class Allowed:
    """Asks for one key, or none in particular."""

    def __init__(self, key):
        self.key = key and zmq.utils.z85.encode(bytes.fromhex(key))

    def callback(self, domain, key):
        return self.key in (None, key)


def protect(args, context, socket):
    """Sets mechanism and keys. What it returns is to be stopped at the end."""
    authenticator = None
    if args.server:
        authenticator = ThreadAuthenticator(context)
        authenticator.start()
        socket.zap_domain = b"test"
    if args.mechanism == "plain" and args.server:
        authenticator.configure_plain(domain="test", passwords={args.username: args.password})
        socket.plain_server = True
    elif args.mechanism == "plain":
        socket.plain_username = args.username.encode()
        socket.plain_password = args.password.encode()
    elif args.mechanism == "curve":
        if args.certificate:
            public, secret = zmq.auth.load_certificate(args.certificate)
        else:
            secret = zmq.utils.z85.encode(bytes.fromhex(args.secret_key))
            public = zmq.curve_public(secret)
        socket.curve_publickey, socket.curve_secretkey = public, secret
        if args.server and args.allow_certificates:
            authenticator.configure_curve(domain="test", location=args.allow_certificates)
        elif args.server:
            authenticator.configure_curve_callback("test", Allowed(args.allow))
        if args.server:
            socket.curve_server = True
        elif args.server_certificate:
            socket.curve_serverkey, _ = zmq.auth.load_certificate(args.server_certificate)
        else:
            socket.curve_serverkey = zmq.utils.z85.encode(bytes.fromhex(args.server_key))
    return authenticator


def certificate(args):
    """Makes or reads one, and reports its keys."""
    if args.make:
        folder, name = os.path.split(args.make)
        _, secret_file = zmq.auth.create_certificates(folder, name)
    public, secret = zmq.auth.load_certificate(args.read or secret_file)
    keys = {"public": public.decode()}
    if secret:
        keys["secret"] = secret.decode()
    report("certificate", **keys)
    return 0


def main():
    args = arguments()
    if args.make or args.read:
        return certificate(args)
    context = zmq.Context()
    socket = context.socket(getattr(zmq, args.type.upper()))
    socket.set_hwm(0)
    socket.linger = LINGER_MS
    socket.ipv6 = "[" in (args.bind or args.connect)
    if args.identity:
        socket.routing_id = args.identity.encode()
    if args.heartbeat_ms:
        socket.heartbeat_ivl = args.heartbeat_ms
    for topic in args.subscribe or [""]:
        if args.type == "sub":
            socket.subscribe(topic)
    authenticator = protect(args, context, socket)
    if args.bind:
        socket.bind(args.bind)
        endpoint = socket.last_endpoint.decode().rstrip("\0")
    else:
        socket.connect(args.connect)
        endpoint = args.connect
    report("ready", endpoint=endpoint)
    exit_code = 0
    try:
        if args.type == "xsub":
            for topic in args.subscribe or [""]:
                socket.send(b"\x01" + topic.encode())
        Script(args, socket).run()
        # Held open so that what was sent can be read at leisure.
        sys.stdin.read()
    except (zmq.ZMQError, TimeoutError) as error:
        report("error", reason=str(error))
        exit_code = 1
    socket.close()
    if authenticator:
        authenticator.stop()
    context.term()
    return exit_code


if __name__ == "__main__":
    sys.exit(main())
