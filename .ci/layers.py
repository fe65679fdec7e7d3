#!/usr/bin/env python3
"""Imports inside a crate point down: each of its modules stands on a floor and uses floors below.

    .ci/layers.py                  checks the crates of the table
    .ci/layers.py CRATE...         these, as `crates/sealwire-zmtp`
    .ci/layers.py --arrows CRATE   prints which module uses which, checks nothing

In some crates modules of one folder refer to each other in no circle either, however deep the folder.

What counts is every path from one top-level module of a crate to another, in whatever form:
`crate::`, `super::` and `self::super::`, grouped or not, imports, re-exports, expressions, types,
bodies and arguments of macros, and names that the root re-exports. Tests may import anything:
what is compiled only for `#[cfg(test)]`, and `#[test]` functions, do not count. The root imports
anything too, and nothing may use what the root defines itself. What a macro is given as
`$crate::$name` cannot be seen. Standard library of Python only, 3.9 or newer.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# The floors of each crate from the ground up. A module uses floors below its own. Modules of one
# floor do not know each other.
FLOORS = {
    "crates/sealwire": [
        ["limits"],
        ["account", "counters", "endpoint", "entropy", "measures", "panics", "primitives", "routing_ids", "signals", "text"],
        ["standard_error"],
        ["guard", "keys", "peer"],
        ["auth", "message", "reach", "waiting"],
        ["security"],
        ["options"],
        ["transport"],
        ["failure"],
        ["error"],
        ["monitor", "pattern"],
        ["metrics"],
        ["core"],
        ["inproc"],
        ["zap"],
        ["engine"],
        ["context"],
        ["simulation", "socket"],
        ["proxy", "waits"],
    ],
    "crates/sealwire-aead": [
        ["error", "node", "sizes"],
        ["batch", "keys", "mac_input"],
        ["job", "random"],
        ["back_end"],
        # The reference is a back end, and gives the others its constants and its small functions.
        ["portable"],
        ["derive", "engine", "simd"],
        ["aarch64", "pieces", "wasm", "x86"],
        ["cipher", "session"],
        ["stream", "traits"],
    ],
    "crates/sealwire-file": [
        ["error"],
        ["header", "key"],
        ["chunk"],
        ["copy"],
    ],
    "crates/sealwire-nacl": [
        ["error", "salsa20", "sizes"],
        ["job", "poly1305", "x25519", "xsalsa20"],
        ["batch", "one_time_key"],
        ["counter_box"],
        ["secret_box"],
        ["keys"],
    ],
    "crates/sealwire-newplex": [
        ["permutation"],
        ["duplex"],
        ["error"],
        ["protocol"],
        ["schemes"],
        ["files"],
    ],
    "crates/sealwire-policy": [
        ["fault", "wildcard"],
        ["document", "host", "socket_file"],
        ["pattern"],
        ["protection"],
        ["rule"],
        ["policy"],
        ["sources"],
    ],
    "crates/sealwire-rpc": [
        ["counters", "guard", "limits", "lock", "status", "threads"],
        ["proto", "seat"],
        ["outgoing", "sockets", "trace"],
        ["link"],
        ["hub"],
        ["call"],
        ["stream"],
        ["conn"],
        ["handler"],
        ["client", "server"],
        ["blocking"],
        ["monte", "typed", "work"],
    ],
    "crates/sealwire-simd": [
        ["instructions", "level", "prefetch"],
        ["isa"],
        ["dispatch", "measuring", "vector"],
        ["arm", "blocks", "wasm", "x86"],
    ],
    "crates/sealwire-tunnel": [
        ["reason", "sizes"],
        ["incoming", "outgoing"],
        ["handshake"],
        ["stream"],
    ],
    "crates/sealwire-zmtp": [
        ["keys", "limits", "mechanism_type", "socket_type"],
        ["error", "provider"],
        ["key_pair", "wire"],
        ["mechanism", "message"],
        ["connection"],
    ],
}

# Crates in which modules of one folder make no circle, however deep.
WITHOUT_CIRCLES = {
    "crates/sealwire",
    "crates/sealwire-aead",
    "crates/sealwire-nacl",
    "crates/sealwire-newplex",
    "crates/sealwire-rpc",
    "crates/sealwire-simd",
    "crates/sealwire-zmtp",
}

TOKEN = re.compile(
    r"""(?P<space>\s+|//[^\n]*)
    |(?P<comment>/\*)
    |(?P<string>(?:br|cr|r)(?P<hashes>\#*)"(?:.|\n)*?"(?P=hashes)|[bc]?"(?:\\(?:.|\n)|[^"\\])*"
        |b?'(?:\\(?:x[0-9a-fA-F]{2}|u\{[^}]*\}|.)|[^\\'\n])')
    |(?:'\w+)
    |(?P<word>(?:r\#)?\w+)
    |(?P<mark>::|=>|->|.)""",
    re.VERBOSE,
)
CLOSERS = {"(": ")", "[": "]", "{": "}"}
ITEMS = set(
    "async const enum extern fn impl macro_rules mod static struct trait type union unsafe use".split()
)
DEFINING = set("const enum fn static struct trait type union".split())
OUTSIDE = object()


class Token(str):
    """A token's text, with its line and whether it is a string's."""

    def __new__(cls, text, line, literal=False):
        token = super().__new__(cls, text)
        token.line, token.literal = line, literal
        return token

    @property
    def word(self):
        return not self.literal and (self[0].isalpha() or self[0] == "_")


def tokens(text):
    """Without comments. A string is one token, so that no path is read in it."""
    found, at, line = [], 0, 1
    while at < len(text):
        match = TOKEN.match(text, at)
        end = match.end()
        if match["comment"]:
            depth = 1
            while depth and end < len(text):
                mark = text[end : end + 2]
                step = {"/*": 1, "*/": -1}.get(mark, 0)
                depth, end = depth + step, end + (2 if step else 1)
        elif match["string"]:
            found.append(Token(match[0], line, literal=True))
        elif not match["space"]:
            found.append(Token(match[0][2:] if match[0].startswith("r#") else match[0], line))
        line += text.count("\n", at, end)
        at = end
    found.append(Token("\0", line))
    return found


def closing(code, at):
    """The place of the bracket that closes the one here."""
    depth = 0
    for place in range(at, len(code)):
        if not code[place].literal:
            depth += (code[place] in CLOSERS) - (code[place] in CLOSERS.values())
            if depth == 0:
                return place
    return len(code) - 1


def needs_test(code):
    """Whether the predicate of a `cfg` holds in tests only."""
    if code and code[0] in ("all", "any") and code[1:2] == ["("]:
        parts, start, depth = [], 2, 0
        for place in range(2, len(code)):
            depth += (code[place] == "(") - (code[place] == ")")
            if depth < 0 or (depth == 0 and code[place] == ","):
                parts.append(code[start:place])
                start = place + 1
        verdicts = [needs_test(part) for part in parts if part]
        return any(verdicts) if code[0] == "all" else bool(verdicts) and all(verdicts)
    return code in (["test"], ["doctest"])


def attribute(code, at):
    """The end of the attribute here, whether it is for tests only, and what `path` it names."""
    start = at + 1 + (code[at + 1] == "!")
    end = closing(code, start)
    inside = code[start + 1 : end]
    test = inside == ["test"] or (inside[:2] == ["cfg", "("] and needs_test(inside[2:-1]))
    path = inside[2].strip('"') if inside[:2] == ["path", "="] else None
    return end + 1, test, path


def end_of_item(code, at):
    """Behind what an attribute here belongs to: an item, a statement, a field or an arm."""
    while code[at] == "#":
        at = attribute(code, at)[0]
    first = at
    if code[first] == "pub":
        first = closing(code, first + 1) + 1 if code[first + 1] == "(" else first + 1
    is_item = code[first] in ITEMS
    ends_at_brace = is_item and code[first] not in ("static", "type", "use")
    if code[first] == "const":
        ends_at_brace = code[first + 1] in ("async", "extern", "fn", "unsafe")
    while at < len(code) - 1:
        if code[at] in CLOSERS and not code[at].literal:
            brace = code[at] == "{"
            at = closing(code, at) + 1
            continues = code[at] in ("=>", ",", ";", ".", "?", "else")
            if brace and (ends_at_brace or not (is_item or continues)):
                return at
        elif code[at] in CLOSERS.values():
            return at
        elif code[at] == ";" or (code[at] == "," and not is_item):
            return at + 1
        else:
            at += 1
    return at


def use_tree(code, at):
    """Paths of the import here, each as segments, the name it gets and its line; and its end."""
    paths = []

    def tree(at, prefix):
        while True:
            if code[at] in ("::", "$"):
                at += 1
            elif code[at] == "{":
                at += 1
                while code[at] not in ("}", ";", "\0"):
                    at = tree(at, prefix)
                    at += code[at] == ","
                return at + (code[at] == "}")
            elif code[at].word or code[at] == "*":
                prefix = [*prefix, code[at]]
                at += 1
                if code[at] == "::":
                    continue
                name = prefix[-1]
                if name == "self" and len(prefix) > 1:
                    name = prefix[-2]
                if code[at] == "as":
                    name, at = code[at + 1], at + 2
                paths.append((prefix, str(name), prefix[-1].line))
                return at
            else:
                # Neither an import nor a name that a macro is given.
                return at + (code[at] not in (",", "}", ";", "\0"))

    return paths, tree(at, [])


class Crate:
    """Modules of a crate, and what each uses."""

    def __init__(self, folder):
        source = folder / "src"
        self.folder, self.failures, self.reached = folder, [], set()
        self.modules, self.names, self.globs, self.macros = set(), {}, [], {}
        self.defined, self.paths, self.calls, self.crates = {}, [], [], {"crate"}
        # Modules of any depth, and all paths, in imports with the name they get.
        self.tree, self.uses = set(), []
        roots = [source / name for name in ("lib.rs", "main.rs") if (source / name).is_file()]
        if not roots:
            self.failures.append(f"{folder}: no crate is here")
            return
        root = roots[0]
        # `extern crate self as name` is another word for `crate`.
        words = tokens(root.read_text(encoding="utf-8"))
        for at in range(len(words) - 4):
            if words[at : at + 4] == ["extern", "crate", "self", "as"]:
                self.crates.add(str(words[at + 4]))
        self.file(root, [], source, False)
        # `src/bin` holds crates of their own.
        apart = {*(source / "bin").rglob("*.rs"), *roots}
        for file in sorted({*source.rglob("*.rs")} - self.reached - apart):
            self.failures.append(f"{file}: no module of the crate is in this file")

    def file(self, file, module, children, test):
        self.reached.add(file)
        self.block(tokens(file.read_text(encoding="utf-8")), 0, None, file, module, children, test)

    def block(self, code, at, end, file, module, children, test):
        """Reads the tokens of one module, whose files are in `children`."""
        end = len(code) - 1 if end is None else end
        path, until = None, at if not test else end
        outer = test
        while at < end:
            test = outer or at < until
            token, behind = code[at], code[at + 1]
            if token == "#" and behind in ("[", "!") and "[" in (behind, code[at + 2]):
                after, for_tests, named = attribute(code, at)
                path = named or path
                if for_tests and behind == "!":
                    outer = True
                elif for_tests:
                    until = max(until, end_of_item(code, after))
                at += 1
            elif token.word and token == "mod" and behind.word and code[at + 2] in (";", "{"):
                inner, inline = [*module, str(behind)], code[at + 2] == "{"
                if not test:
                    self.tree.add(tuple(inner))
                    self.modules.add(inner[0])
                folder = children / behind
                if inline:
                    close = closing(code, at + 2)
                    self.block(code, at + 3, close, file, inner, folder, test)
                    at = close
                else:
                    # A file that a path names has its children beside it, like a mod.rs.
                    places = [children / f"{behind}.rs", folder / "mod.rs"]
                    places = [file.parent / path] if path else places
                    found = next((place for place in places if place.is_file()), None)
                    if found:
                        self.file(found, inner, found.parent if path else folder, test)
                path = None
                at += 1
            elif token.word and token == "use" and (behind.word or behind in ("{", "::", "$")):
                imports, at = use_tree(code, at + 1)
                for segments, name, line in imports if not test else ():
                    self.path(file, module, segments, line, name)
            elif token.word and not test:
                at = self.reference(code, at, file, module)
            else:
                at += 1

    def reference(self, code, at, file, module):
        """Notes the path, the macro or the definition here, and gives the place behind it."""
        token, before, behind = code[at], code[at - 1] if at else "", code[at + 1]
        if token == "crate" and before == "extern":
            if not module:
                name = code[at + 3] if code[at + 2] == "as" else behind
                self.names.setdefault(str(name), []).append(OUTSIDE)
            return at + 2
        if token == "macro_rules" and behind == "!":
            self.macros.setdefault(str(code[at + 2]), set()).add(module[0] if module else None)
            return at + 3
        if token in DEFINING and behind.word:
            self.defined.setdefault(module[0] if module else None, set()).add(str(behind))
        if behind == "::" and before != "::":
            segments = [token]
            while code[at + 1] == "::" and (code[at + 2].word or code[at + 2] == "*"):
                segments.append(code[at + 2])
                at += 2
            if len(segments) > 1:
                self.path(file, module, segments, token.line)
        elif behind == "!" and before != "::" and code[at + 2] in CLOSERS:
            self.calls.append((file, module, str(token), token.line))
        return at + 1

    def path(self, file, module, segments, line, imported=None):
        """Notes a path that begins at the root of the crate, and what the root imports."""
        base, rest = self.base(module, segments)
        self.uses.append((file, tuple(module), segments, line, imported))
        if not module and imported:
            whole = [name for name in [*(base or []), *rest] if name != "self"]
            if whole[-1:] == ["*"]:
                self.globs.append(whole[0])
            elif whole:
                self.names.setdefault(imported, []).append(whole)
        elif base == []:
            self.paths.append((file, module, rest, line))

    def base(self, module, segments):
        """The module in which a path begins, None where it is another crate's, and what follows it."""
        base, rest = None, list(map(str, segments))
        if rest[0] in self.crates:
            base, rest = [], rest[1:]
        elif rest[0] in ("self", "super"):
            base = list(module)
            while rest and rest[0] in ("self", "super"):
                if rest.pop(0) == "super":
                    base = base[:-1]
        return base, rest

    def homes(self, name, seen=()):
        """The modules that a name of the root stands for; None is the root itself."""
        if name in self.modules:
            return {name}
        found = set()
        for target in self.names.get(name, ()) if name not in seen else ():
            if target is OUTSIDE:
                found.add(OUTSIDE)
            elif target[0] in self.modules:
                found.add(target[0])
            elif target[0] in self.defined.get(None, ()):
                found.add(None)
            elif target[0] in self.names and target[0] != name:
                found |= self.homes(target[0], (*seen, name))
            else:
                found.add(OUTSIDE)
        found = found or self.macros.get(name)
        if not found and name not in self.defined.get(None, ()):
            # Macros define names too, so without a definition that is seen all may be meant.
            globs = {module for module in self.globs if module in self.modules}
            found = {module for module in globs if name in self.defined.get(module, ())} or globs
        return found or {None}

    def arrows(self):
        """The uses in the crate: file, line, module, the one it uses (None is the root), the name."""
        found = set()
        for file, module, rest, line in self.paths:
            if module:
                name = next((name for name in rest if name != "self"), "self")
                targets = {None} if name in ("self", "*") else self.homes(name)
                found |= {(file, line, module[0], target, name) for target in targets}
        for file, module, name, line in self.calls:
            homes = self.macros.get(name, set())
            if module and module[0] not in homes:
                found |= {(file, line, module[0], home, name) for home in homes}
        arrows = (arrow for arrow in found if arrow[3] is not OUTSIDE and arrow[3] != arrow[2])
        return sorted(arrows, key=lambda arrow: (str(arrow[0]), arrow[1], str(arrow[3])))


    def circles(self):
        """Modules of one folder that use each other in a circle: a description for each folder."""
        exports, globs, targets = {}, {}, []
        for file, module, segments, line, imported in self.uses:
            base, rest = self.base(module, segments)
            if base is None and (*module, rest[0]) in self.tree:
                base = list(module)
            if base is not None:
                path = [*base, *rest]
                targets.append((file, module, path, line))
                if imported == "*":
                    globs.setdefault(module, path[:-1])
                elif imported:
                    exports.setdefault((*module, imported), path)

        def place(path, seen=()):
            """The module in which the item of a path is, wherever it is re-exported."""
            here = ()
            for at, name in enumerate(path):
                behind = (*here, name)
                if behind in self.tree:
                    here = behind
                elif behind in exports and behind not in seen:
                    return place([*exports[behind], *path[at + 1 :]], (*seen, behind))
                elif here in globs and behind not in seen:
                    # Macros define names too, so a name that is not seen may be the glob's.
                    return place([*globs[here], *path[at:]], (*seen, behind))
                elif name != "self":
                    break
            return here

        uses = {}
        for file, module, path, line in targets:
            target, depth = place(path), 0
            while module[: depth + 1] == target[: depth + 1] and depth < len(module):
                depth += 1
            if depth < min(len(module), len(target)):
                one, other = (path[: depth + 1] for path in (module, target))
                if one != other:
                    siblings = uses.setdefault(module[:depth], {})
                    siblings.setdefault(one[-1], {}).setdefault(other[-1], f"{file}:{line}")
        for parent, siblings in sorted(uses.items()):
            left = set(siblings)
            while ends := {name for name in left if not left & set(siblings[name])}:
                left -= ends
            if left:
                walk = [min(left)]
                while walk[-1] not in walk[:-1]:
                    walk.append(min(left & set(siblings[walk[-1]])))
                walk = walk[walk.index(walk[-1]) :]
                steps = (f"{one} -> {two} ({siblings[one][two]})" for one, two in zip(walk, walk[1:]))
                yield f"a circle in {'::'.join(['crate', *parent])}: {', '.join(steps)}"


def check(folder, floors, may_have_circles=True):
    """Faults of the crate in this folder, a line each."""
    crate = Crate(folder)
    failures = list(crate.failures)
    heights = {}
    for height, floor in enumerate(floors):
        for module in floor:
            if module in heights:
                failures.append(f"{folder}: {module} stands on two floors")
            heights[module] = height
    if not may_have_circles:
        failures.extend(crate.circles())
    for module in sorted(crate.modules - set(heights)):
        failures.append(f"{folder}: module {module} stands on no floor: add it to the table")
    for module in sorted(set(heights) - crate.modules):
        failures.append(f"{folder}: there is no module {module}, which the table names")
    for file, line, module, target, name in crate.arrows():
        if module not in heights or (target is not None and target not in heights):
            continue
        allowed = {other for other in heights if heights[other] < heights[module]}
        if target in allowed:
            continue
        if target is None:
            why = f"{module} -> the crate's root ({name}), which is above all modules"
        elif heights[target] > heights[module]:
            why = f"{module} -> {target}, which is on a floor above"
        else:
            why = f"{module} -> {target}, which is on the same floor"
        may = ", ".join(sorted(allowed)) or "nothing"
        failures.append(f"{file}:{line}: {why}; {module} may use {may}")
    return failures


def main(arguments):
    if arguments[:1] == ["--arrows"]:
        for argument in arguments[1:]:
            crate, uses = Crate(ROOT / argument), {}
            for _, _, module, target, _ in crate.arrows():
                uses.setdefault(module, set()).add(target or "the root")
            for module in sorted(crate.modules):
                print(f"{module}: {' '.join(sorted(uses.get(module, ()))) or '-'}")
        return 0
    unknown = [name for name in arguments if name not in FLOORS]
    if unknown:
        sys.exit(f"no floors for {', '.join(unknown)}; there are: {', '.join(sorted(FLOORS))}")
    chosen = arguments or FLOORS
    failures = []
    for name in chosen:
        failures += check(ROOT / name, FLOORS[name], name not in WITHOUT_CIRCLES)
    for failure in failures:
        print(failure.replace(f"{ROOT}/", ""))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
