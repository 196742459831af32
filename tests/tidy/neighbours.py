"""Neighbours whose names differ by one letter: a reader takes one for the other."""

from collections import defaultdict
from itertools import combinations
from pathlib import PurePosixPath

from tests.tidy.tree import Tree

MODULES = (".py", ".rs", ".ts", ".sh", ".c")


def confusable_neighbours(tree: Tree) -> list[str]:
    return sorted(
        f"{folder / one}: differs from {other} by one letter"
        for folder, names in _names_by_folder(tree).items()
        for one, other in combinations(sorted(names), 2)
        if differ_by_one_letter(one, other)
    )


def differ_by_one_letter(one: str, other: str) -> bool:
    """Whether a letter added, removed or replaced makes one of the other."""
    shorter, longer = sorted((one, other), key=len)
    if len(shorter) == len(longer):
        return sum(a != b for a, b in zip(shorter, longer, strict=True)) == 1
    return any(longer[:at] + longer[at + 1 :] == shorter for at in range(len(longer)))


def _names_by_folder(tree: Tree) -> dict[PurePosixPath, set[str]]:
    """What each folder holds: folders that lead to a module, and modules without their suffix."""
    names = defaultdict(set)
    for path in tree.paths:
        if path.suffix in MODULES:
            for inner in (path.with_suffix(""), *path.parents):
                names[inner.parent].add(inner.name)
    return names
