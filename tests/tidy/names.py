"""Names that say nothing about the domain, in files, folders, types and functions."""

import ast
import re
from collections.abc import Iterator
from typing import NamedTuple

from tests.tidy.python_functions import Function
from tests.tidy.tree import Source, Tree

EMPTY_WORDS = frozenset(
    ["util", "utils", "helper", "helpers", "manager", "managers", "handler", "handlers", "misc"]
)
EMPTY_FIRST_WORDS = frozenset({"base", "common"})
"""These are words of the domain after another one (a time base), and empty in front."""
EMPTY_ALONE = frozenset(["aim", "cover", "scene", "shelf", "tools", "whatever", "whole"])
"""A type or a file with no other word in its name says nothing about what it is."""

WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
RUST_NAME = re.compile(
    r"^\s*(?:pub\S*\s+)?(?:async\s+|const\s+)*(fn|struct|enum|trait|mod)\s+(\w+)"
)
TYPESCRIPT_NAME = re.compile(
    r"^\s*(?:export\s+)?(?:default\s+)?(?:async\s+)?"
    r"(?:(class|interface|type|enum|function)\s+(\w+)|(const)\s+(\w+)\s*=\s*(?:async\s*)?\()",
)
FUNCTION_KINDS = frozenset({"fn", "function", "const"})


class Name(NamedTuple):
    line: int
    text: str
    is_function: bool


def forbidden_names(tree: Tree) -> list[str]:
    return sorted(set(_forbidden_paths(tree)) | set(_forbidden_definitions(tree)))


def is_forbidden(name: str, *, is_function: bool) -> bool:
    words = [word.lower() for word in WORD.findall(name)]
    if EMPTY_WORDS & set(words):
        return True
    if not is_function and len(words) == 1 and words[0] in EMPTY_ALONE:
        return True
    return (
        words[:1] != [] and words[0] in EMPTY_FIRST_WORDS and (not is_function or len(words) == 1)
    )


def _forbidden_paths(tree: Tree) -> Iterator[str]:
    for source in tree.sources(".py", ".rs", ".ts", ".sh"):
        for part in source.path.with_suffix("").parts:
            if is_forbidden(part, is_function=False):
                yield source.finding(1, f"{part} is not a word of the domain")


def _forbidden_definitions(tree: Tree) -> Iterator[str]:
    for source in tree.sources(".py", ".rs", ".ts"):
        for name in _definitions(source):
            if is_forbidden(name.text, is_function=name.is_function):
                yield source.finding(name.line, f"{name.text} is not a word of the domain")


def _definitions(source: Source) -> Iterator[Name]:
    if source.path.suffix == ".py":
        return _python_definitions(source)
    pattern = RUST_NAME if source.path.suffix == ".rs" else TYPESCRIPT_NAME
    return _matched_definitions(source, pattern)


def _python_definitions(source: Source) -> Iterator[Name]:
    for node in ast.walk(ast.parse(source.text)):
        if isinstance(node, Function | ast.ClassDef):
            yield Name(node.lineno, node.name, isinstance(node, Function))


def _matched_definitions(source: Source, pattern: re.Pattern[str]) -> Iterator[Name]:
    for number, line in enumerate(source.lines, start=1):
        if match := pattern.match(line):
            kind, text = [group for group in match.groups() if group is not None]
            yield Name(number, text, kind in FUNCTION_KINDS)
