#!/usr/bin/env python3
"""Which summaries summaries.py takes, and where it looks for them."""

import contextlib
import io
import tempfile
import unittest
from pathlib import Path

import summaries


class Words(unittest.TestCase):
    def test_verbs_in_the_third_person_and_articles_are_right(self):
        for summary in ["Returns whether it is open.", "Sends.", "Makes a proxy.", "The size in bytes.", "An event."]:
            self.assertTrue(summaries.is_right(summary), summary)

    def test_other_words_are_not(self):
        for summary in [
            "Why.",
            "What it shows.",
            "How many frames there are.",
            "Whether it is open.",
            "See [`send`](Socket::send).",
            "Send a message.",
            "With this key.",
            "Bytes of the payload.",
            "Connections of one address.",
            "Settings.",
            "This connection is over.",
            "As there.",
            "SERVER, PEER: ends the connection.",
            "[`shutdown`](Server::shutdown) for programs without an executor.",
            "`threads` threads.",
            "sends a message.",
            "",
        ]:
            self.assertFalse(summaries.is_right(summary), summary)


class Functions(unittest.TestCase):
    def names(self, text):
        return [name for _, name, _ in summaries.check(text)]

    def test_each_form_of_a_public_function_is_found(self):
        for head in ["pub fn", "pub async fn", "pub const fn", "pub unsafe fn", 'pub extern "C" fn', "    pub fn"]:
            self.assertEqual(self.names(f"/// Why.\n{head} f() {{}}\n"), ["f"], head)

    def test_attributes_may_stand_between(self):
        for attribute in ["#[must_use]", '#[cfg(all(\n    unix,\n    feature = "ws",\n))]', "#[a]\n#[b(\n  c\n)]"]:
            self.assertEqual(self.names(f"/// Why.\n{attribute}\npub fn f() {{}}\n"), ["f"], attribute)

    def test_only_the_first_line_of_the_documentation_counts(self):
        self.assertEqual(self.names("/// Sends.\n///\n/// Why not.\npub fn f() {}"), [])
        self.assertEqual(summaries.check("\n/// Why.\n///\n/// Sends.\npub fn f() {}"), [(2, "f", "Why.")])

    def test_others_do_not_count(self):
        for text in [
            "/// Why.\nfn f() {}",
            "/// Why.\npub(crate) fn f() {}",
            "/// Why.\npub struct F;\npub fn f() {}",
            "/// Why.\n\npub fn f() {}",
            "// Why.\npub fn f() {}",
            "pub fn f() {}",
        ]:
            self.assertEqual(self.names(text), [], text)


class Command(unittest.TestCase):
    def test_a_failure_says_where_and_what_to_write(self):
        with tempfile.TemporaryDirectory() as folder:
            source = Path(folder) / "a.rs"
            source.write_text("/// Why.\npub fn cause() {}\n", encoding="utf-8")
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                self.assertEqual(summaries.main([str(source)]), 1)
        self.assertIn(f'{source}:1: cause: "Why.": begin with a verb', printed.getvalue())

    def test_each_crate_has_files(self):
        found = {path.relative_to(summaries.ROOT).parts[1] for path in summaries.files()}
        self.assertEqual(found, {Path(crate).name for crate in summaries.CRATES})


if __name__ == "__main__":
    unittest.main()
