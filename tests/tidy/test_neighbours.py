"""No two folders or modules beside each other differ by one letter, and the rule can fail."""

import pytest

from tests.tidy.conftest import Plant
from tests.tidy.findings import assert_none
from tests.tidy.neighbours import confusable_neighbours
from tests.tidy.tree import Tree


def test_no_neighbours_differ_by_one_letter(repository: Tree) -> None:
    assert_none(confusable_neighbours(repository))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("tests/client/test_a.py", "tests/clients/test_b.py"),
        ("tests/journal/test_a.py", "tests/journals.py"),
        ("crates/core/src/text.rs", "crates/core/src/texts.rs"),
        ("web/src/tile.ts", "web/src/title.ts"),
        ("python/slipring/cli/send.py", "python/slipring/cli/sent.py"),
    ],
)
def test_a_name_that_differs_by_one_letter_is_found(plant: Plant, one: str, other: str) -> None:
    plant(one, "")
    assert len(confusable_neighbours(plant(other, ""))) == 1


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("tests/client/test_a.py", "tests/clients.md"),
        ("crates/core/src/text.rs", "crates/wire/src/texts.rs"),
        ("tests/journal/test_a.py", "tests/journal_messages.py"),
        ("crates/core/src/text.rs", "crates/core/src/text/json.rs"),
    ],
)
def test_other_names_are_left_alone(plant: Plant, one: str, other: str) -> None:
    plant(one, "")
    assert confusable_neighbours(plant(other, "")) == []
