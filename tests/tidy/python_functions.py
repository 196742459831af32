"""The functions of a Python file, found in its syntax tree."""

import ast
from collections.abc import Iterator

from tests.tidy.tree import Source

Function = ast.FunctionDef | ast.AsyncFunctionDef


def functions(source: Source) -> Iterator[Function]:
    for node in ast.walk(ast.parse(source.text)):
        if isinstance(node, Function):
            yield node


def line_count(function: Function) -> int:
    return (function.end_lineno or function.lineno) - function.lineno + 1
