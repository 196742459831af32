"""Crates depend downwards only, and the rules that say so can fail."""

import pytest

from tests.tidy.conftest import Plant
from tests.tidy.crates import unknown_crates, wrong_crate_dependencies
from tests.tidy.findings import assert_none
from tests.tidy.tree import Tree


def plant_crate(plant: Plant, name: str, section: str = "dependencies", uses: str = "") -> Tree:
    """A crate in a workspace; it uses one other at most."""
    dependency = f'slipring-{uses} = {{ path = "../{uses}" }}' if uses else ""
    plant("Cargo.toml", '[workspace]\nresolver = "3"\nmembers = ["crates/*"]\n')
    plant(f"crates/{name}/src/lib.rs", "")
    return plant(
        f"crates/{name}/Cargo.toml",
        f'[package]\nname = "slipring-{name}"\nedition = "2024"\n[{section}]\n{dependency}\n',
    )


def test_crates_depend_downwards_only(repository: Tree) -> None:
    assert_none(wrong_crate_dependencies(repository))


def test_every_crate_has_its_place(repository: Tree) -> None:
    assert_none(unknown_crates(repository))


@pytest.mark.parametrize(
    ("crate", "uses"), [("wire", "core"), ("journal", "wire"), ("client", "engine")]
)
def test_a_crate_that_depends_upwards_is_found(plant: Plant, crate: str, uses: str) -> None:
    plant_crate(plant, uses)
    tree = plant_crate(plant, crate, uses=uses)
    assert wrong_crate_dependencies(tree) == [f"slipring-{crate}: may not depend on {uses}"]


def test_the_tests_of_a_crate_may_use_any_other(plant: Plant) -> None:
    plant_crate(plant, "client")
    tree = plant_crate(plant, "engine", section="dev-dependencies", uses="client")
    assert wrong_crate_dependencies(tree) == []


def test_a_crate_without_a_place_is_found(plant: Plant) -> None:
    tree = plant_crate(plant, "attic")
    assert unknown_crates(tree) == ["slipring-attic: say in CRATES what it may use"]
