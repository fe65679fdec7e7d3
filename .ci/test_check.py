#!/usr/bin/env python3
"""What check.py chooses."""

import unittest

import check

FOLDERS = {
    "aead": "crates/aead",
    "zmtp": "crates/zmtp",
    "sealwire": "crates/sealwire",
    "sealwire-cli": "crates/sealwire-cli",
    "fork": "crates/fork",
}
USERS = {
    "aead": {"zmtp"},
    "zmtp": {"sealwire"},
    "sealwire": {"sealwire-cli"},
    "sealwire-cli": set(),
    "fork": {"sealwire"},
}


def choice(*files):
    return check.choose(files, FOLDERS, USERS)


class Choice(unittest.TestCase):
    def test_a_change_chooses_its_crate_and_those_that_use_it(self):
        chosen, documents, _ = choice("crates/zmtp/src/lib.rs")
        self.assertEqual(chosen, {"zmtp", "sealwire", "sealwire-cli"})
        self.assertFalse(documents)

    def test_a_crate_whose_name_begins_like_another_is_not_the_other(self):
        self.assertEqual(choice("crates/sealwire-cli/src/main.rs")[0], {"sealwire-cli"})

    def test_nothing_chosen_is_everything(self):
        self.assertEqual(choice(), (set(FOLDERS), True, set()))

    def test_what_belongs_to_no_crate_chooses_everything(self):
        for file in ["Cargo.toml", "Cargo.lock", "vectors/blake3zmq.json", ".ci/run"]:
            self.assertEqual(choice("crates/fork/src/lib.rs", file)[0], set(FOLDERS), file)

    def test_documents_choose_the_test_that_reads_them(self):
        for file in ["docs/options.md", "README.md", "bindings/python/README.md"]:
            chosen, documents, _ = choice(file)
            self.assertEqual((chosen, documents), (set(), True), file)
        steps = list(check.steps(set(), True, FOLDERS))
        self.assertIn("documents", steps[-1])

    def test_other_workspaces_are_named_and_choose_no_crate(self):
        chosen, documents, apart = choice("bench/sockets/src/main.rs", "bindings/ruby/src/lib.rs")
        self.assertEqual((chosen, documents), (set(), False))
        self.assertEqual(apart, {"bench", "bindings/ruby"})

    def test_crates_without_unit_tests_are_linted_only(self):
        folders, _ = check.crates()
        self.assertTrue(check.has_unit_tests(folders["sealwire"]))
        # Its tests are in `tests/suite/`.
        self.assertFalse(check.has_unit_tests(folders["sealwire-tunnel"]))
        _, clippy, test = check.steps({"sealwire", "sealwire-tunnel"}, False, folders)
        self.assertIn("sealwire-tunnel", clippy)
        self.assertNotIn("sealwire-tunnel", test)
        self.assertIn("sealwire", test)

    def test_the_workspace_is_read_as_it_is(self):
        folders, users = check.crates()
        self.assertEqual(folders["sealwire-aead"], "crates/sealwire-aead")
        self.assertIn("sealwire-zmtp", users["sealwire-aead"])
        self.assertIn("sealwire-cli", check.with_users(["sealwire-aead"], users))


if __name__ == "__main__":
    unittest.main()
