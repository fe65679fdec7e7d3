#!/usr/bin/env python3
"""What run.py makes of models, tables and verdicts."""

import re
import unittest

import run

MODEL = """attacker[active]
principal Client[
	knows private c
	//[open] knows public c
	//[gone]
	//+[loud] leaks c
]
queries[
	confidentiality? c
	authentication? Client -> Server: m[
		precondition[Server -> Client: n]
	]
]
"""
SECRET = "confidentiality? c"
AUTHENTIC = "authentication? Client -> Server: m[precondition[Server -> Client: n]]"


def row(**fields):
    """A row of a table of one."""
    text = run.json.dumps([{"model": "m", "sessions": 1, "broken": [], "says": "", **fields}])
    return run.rows(text)[0]


class Run(unittest.TestCase):
    def test_without_variants_no_directive_is_left(self):
        plain = run.variant(MODEL, [])
        self.assertIn("knows private c\n]", plain)
        self.assertNotIn("//", plain)

    def test_a_variant_replaces_the_line_above_adds_or_takes_away(self):
        self.assertIn("\tknows public c\n]", run.variant(MODEL, ["open"]).replace("knows", "\tknows"))
        self.assertIn("leaks c", run.variant(MODEL, ["loud"]))
        self.assertNotIn("knows", run.variant(MODEL, ["gone"]))
        self.assertNotIn("knows", run.variant(MODEL, ["open", "gone"]))

    def test_an_unknown_variant_is_a_mistake(self):
        with self.assertRaisesRegex(run.Mistake, "no variants"):
            run.variant(MODEL, ["opne"])

    def test_queries_are_one_line_each_and_can_be_chosen(self):
        plain = run.variant(MODEL, [])
        self.assertEqual(run.queries(plain), [SECRET, AUTHENTIC])
        self.assertEqual(run.queries(run.with_queries(plain, [AUTHENTIC])), [AUTHENTIC])

    def test_verdicts_belong_to_queries(self):
        asked = [SECRET, AUTHENTIC]
        self.assertEqual(run.broken_queries("c0a1", asked), {AUTHENTIC})
        for code in ["c0", "a0c1", "c0a1a0", "c0a2", ""]:
            with self.assertRaisesRegex(run.Mistake, "does not fit"):
                run.broken_queries(code, asked)

    def test_both_differences_are_told(self):
        asked = [SECRET, AUTHENTIC]
        told = run.differences(row(broken=[SECRET]), asked, {AUTHENTIC})
        self.assertEqual(len(told), 2)
        self.assertEqual(run.differences(row(broken=[SECRET]), asked, {SECRET}), [])

    def test_a_query_that_nothing_breaks_is_told(self):
        table = [row(), row(variants=["open"], broken=[SECRET])]
        asked = {found.name: [SECRET, AUTHENTIC] for found in table}
        self.assertEqual(run.without_control(table, asked), [("m", AUTHENTIC)])

    def test_rows_have_known_fields_and_are_there_once(self):
        for text in ['[{"model": "m"}]', '[{"model": "m", "sessions": 1, "broken": [], "says": "", "sesions": 2}]']:
            with self.assertRaisesRegex(run.Mistake, "fields"):
                run.rows(text)
        twice = run.json.dumps([{"model": "m", "sessions": 1, "broken": [], "says": ""}] * 2)
        with self.assertRaisesRegex(run.Mistake, "twice"):
            run.rows(twice)

    def test_the_table_fits_the_models_and_uses_each_variant(self):
        table = run.rows((run.FOLDER / "expectations.json").read_text())
        asked = {}
        for found in table:
            _, asked[found.name] = run.prepared(found)
            self.assertEqual(found.broken - set(asked[found.name]), set(), found.name)
        self.assertEqual(run.without_control(table, asked), [])
        for model in sorted(run.FOLDER.glob("*.vp")):
            known = set(re.findall(r"//\+?\[([a-z0-9-]+)\]", model.read_text())) - {"name"}
            used = {name for found in table if found.model == model.stem for name in found.variants}
            self.assertEqual(known, used, model.name)


if __name__ == "__main__":
    unittest.main()
