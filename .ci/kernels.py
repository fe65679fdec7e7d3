#!/usr/bin/env python3
"""Looks in a release build for functions of ours that call intrinsics instead of containing them.

    .ci/kernels.py BINARY...

The compiler may put code that is generic over an instruction set into a function by itself, which is then compiled
without the instructions: right, but many times as slow. Every such function has to be `inline(always)`, down from
the kernel that is compiled for the instruction set. No test notices one that is not. The kernels of all crates have to be in the binaries together.
"""

import re
import subprocess
import sys

# Crates with kernels, and what a kernel that was compiled for an instruction set is called.
CRATES = ["sealwire_aead", "sealwire_nacl", "sealwire_newplex"]
COMPILED = "::compiled"

FUNCTION = re.compile(r"^[0-9a-f]+ <(.*)>:$")
CALL = re.compile(r"\b(?:call|jmp|bl|b)\b.*<(core::core_arch::[\w:]+)")


def called(listing):
    """Intrinsics by the function of ours that calls them, and the crates whose kernels are there."""
    calls, kernels, function = {}, set(), ""
    for line in listing:
        if match := FUNCTION.match(line):
            function = match[1]
            if function.endswith(COMPILED):
                kernels.update(crate for crate in CRATES if crate in function)
        elif "sealwire" in function and (match := CALL.search(line)):
            calls.setdefault(function, set()).add(match[1].rsplit("::", 1)[1])
    return calls, kernels


def report(listing):
    """A line for each fault of the program, or of several whose listings follow each other."""
    calls, kernels = called(listing)
    faults = [
        f"{function} calls {', '.join(sorted(names))}: make it inline(always)"
        for function, names in sorted(calls.items())
    ]
    faults += [f"no kernel of {crate} is here: nothing was checked" for crate in CRATES if crate not in kernels]
    return faults


def main():
    command = ["objdump", "--disassemble", "--demangle", "--no-show-raw-insn", *sys.argv[1:]]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, errors="replace") as objdump:
        faults = report(objdump.stdout)
    if objdump.returncode:
        faults.append("objdump failed")
    for fault in faults:
        print(fault, file=sys.stderr)
    sys.exit(bool(faults))


if __name__ == "__main__":
    main()
