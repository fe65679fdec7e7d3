#!/usr/bin/env python3
"""What counts as a difference, and what is kept in the file."""

import unittest

from expected import Expected, confirmed, differences

BUNDLED = {"tests/a.py::one": "passed", "tests/a.py::two[x \\ \"y\"]": "skipped", "tests/b.py::C::three": "passed"}


class File(unittest.TestCase):
    def test_what_is_written_is_read_again(self):
        ours = {"tests/b.py::C::three": ("failed", 'says "no"'), "tests/a.py::one": ("varies", "a race")}
        read = Expected.read(Expected(BUNDLED, ours).write())
        self.assertEqual(read.bundled, BUNDLED)
        self.assertEqual(read.differences, ours)
        self.assertEqual(read.ours(), BUNDLED | {"tests/b.py::C::three": "failed", "tests/a.py::one": "varies"})


class Differences(unittest.TestCase):
    def test_a_pass_that_nobody_expected_is_one_as_a_failure_is(self):
        expected = {"a": "passed", "b": "failed", "c": "passed", "e": "passed"}
        actual = {"a": "passed", "b": "passed", "d": "passed", "e": "crashed"}
        self.assertEqual(
            differences(expected, actual),
            [("b", "failed", "passed"), ("c", "passed", "missing"), ("d", "missing", "passed"), ("e", "passed", "crashed")],
        )


    def test_what_goes_by_chance_may_pass_or_fail_and_do_nothing_else(self):
        expected = dict.fromkeys("abcd", "varies")
        actual = {"a": "passed", "b": "failed", "c": "crashed"}
        self.assertEqual(differences(expected, actual), [("c", "varies", "crashed"), ("d", "varies", "missing")])


class Confirmed(unittest.TestCase):
    def judge(self, bundled: list, ours: list, expected: str = "passed", first: str = "failed") -> list:
        """What counts of a test that first ended in `first`, and then in these, one after the other."""
        results = {"bundled": iter(bundled), "ours": iter(ours)}
        told: list = []
        found = confirmed(
            {"t": expected}, {"t": "passed"}, {"t": first}, lambda library, _: next(results[library]), told.append
        )
        self.assertEqual(len(told), int(not found))
        return found

    def test_what_fails_each_time_counts(self):
        self.assertEqual(self.judge(["passed"] * 3, ["failed"] * 3), [("t", "passed", "failed")])
        self.assertEqual(self.judge(["passed"] * 3, ["failed", "crashed", "missing"]), [("t", "passed", "failed")])

    def test_what_passes_once_does_not(self):
        self.assertEqual(self.judge(["passed"] * 3, ["failed", "failed", "passed"]), [])

    def test_what_fails_with_the_bundled_library_does_not(self):
        self.assertEqual(self.judge(["failed"], []), [])
        self.assertEqual(self.judge(["passed", "passed", "failed"], ["failed"] * 2), [])

    def test_a_pass_where_a_failure_is_known_counts(self):
        found = self.judge(["passed"] * 3, ["passed"] * 3, expected="failed", first="passed")
        self.assertEqual(found, [("t", "failed", "passed")])


if __name__ == "__main__":
    unittest.main()
