"""A noun means one thing, and the rules that say so can fail."""

import pytest

from tests.tidy.conftest import Plant
from tests.tidy.findings import assert_none
from tests.tidy.nouns import overworked_names, words_explained_twice
from tests.tidy.tree import Tree

HEAD = "| word | meaning |\n|---|---|\n"


def test_no_name_stands_for_three_public_types(repository: Tree) -> None:
    assert_none(overworked_names(repository))


def test_the_glossary_explains_each_word_once(repository: Tree) -> None:
    assert_none(words_explained_twice(repository))


@pytest.mark.parametrize(
    ("paths", "text"),
    [
        (
            ["crates/core/src/a.rs", "crates/core/src/b.rs", "crates/wire/src/c.rs"],
            "pub enum Place {",
        ),
        (
            ["crates/core/src/a.rs", "crates/wire/src/b.rs", "crates/wire/src/c.rs"],
            "    pub(super) type Place = u8;",
        ),
        (
            ["python/slipring/a.py", "python/slipring/b.py", "benches/c.py"],
            "class Place(NamedTuple):\n    pass",
        ),
        (["web/src/a.ts", "web/src/b.ts", "web/src/c.ts"], "export interface Place {"),
    ],
)
def test_a_name_of_three_public_types_is_found(plant: Plant, paths: list[str], text: str) -> None:
    *others, last = paths
    for path in others:
        assert overworked_names(plant(path, text)) == [], "two are allowed"
    assert len(overworked_names(plant(last, text))) == 1


@pytest.mark.parametrize(
    "path",
    [
        "crates/core/src/table/tests/c.rs",
        "crates/core/src/table_tests.rs",
        "crates/core/examples/c.rs",
        "crates/python/src/c.rs",
        "crates/simulation/src/c.rs",
        "fuzz/src/c.rs",
    ],
)
def test_types_that_are_no_product_or_repeat_it_do_not_count(plant: Plant, path: str) -> None:
    for product in ("crates/core/src/a.rs", "crates/wire/src/b.rs"):
        plant(product, "pub struct Place;")
    assert overworked_names(plant(path, "pub struct Place;")) == []


@pytest.mark.parametrize(
    "text",
    ["struct Place;", "// pub struct Place;", "pub struct Placed;", "impl Place {"],
)
def test_other_lines_do_not_count(plant: Plant, text: str) -> None:
    for product in ("crates/core/src/a.rs", "crates/wire/src/b.rs"):
        plant(product, "pub struct Place;")
    assert overworked_names(plant("crates/wire/src/c.rs", text)) == []


@pytest.mark.parametrize(
    "rows",
    [
        "| group | the subscribers |\n| beat | how long |\n| group | the parameters |\n",
        "| writer | what gathers samples; beat: how long it gathers |\n| beat | how long |\n",
        "| exchange | a ping; offset: the difference, beat: how wrong |\n| beat | how long |\n",
        "| table (CVT) | all parameters |\n| table | all streams |\n",
    ],
)
def test_a_word_that_is_explained_twice_is_found(plant: Plant, rows: str) -> None:
    assert len(words_explained_twice(plant("docs/terms.md", HEAD + rows))) == 1


def test_a_word_that_is_explained_once_is_left_alone(plant: Plant) -> None:
    rows = (
        "| stale | nobody keeps it fresh; fresh: it has a sample |\n| beat | like stale: never |\n"
    )
    assert words_explained_twice(plant("docs/terms.md", HEAD + rows)) == []
