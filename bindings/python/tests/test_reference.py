"""The API reference is made of docstrings, so all that is public has one."""

from __future__ import annotations

import html
import importlib.util
import inspect
import pathlib
import pkgutil
from types import ModuleType
from typing import Any, Iterator

import sealwire
from conftest import ROOT


def load() -> Any:
    spec = importlib.util.spec_from_file_location("reference", ROOT / "bindings" / "python" / "reference.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def members(owner: type) -> Iterator[tuple[str, object]]:
    """What its own documentation shows: not what Python or a base of Python brings along."""
    for base in owner.__mro__:
        if base.__module__.split(".")[0] == "sealwire":
            for name, value in vars(base).items():
                if not name.startswith("_") and (callable(value) or inspect.isdatadescriptor(value)):
                    yield name, getattr(owner, name)


def public(module: ModuleType) -> Iterator[tuple[str, object]]:
    names = getattr(module, "__all__", None) or [name for name in vars(module) if not name.startswith("_")]
    for name in names:
        value = getattr(module, name)
        if inspect.isclass(value) and value.__module__.split(".")[0] == "sealwire":
            yield f"{module.__name__}.{name}", value
            for member, what in members(value):
                yield f"{module.__name__}.{name}.{member}", what
        elif inspect.isroutine(value):
            yield f"{module.__name__}.{name}", value


def test_everything_is_explained() -> None:
    found = {name: value for module in load().modules() for name, value in public(module)}
    assert {"sealwire.Socket.close", "sealwire.Event.cause", "sealwire.rpc.Client.open"} <= found.keys()
    assert [name for name, value in found.items() if not inspect.getdoc(value)] == []


def test_each_public_module_has_a_page(tmp_path: pathlib.Path) -> None:
    reference = load()
    there = {f"sealwire.{module.name}" for module in pkgutil.iter_modules(sealwire.__path__)}
    assert {name for name in there if not name.startswith("sealwire._")} | {"sealwire"} == set(reference.MODULES)
    reference.write(tmp_path)
    for name in reference.MODULES:
        assert name.rpartition(".")[2] in (tmp_path / f"{name}.html").read_text(encoding="utf-8")
    page = html.unescape((tmp_path / "sealwire.html").read_text(encoding="utf-8"))
    assert "Closes the socket and waits" in page.replace("\xa0", " ")
    assert str(pathlib.Path(sealwire.__file__).parent) not in page
