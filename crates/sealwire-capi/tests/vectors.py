"""Writes vectors/chacha20-blake3.json and blake3-derive-key.json as a C header."""

import json
import sys

with open(sys.argv[1], encoding="utf-8") as file:
    cases = json.load(file)["cases"]
with open(sys.argv[2], encoding="utf-8") as file:
    derivation = json.load(file)


def array(name: str, text: str) -> str:
    # An array has at least one element.
    numbers = ",".join(str(byte) for byte in bytes.fromhex(text)) or "0"
    return f"static const uint8_t {name}[] = {{{numbers}}};"


with open(sys.argv[3], "w", encoding="ascii") as out:
    fields = ["key", "nonce", "aad", "plaintext", "ciphertext", "tag"]
    for index, case in enumerate(cases):
        for field in fields:
            print(array(f"{field}_{index}", case[field]), file=out)
    print("typedef struct {", file=out)
    print("    const uint8_t *key, *nonce, *aad, *plaintext, *ciphertext, *tag;", file=out)
    print("    size_t aad_size, size;", file=out)
    print("} vector;", file=out)
    print("static const vector vectors[] = {", file=out)
    for index, case in enumerate(cases):
        pointers = ", ".join(f"{field}_{index}" for field in fields)
        print(f"    {{{pointers}, {len(case['aad']) // 2}, {len(case['plaintext']) // 2}}},", file=out)
    print("};", file=out)
    print(f"enum {{ VECTORS = {len(cases)} }};", file=out)

    for index, case in enumerate(derivation["cases"]):
        print(array(f"derived_{index}", case["derived"]), file=out)
    print(f"static const char derivation_context[] = {json.dumps(derivation['context'])};", file=out)
    print("typedef struct {", file=out)
    print("    size_t material_size, size;", file=out)
    print("    const uint8_t *derived;", file=out)
    print("} derivation;", file=out)
    print("static const derivation derivations[] = {", file=out)
    for index, case in enumerate(derivation["cases"]):
        size = len(case["derived"]) // 2
        print(f"    {{{case['material_size']}, {size}, derived_{index}}},", file=out)
    print("};", file=out)
    print(f"enum {{ DERIVATIONS = {len(derivation['cases'])} }};", file=out)
