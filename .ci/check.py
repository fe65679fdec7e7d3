#!/usr/bin/env python3
"""Format, lints and unit tests of what changed, and of what uses it.

    .ci/check.py                 what changed since the merge base with the main branch, committed or not
    .ci/check.py CRATE...        these crates, and those that use them
    .ci/check.py --files FILE... as if these files had changed
    .ci/check.py --list ...      prints what would be checked, and checks nothing

Nothing chosen is everything. Standard library of Python only, 3.9 or newer.
"""

import json
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# The crate whose tests read the documents, and that test.
DOCUMENTS = ("sealwire", "documents")
# Workspaces of their own, with what checks them.
APART = {
    "bindings/python": "make python",
    "bindings/ruby": "make ruby",
    "bench": "cd bench && cargo clippy --all-targets",
    "formal/states": "cd formal/states && cargo run --release -- --quick",
    "fuzz": "make fuzz",
    "interop": "make interop",
}
# Branches that changes go to, the first that exists.
MAIN = ("origin/main", "main", "origin/master", "master")


def output(*command):
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    return result.stdout if result.returncode == 0 else None


def crates():
    """Folder and users of each crate of the workspace, by name."""
    metadata = output("cargo", "metadata", "--no-deps", "--format-version", "1", "--offline")
    if metadata is None:
        sys.exit("cargo metadata failed: is there a Rust toolchain?")
    packages = json.loads(metadata)["packages"]
    folders = {
        package["name"]: Path(package["manifest_path"]).parent.relative_to(ROOT).as_posix()
        for package in packages
    }
    users = {name: set() for name in folders}
    for package in packages:
        for dependency in package["dependencies"]:
            if dependency["name"] in users and dependency.get("path"):
                users[dependency["name"]].add(package["name"])
    return folders, users


def changed_files():
    """Since the merge base with the main branch, committed or not."""
    base = "HEAD"
    for branch in MAIN:
        found = output("git", "merge-base", "HEAD", branch)
        if found:
            base = found.strip()
            break
    tracked = output("git", "diff", "--name-only", "--no-renames", base) or ""
    untracked = output("git", "ls-files", "--others", "--exclude-standard") or ""
    return sorted({*tracked.splitlines(), *untracked.splitlines()})


def with_users(chosen, users):
    """These crates and, again and again, those that use them."""
    found, waiting = set(), list(chosen)
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting.extend(users[name])
    return found


def choose(files, folders, users):
    """Crates to check, whether documents changed, and workspaces apart that changed."""
    changed, documents, apart = set(), False, set()
    for file in files:
        owner = next((name for name, path in folders.items() if file.startswith(f"{path}/")), None)
        workspace = next((path for path in APART if file.startswith(f"{path}/")), None)
        # Those of bindings are read by the same test; a crate's README may be part of its source.
        if file.endswith(".md") or file.startswith("docs/"):
            documents = True
        if owner:
            changed.add(owner)
        elif workspace:
            apart.add(workspace)
        elif not (file.endswith(".md") or file.startswith("docs/")):
            # The manifest, the toolchain's settings, vectors, scripts.
            return set(folders), True, apart
    if not changed and not documents and not apart:
        return set(folders), True, apart
    return with_users(changed, users), documents, apart


def has_unit_tests(folder):
    """Whether a crate has any: without, compiling it once more and linking it would test nothing."""
    sources = sorted((ROOT / folder / "src").rglob("*.rs"))
    return any("test]" in source.read_text(encoding="utf-8") for source in sources)


def packages(names):
    return [argument for name in sorted(names) for argument in ("-p", name)]


def steps(chosen, documents, folders):
    """The commands, in the order of what fails soonest."""
    yield ["make", "--no-print-directory", "format"]
    if chosen:
        yield ["cargo", "clippy", *packages(chosen), "--all-targets", "--", "-D", "warnings"]
    tested = {name for name in chosen if has_unit_tests(folders[name])}
    if tested:
        yield ["cargo", "test", "--quiet", *packages(tested), "--lib", "--bins"]
    if documents:
        yield ["cargo", "test", "--quiet", "-p", DOCUMENTS[0], "--test", DOCUMENTS[1]]


def main(arguments):
    folders, users = crates()
    only_list = "--list" in arguments
    arguments = [argument for argument in arguments if argument != "--list"]
    if arguments[:1] == ["--files"]:
        chosen, documents, apart = choose(arguments[1:], folders, users)
    elif arguments:
        unknown = [name for name in arguments if name not in folders]
        if unknown:
            sys.exit(f"no crate {', '.join(unknown)}; there are: {', '.join(sorted(folders))}")
        chosen, documents, apart = with_users(arguments, users), False, set()
    else:
        chosen, documents, apart = choose(changed_files(), folders, users)

    print("crates:", "all" if chosen == set(folders) else " ".join(sorted(chosen)) or "none")
    print("documents:", "yes" if documents else "no")
    for workspace in sorted(apart):
        print(f"not checked here: {workspace} ({APART[workspace]})")
    if only_list:
        return 0

    for step in steps(chosen, documents, folders):
        print(f"\n$ {' '.join(step)}", flush=True)
        begin = time.monotonic()
        status = subprocess.run(step, cwd=ROOT).returncode
        print(f"{time.monotonic() - begin:.0f} s", flush=True)
        if status != 0:
            return status
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
