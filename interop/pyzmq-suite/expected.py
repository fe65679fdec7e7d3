"""The file of expectations, and what counts of a difference from it. The same rules as libzmq-suite has."""

import json
import tomllib
from typing import Callable

#: A test, by pytest's name for it, and what it ends in.
Outcomes = dict

MISSING = "missing"
#: As outcome of ours: the test passes or fails by chance, as its reason says.
VARIES = "varies"
REPEATS = 3

CHANCES = {(VARIES, "passed"), (VARIES, "failed")}

HEAD = """\
# What pyzmq's own tests end in; `suite.py record` writes it and keeps the reasons.
# passes, others: with the libzmq in the wheel. ours: with Sealwire, where that differs; varies: by chance.
"""


class Expected:
    """What the tests end in with the bundled library, and where ours end otherwise, with a reason."""

    def __init__(self, bundled: Outcomes, ours: dict) -> None:
        self.bundled = bundled
        #: A test, and a pair of an outcome and its reason.
        self.differences = ours

    @classmethod
    def read(cls, text: str) -> "Expected":
        bundled, ours = {}, {}
        for file, tests in tomllib.loads(text).items():
            for name in tests.get("passes", []):
                bundled[f"{file}::{name}"] = "passed"
            for name, outcome in tests.get("others", {}).items():
                bundled[f"{file}::{name}"] = outcome
            for name, difference in tests.get("ours", {}).items():
                ours[f"{file}::{name}"] = (difference["outcome"], difference["reason"])
        return cls(bundled, ours)

    def write(self) -> str:
        files: dict = {}
        for test in sorted(self.bundled | self.differences):
            file, name = test.split("::", 1)
            files.setdefault(file, []).append((name, test))
        text = HEAD
        for file, tests in files.items():
            text += f"\n[{json.dumps(file)}]\n"
            passes = [name for name, test in tests if self.bundled.get(test) == "passed"]
            if passes:
                text += "passes = [\n" + "".join(f"    {json.dumps(name)},\n" for name in passes) + "]\n"
            for name, test in tests:
                if test in self.bundled and self.bundled[test] != "passed":
                    text += f"others.{json.dumps(name)} = {json.dumps(self.bundled[test])}\n"
            for name, test in tests:
                if test in self.differences:
                    outcome, reason = map(json.dumps, self.differences[test])
                    text += f"ours.{json.dumps(name)} = {{ outcome = {outcome}, reason = {reason} }}\n"
        return text

    def ours(self) -> Outcomes:
        """What the tests have to end in with our library."""
        return self.bundled | {test: outcome for test, (outcome, _) in self.differences.items()}


def differences(expected: Outcomes, actual: Outcomes) -> list:
    """The tests that differ, each with what was expected and what it ended in."""
    found = []
    for test in sorted(expected | actual):
        wanted, got = expected.get(test, MISSING), actual.get(test, MISSING)
        if wanted != got and (wanted, got) not in CHANCES:
            found.append((test, wanted, got))
    return found


def confirmed(
    expected: Outcomes,
    bundled: Outcomes,
    first: Outcomes,
    run: Callable[[str, str], str],
    tell: Callable[[str], None],
) -> list:
    """Of the tests in which `first` differs from `expected` those that do so in every repeat, while the bundled library
    ends them as `bundled` says. `run` runs one test by itself, with "bundled" or "ours"."""
    counted = []
    for test, wanted, got in differences(expected, first):
        for _ in range(REPEATS):
            reference = run("bundled", test)
            if reference != bundled.get(test, MISSING):
                tell(f"{test}: {got} does not count: the bundled library's is {reference}")
                break
            again = run("ours", test)
            if again == wanted:
                tell(f"{test}: {got} does not count: {wanted} when repeated")
                break
        else:
            counted.append((test, wanted, got))
    return counted
