#!/usr/bin/env python3
"""What words.py finds and what it leaves alone."""

import re
import tempfile
import unittest
from pathlib import Path

import words


def prose(text):
    """Lines and words that are found in a Markdown file."""
    return [(line, found) for line, found, _ in words.in_prose(text)]


def names(text):
    return [(line, found) for line, found, _ in words.in_names(text)]


class Tables(unittest.TestCase):
    def each(self, table, patterns, find):
        self.assertEqual(len(table), len(patterns))
        for word, pattern in zip(table, patterns):
            with self.subTest(word.pattern):
                own = [instead for _, _, instead in find(word.bad) if instead == word.instead]
                self.assertEqual(len(own), 1, word.bad)
                self.assertEqual(list(find(word.good)), [], word.good)
                self.assertIsNone(pattern.search(""))

    def test_each_pattern_of_prose_finds_its_line_and_leaves_the_other(self):
        self.each(words.PROSE, words.PATTERNS_OF_PROSE, words.in_prose)

    def test_each_pattern_of_names_finds_its_line_and_leaves_the_other(self):
        self.each(words.NAMES, words.PATTERNS_OF_NAMES, words.in_names)

    def test_what_to_write_is_not_itself_found(self):
        for word in [*words.PROSE, *words.NAMES]:
            self.assertEqual(prose(word.instead), [], word.instead)


class Prose(unittest.TestCase):
    def test_a_word_has_its_line(self):
        self.assertEqual(prose("# Title\n\nOne.\nWhoever has the key.\n"), [(4, "Whoever")])

    def test_a_line_break_is_a_space(self):
        for text in ["its last\nwords", "* its last\n  words", "> its last\n> words"]:
            self.assertEqual(prose(text), [(1, "last words")], text)

    def test_a_pattern_does_not_reach_over_the_end_of_a_paragraph(self):
        for text in ["its last\n\nwords", "# Its last\nwords", "its last\n* words", "its last\n| words |"]:
            self.assertEqual(prose(text), [], text)

    def test_rows_and_items_are_prose(self):
        for text in ["| a | whoever |", "1. whoever", "  * whoever", "## For whoever"]:
            self.assertEqual(prose(text), [(1, "whoever")], text)

    def test_every_word_of_a_line_is_found(self):
        self.assertEqual(prose("Whoever obeys."), [(1, "obeys"), (1, "Whoever")])

    def test_case_counts_where_it_begins_a_sentence(self):
        self.assertEqual(prose("It shows what is left and who has it."), [])
        self.assertEqual(prose("Yes. What is left goes."), [(1, ". What is")])
        self.assertEqual(prose("## 1. What is below\n\n## What is left\n"), [])
        self.assertEqual(prose("* Who asks is told.\n"), [(1, "* Who asks")])


class WhatIsNotProse(unittest.TestCase):
    def nothing(self, text):
        self.assertEqual(prose(text), [], text)

    def test_blocks_of_code(self):
        for fence in ["```", "~~~", "````"]:
            self.nothing(f"{fence}rust\nwhoever\n{fence}\n")
            self.nothing(f"* item\n\n  {fence}\n  whoever\n  {fence}\n")
        self.nothing("````\n```\nwhoever\n```\n````\n")

    def test_what_follows_a_block_counts(self):
        self.assertEqual(prose("```\nwhoever\n```\nWhoever\n"), [(4, "Whoever")])
        self.assertEqual(prose("* a\n\n  ```\n  x\n  ```\n\n  Whoever\n"), [(7, "Whoever")])

    def test_inline_code(self):
        self.nothing("`whoever` and ``a ` whoever`` and `who\nwhoever`")
        self.assertEqual(prose("`a` whoever `b`"), [(1, "whoever")])
        self.assertEqual(prose("`a\nb` whoever"), [(2, "whoever")])

    def test_a_stray_backquote_hides_its_paragraph_at_most(self):
        self.assertEqual(prose("a ` b\n\nwhoever\n\na ` b"), [(3, "whoever")])

    def test_inline_code_separates(self):
        self.nothing("last `code` words")

    def test_links(self):
        self.nothing("[whoever](whoever.md#whoever) and ![whoever](a.svg) and [whoever][1]")
        self.nothing("[`whoever` (a)](whoever_(a).md)")
        self.nothing("[![whoever](a.svg)](whoever)")
        self.nothing("<https://example.org/whoever> and https://example.org/whoever")
        self.assertEqual(prose("[a](b.md) whoever"), [(1, "whoever")])

    def test_comments_of_html(self):
        self.nothing("<!-- whoever\nwhoever -->")


def comments(text, suffix=".rs"):
    """Lines and words that are found in the comments of a source."""
    return [(line, found) for line, found, _ in words.in_comments(text, suffix)]


