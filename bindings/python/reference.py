#!/usr/bin/env python3
"""Makes the API reference in doc/, a page for each module, from the docstrings of the installed package."""

from __future__ import annotations

import importlib
import pathlib
import pydoc
from types import ModuleType

MODULES = [
    "sealwire",
    "sealwire.asyncio",
    "sealwire.rpc",
    "sealwire.aead",
    "sealwire.box",
    "sealwire.newplex",
    "sealwire.zmq",
    "sealwire.types",
]


class Page(pydoc.HTMLDoc):
    """Pages that do not say where the package is on the machine that made them."""

    def filelink(self, url: str, path: str) -> str:
        return ""


def modules() -> list[ModuleType]:
    return [importlib.import_module(name) for name in MODULES]


def write(folder: pathlib.Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    page = Page()
    for module in modules():
        name = module.__name__
        text = page.page(pydoc.describe(module), page.document(module, name))
        (folder / f"{name}.html").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write(pathlib.Path(__file__).resolve().parent / "doc")
