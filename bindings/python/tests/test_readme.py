"""The examples of the documents, run exactly as they are printed."""

from __future__ import annotations

import pathlib
import re
import subprocess
import sys

import pytest

from conftest import ROOT, TIMEOUT

EXPECTED = {
    "bindings/python/README.md": [
        "alice says hello\nthe answer: welcome\n",
        "one\ntwo\ndone\n",
        "alice\n",
        "b'you said hello'\n3 ask something True\n",
        "b'blue 0af7651916cd43dd8448eb211c80319c'\n",
        "b'144'\ninvalid literal for int() with base 10: b'a dozen'\n",
        "b'pay 100'\nb'first' b'second'\n",
        "b'hello'\nb'a note'\n",
        "b'hello'\nb'as much as you like'\n",
        "b'work' 10\n",
    ],
}


def examples(document: str) -> list[str]:
    return re.findall(r"^```python\n(.*?)^```$", (ROOT / document).read_text(), re.M | re.S)


CASES = [
    (document, number)
    for document, outputs in EXPECTED.items()
    for number in range(len(outputs))
]


def test_every_example_is_expected() -> None:
    for document, outputs in EXPECTED.items():
        assert len(examples(document)) == len(outputs), document


@pytest.mark.parametrize(("document", "number"), CASES)
def test_the_example_runs_as_printed(
    document: str, number: int, tmp_path: pathlib.Path
) -> None:
    example = tmp_path / "example.py"
    example.write_text(examples(document)[number])
    ended = subprocess.run(
        [sys.executable, "-X", "dev", str(example)],
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
        cwd=tmp_path,
    )
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.startswith(EXPECTED[document][number])
    assert ended.stderr == ""
