"""Writes the frames of vectors/blake3zmq-continuous.json as a C header."""

import json
import sys

TAG_SIZE = 32


def numbers(data: bytes) -> str:
    # An array has at least one element.
    return ",".join(str(byte) for byte in data) or "0"


with open(sys.argv[1], encoding="utf-8") as file:
    recorded = json.load(file)
with open(sys.argv[2], "w", encoding="ascii") as out:
    print("typedef struct {", file=out)
    print("    const uint8_t *header, *plaintext, *ciphertext, *tag;", file=out)
    print("    size_t header_size, size;", file=out)
    print("    uint64_t first_block;", file=out)
    print("} frame;", file=out)
    print("typedef struct {", file=out)
    print("    const uint8_t *encryption_key, *authentication_key, *nonce;", file=out)
    print("    const frame *frames;", file=out)
    print("    size_t count;", file=out)
    print("} recording;", file=out)
    recordings = []
    for side in ["client_to_server", "server_to_client"]:
        direction = recorded[side]
        frames = []
        for index, frame in enumerate(direction["frames"]):
            plaintext, wire = bytes.fromhex(frame["plaintext"]), bytes.fromhex(frame["wire"])
            # The flags and the length in front are what the tag covers beside the ciphertext.
            header_size = len(wire) - TAG_SIZE - len(plaintext)
            parts = {
                "header": wire[:header_size],
                "plaintext": plaintext,
                "ciphertext": wire[header_size:-TAG_SIZE],
                "tag": wire[-TAG_SIZE:],
            }
            names = []
            for name, data in parts.items():
                names.append(f"{side}_{name}_{index}")
                print(f"static const uint8_t {names[-1]}[] = {{{numbers(data)}}};", file=out)
            sizes = f"{header_size}, {len(plaintext)}, {int(frame['first_block_decimal'])}"
            frames.append(f"    {{{', '.join(names)}, {sizes}}},")
        print(f"static const frame {side}_frames[] = {{", *frames, "};", sep="\n", file=out)
        keys = []
        for name in ["enc_key", "auth_key", "nonce"]:
            keys.append(f"{side}_{name}")
            data = bytes.fromhex(direction[name])
            print(f"static const uint8_t {keys[-1]}[] = {{{numbers(data)}}};", file=out)
        recordings.append(f"    {{{', '.join(keys)}, {side}_frames, {len(frames)}}},")
    print("static const recording recordings[] = {", *recordings, "};", sep="\n", file=out)
