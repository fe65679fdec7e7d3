"""The annotations: strict for a program that uses them, and true to the module."""

from __future__ import annotations

import pathlib
import subprocess
import sys

from conftest import ROOT
from test_readme import EXPECTED, examples

MODULE = "sealwire._sealwire"
HERE = pathlib.Path(__file__).resolve().parent


def check(*arguments: str) -> None:
    checked = subprocess.run(
        [sys.executable, "-m", *arguments], capture_output=True, text=True, cwd=HERE.parent
    )
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_the_package_and_its_tests_are_strict() -> None:
    check("mypy", "--strict", "-p", "sealwire")
    check("mypy", "--strict", "tests", "bench")


def test_the_examples_are_strict(tmp_path: pathlib.Path) -> None:
    written = []
    for document in EXPECTED:
        for number, example in enumerate(examples(document)):
            path = tmp_path / f"{document.replace('/', '_').replace('.', '_')}_{number}.py"
            path.write_text(example)
            written.append(str(path))
    # In the examples peers are known to be there.
    check("mypy", "--strict", "--no-strict-optional", *written)


def test_the_stubs_are_those_of_the_native_classes() -> None:
    # Before 3.12 only C code sees the buffer protocol.
    allowed = HERE / "stubtest_allowlist.txt"
    check("mypy.stubtest", "--ignore-unused-allowlist", "--allowlist", str(allowed), MODULE)
    assert (ROOT / "bindings" / "python" / "python" / "sealwire" / "py.typed").exists()
