"""Writes vectors/nacl.json as a C header, padded as NaCl has messages and ciphertexts."""

import json
import sys

with open(sys.argv[1], encoding="utf-8") as file:
    recorded = json.load(file)
box = {name: bytes.fromhex(text) for name, text in recorded["box"].items()}
box["padded_message"] = bytes(32) + box["message"]
box["padded_ciphertext"] = bytes(16) + box["tag"] + box["ciphertext"]


def numbers(data: bytes) -> str:
    return ",".join(str(byte) for byte in data)


with open(sys.argv[2], "w", encoding="ascii") as out:
    for name, data in box.items():
        print(f"static const unsigned char {name}[{len(data)}] = {{{numbers(data)}}};", file=out)
    print("static const struct {", file=out)
    print("    unsigned char scalar[32], point[32], product[32];", file=out)
    print("} products[] = {", file=out)
    for case in recorded["scalarmult"]:
        fields = (bytes.fromhex(case[name]) for name in ["scalar", "point", "product"])
        print("    {" + ", ".join(f"{{{numbers(field)}}}" for field in fields) + "},", file=out)
    print("};", file=out)
    print(f"enum {{ PRODUCTS = {len(recorded['scalarmult'])} }};", file=out)
