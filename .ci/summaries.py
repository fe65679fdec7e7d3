#!/usr/bin/env python3
"""The first word of a public function's documentation is a verb in the third person, or an article.

    .ci/summaries.py           checks the crates below
    .ci/summaries.py FILE...   checks these

As in std: "Returns the number of bytes", "Sends a message", or a noun with its article, as in "The size
in bytes". A reader then sees at the first word what calling it does. A word counts as a verb if it ends
in -s and is not one of those below. Functions without documentation are rustc's to find. Standard library
of Python only, 3.9 or newer.
"""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CRATES = ["crates/sealwire", "crates/sealwire-rpc", "crates/sealwire-zmtp"]

ARTICLES = {"A", "An", "The"}
# Words that end in -s and are not verbs in the third person: plurals first, which want an article or
# "Returns the" in front of them, then those that begin no sentence about what a function does.
NOT_VERBS = set(
    """
    Bytes Endpoints Entries Events Frames Handshakes Keys Limits Messages Numbers Options Payloads
    Peers Properties Reasons Seconds Servers Sizes Sockets Threads Values
    Always As Does Has Is Its Perhaps Plus This Those Thus Unless Various Was
    """.split()
)
# Endings that only nouns have.
NOUN = re.compile(r"(?:ions|ings|ments|ness|ors)$")
FUNCTION = re.compile(r'[ \t]*pub (?:(?:const|async|unsafe|extern "[^"]*") )*fn (?P<name>\w+)')
DOC = re.compile(r"[ \t]*///(?!/) ?(?P<text>.*)")


def documented(text):
    """Line, name and summary of each public function that has documentation."""
    first, doc, depth = 0, [], 0
    for number, line in enumerate(text.splitlines(), 1):
        comment, function = DOC.fullmatch(line), FUNCTION.match(line)
        if comment:
            if not doc:
                first = number
            doc.append(comment["text"])
        elif function and doc:
            yield first, function["name"], doc[0]
            doc = []
        elif doc and (depth or line.lstrip().startswith("#[")):
            # An attribute, perhaps over several lines, stands between the two.
            depth += line.count("[") - line.count("]")
        else:
            doc, depth = [], 0


def is_right(summary):
    """Whether a summary begins with a verb in the third person, or an article."""
    word = re.match(r"[A-Za-z]*", summary)[0]
    if word in ARTICLES:
        return True
    is_word = word[:1].isupper() and word[1:].islower()
    return is_word and word.endswith("s") and word not in NOT_VERBS and not NOUN.search(word)


def check(text):
    """Line, function and summary, of each summary that begins otherwise."""
    return [found for found in documented(text) if not is_right(found[2])]


def files():
    """The sources of the crates, committed or not."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    command += [f"{crate}/src/*.rs" for crate in CRATES]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return [ROOT / name for name in sorted(set(result.stdout.splitlines())) if (ROOT / name).is_file()]


def main(arguments):
    failed = False
    for path in [Path(name).resolve() for name in arguments] or files():
        shown = path.relative_to(ROOT) if ROOT in path.parents else path
        for line, name, summary in check(path.read_text(encoding="utf-8")):
            print(f'{shown}:{line}: {name}: "{summary}": begin with a verb ("Returns ...") or an article')
            failed = True
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
