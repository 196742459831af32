"""What files say beside code: how they open, and what should not be left in them."""

import ast
import re

from tests.tidy.tree import Source, Tree

TEXT_SUFFIXES = (".py", ".pyi", ".rs", ".ts", ".css", ".html", ".sh", ".md", ".toml", "Makefile")
UNFINISHED = re.compile(r"\b(TOD[O]|FIXM[E]|XX[X])\b")
COMMENTED_OUT = re.compile(
    r"^\s*//\s*(?:let|pub|fn|use|const|return|import|export|await|var|self\.|this\.)\b.*[;{]\s*$",
)


def files_without_opening(tree: Tree) -> list[str]:
    """Files that do not open with what they are."""
    return [
        source.finding(1, "opens without saying what this file is")
        for source in tree.sources(".py", ".rs", ".ts")
        if not _opens_with_prose(source)
    ]


def unfinished_marks(tree: Tree) -> list[str]:
    return _lines_matching(tree, TEXT_SUFFIXES, UNFINISHED, "do it now or write an issue")


def commented_out_code(tree: Tree) -> list[str]:
    """In Rust and TypeScript; ruff finds it in Python."""
    return _lines_matching(tree, (".rs", ".ts"), COMMENTED_OUT, "code that is commented out")


def _opens_with_prose(source: Source) -> bool:
    if source.path.suffix == ".py":
        return ast.get_docstring(ast.parse(source.text)) is not None
    mark = "//!" if source.path.suffix == ".rs" else ("//", "/*")
    return source.text.lstrip().startswith(mark)


def _lines_matching(
    tree: Tree, suffixes: tuple[str, ...], pattern: re.Pattern[str], message: str
) -> list[str]:
    return [
        source.finding(number, message)
        for source in tree.sources(*suffixes)
        for number, line in enumerate(source.lines, start=1)
        if pattern.search(line)
    ]
