"""Files and functions keep to their sizes, and the rules that say so can fail."""

import pytest

from tests.tidy.conftest import Plant
from tests.tidy.findings import assert_none
from tests.tidy.sizes import (
    long_files,
    long_median_of_python_functions,
    long_python_functions,
    long_typescript_functions,
)
from tests.tidy.tree import Tree


def test_no_file_is_too_long(repository: Tree) -> None:
    assert_none(long_files(repository))


def test_no_python_function_is_too_long(repository: Tree) -> None:
    assert_none(long_python_functions(repository))


def test_no_typescript_function_is_too_long(repository: Tree) -> None:
    assert_none(long_typescript_functions(repository))


def test_most_python_functions_are_short(repository: Tree) -> None:
    assert_none(long_median_of_python_functions(repository))


@pytest.mark.parametrize("name", ["engine.py", "engine.rs", "engine.ts"])
def test_a_file_with_one_line_too_many_is_found(plant: Plant, name: str) -> None:
    assert long_files(plant(name, "\n" * 350)) == []
    assert long_files(plant(name, "\n" * 351)) == [f"{name}:351: 351 lines; at most 350"]


@pytest.mark.parametrize(
    "path", ["tests/test_walk.py", "crates/wire/src/tests.rs", "web/test/model.test.ts"]
)
def test_a_file_of_tests_may_be_longer(plant: Plant, path: str) -> None:
    assert long_files(plant(path, "\n" * 500)) == []
    assert len(long_files(plant(path, "\n" * 501))) == 1


def test_a_long_python_function_is_found(plant: Plant) -> None:
    tree = plant("walk.py", "async def walk():\n" + "    pass\n" * 60)
    assert long_python_functions(tree) == ["walk.py:1: walk has 61 lines; at most 60"]


@pytest.mark.parametrize(
    "opening",
    [
        "export function draw(): void {",
        "const draw = () => {",
        "  private draw(now: number): void {",
        "): Reading {",
    ],
)
def test_a_long_typescript_function_is_found(plant: Plant, opening: str) -> None:
    margin = " " * (len(opening) - len(opening.lstrip()))
    body = f"{margin}  draw();\n"
    tree = plant("draw.ts", f"{opening}\n{body * 59}{margin}}}\n")
    assert long_typescript_functions(tree) == ["draw.ts:1: this function has 61 lines; at most 60"]
    assert long_typescript_functions(plant("draw.ts", f"{opening}\n{body * 58}{margin}}}\n")) == []


def test_a_long_typescript_class_is_no_function(plant: Plant) -> None:
    tree = plant("draw.ts", "export class Draw {\n" + "  size = 1;\n" * 99 + "}\n")
    assert long_typescript_functions(tree) == []


def test_a_median_at_the_limit_is_found(plant: Plant) -> None:
    tree = plant("walk.py", "def walk():\n" + "    pass\n" * 9)
    assert len(long_median_of_python_functions(tree)) == 1
