"""Who may import what is not a room: PySpark, the web framework, the native module.

The order of the rooms themselves is a contract of import-linter, in pyproject.toml.
"""

import ast
import sys
from collections.abc import Iterator

from tests.tidy.tree import Source, Tree

SPARK_ROOMS = frozenset({"slipring.spark", "slipring.pipeline", "pyspark_slipring"})
ONLY_IN: dict[str, frozenset[str]] = {
    "pyspark": SPARK_ROOMS,
    "deltalake": frozenset({"slipring.lake"}),
    "cantools": frozenset({"slipring.dictionary"}),
    "obstore": frozenset({"slipring.archive"}),
    "opentelemetry": frozenset({"slipring.logs"}),
    "starlette": frozenset({"slipring.console"}),
    "uvicorn": frozenset({"slipring.console"}),
    "zeroconf": frozenset({"slipring.discovery"}),
    "slipring._native": frozenset({"slipring.native"}),
}
MODEL = "slipring.model"
MODEL_MAY_IMPORT = frozenset({"slipring.model", "slipring.errors"})


def imports_in_the_wrong_room(tree: Tree) -> list[str]:
    return [
        source.finding(line, f"only {' and '.join(sorted(rooms))} may import {guarded}")
        for source in _package(tree)
        for line, module in _imports(source)
        for guarded, rooms in ONLY_IN.items()
        if _is_within(module, guarded) and _room(source) not in rooms
    ]


def wrong_imports_of_the_model(tree: Tree) -> list[str]:
    """The model uses the standard library and the errors, nothing else."""
    return [
        source.finding(line, f"the model may not import {module}")
        for source in _package(tree)
        if _room(source) == MODEL
        for line, module in _imports(source)
        if not _model_may_import(module)
    ]


def _package(tree: Tree) -> Iterator[Source]:
    for source in tree.sources(".py"):
        if source.path.parts[0] == "python":
            yield source


def _room(source: Source) -> str:
    """slipring.console for python/slipring/console/live.py, and for python/slipring/console.py."""
    package, *rest = source.path.with_suffix("").parts[1:]
    return package if package == "pyspark_slipring" or not rest else f"{package}.{rest[0]}"


def _imports(source: Source) -> Iterator[tuple[int, str]]:
    """Line and name of everything imported; ruff forbids relative imports."""
    for node in ast.walk(ast.parse(source.text)):
        match node:
            case ast.Import(names=names):
                yield from ((node.lineno, name.name) for name in names)
            case ast.ImportFrom(module=str(module), names=names):
                yield from ((node.lineno, f"{module}.{name.name}") for name in names)


def _is_within(module: str, package: str) -> bool:
    return module == package or module.startswith(f"{package}.")


def _model_may_import(module: str) -> bool:
    if module.partition(".")[0] in sys.stdlib_module_names:
        return True
    return any(_is_within(module, room) for room in MODEL_MAY_IMPORT)
