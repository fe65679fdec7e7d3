#!/usr/bin/env python3
"""Checks vectors/blake3zmq*.json from the secrets alone, in another language.

Needs the package `blake3` from PyPI; X25519 (RFC 7748) and ChaCha20 are written out below. It reads
no value it could compute: greetings, keys, the cookie's nonce and the plaintexts go in, every other
field comes out and is compared.
"""

import json
import pathlib
import struct
import sys

from blake3 import blake3

TAG = 32


def x25519(scalar, point):
    k = int.from_bytes(scalar, "little") & ~7 & (1 << 255) - 1 | 1 << 254
    u = int.from_bytes(point, "little") & (1 << 255) - 1
    p = 2**255 - 19
    x2, z2, x3, z3, swap = 1, 0, u, 1, 0
    for t in reversed(range(255)):
        bit = k >> t & 1
        if swap ^ bit:
            x2, z2, x3, z3 = x3, z3, x2, z2
        swap = bit
        a, b, c, d = x2 + z2, x2 - z2, x3 + z3, x3 - z3
        da, cb, aa, bb = d * a % p, c * b % p, a * a % p, b * b % p
        e = aa - bb
        x3, z3 = (da + cb) ** 2 % p, u * (da - cb) ** 2 % p
        x2, z2 = aa * bb % p, e * (aa + 121665 * e) % p
    if swap:
        x2, z2 = x3, z3
    return (x2 * pow(z2, p - 2, p) % p).to_bytes(32, "little")


def public_key(secret):
    return x25519(secret, (9).to_bytes(32, "little"))


def chacha20_block(key, nonce, counter):
    start = [0x61707865, 0x3320646E, 0x79622D32, 0x6B206574]
    start += struct.unpack("<8I", key) + struct.unpack("<2I", struct.pack("<Q", counter))
    start += struct.unpack("<2I", nonce)
    s = list(start)

    def quarter(a, b, c, d):
        for x, y, z, n in ((a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)):
            s[x] = s[x] + s[y] & 0xFFFFFFFF
            v = s[z] ^ s[x]
            s[z] = (v << n | v >> 32 - n) & 0xFFFFFFFF

    for _ in range(10):
        for i in range(4):
            quarter(i, i + 4, i + 8, i + 12)
        for i in range(4):
            quarter(i, 4 + (i + 1) % 4, 8 + (i + 2) % 4, 12 + (i + 3) % 4)
    return struct.pack("<16I", *((x + y) & 0xFFFFFFFF for x, y in zip(s, start)))


