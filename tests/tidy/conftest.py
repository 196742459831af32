"""The repository to check, and a place to plant violations in."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.tidy.tree import Tree

Plant = Callable[[str, str], Tree]


@pytest.fixture(scope="session")
def repository() -> Tree:
    return Tree.tracked(Path(__file__).parents[2])


@pytest.fixture
def plant(tmp_path: Path) -> Plant:
    """Writes a file below an empty folder, and returns the tree that is there by then."""

    def write(path: str, text: str) -> Tree:
        target = tmp_path / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
        return Tree.folder(tmp_path)

    return write
