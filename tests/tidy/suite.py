"""Habits that make a test worthless: sleeping until it passes, and not running it."""

import ast
import re
from collections.abc import Iterator

from tests.tidy.tree import Source, Tree

NOT_RUN = frozenset({"skip", "skipif", "xfail", "importorskip", "skipIf", "skipTest"})
NOT_RUN_RUST = re.compile(r"#\[ignore\b")
NOT_RUN_TYPESCRIPT = re.compile(r"\b(?:test|it|describe|suite)\.(?:skip|todo|only)\b")


def sleeping_tests(tree: Tree) -> list[str]:
    return [
        source.finding(line, "a test waits for what it needs, it does not sleep")
        for source in tree.sources(".py")
        if source.is_test
        for line in _sleeps(source)
    ]


def idle_tests(tree: Tree) -> list[str]:
    return [
        source.finding(line, "a test runs, or it is removed")
        for source in tree.sources(".py", ".rs", ".ts")
        for line in _not_run(source)
    ]


def _sleeps(source: Source) -> Iterator[int]:
    for node in ast.walk(ast.parse(source.text)):
        match node:
            case ast.Attribute(value=ast.Name(id="time"), attr="sleep"):
                yield node.lineno
            case ast.ImportFrom(module="time", names=names):
                yield from (node.lineno for name in names if name.name == "sleep")


def _not_run(source: Source) -> Iterator[int]:
    if source.path.suffix == ".py":
        if source.is_test:
            yield from _not_run_in_python(source)
        return
    pattern = NOT_RUN_RUST if source.path.suffix == ".rs" else NOT_RUN_TYPESCRIPT
    for number, line in enumerate(source.lines, start=1):
        if pattern.search(line):
            yield number


def _not_run_in_python(source: Source) -> Iterator[int]:
    for node in ast.walk(ast.parse(source.text)):
        if isinstance(node, ast.Attribute) and node.attr in NOT_RUN:
            owner = ast.unparse(node.value)
            if owner in {"pytest", "pytest.mark", "unittest", "self"}:
                yield node.lineno
