#!/usr/bin/env python3
"""Prose and names use the words of the field; docs/glossary.md says which, and why.

    .ci/words.py              checks the Markdown files and the sources of the repository
    .ci/words.py FILE...      checks these
    .ci/words.py --patterns   prints the patterns, checks nothing

Prose is what Markdown files say, and the comments of Rust, Python and Ruby. Code blocks, inline code,
comments of HTML, and links with their text do not count as prose; comments and strings do not count as
names. A pattern of prose sees one paragraph, list item or table row on one line, so a space in it
matches a line break too. A pattern of names sees each identifier of Rust in snake_case. Standard library
of Python only, 3.9 or newer.
"""

import functools
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import comments

ROOT = Path(__file__).resolve().parent.parent


class Word(NamedTuple):
    """A pattern, what to write instead, a line that it finds and one that it leaves alone."""

    pattern: str
    instead: str
    bad: str
    good: str


# Each finds a word only where it has the meaning that the field has another word for.
PROSE = [
    Word(
        r"\b(?:the|a|an|its|this|each|both|C|Python|Ruby|Rust|blocking|async|public) faces?\b",
        "API",
        "The blocking face waits.",
        "A server faces many clients.",
    ),
    Word(
        r"\b(?:gets?|got|have|has) (?:a turn|turns of their own)\b|\bin (?:its|their) own turns?\b"
        r"|\bthe turn in which\b|\bor one turn\b|\bturns? of (?:the|its) (?:loop|engine|I/O thread)\b"
        r"|\bhad (?:its|their) turns?\b|\bgives? each a turn\b|\bgets? (?:its|their) turns?\b",
        "iteration, poll, time slice",
        "After 64 operations others get a turn.",
        "The old build and the new one run in turns of 2 ms.",
    ),
    Word(
        r"\blines? of (?:waiters|connections|handshakes|messages|requests|threads)\b"
        r"|\b(?:wait|stand)(?:s|ing)? in line\b",
        "queue",
        "The line of handshakes is full.",
        "One log line of one cause a second.",
    ),
    Word(
        r"\b(?:im)?patien(?:ce|t|tly)\b",
        "timeout",
        "A client without patience gives up.",
        "The client has a timeout.",
    ),
    Word(
        r"\bobey(?:s|ed|ing)?\b",
        "follow, apply, process",
        "The engine obeys a command.",
        "The engine processes a command.",
    ),
    Word(
        r"\bdeal(?:s|t|ing)? with\b",
        "handle, process",
        "The session deals with errors.",
        "Messages are dealt out to the endpoints.",
    ),
    Word(
        r"\b(?:dig|digs|digging|dug)\b",
        "read, search, inspect",
        "Dig in the source of a cause.",
        "The digits of a digest.",
    ),
    Word(
        r"\blast words\b",
        "flush, final error",
        "The connection writes its last words.",
        "The last word of the block is zero.",
    ),
    Word(
        r"\bkeepers?\b",
        "store, cache",
        "The keeper of cookies forgets them.",
        "The store keeps 256 of them.",
    ),
    Word(
        r"\bfurther keys?\b",
        "additional keys",
        "A server may have three further keys.",
        "A server may have three additional keys, and each further peer costs 72 bytes.",
    ),
    Word(
        r"\blook(?:s|ed|ing)? again\b"
        r"|\b(?:a|an|one|two|each|every|next|first|last|vain|new) looks?\b(?!-| (?:at|up)\b)"
        r"|\blooks? (?:at a time|for work|for \d)",
        "check, read, poll, spin",
        "Between two looks the thread yields.",
        "Have a look at the log; the server looks up the key.",
    ),
    Word(
        r"\b(?:pace|paces|paced)\b",
        "rate, interval",
        "Commands come at the pace of the peer.",
        "Commands come at the rate of the peer, with TCP pacing.",
    ),
    Word(
        r"\bsetbacks?\b",
        "failure, error",
        "A setback ends the lease.",
        "The option is set back to the default.",
    ),
    Word(
        r"\bstretch(?:es)?\b",
        "slice, range, run",
        "A queue holds stretches of it.",
        "The attack is stretched over an hour.",
    ),
    Word(
        r"\b(?:a|an|the|each|every|this|such|one|two|no) notices?\b|\bnotices? of (?:a|an|the)\b",
        "event, notification",
        "Each notice wakes one task.",
        "The server notices nothing; nobody may notice.",
    ),
    Word(
        r"\b(?:both|the low|the high|lower|upper|misses the|above the|below the) marks?\b",
        "limit, or high-water mark in full",
        "The queue is below the mark.",
        "The queue is below the high-water mark, and `!` marks a miss.",
    ),
    Word(
        r"\bwhoever\b",
        "the name of who it is: the peer, a client, anyone who",
        "Whoever has the key can make files.",
        "Anyone who has the key can make files.",
    ),
    Word(
        r"(?<!\bthere )\b(?:is|are|was|were) no (?!\w+er\b|more\b|less\b|doubt\b)[a-z]+",
        "is not a, is not",
        "Whale is no fish.",
        "There is no limit, and it is no longer open.",
    ),
    Word(
        r"\bso many\b(?! (?:that|\w+ that)\b)|\bfor so long\b",
        "the number, the time",
        "`--recv N` reads so many.",
        "There are so many that the queue is full.",
    ),
    Word(
        r"\b(?:[2-9]|\d{2,}|two|three|four|many|several|handshakes|threads|open|ask|twice|more) at a time\b",
        "at once, concurrent",
        "Callbacks run four at a time.",
        "One request at a time.",
    ),
    Word(
        r"(?:^|(?<!\d)[.] |[*-] )(?-i:What) (?:is|was|were|has|had|can|cannot|must|may|stands|comes|goes"
        r"|remains|reached)\b(?![^.]*\?)",
        "a noun as the subject",
        "What is cut off resets the connection.",
        "What is left of a lease? The peer knows what is left.",
    ),
    Word(
        r"(?:^|(?<!\d)[.] |[*-] )(?-i:Who) \w+\b(?![^.]*\?)",
        "a noun as the subject: anyone who, a client that",
        "Who has the key can make files.",
        "Who has the key? The list says who has one.",
    ),
    Word(
        r"\bwithout a word\b",
        "silently",
        "The connection is closed without a word.",
        "The connection is closed silently.",
    ),
    Word(
        r"\bwhere it were \d",
        "there were",
        "6 functions, where it were 61.",
        "6 functions, where there were 61.",
    ),
    Word(
        r"\bnumber of (?:its|a|the|this|that) connection\b|\bconnections? of (?:this|that) number\b"
        r"|\bconnections?'s? numbers?\b",
        "connection id, routing id",
        "The cookie is bound to the number of its connection.",
        "The number of connections is limited.",
    ),
]

