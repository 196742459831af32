"""A noun means one thing, and the rules that say so can fail."""

from pathlib import PurePosixPath

import pytest

from tests.tidy.conftest import Plant
from tests.tidy.findings import assert_none
from tests.tidy.nouns import overworked_names, words_explained_twice
from tests.tidy.tree import Tree

HEAD = "| word | meaning |\n|---|---|\n"


def test_no_name_stands_for_several_public_types(repository: Tree) -> None:
    assert_none(overworked_names(repository))


def test_the_glossary_explains_each_word_once(repository: Tree) -> None:
    assert_none(words_explained_twice(repository))


RUST = "pub enum Place {"
PYTHON = "class Place(NamedTuple):\n    pass"
TYPESCRIPT = "export interface Place {"


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("crates/journal/src/c.rs", "    pub(super) type Place = u8;"),
        ("python/slipring/client/c.py", PYTHON),
        ("benches/c.py", PYTHON),
        ("web/src/c.ts", TYPESCRIPT),
    ],
)
def test_a_name_of_three_public_types_is_found(plant: Plant, path: str, text: str) -> None:
    plant("crates/core/src/a.rs", RUST)
    assert overworked_names(plant("python/slipring/model/b.py", PYTHON)) == [], "two are allowed"
    assert len(overworked_names(plant(path, text))) == 1


@pytest.mark.parametrize(
    ("one", "other", "text"),
    [
        ("crates/core/src/a.rs", "crates/core/src/table/b.rs", RUST),
        ("python/slipring/client/a.py", "python/slipring/client/b.py", PYTHON),
        ("benches/a.py", "benches/b.py", PYTHON),
        ("web/src/model/a.ts", "web/src/views/b.ts", TYPESCRIPT),
    ],
)
def test_a_name_of_two_public_types_in_one_room_is_found(
    plant: Plant, one: str, other: str, text: str
) -> None:
    plant(one, text)
    assert len(overworked_names(plant(other, text))) == 1


@pytest.mark.parametrize(
    "path",
    [
        "crates/core/src/table/tests/c.rs",
        "crates/core/src/table_tests.rs",
        "crates/core/examples/c.rs",
        "crates/python/src/c.rs",
        "crates/simulation/src/c.rs",
        "fuzz/src/c.rs",
        "python/slipring/status/c.py",
        "python/slipring/sync/c.py",
        "web/src/model/contract/engine.ts",
    ],
)
def test_types_that_are_no_product_or_repeat_it_do_not_count(plant: Plant, path: str) -> None:
    for product in ("crates/core/src/a.rs", "crates/wire/src/b.rs"):
        plant(product, "pub struct Place;")
    text = {".rs": RUST, ".py": PYTHON, ".ts": TYPESCRIPT}[PurePosixPath(path).suffix]
    assert overworked_names(plant(path, text)) == []


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
