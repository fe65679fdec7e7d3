"""A plugin of pytest that writes down what becomes of each test, while it goes on: what a process that dies had begun
is there as well.

Lines of the file that OUTCOMES names, each a word and its value: `library` (sealwire, or the bundled one), `began`,
`finished` at the end of the session, and the outcomes, each with a test. The tests in the file that DONE names are left out.
"""

import os

import zmq

#: The first that one of the phases of a test ends in counts for the test.
GRAVITY = ("error", "failed", "xpassed", "xfailed", "skipped", "passed")


def outcome(report) -> str:
    """What a phase of a test ends in, in one word."""
    if hasattr(report, "wasxfail"):
        return "xfailed" if report.skipped else "xpassed"
    if report.failed and report.when != "call":
        return "error"
    return report.outcome


class Outcomes:
    def __init__(self, path: str) -> None:
        self.file = open(path, "a", buffering=1, encoding="utf-8")
        self.phases: list = []

    def write(self, word: str, value: str) -> None:
        self.file.write(f"{word}\t{value}\n")

    def pytest_sessionstart(self) -> None:
        self.write("library", "sealwire" if zmq.has("sealwire") else "bundled")

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self.phases = []
        self.write("began", nodeid)

    def pytest_runtest_logreport(self, report) -> None:
        self.phases.append(outcome(report))

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        self.write(min(self.phases, key=GRAVITY.index), nodeid)

    def pytest_sessionfinish(self, exitstatus: int) -> None:
        self.write("finished", str(int(exitstatus)))


def pytest_configure(config) -> None:
    config.pluginmanager.register(Outcomes(os.environ["OUTCOMES"]))


def pytest_collection_modifyitems(config, items: list) -> None:
    with open(os.environ["DONE"], encoding="utf-8") as file:
        done = set(file.read().splitlines())
    left_out = [item for item in items if item.nodeid in done]
    items[:] = [item for item in items if item.nodeid not in done]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
