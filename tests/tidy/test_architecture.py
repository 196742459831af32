"""The architecture names the modules that there are, and the rule that says so can fail."""

import pytest

from tests.tidy.architecture import wrong_modules
from tests.tidy.conftest import Plant
from tests.tidy.findings import assert_none
from tests.tidy.tree import Tree


def test_the_architecture_names_every_module_and_no_other(repository: Tree) -> None:
    assert_none(wrong_modules(repository))


@pytest.mark.parametrize(
    ("items", "findings"),
    [
        ("- `core`: `table/` with `entries`, `keys`.\n", 0),
        ("- `core`: `table/` (all of it),\n  `keys`.\n", 0),
        ("- `core`: `table/`.\n", 1),
        ("- `core`: `table/`, `keys`, `gone`.\n", 1),
        ("- `engine`: `table/`.\n- `core`: `table/`, `keys`.\n", 1),
    ],
)
def test_modules_that_are_missing_or_gone_are_found(
    plant: Plant, items: str, findings: int
) -> None:
    for module in ("lib", "keys", "table/entries", "table/tests"):
        plant(f"crates/core/src/{module}.rs", "")
    assert len(wrong_modules(plant("ARCHITECTURE.md", f"# Architecture\n\n{items}\n"))) == findings
