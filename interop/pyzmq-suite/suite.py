#!/usr/bin/env python3
"""pyzmq's own tests, its wheel unchanged, with Sealwire's libzmq.so.5 in place of the bundled one.

    suite.py                     all, compared with expected.toml
    suite.py ours TEST...        these, or all, with Sealwire, and all that pytest writes
    suite.py bundled TEST...     the same with the wheel's own library
    suite.py record              writes expected.toml

Needs Linux and Python 3.11 or newer with venv. Wheel and tests come from the registry, once.
"""

import argparse
import os
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

from expected import MISSING, REPEATS, VARIES, Expected, Outcomes, confirmed, differences

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
#: As pyzmq runs it where it is installed from a wheel, without the tests of its annotations.
SELECTION = ["-m", "not large and not wheel", "--deselect", "tests/test_mypy.py"]
#: Seconds for one test, of which none takes fifteen, and for all of them. They only end what hangs.
TEST_LIMIT, LIMIT = 120, 1800


def call(*command: object, **how: object) -> None:
    subprocess.run([str(part) for part in command], check=True, **how)


class Suite:
    """The wheel and the tests, downloaded, and the library under test."""

    def __init__(self, cache: Path, library: Path) -> None:
        self.cache = cache
        self.python = cache / "venv" / "bin" / "python"
        self.source = cache / "source"
        self.library = library

    def prepare(self) -> None:
        requirements = (HERE / "requirements.txt").read_text()
        stamp = self.cache / "stamp"
        if stamp.exists() and stamp.read_text() == requirements:
            return
        shutil.rmtree(self.cache, ignore_errors=True)
        self.cache.mkdir(parents=True)
        venv = [sys.executable, "-m", "venv", self.cache / "venv"]
        try:
            call(*venv)
        except subprocess.CalledProcessError:
            # Debian keeps what `venv` needs in a package of its own.
            call(ROOT / ".ci" / "install", "python3-venv")
            call(*venv, "--clear")
        pip = [self.python, "-m", "pip", "--quiet", "--disable-pip-version-check"]
        call(*pip, "install", "--only-binary", ":all:", "--requirement", HERE / "requirements.txt")
        (pyzmq,) = (line for line in requirements.splitlines() if line.startswith("pyzmq=="))
        call(*pip, "download", "--no-deps", "--no-binary", "pyzmq", "--dest", self.cache, pyzmq)
        (archive,) = self.cache.glob("pyzmq-*.tar.gz")
        with tarfile.open(archive) as files:
            for member in files:
                # Of the package itself the wheel is used.
                name = Path(member.name.partition("/")[2])
                if member.isfile() and (name.parent == Path("tests") or name == Path("pytest.ini")):
                    place = self.source / name
                    place.parent.mkdir(parents=True, exist_ok=True)
                    place.write_bytes(files.extractfile(member).read())
        archive.unlink()
        stamp.write_text(requirements)

    def run(self, library: str, tests: list = (), verbose: bool = False) -> Outcomes:
        """What `tests`, or all, end in with the "bundled" library or "ours". A test with which the process ends has
        ended in "crashed", and another process goes on with those that are left."""
        outcomes: Outcomes = {}
        while True:
            began = len(outcomes)
            if self.session(library, tests, outcomes, verbose):
                return outcomes
            if len(outcomes) == began:
                sys.exit(f"pyzmq-suite: pytest ended before any test with the {library} library")

    def session(self, library: str, tests: list, outcomes: Outcomes, verbose: bool) -> bool:
        """Adds to `outcomes`. Returns whether the process came to its end."""
        with tempfile.TemporaryDirectory(prefix="pyzmq") as folder:
            log, done, output = (Path(folder) / name for name in ("outcomes", "done", "output"))
            done.write_text("\n".join(outcomes))
            log.touch()
            environment = os.environ | {
                "OUTCOMES": str(log),
                "DONE": str(done),
                "PYTHONPATH": str(HERE),
                "PYTHONDONTWRITEBYTECODE": "1",
                "TMPDIR": folder,
            }
            # With it an alarm of the suite's own ends what waits for a signal.
            environment.pop("ZMQ_TEST_TIMEOUT", None)
            if library == "ours":
                link = Path(folder) / "libzmq.so.5"
                link.symlink_to(self.library.resolve())
                environment["LD_PRELOAD"] = str(link)
            command = [
                self.python, "-m", "pytest", "-p", "outcomes", "-p", "no:cacheprovider",
                "--timeout", TEST_LIMIT, "--timeout-method", "thread", *SELECTION, *tests,
            ]  # fmt: skip
            with open(output, "wb") as written:
                process = subprocess.Popen(
                    [str(part) for part in command],
                    cwd=self.source,
                    env=environment,
                    stdin=subprocess.DEVNULL,
                    stdout=None if verbose else written,
                    stderr=None if verbose else written,
                    start_new_session=True,
                )
                try:
                    process.wait(LIMIT)
                except subprocess.TimeoutExpired:
                    print(f"pyzmq-suite: ended after {LIMIT} s", file=sys.stderr)
                # Whatever the tests left behind.
                try:
                    os.killpg(process.pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
                process.wait()
            finished, current = False, None
            for line in log.read_text().splitlines():
                word, value = line.split("\t", 1)
                if word == "library":
                    if value != {"ours": "sealwire"}.get(library, library):
                        sys.exit(f"pyzmq-suite: zmq uses the library {value}, not {library}")
                elif word == "began":
                    current = value
                elif word == "finished":
                    finished = True
                else:
                    outcomes[value], current = word, None
            if current is not None:
                outcomes[current] = "crashed"
            if not finished and not verbose:
                print(output.read_text(errors="replace")[-4000:], file=sys.stderr)
            return finished

    def one(self, library: str, test: str) -> str:
        return self.run(library, [test]).get(test, MISSING)


def judge(suite: Suite, expected: Expected) -> bool:
    first = suite.run("ours")
    found = confirmed(expected.ours(), expected.bundled, first, suite.one, tell)
    for test, wanted, got in found:
        print(f"UNEXPECTED {test}: {got}, not {wanted}")
    without = sum(not reason for _, reason in expected.differences.values())
    counts = {}
    for outcome in first.values():
        counts[outcome] = counts.get(outcome, 0) + 1
    print(
        f"pyzmq-suite: {', '.join(f'{count} {outcome}' for outcome, count in sorted(counts.items()))}; "
        f"{len(found)} unexpected outcomes, {without} known ones without a reason"
    )
    return not found


def record(suite: Suite, before: Expected) -> Expected:
    bundled = suite.run("bundled")
    for test, outcome in bundled.items():
        # The best of several: a test that a busy machine ends says nothing.
        for _ in range(REPEATS - 1):
            if outcome not in ("failed", "error", "crashed"):
                break
            outcome = bundled[test] = suite.one("bundled", test)
    # A run cannot tell chance from habit.
    ours = {test: told for test, told in before.differences.items() if told[0] == VARIES and test in bundled}
    for test, _, got in confirmed(bundled | dict.fromkeys(ours, VARIES), bundled, suite.run("ours"), suite.one, tell):
        known, reason = before.differences.get(test, (got, ""))
        ours[test] = (got, reason if known == got else "")
    recorded = Expected(bundled, ours)
    for test, wanted, got in differences(before.ours(), recorded.ours()):
        print(f"recorded {test}: {got}, before {wanted}")
    return recorded


def tell(text: str) -> None:
    print(f"    {text}", file=sys.stderr)


def main() -> None:
    target = Path(os.environ.get("CARGO_TARGET_DIR") or ROOT / "target")
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="?", default="judge", choices=["judge", "ours", "bundled", "record"])
    parser.add_argument("tests", nargs="*", metavar="TEST", help="as pytest names it, below tests/")
    parser.add_argument(
        "--library",
        type=Path,
        default=target / "debug" / "libsealwire_libzmq.so",
        help="the library under test [default: %(default)s]",
    )
    parser.add_argument(
        "--cache",
        type=Path,
        default=HERE.parent / "target" / "pyzmq-suite",
        help="keeps what was downloaded [default: %(default)s]",
    )
    arguments = parser.parse_intermixed_args()
    if not arguments.library.exists():
        sys.exit(f"pyzmq-suite: no {arguments.library}: cargo build -p sealwire-libzmq")
    suite = Suite(arguments.cache, arguments.library)
    suite.prepare()
    file = HERE / "expected.toml"
    expected = Expected.read(file.read_text() if file.exists() else "")
    match arguments.what:
        case "judge":
            sys.exit(not judge(suite, expected))
        case "record":
            file.write_text(record(suite, expected).write())
        case library:
            for test, outcome in suite.run(library, arguments.tests, verbose=True).items():
                if outcome not in ("passed", "skipped"):
                    print(f"{outcome} {test}")


if __name__ == "__main__":
    main()