class Comments(unittest.TestCase):
    def test_each_kind_of_comment_is_prose(self):
        for text in ["/// Whoever", "//! Whoever", "// Whoever", "/* Whoever */", "let a = 1; // Whoever"]:
            self.assertEqual(comments(f"mod a;\n{text}\nfn f() {{}}"), [(2, "Whoever")], text)
        for text in ["# Whoever", "a = 1  # Whoever", '"""Whoever."""', "r'''Whoever'''", "def f():\n  'Whoever'"]:
            line = 2 + text.count("\n")
            self.assertEqual(comments(f"import b\n{text}\n", ".py"), [(line, "Whoever")], text)
        self.assertEqual(comments("a = 1\n  # Whoever\n", ".rb"), [(2, "Whoever")])

    def test_code_with_the_same_words_is_left_alone(self):
        for text in ["fn whoever()", '"whoever"', 'r#"// whoever"#', '"\\" // whoever"', "'/'; whoever"]:
            self.assertEqual(comments(text), [], text)
        for text in ["whoever = 1", 'a = "whoever"', 'f("""\nwhoever""")', "#!/usr/bin/env whoever"]:
            self.assertEqual(comments(text + "\n", ".py"), [], text)
        for text in ["whoever = 1", 'a = "#{whoever}"', "#!/usr/bin/env whoever"]:
            self.assertEqual(comments(text + "\n", ".rb"), [], text)

    def test_code_in_a_comment_is_left_alone(self):
        for text in ["/// ```\n/// whoever\n/// ```", "/// `whoever` and [`whoever`](whoever)"]:
            self.assertEqual(comments(text), [], text)

    def test_a_sentence_goes_on_from_line_to_line(self):
        for text in ["/// its last\n/// words", "  // its last\n  // words", "/*\n * its last\n * words\n */"]:
            self.assertEqual([found for _, found in comments(text)], ["last words"], text)

    def test_a_sentence_ends_with_its_comment(self):
        for between in ["\n\n/// ", "\n//! ", "\n// ", "\nlet ", "\nlet a; // "]:
            self.assertEqual(comments(f"/// its last{between}words"), [], between)
        self.assertEqual(comments("a; // its last\nb; // words"), [])

    def test_case_counts_where_it_begins_a_comment(self):
        self.assertEqual(comments("let a = 1; // What is left."), [(1, "What is")])
        self.assertEqual(comments("/// Says\n/// what is left."), [])

    def test_the_check_reads_comments_of_files(self):
        for name, text in [("a.rs", "/// Whoever"), ("a.py", "# Whoever\n"), ("a.rb", "# Whoever")]:
            with tempfile.TemporaryDirectory() as folder:
                source = Path(folder) / name
                source.write_text(text, encoding="utf-8")
                self.assertEqual(len(list(words.check(source))), 1, name)


class Names(unittest.TestCase):
    def test_both_ways_to_join_words(self):
        for text in ["fn obey_all()", "struct ObeyAll;", "const OBEY: u8 = 1;", "let r#obey = 1;"]:
            self.assertEqual(len(names(text)), 1, text)

    def test_comments_and_strings_are_no_names(self):
        for text in ["// obey", "/* obey\n */", '"obey"', '"\\"obey"', 'r#"a " obey"#', 'b"obey"']:
            self.assertEqual(names(f"{text}\nlet a = 1;"), [], text)

    def test_what_follows_a_character_or_a_lifetime_counts(self):
        for text in ["'\"'; obey", "'\\''; obey", "fn f<'a, 'b>(obey: &'a str)", "'\\u{1F600}' obey"]:
            self.assertEqual(names(f"\n{text}"), [(2, "obey")], text)


class Command(unittest.TestCase):
    def test_a_failure_says_where_what_and_what_to_write(self):
        with tempfile.TemporaryDirectory() as folder:
            page = Path(folder) / "page.md"
            page.write_text("One.\n\nIts last words.\n", encoding="utf-8")
            self.assertEqual(
                list(words.check(page)), [f'{page}:3: "last words": write flush, final error']
            )

    def test_the_repository_has_files_of_each_kind(self):
        kinds = {path.suffix for path in words.files()}
        self.assertEqual(kinds, {".md", ".rs", ".py", ".rb"})

    def test_the_glossary_has_what_patterns_find(self):
        glossary = (words.ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
        table = glossary.split("## What we write")[1]
        # In inline code, so that the table itself is left alone.
        listed = " . ".join(re.findall(r"`([^`]+)`", table))
        for word in ["face", "turn", "keeper", "last words", "stretch", "whoever", "is no"]:
            self.assertIn(word, listed)


if __name__ == "__main__":
    unittest.main()
