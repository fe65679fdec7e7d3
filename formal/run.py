#!/usr/bin/env python3
"""Checks the symbolic models of this folder against expectations.json.

    formal/run.py              runs Verifpal on every row of the table; fails when a query breaks or holds
                               that the table expects otherwise
    formal/run.py MODEL...     the rows of these models only (tunnel, or tunnel:variant,variant)
    formal/run.py --quick      the rows that are marked as quick: a minute and a half together, and the check of all others' form
    formal/run.py --show ROW   prints the model that a row is about, as Verifpal gets it

A row of the table names a model, the variants that apply to it, the number of sessions of each principal,
and the queries that break ("broken"). All other queries hold. A row without a variant that removes
something is a claim; a control removes one protection, and breaks something. Each query of a claim must be
broken by some control, so no query passes because it cannot fail.

A variant is written in the model, beside the line that it changes:

    //[name] text     `text` takes the place of the model's line above, in the variant `name`; no text: the
                      line is gone. Of several variants of a line the last one holds
    //+[name] text    the variant adds `text` here

Verifpal is taken from $VERIFPAL or the PATH. Standard library of Python only, 3.9 or newer.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

FOLDER = Path(__file__).resolve().parent
DIRECTIVE = re.compile(r"^\s*//(?P<added>\+?)\[(?P<name>[a-z0-9-]+)\] ?(?P<text>.*)$")


class Mistake(Exception):
    """A table or a model that says nothing clear."""


class Row(NamedTuple):
    """One run of Verifpal, and what it has to find."""

    model: str
    variants: tuple
    sessions: int
    broken: frozenset
    # The only queries of the model that are asked; all where there are none.
    only: frozenset
    quick: bool
    says: str

    @property
    def name(self):
        return ":".join([self.model, *([",".join(self.variants)] if self.variants else [])])


def rows(text):
    """The rows of the table."""
    fields = {"model", "variants", "sessions", "broken", "only", "quick", "says"}
    found = []
    for number, row in enumerate(json.loads(text), 1):
        unknown = set(row) - fields
        missing = {"model", "sessions", "broken", "says"} - set(row)
        if unknown or missing:
            raise Mistake(f"row {number}: unknown fields {sorted(unknown)}, missing fields {sorted(missing)}")
        found.append(
            Row(
                row["model"],
                tuple(row.get("variants", [])),
                row["sessions"],
                frozenset(row["broken"]),
                frozenset(row.get("only", [])),
                row.get("quick", False),
                row["says"],
            )
        )
    names = [row.name for row in found]
    twice = {name for name in names if names.count(name) > 1}
    if twice:
        raise Mistake(f"rows that are there twice: {sorted(twice)}")
    return found


def variant(text, names):
    """The model with these variants, and without any directive."""
    known = {found["name"] for line in text.splitlines() if (found := DIRECTIVE.match(line))}
    unknown = set(names) - known
    if unknown:
        raise Mistake(f"no variants {sorted(unknown)}; there are {sorted(known)}")
    result = []
    for line in text.splitlines():
        found = DIRECTIVE.match(line)
        if found is None:
            result.append(line)
        elif found["name"] not in names:
            continue
        elif found["added"]:
            result.append(found["text"])
        else:
            result[-1] = found["text"]
    return "\n".join(result) + "\n"


def one_line(query):
    """A query in one line, as the table has it."""
    flat = " ".join(query.split())
    return flat.replace("[ ", "[").replace(" ]", "]")


def queries(text):
    """The queries of a model, in their order."""
    block = re.search(r"^queries\[\n(.*)^\]", text, re.MULTILINE | re.DOTALL)
    if block is None:
        raise Mistake("a model without queries")
    uncommented = re.sub(r"//.*", "", block[1])
    kinds = r"confidentiality|authentication|freshness|unlinkability|equivalence"
    return [one_line(query) for query in re.split(rf"\n\s*(?=(?:{kinds})\?)", "\n" + uncommented) if query.strip()]


def with_queries(text, asked):
    """The model with these queries only."""
    block = "".join(f"\t{query}\n" for query in asked)
    return text[: text.index("\nqueries[\n")] + f"\nqueries[\n{block}]\n"


def broken_queries(code, asked):
    """Which queries a result code of Verifpal says are broken."""
    verdicts = re.findall(r"([cafue])([01])", code)
    kinds = [query[0] for query in asked]
    if "".join(kind + verdict for kind, verdict in verdicts) != code or [kind for kind, _ in verdicts] != kinds:
        raise Mistake(f"Verifpal's result {code!r} does not fit the queries {asked}")
    return {query for query, (_, verdict) in zip(asked, verdicts) if verdict == "1"}


def differences(row, asked, broken):
    """The differences from the table."""
    strangers = row.broken - set(asked)
    if strangers:
        raise Mistake(f"{row.name}: the table names queries that the model does not ask: {sorted(strangers)}")
    return [f"breaks, and should hold: {query}" for query in asked if query in broken - row.broken] + [
        f"holds, and should break: {query}" for query in asked if query in row.broken - broken
    ]


def without_control(table, asked_by_row):
    """Queries that hold in some row and break in none of the same model."""
    holds, breaks = set(), set()
    for row in table:
        for query in asked_by_row[row.name]:
            (breaks if query in row.broken else holds).add((row.model, query))
    return sorted(holds - breaks)


def prepared(row):
    """The model of a row and the queries that it asks."""
    text = variant((FOLDER / f"{row.model}.vp").read_text(), row.variants)
    asked = queries(text)
    if row.only:
        strangers = row.only - set(asked)
        if strangers:
            raise Mistake(f"{row.name}: the table names queries that the model does not ask: {sorted(strangers)}")
        asked = [query for query in asked if query in row.only]
        text = with_queries(text, asked)
    return text, asked


def verify(row, text):
    """Verifpal's result code for a row."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"{row.model}.vp")
        path.write_text(text)
        command = [os.environ.get("VERIFPAL", "verifpal"), "verify", str(path), "--quiet", "--result-code"]
        command += ["--sessions", str(row.sessions)]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0 or not done.stdout.strip():
        raise Mistake(f"{row.name}: Verifpal ended with {done.returncode}: {done.stdout}{done.stderr}")
    return done.stdout.split()[-1]


def main(arguments):
    table = rows((FOLDER / "expectations.json").read_text())
    ready = {row.name: prepared(row) for row in table}
    if arguments[:1] == ["--show"]:
        print(ready[arguments[1]][0], end="")
        return 0
    uncontrolled = without_control(table, {name: asked for name, (_, asked) in ready.items()})
    for model, query in uncontrolled:
        print(f"{model}: no control breaks: {query}")
    wrong = len(uncontrolled)
    if arguments == ["--quick"]:
        chosen = [row for row in table if row.quick]
    else:
        chosen = [row for row in table if not arguments or row.model in arguments or row.name in arguments]
    if not chosen:
        raise Mistake(f"no rows {arguments}")
    for row in chosen:
        text, asked = ready[row.name]
        began = time.monotonic()
        found = differences(row, asked, broken_queries(verify(row, text), asked))
        seconds = time.monotonic() - began
        verdict = "as expected" if not found else "OTHERWISE"
        print(f"{verdict:12} {seconds:6.1f} s  {row.name}: {len(asked)} queries, {len(row.broken)} broken", flush=True)
        for difference in found:
            print(f"    {difference}")
        wrong += len(found)
    print(f"{len(chosen)} runs, {wrong} differences")
    return 1 if wrong else 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except Mistake as mistake:
        print(mistake, file=sys.stderr)
        sys.exit(2)