def seal_parts(enc_key, auth_key, nonce, block, plaintext, aad):
    stream = b"".join(
        chacha20_block(enc_key, nonce, block + i) for i in range(-(-len(plaintext) // 64))
    )
    sealed = bytes(x ^ y for x, y in zip(plaintext, stream))
    lengths = struct.pack("<Q", len(aad)), struct.pack("<Q", len(sealed))
    return sealed + blake3(aad + lengths[0] + sealed + lengths[1], key=auth_key).digest()


def seal(box, plaintext, aad):
    out = blake3(box["nonce"], key=box["key"]).digest(length=72)
    return seal_parts(out[:32], out[32:64], out[64:], 0, plaintext, aad)


def derive(context, material, length=32):
    return blake3(material, derive_key_context="BLAKE3ZMQ-1.0 " + context).digest(length=length)


def box(name, key_material, nonce_material):
    return {
        "key": derive(name + " key", key_material),
        "nonce": derive(name + " nonce", nonce_material, 24),
    }


def header(flags, length):
    return bytes([flags, length]) if length < 256 else struct.pack(">BQ", flags | 2, length)


def command(name, body):
    body = bytes([len(name)]) + name.encode() + body
    return header(4, len(body)) + body


def metadata(side):
    out = b""
    for name, field in (("Socket-Type", "socket_type_ascii"), ("Identity", "identity_ascii")):
        if field in side:
            value = side[field].encode()
            out += bytes([len(name)]) + name.encode() + struct.pack(">I", len(value)) + value
    return out


def unhex(value):
    """All strings of a document as bytes, but for the fields that hold text."""
    if isinstance(value, dict):
        return {
            k: v if k in TEXT or k.endswith("_ascii") else unhex(v) for k, v in value.items()
        }
    if isinstance(value, list):
        return [unhex(v) for v in value]
    return bytes.fromhex(value) if isinstance(value, str) else value


TEXT = {"description", "origin", "mechanism", "protocol", "data_phase", "rule", "use"}


def check_direction(name, data, h4, dh2, same):
    material = h4 + dh2
    per_message = "key" in data
    if per_message:
        key = derive(name + " key", material)
        nonce = derive(name + " nonce", material, 24)
        same(data["key"], key, name + " key")
    else:
        enc_key, auth_key = derive(name + " enc key", material), derive(name + " auth key", material)
        nonce = derive(name + " nonce", material, 8)
        same((data["enc_key"], data["auth_key"]), (enc_key, auth_key), name + " keys")
    same(data["nonce"], nonce, name + " nonce")
    block = 0
    for i, frame in enumerate(data["frames"]):
        where = f"{name} frame {i}"
        text = frame["plaintext"]
        same(frame["plaintext_length_decimal"], len(text), where + " length")
        aad = header(frame["more"] | frame["command"] << 2, len(text) + TAG)
        same(frame["flags"], aad[:1], where + " flags")
        if per_message:
            counter = (int.from_bytes(nonce[16:], "little") + i) % 2**64
            frame_nonce = nonce[:16] + counter.to_bytes(8, "little")
            same(frame["frame_nonce"], frame_nonce, where + " nonce")
            sealed = seal({"key": key, "nonce": frame_nonce}, text, aad)
        else:
            same(frame["first_block_decimal"], block, where + " block")
            sealed = seal_parts(enc_key, auth_key, nonce, block, text, aad)
            block += -(-len(text) // 64)
        same(frame["wire"], aad + sealed, where + " wire")


def check(path):
    v = unhex(json.loads(path.read_text()))
    checked = 0

    def same(stored, computed, what):
        nonlocal checked
        checked += 1
        if stored != computed:
            sys.exit(f"{path.name}: {what} differs")

    c, s = v["client"], v["server"]
    for side in (c, s):
        same(side["public_key"], public_key(side["secret_key"]), "public key")
        same(side["ephemeral_public_key"], public_key(side["ephemeral_secret_key"]), "ephemeral")
        same(side["metadata"], metadata(side), "metadata")
    dh1 = x25519(c["ephemeral_secret_key"], s["public_key"])
    dh2 = x25519(c["ephemeral_secret_key"], s["ephemeral_public_key"])
    dh3 = x25519(c["secret_key"], s["ephemeral_public_key"])
    same(v["shared_secrets"], {"dh1": dh1, "dh2": dh2, "dh3": dh3}, "shared secrets")

    c1, s1 = c["ephemeral_public_key"], s["ephemeral_public_key"]
    h = [blake3(b"BLAKE3ZMQ-1.0" + c["greeting"] + s["greeting"]).digest()]
    boxes = {"hello": box("HELLO", dh1, c1)}
    frames = {}

    def frame(name, body):
        frames[name.lower()] = {"wire": command(name, body)}
        h.append(blake3(h[-1] + frames[name.lower()]["wire"]).digest())

    frame("HELLO", b"\1\0" + c1 + bytes(96) + seal(boxes["hello"], bytes(64), b"HELLO"))
    boxes["cookie"] = {"key": derive("cookie", s["cookie_secret"]), "nonce": s["cookie_nonce"]}
    inside = c1 + s["ephemeral_secret_key"] + h[1]
    cookie = s["cookie_nonce"] + seal(boxes["cookie"], inside, s["cookie_aad_ascii"].encode())
    boxes["welcome"] = box("WELCOME", dh1, h[1])
    frame("WELCOME", seal(boxes["welcome"], s1 + cookie, b"WELCOME"))
    boxes["vouch"] = box("VOUCH", dh3, dh3)
    vouch = seal(boxes["vouch"], c1 + s["public_key"], b"VOUCH")
    boxes["initiate"] = box("INITIATE", dh2 + h[2], dh2 + h[2])
    inside = c["public_key"] + vouch + c["metadata"]
    frame("INITIATE", cookie + seal(boxes["initiate"], inside, b"INITIATE"))
    boxes["ready"] = box("READY", dh2 + h[3], dh2 + h[3])
    frame("READY", seal(boxes["ready"], s["metadata"], b"READY"))

    same(v["cookie"], cookie, "cookie")
    same(v["vouch"], vouch, "vouch")
    for name, stored in v["boxes"].items():
        same(stored, boxes[name], name + " box")
    for name, stored in v["handshake"].items():
        same(stored, frames[name], name)
    same(v["transcript"], {f"h{i}": value for i, value in enumerate(h)}, "transcript")
    check_direction("client->server", v["client_to_server"], h[4], dh2, same)
    check_direction("server->client", v["server_to_client"], h[4], dh2, same)
    print(f"{path.name}: {checked} values agree")


if __name__ == "__main__":
    folder = pathlib.Path(__file__).resolve().parents[2] / "vectors"
    for file in sys.argv[1:] or sorted(folder.glob("blake3zmq*.json")):
        check(pathlib.Path(file))
