"""How long files and functions may be. Clippy holds the limit for functions in Rust."""

import re
import statistics
from collections.abc import Iterator

from tests.tidy.python_functions import functions, line_count
from tests.tidy.tree import Source, Tree

FILE_LINES_MAX = 350
TEST_FILE_LINES_MAX = 500
FUNCTION_LINES_MAX = 60
FUNCTION_LINES_MEDIAN_LIMIT = 10

TYPESCRIPT_FUNCTION = re.compile(
    r"""^\s*(?!(?:if|for|while|switch|catch|else|do|try)\b)
        (?: .*\bfunction\b.* | .*=>\s* | (?:[\w\#]+\s+)*[\w\#]+\(.*\).* | \).* )
        \{$""",
    re.VERBOSE,
)


def long_files(tree: Tree) -> list[str]:
    found = []
    for source in tree.sources(".py", ".rs", ".ts"):
        limit = TEST_FILE_LINES_MAX if source.is_test else FILE_LINES_MAX
        if len(source.lines) > limit:
            found.append(source.finding(limit + 1, f"{len(source.lines)} lines; at most {limit}"))
    return found


def long_python_functions(tree: Tree) -> list[str]:
    return [
        source.finding(function.lineno, _too_long(function.name, line_count(function)))
        for source in tree.sources(".py")
        for function in functions(source)
        if line_count(function) > FUNCTION_LINES_MAX
    ]


def long_typescript_functions(tree: Tree) -> list[str]:
    return [
        source.finding(line, _too_long("this function", length))
        for source in tree.sources(".ts")
        if not source.is_test
        for line, length in _typescript_functions(source)
        if length > FUNCTION_LINES_MAX
    ]


def long_median_of_python_functions(tree: Tree) -> list[str]:
    """One finding when the package's median function has reached the limit."""
    lengths = [
        line_count(function)
        for source in tree.sources(".py")
        if not source.is_test
        for function in functions(source)
    ]
    median = statistics.median(lengths or [0])
    if median < FUNCTION_LINES_MEDIAN_LIMIT:
        return []
    return [f"the median Python function has {median} lines; under {FUNCTION_LINES_MEDIAN_LIMIT}"]


def _typescript_functions(source: Source) -> Iterator[tuple[int, int]]:
    """First line and length of each function, if a block closes at its own indentation."""
    for start, line in enumerate(source.lines):
        if TYPESCRIPT_FUNCTION.match(line):
            close = " " * (len(line) - len(line.lstrip())) + "}"
            rest = enumerate(source.lines[start + 1 :], start=2)
            length = next((count for count, text in rest if text.startswith(close)), 1)
            yield start + 1, length


def _too_long(name: str, length: int) -> str:
    return f"{name} has {length} lines; at most {FUNCTION_LINES_MAX}"
