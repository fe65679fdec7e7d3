"""Comments of Rust, Python and Ruby files, as the Markdown that they hold.

Comments of one kind on lines below each other are one text, since a sentence goes on from line to line.
Standard library of Python only, 3.9 or newer.
"""

import io
import re
import tokenize

RUST = re.compile(
    r"""(?P<line>//(?:/(?!/)|!|))(?P<prose>[^\n]*)|/\*(?P<block>.*?)\*/
    |(?:br|cr|r)(\#*)".*?"\4|[bc]?"(?:\\.|[^"\\])*"|b?'(?:\\.[^']*|[^\\'\n])'
    |(?P<word>(?:r\#)?[A-Za-z_]\w*)""",
    re.VERBOSE | re.DOTALL,
)
# A comment that is alone on its line; `=begin` blocks and `#!` are not in use or not prose.
RUBY = re.compile(r"^[ \t]*#(?!!)(?P<prose>[^\n]*)", re.MULTILINE)


def of(text, suffix):
    """The number of the first line and the text, of each run of comments in a file with that suffix."""
    return runs({".rs": rust, ".py": python, ".rb": ruby}[suffix](text))


def runs(lines):
    """Joins lines, each with its number and kind, that are of one kind and below each other."""
    first, kind, found = 0, None, []
    for number, its_kind, prose in lines:
        if found and (its_kind != kind or number != first + len(found)):
            yield first, "\n".join(found)
            found = []
        if not found:
            first, kind = number, its_kind
        found += prose.split("\n")
    if found:
        yield first, "\n".join(found)


def rust(text):
    number, counted = 1, 0
    for match in RUST.finditer(text):
        if match["word"]:
            continue
        number, counted = number + text.count("\n", counted, match.start()), match.start()
        if match["line"]:
            # Beside code a comment stands for itself.
            begin = text.rfind("\n", 0, match.start()) + 1
            beside = text[begin : match.start()].strip()
            yield number, (match["line"], beside and number), match["prose"]
        elif match["block"] is not None:
            prose = re.sub(r"(?m)^[ \t]*\*", "", match["block"].lstrip("*!"))
            yield number, ("block", number), prose


def python(text):
    begins = True
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            beside = token.line[: token.start[1]].strip()
            if not token.string.startswith("#!"):
                yield token.start[0], ("#", beside and token.start[0]), token.string[1:]
        elif token.type == tokenize.STRING and begins:
            # A text that is a statement: a docstring.
            prose = re.sub(r"^\w*[\"']+|[\"']+$", "", token.string)
            yield token.start[0], ("docstring", token.start[0]), prose
        if token.type not in (tokenize.COMMENT, tokenize.NL):
            begins = token.type in (tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENCODING)


def ruby(text):
    number, counted = 1, 0
    for match in RUBY.finditer(text):
        number, counted = number + text.count("\n", counted, match.start()), match.start()
        yield number, "#", match["prose"]