# Each has no match in the sources, so what is clean stays clean.
NAMES = [
    Word(r"(?:^|_)obey(?:s|ed)?(?:_|$)", "apply, process", "fn obey_command()", "fn apply()"),
    Word(r"(?:^|_)faces?(?:_|$)", "api", "struct BlockingFace", "struct Surface"),
    Word(r"(?:^|_)(?:patience|impatient)(?:_|$)", "timeout", "patience: Duration", "a_patient: u8"),
    Word(r"(?:^|_)further_keys?(?:_|$)", "additional_keys", "further_keys: u8", "further: u8"),
    Word(r"^(?:send|recv|request)(?:_many)?_for$", "send_timeout", "fn recv_for()", "fn server_for()"),
    Word(r"(?:^|_)keepers?(?:_|$)", "store", "trait CookieKeeper", "fn keeps_alive()"),
    Word(r"(?:^|_)setbacks?(?:_|$)", "error", "enum Setback", "fn set_back_to(u8)"),
    Word(r"(?:^|_)paces?(?:_|$)", "rate, bursts", "struct Pace", "space: u8"),
    Word(r"(?:^|_)stretch(?:es)?(?:_|$)", "range", "Item::Stretch", "stretched: u8"),
    Word(r"(?:^|_)(?:in_)?vain(?:_|$)", "failed", "const VAIN_ATTEMPTS: u8", "vanity: u8"),
    Word(r"(?:^|_)last_words(?:_|$)", "flush_error", "fn last_words()", "last_word: u8"),
    Word(r"(?:^|_)deal_with(?:_|$)", "process", "fn deal_with()", "fn deal()"),
    Word(r"^dig$", "read, search", "fn dig()", "digest: u8"),
    Word(r"^notice$", "event", "Item::Notice", "fn is_noticed()"),
    Word(r"(?:^|_)(?:to|no|disconnect|peer)_routes?$", "routing_id", "fn to_route()", "let route = 0;"),
    Word(r"^routes?_(?:beside|of)(?:_|$)", "routing_id", "fn route_of_peer()", "fn routes()"),
    Word(r"^looks?(?:_(?:at|again)(?:_|$)|$)", "spin, poll, check, read", "fn look_at_link()", "fn look_up()"),
    Word(r"(?:^|_)connection_numbers?(?:_|$)", "connection_id", "connection_number: u64", "connections: u8"),
    Word(r"(?:^|_)by_numbers?(?:_|$)", "by_routing_id", "fn send_by_number()", "fn by_the_number()"),
    Word(r"(?:^|_)in_line(?:_|$)", "queued", "fn wait_in_line()", "fn in_lines()"),
    Word(r"(?:^|_)(?:get|gets|own|other)_turns?(?:_|$)", "iteration, time slice", "fn get_turn()", "fn turns()"),
    Word(
        r"(?:^|_)(?:low|high|upper|lower)_marks?$",
        "limit, high_water_mark",
        "low_mark: u8",
        "high_water_mark: u8",
    ),
    Word(r"(?:^|_)utils?(?:_|$)", "the noun of what it holds", "mod utils;", "let utility = 0;"),
    Word(r"(?:^|_)helpers?(?:_|$)", "the noun of what it does", "fn run_helper()", "fn help()"),
    Word(r"(?:^|_)managers?(?:_|$)", "the noun of what it holds", "struct KeyManager", "fn manage()"),
]

