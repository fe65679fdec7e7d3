#!/usr/bin/env python3
"""TLS, as OpenSSL has it, on one side of TCP connections and nothing on the other; for libzmq's ws.

    tls_relay.py --timeout-s N --to PORT --tls-in CHAIN_AND_KEY     TLS comes in, plain bytes go out
    tls_relay.py --timeout-s N --to PORT --tls-out AUTHORITY        plain bytes come in, TLS goes out

Files are PEM. Prints its port. Ends with standard input, or when the time is over.
"""

import argparse
import asyncio
import json
import os
import ssl
import sys
import threading

PIECE = 65536


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--timeout-s", type=int, default=30)
    parser.add_argument("--to", type=int, required=True)
    side = parser.add_mutually_exclusive_group(required=True)
    side.add_argument("--tls-in")
    side.add_argument("--tls-out")
    return parser.parse_args()


async def carry(reader, writer):
    try:
        while piece := await reader.read(PIECE):
            writer.write(piece)
            await writer.drain()
    except OSError:
        pass
    finally:
        writer.close()


async def relay(options):
    inner = outer = None
    if options.tls_in:
        inner = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        inner.load_cert_chain(options.tls_in)
    else:
        # Checks the host name as well.
        outer = ssl.create_default_context(cafile=options.tls_out)

    async def connected(reader, writer):
        name = "localhost" if outer else None
        try:
            there = await asyncio.open_connection(
                "127.0.0.1", options.to, ssl=outer, server_hostname=name
            )
        except OSError as error:
            print(json.dumps({"event": "error", "why": str(error)}), flush=True)
            writer.close()
            return
        await asyncio.gather(carry(reader, there[1]), carry(there[0], writer))

    server = await asyncio.start_server(connected, "127.0.0.1", 0, ssl=inner)
    port = server.sockets[0].getsockname()[1]
    print(json.dumps({"event": "ready", "port": port}), flush=True)
    await asyncio.sleep(options.timeout_s)


def end_with_input():
    sys.stdin.read()
    os._exit(0)


if __name__ == "__main__":
    threading.Thread(target=end_with_input, daemon=True).start()
    asyncio.run(relay(arguments()))
