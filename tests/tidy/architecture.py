"""ARCHITECTURE.md names every module of the broker's two crates, and none that is gone."""

import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from tests.tidy.tree import Source, Tree

PAGE = PurePosixPath("ARCHITECTURE.md")
CRATES = ("core", "engine")
ITEM = re.compile(r"^- `(\w+)`: (.*?)(?=^-|^$)", re.MULTILINE | re.DOTALL)
NAME = re.compile(r"`([a-z_/]+)`")
NO_MODULE = frozenset({"lib", "broker"})
"""The first lists the modules, the second opens the section."""


def wrong_modules(tree: Tree) -> list[str]:
    pages = [page for page in tree.sources(".md") if page.path == PAGE]
    return [line for page in pages for crate in CRATES for line in _findings(tree, page, crate)]


def _findings(tree: Tree, page: Source, crate: str) -> Iterator[str]:
    folder = PurePosixPath("crates", crate, "src")
    modules = [
        path.relative_to(folder).with_suffix("")
        for path in tree.paths
        if path.is_relative_to(folder) and not Source(path, "").is_test
    ]
    named = set(_named(page.text, crate))
    known = {part for module in modules for part in module.parts}
    for gone in sorted(name for name in named if PurePosixPath(name).name not in known):
        yield f"{PAGE}: {crate} has no module {gone}"
    firsts = {module.parts[0] for module in modules} - NO_MODULE
    for missing in sorted(firsts - {name.split("/")[0] for name in named}):
        yield f"{PAGE}: does not name the module {missing} of {crate}"


def _named(text: str, crate: str) -> Iterator[str]:
    for item in ITEM.finditer(text):
        if item[1] == crate:
            yield from NAME.findall(item[2])