SUFFIXES = (".md", ".rs", ".py", ".rb")

FENCE = re.compile(r"^[ >]*(?:[*+-] |\d+\. )?[ ]*(```+|~~~+)")
# A link's text may hold inline code and a picture.
NOT_PROSE = re.compile(
    r"(`+)(?!`)(?:(?!\n\s*\n).)*?(?<!`)\1(?!`)"
    r"|<!--.*?-->"
    r"|!?\[(?:[^\[\]]|\[[^\[\]]*\])*\](?:\([^()]*(?:\([^()]*\)[^()]*)*\)|\[[^\]]*\])"
    r"|<?https?://[^\s>)]+>?",
    re.DOTALL,
)
# What a paragraph ends at, seen from the next line: nothing, a heading, a list item, a table row.
BLOCK = re.compile(r"[\s>]*(?:$|#|\||[*+-] |\d+\. )")
HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


def blank(text):
    """A stand-in of the same lines that no pattern takes for a word."""
    return "\ufffc" + "\n" * text.count("\n")


def paragraphs(text):
    """Prose of a Markdown file: each paragraph on one line, with the line of each character."""
    lines, fence = [], None
    for line in text.splitlines():
        mark = FENCE.match(line)
        if fence is None and mark:
            fence = mark[1]
        elif fence is not None:
            if mark and mark[1].startswith(fence):
                fence = None
        else:
            lines.append(line)
            continue
        lines.append("")
    found, places = "", []
    prose = NOT_PROSE.sub(lambda match: blank(match[0]), "\n".join(lines))
    for number, line in enumerate(prose.split("\n"), 1):
        if BLOCK.match(line) or found.startswith("#"):
            if found:
                yield found, places
            found, places = "", []
        words = " ".join(line.lstrip("> ").split())
        if words and found:
            words = " " + words
        found += words
        places += [number] * len(words)
    if found:
        yield found, places


def in_prose(text):
    """Line, word and what to write, of each pattern of prose in a Markdown file."""
    for paragraph, places in paragraphs(text):
        for word, pattern in zip(PROSE, PATTERNS_OF_PROSE):
            for match in pattern.finditer(paragraph):
                yield places[match.start()], match[0], word.instead


def in_comments(text, suffix):
    """Line, word and what to write, of each pattern of prose in the comments of a source."""
    for first, prose in comments.of(text, suffix):
        for line, found, instead in in_prose(prose):
            yield first + line - 1, found, instead


@functools.cache
def instead_of(name):
    """What to write for an identifier, of each pattern of names. Most names come hundreds of times."""
    snake = HUMP.sub("_", name.removeprefix("r#")).lower()
    return [word.instead for word, pattern in zip(NAMES, PATTERNS_OF_NAMES) if pattern.search(snake)]


def in_names(text):
    """Line, identifier and what to write, of each pattern of names in a Rust file."""
    for match in comments.RUST.finditer(text):
        name = match["word"]
        for instead in instead_of(name) if name else ():
            yield text.count("\n", 0, match.start()) + 1, name, instead


PATTERNS_OF_PROSE = [re.compile(word.pattern, re.IGNORECASE) for word in PROSE]
PATTERNS_OF_NAMES = [re.compile(word.pattern) for word in NAMES]


def files():
    """Documents and sources of the repository, committed or not."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    command += ["*" + suffix for suffix in SUFFIXES]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return [ROOT / name for name in sorted(set(result.stdout.splitlines())) if (ROOT / name).is_file()]


def check(path):
    """A line for each word of a file that the field has another word for."""
    text = path.read_text(encoding="utf-8")
    shown = path.relative_to(ROOT) if ROOT in path.parents else path
    if path.suffix == ".md":
        all_found = list(in_prose(text))
    else:
        all_found = list(in_comments(text, path.suffix))
        all_found += in_names(text) if path.suffix == ".rs" else []
    for line, found, instead in sorted(all_found):
        yield f'{shown}:{line}: "{found}": write {instead}'


def main(arguments):
    if "--patterns" in arguments:
        for word in [*PROSE, *NAMES]:
            print(f"{word.pattern}\n    {word.instead}")
        return 0
    chosen = [Path(name).resolve() for name in arguments] or files()
    failures = [failure for path in chosen for failure in check(path)]
    for failure in failures:
        print(failure)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
