"""Files open with what they are and hold no leftovers, and the rules that say so can fail."""

import pytest

from tests.tidy.conftest import Plant
from tests.tidy.findings import assert_none
from tests.tidy.prose import commented_out_code, files_without_opening, unfinished_marks
from tests.tidy.tree import Tree


def test_every_file_opens_with_what_it_is(repository: Tree) -> None:
    assert_none(files_without_opening(repository))


def test_nothing_is_marked_as_unfinished(repository: Tree) -> None:
    assert_none(unfinished_marks(repository))


def test_no_code_is_commented_out(repository: Tree) -> None:
    assert_none(commented_out_code(repository))


@pytest.mark.parametrize(
    ("path", "text"),
    [("a.py", "import os\n"), ("a.rs", "// A plain comment.\n"), ("a.ts", "import a from 'a';\n")],
)
def test_a_file_that_opens_without_prose_is_found(plant: Plant, path: str, text: str) -> None:
    assert len(files_without_opening(plant(path, text))) == 1


@pytest.mark.parametrize(
    ("path", "text"),
    [("a.py", '"""A."""\n'), ("a.rs", "//! A.\n"), ("a.ts", "// A.\n"), ("a.ts", "/** A. */\n")],
)
def test_a_file_that_opens_with_prose_is_left_alone(plant: Plant, path: str, text: str) -> None:
    assert files_without_opening(plant(path, text)) == []


@pytest.mark.parametrize("path", ["a.py", "a.rs", "a.ts", "docs/a.md", "Makefile"])
def test_an_unfinished_mark_is_found(plant: Plant, path: str) -> None:
    mark = "TO" + "DO"
    assert unfinished_marks(plant(path, f"\n# {mark}: more\n")) == [
        f"{path}:2: do it now or write an issue"
    ]


@pytest.mark.parametrize("line", ["    // let total = 1;", "// return total;", "// pub fn a() {"])
@pytest.mark.parametrize("path", ["a.rs", "a.ts"])
def test_commented_out_code_is_found(plant: Plant, path: str, line: str) -> None:
    assert len(commented_out_code(plant(path, line))) == 1


@pytest.mark.parametrize("line", ["// Return early; it is cheap.", "/// let total = 1;"])
def test_a_comment_and_a_documented_example_are_left_alone(plant: Plant, line: str) -> None:
    assert commented_out_code(plant("a.rs", line)) == []
