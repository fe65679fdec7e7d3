"""Writes the sections of vectors/newplex.json that C has functions for as a C header."""

from __future__ import annotations

import json
import sys

NONCE_SIZE = 16
SIGNATURE_SIZE = 64

with open(sys.argv[1], encoding="utf-8") as file:
    recorded = json.load(file)
out = open(sys.argv[2], "w", encoding="ascii")
arrays: dict[bytes, str] = {}


def blob(data: bytes) -> str:
    """An initializer of a `blob`, with its bytes in an array of their own."""
    if data not in arrays:
        arrays[data] = f"bytes_{len(arrays)}"
        # An array has at least one element.
        numbers = ",".join(str(byte) for byte in data) or "0"
        print(f"static const uint8_t {arrays[data]}[] = {{{numbers}}};", file=out)
    return f"{{{arrays[data]}, {len(data)}}}"


def text(value: str) -> str:
    """A literal. C has labels and domains as texts; digits are not to go on from an escape."""
    octets = value.encode()
    assert 0 not in octets
    return '"' + "".join(f"\\{byte:03o}" for byte in octets) + '"'


def table(kind: str, name: str, rows: list[str]) -> None:
    print(f"static const {kind} {name}[] = {{", *(f"    {{{row}}}," for row in rows), "};", sep="\n", file=out)
    print(f"enum {{ {name.upper()} = {len(rows)} }};", file=out)


def unhex(values: list[str]) -> bytes:
    return b"".join(bytes.fromhex(value) for value in values)


def steps(vector: dict) -> list[dict]:
    """The operations of a transcript. C has none in pieces: their pieces are joined."""
    found = []
    for op in vector["ops"]:
        op = dict(op)
        chunks = op.pop("chunks", [])
        if op["op"] in ("mix_writer", "mix_reader", "mask_stream", "unmask_stream"):
            op["op"] = op["op"].split("_")[0]
            op["input"] = unhex(chunks).hex()
            if "outputs" in op:
                op["output"] = unhex(op["outputs"]).hex()
        elif op["op"] == "mix_writer_branch":
            branch = op["into"][0]
            found.append({"op": "clone", "p": op["p"], "into": [branch]})
            found.append({"op": "mix", "p": branch, "label": op["label"], "input": chunks[0]})
            op.update(op="mix", input=unhex(chunks).hex(), into=[])
        elif op["op"] == "fork_n":
            op["op"] = "fork"
        elif op["op"] == "string":
            # How Go shows a protocol.
            continue
        found.append(op)
    return found


def operation(op: dict) -> str:
    kind = op["op"].upper()
    into = op.get("into", [])
    if isinstance(into, int):
        into = [into]
    instances = [op["p"], *into]
    if kind == "EQUAL":
        instances = [op["p"], op["with"]]
    instances_name = f"instances_{len(names)}"
    values_name = f"values_{len(names)}"
    names.append(instances_name)
    values = [blob(bytes.fromhex(value)) for value in op.get("values", [])]
    print(f"static const size_t {instances_name}[] = {{{', '.join(map(str, instances))}}};", file=out)
    print(f"static const blob {values_name}[] = {{{', '.join(values) or '{NULL, 0}'}}};", file=out)
    label = text(op.get("domain", op.get("label", "")))
    fields = [blob(bytes.fromhex(op.get(name, ""))) for name in ("input", "output", "state")]
    if kind == "DERIVE":
        assert len(op["output"]) == 2 * op["n"]
    refused = int("error" in op or op.get("equal") is False)
    return f"{kind}, {label}, {', '.join(fields)}, {instances_name}, {values_name}, {len(instances)}, {refused}"


names: list[str] = []
print("typedef struct { const uint8_t *data; size_t size; } blob;", file=out)
print("enum operation_kind { INIT, MIX, DERIVE, MASK, UNMASK, SEAL, OPEN, FORK, RATCHET, CLONE, MARSHAL, UNMARSHAL, EQUAL, FINAL };", file=out)
print("typedef struct {", file=out)
print("    int kind; const char *label; blob input, output, state;", file=out)
print("    const size_t *instances; const blob *values; size_t count; int refused;", file=out)
print("} operation;", file=out)
print("typedef struct { const operation *operations; size_t count; } transcript;", file=out)
transcripts = []
left_out = 0
for section in ("protocol", "transcripts"):
    for vector in recorded[section]["vectors"]:
        if any("label_hex" in op or "\0" in op.get("label", op.get("domain", "")) for op in vector["ops"]):
            # No text, or none that C could hand over.
            left_out += 1
            continue
        ops = [operation(op) for op in steps(vector)]
        for final in vector["finals"]:
            state = final.get("state", "")
            final = {"op": "final", "p": final["p"], "label": "final", "output": final["output"], "state": state}
            ops.append(operation(final))
        name = f"operations_{len(transcripts)}"
        table("operation", name, ops)
        transcripts.append(f"{name}, {len(ops)}")
