#!/usr/bin/env python3
"""Compares a header with libzmq's own zmq.h: macros, types and functions, with drafts and without.

    header.py HEADER            fails when HEADER differs
    header.py HEADER --names    prints the functions that HEADER declares, without drafts
    header.py HEADER --drafts   the same with drafts

libzmq's header comes with the crate zeromq-src; cargo knows where. Both headers go through the same
program and the same compilers. Standard library of Python only, 3.9 or newer.
"""

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
SYSTEM = "".join(f"#include <{name}.h>\n" for name in ("errno", "signal", "stddef", "stdint", "stdio"))
DRAFTS = "-DZMQ_BUILD_DRAFT_API"
STRUCTS = {
    "zmq_msg_t": ["_"],
    "zmq_pollitem_t": ["socket", "fd", "events", "revents"],
}
DRAFT_STRUCTS = {"zmq_poller_event_t": ["socket", "fd", "user_data", "events"]}
COMPILERS = {"c": ["cc", "-std=gnu11"], "cpp": ["c++", "-std=gnu++17"]}


def run(command: list, text: str = "") -> str:
    return subprocess.run(
        command, input=text, check=True, stdout=subprocess.PIPE, text=True
    ).stdout


def libzmqs_header() -> Path:
    manifest = str(ROOT / "interop" / "libzmq-suite" / "Cargo.toml")
    command = ["cargo", "metadata", "--format-version", "1", "--locked", "--manifest-path", manifest]
    for package in json.loads(run(command))["packages"]:
        if package["name"] == "zeromq-src":
            return Path(package["manifest_path"]).parent / "vendor" / "include" / "zmq.h"
    sys.exit("header.py: cargo metadata does not know zeromq-src")


def macros(header: Path, flags: list) -> dict:
    """The macros that the header adds to the system's, each with its text; functions have parentheses."""

    def defined(text: str) -> dict:
        lines = run(["cc", *flags, "-dM", "-E", "-x", "c", "-"], text).splitlines()
        return dict(re.match(r"#define (\w+(?:\([^)]*\))?)\s*(.*)", line).groups() for line in lines)

    system = defined(SYSTEM)
    found = defined(f'{SYSTEM}#include "{header}"\n')
    return {name: text for name, text in found.items() if name not in system}


def probe(header: Path, names: dict, structs: dict) -> str:
    """A program that prints all values, sizes, alignments and offsets."""
    lines = []
    for name, text in sorted(names.items()):
        if text.startswith('"'):
            lines.append(f'printf("{name} %s\\n", {name});')
        elif "(" in name:
            call = re.sub(r"\(.*", "(7, 8, 9)", name)
            lines.append(f'printf("{name} %lld\\n", (long long) {call});')
        elif text:
            lines.append(f'printf("{name} %lld %zu\\n", (long long) ({name}), sizeof({name}));')
    for name, fields in structs.items():
        lines.append(f'printf("{name} %zu %zu\\n", sizeof({name}), alignof({name}));')
        for field in fields:
            place = f"(({name} *) 0)->{field}"
            lines.append(
                f'printf("{name}.{field} %zu %zu\\n", offsetof({name}, {field}), sizeof({place}));'
            )
    lines.append('printf("zmq_fd_t %zu %d\\n", sizeof(zmq_fd_t), (zmq_fd_t) -1 < 0);')
    body = "\n    ".join(lines)
    return (
        f'#include "{header}"\n#include <stdalign.h>\n'
        f"int main(void)\n{{\n    {body}\n    return 0;\n}}\n"
    )


def declarations(header: Path, flags: list) -> list:
    """The functions and the types of functions that the header declares, each as its text."""
    text = []
    own = False
    for line in run(["cc", *flags, "-E", "-x", "c", str(header)]).splitlines():
        marker = re.match(r'# \d+ "(.*)"', line)
        if marker:
            own = marker.group(1) == str(header)
        elif own:
            text.append(line)
    flat = " ".join(" ".join(text).split())
    # Attributes say nothing about a call, and structs are compared by what they measure.
    flat = re.sub(r"__attribute__ ?\(\((?:[^()]|\([^()]*\))*\)\)", "", flat)
    flat = re.sub(r"typedef struct \w+ ?\{[^}]*\} ?\w+ ?;", "", flat)
    return [part.strip() for part in flat.split(";") if "(" in part]


def functions(header: Path, flags: list) -> list:
    parts = declarations(header, flags)
    return sorted(
        re.search(r"(zmq_\w+) ?\(", part).group(1) for part in parts if not part.startswith("typedef")
    )


def compare(what: str, ours: list, theirs: list) -> None:
    if ours == theirs:
        return
    for line in sorted(set(theirs) - set(ours)):
        print(f"{what}: only in libzmq's: {line}", file=sys.stderr)
    for line in sorted(set(ours) - set(theirs)):
        print(f"{what}: only in ours: {line}", file=sys.stderr)
    sys.exit(1)


def check(ours: Path, theirs: Path, flags: list, work: Path) -> str:
    names = macros(theirs, flags)
    compare("macros", sorted(macros(ours, flags)), sorted(names))
    structs = {**STRUCTS, **(DRAFT_STRUCTS if flags else {})}
    for suffix, compiler in COMPILERS.items():
        outputs = []
        for header in (ours, theirs):
            source = work / f"probe.{suffix}"
            source.write_text(probe(header, names, structs))
            run([*compiler, *flags, "-w", "-o", str(work / "probe"), str(source)])
            outputs.append(run([str(work / "probe")]).splitlines())
        compare(f"values ({suffix})", *outputs)
    compare("functions", functions(ours, flags), functions(theirs, flags))
    # Each header, and after it the other's functions: a compiler refuses those that differ.
    for first, second in ((ours, theirs), (theirs, ours)):
        again = ";\n".join(declarations(second, flags))
        for suffix, compiler in COMPILERS.items():
            source = work / f"again.{suffix}"
            linkage = 'extern "C" {' if suffix == "cpp" else ""
            source.write_text(f'#include "{first}"\n{linkage}\n{again};\n{"}" if linkage else ""}\n')
            try:
                run([*compiler, *flags, "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only", str(source)])
            except subprocess.CalledProcessError:
                sys.exit(f"header.py: functions of {first} and {second} differ")
    return f"{len(names)} macros, {len(structs)} structs, {len(functions(ours, flags))} functions"


def main() -> None:
    ours = Path(sys.argv[1]).resolve()
    for option, flags in (("--names", []), ("--drafts", [DRAFTS])):
        if option in sys.argv:
            print("\n".join(functions(ours, flags)))
            return
    theirs = libzmqs_header()
    with tempfile.TemporaryDirectory() as work:
        for flags in ([], [DRAFTS]):
            said = check(ours, theirs, flags, Path(work))
            print(f"zmq.h{' with drafts' if flags else ''}: {said}, as libzmq's")


main()
