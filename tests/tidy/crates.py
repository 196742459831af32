"""Which crate may use which."""

import json
import subprocess
from collections.abc import Iterator
from typing import Any

from tests.tidy.tree import Tree

OURS = "slipring-"
CRATES: dict[str, frozenset[str]] = {
    "wire": frozenset(),
    "core": frozenset({"wire"}),
    "protocol": frozenset({"wire"}),
    "domain": frozenset({"wire", "core"}),
    "journal": frozenset(),
    "websocket": frozenset(),
    "engine": frozenset({"core", "journal", "protocol", "websocket", "wire"}),
    "client": frozenset({"protocol", "websocket", "wire"}),
    "remote": frozenset({"wire", "journal", "protocol", "client"}),
    "samples": frozenset({"wire", "core", "journal"}),
    "python": frozenset(
        {"wire", "core", "journal", "protocol", "engine", "client", "remote", "samples"}
    ),
    "simulation": frozenset({"wire", "core", "journal", "engine"}),
    "load": frozenset({"wire"}),
    "fuzz": frozenset({"wire", "core", "domain", "journal", "protocol"}),
}
"""Each crate and those it may depend on. Tests of a crate may use any other."""


def wrong_crate_dependencies(tree: Tree) -> list[str]:
    return [
        f"slipring-{crate}: may not depend on {dependency}"
        for crate, dependency in _dependencies(tree)
        if dependency not in CRATES.get(crate, frozenset())
    ]


def unknown_crates(tree: Tree) -> list[str]:
    found = {package["name"].removeprefix(OURS) for package in _packages(tree)}
    return [
        f"slipring-{crate}: say in CRATES what it may use"
        for crate in sorted(found - CRATES.keys())
    ]


def _packages(tree: Tree) -> list[dict[str, Any]]:
    command = ["cargo", "metadata", "--no-deps", "--offline", "--format-version=1"]
    answer = subprocess.run(command, cwd=tree.root, check=True, capture_output=True, text=True)
    packages: list[dict[str, Any]] = json.loads(answer.stdout)["packages"]
    return packages


def _dependencies(tree: Tree) -> Iterator[tuple[str, str]]:
    for package in _packages(tree):
        for dependency in package["dependencies"]:
            if dependency["kind"] != "dev" and dependency["name"].startswith(OURS):
                yield package["name"].removeprefix(OURS), dependency["name"].removeprefix(OURS)
