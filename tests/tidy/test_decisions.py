"""Decisions say which later ones changed them, and the rule that says so can fail."""

import pytest

from tests.tidy.conftest import Plant
from tests.tidy.decisions import wrong_statuses
from tests.tidy.findings import assert_none
from tests.tidy.tree import Tree

OLD = "docs/decisions/0001-old.md"
NOTE = "# 0001: Old\n\n> **Overtaken.** See\n> [0002](0002-new.md).\n"


def test_the_index_and_the_pages_name_the_same_later_decisions(repository: Tree) -> None:
    assert_none(wrong_statuses(repository))


@pytest.mark.parametrize(
    ("page", "status", "findings"),
    [
        (NOTE, "overtaken by 0002", 0),
        (NOTE, "in force", 1),
        ("# 0001: Old\n", "in force", 0),
        ("# 0001: Old\n", "overtaken by 0002", 1),
        ("# 0001: Old\n\nIt links [0002](0002-new.md).\n", "in force", 0),
    ],
)
def test_a_page_and_an_index_that_differ_are_found(
    plant: Plant, page: str, status: str, findings: int
) -> None:
    plant(OLD, page)
    tree = plant("docs/decisions/README.md", f"| [0001](0001-old.md) | Old | {status} |\n")
    assert len(wrong_statuses(tree)) == findings