assert (len(transcripts), left_out) == (515, 2), (len(transcripts), left_out)
table("transcript", "transcripts", transcripts)

print("typedef struct { blob state, derived; int accept; } restored;", file=out)
rows = []
for case in recorded["protocol"]["unmarshal"]:
    derived = blob(bytes.fromhex(case.get("derive", "")))
    rows.append(f"{blob(bytes.fromhex(case['input']))}, {derived}, {int(case['accept'])}")
table("restored", "states", rows)

print("typedef struct { int keyed; const char *domain; blob key, message, value; } digested;", file=out)
rows = []


def digested(case: dict, message: bytes, value: str) -> None:
    key = bytes.fromhex(case.get("key", ""))
    row = f"{int('key' in case)}, {text(case['domain'])}, {blob(key)}, {blob(message)}"
    rows.append(f"{row}, {blob(bytes.fromhex(value))}")


for case in recorded["digest"]["vectors"]:
    message = b""
    for step in case["steps"]:
        if step["op"] == "write":
            message += bytes.fromhex(step["input"])
        elif step["op"] == "reset":
            message = b""
        else:
            digested(case, message, step["output"][len(step.get("prefix", "")) :])
for case in recorded["digest"]["sweep"]:
    buffer = bytes.fromhex(case["buffer"])
    for output in case["outputs"]:
        digested(case, buffer[: output["len"]], output["output"])
table("digested", "digests", rows)

print("typedef struct { const char *domain; blob key, nonce, aad, plaintext, sealed; int forged; } sealing;", file=out)
rows = []


def sealing(case: dict, plaintext: bytes, sealed: str, forged: bool) -> None:
    if len(case["nonce"]) != 2 * NONCE_SIZE:
        return
    fields = [bytes.fromhex(case[name]) for name in ("key", "nonce", "ad")]
    fields += [plaintext, bytes.fromhex(sealed)]
    rows.append(f"{text(case['domain'])}, {', '.join(map(blob, fields))}, {int(forged)}")


for case in recorded["aead"]["vectors"]:
    sealing(case, bytes.fromhex(case["plaintext"]), case["ciphertext"], False)
for case in recorded["aead"]["sweep"]:
    buffer = bytes.fromhex(case["buffer"])
    for output in case["outputs"]:
        sealing(case, buffer[: output["len"]], output["output"], False)
for case in recorded["aead"]["reject"]:
    sealing(case, b"", case["ciphertext"], True)
table("sealing", "sealings", rows)

print("typedef struct { const char *label; blob input; } mixed;", file=out)
print("typedef struct {", file=out)
print("    const char *domain; const mixed *setup; size_t setup_count;", file=out)
print("    const blob *writes; size_t write_count;", file=out)
print("    blob sealed, text, final; int accept;", file=out)
print("} streamed;", file=out)
rows = []
streams = recorded["aestream"]
for index, case in enumerate(streams["vectors"] + streams["reject"] + streams["edge"]):
    mixes = [f"{text(mix['label'])}, {blob(bytes.fromhex(mix['input']))}" for mix in case["setup"]]
    table("mixed", f"setup_{index}", mixes or ['"", {NULL, 0}'])
    # Go writes nothing for an empty piece, as the blocks say.
    writes = [bytes.fromhex(write) for write in case.get("writes", [])]
    writes = [write for write in writes if write]
    print(f"static const blob writes_{index}[] = {{{', '.join(map(blob, writes)) or '{NULL, 0}'}}};", file=out)
    released = b"".join(writes) if "writes" in case else bytes.fromhex(case["released"])
    fields = [bytes.fromhex(case["ciphertext"]), released, bytes.fromhex(case.get("final", ""))]
    row = f"{text(case['domain'])}, setup_{index}, {len(case['setup'])}, writes_{index}, {len(writes)}"
    rows.append(f"{row}, {', '.join(map(blob, fields))}, {int(case.get('accept', True))}")
table("streamed", "streams", rows)

print("typedef struct { const char *domain; blob secret_key, public_key, random, message, signature; int accept; } signed_message;", file=out)
rows = []
for case in recorded["sig"]["vectors"] + recorded["sig"]["reject"] + recorded["sig"]["edge"]:
    names_ = ("private_key", "public_key", "rand", "message", "signature")
    fields = [blob(bytes.fromhex(case.get(name, ""))) for name in names_]
    if len(case["signature"]) != 2 * SIGNATURE_SIZE:
        # C takes the caller's word for it.
        continue
    # The reference takes the identity as a public key, which is refused here.
    accept = case.get("accept", True) and "identity" not in case.get("tampered", "")
    rows.append(f"{text(case['domain'])}, {', '.join(fields)}, {int(accept)}")
table("signed_message", "signatures", rows)
out.close()
