"""Names are words of the domain, and the rule that says so can fail."""

import pytest

from tests.tidy.conftest import Plant
from tests.tidy.findings import assert_none
from tests.tidy.names import forbidden_names
from tests.tidy.tree import Tree


def test_every_name_is_a_word_of_the_domain(repository: Tree) -> None:
    assert_none(forbidden_names(repository))


@pytest.mark.parametrize(
    "path",
    [
        "python/slipring/utils.py",
        "crates/core/src/misc.rs",
        "crates/wire/src/whole.rs",
        "tests/common/broker.py",
    ],
)
def test_an_empty_name_of_a_file_or_folder_is_found(plant: Plant, path: str) -> None:
    assert len(forbidden_names(plant(path, ""))) == 1


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("a.py", "class SessionManager: ..."),
        ("a.py", "class BaseSession: ..."),
        ("a.py", "async def handler(): ..."),
        ("a.py", "def parse_helper(): ..."),
        ("a.rs", "pub(crate) async fn handler() {}"),
        ("a.rs", "pub struct TopicHelper;"),
        ("a.rs", "pub(crate) struct Tools;"),
        ("a.rs", "mod common;"),
        ("a.ts", "export class ViewManager {"),
        ("a.ts", "export const clickHandler = (event: Event) => {"),
        ("a.ts", "export default function base() {"),
    ],
)
def test_an_empty_name_of_a_definition_is_found(plant: Plant, path: str, text: str) -> None:
    assert len(forbidden_names(plant(path, text))) == 1


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("a.py", "class TimeBase: ..."),
        ("a.py", "def base_time(): ..."),
        ("a.rs", "fn common_prefix() {}"),
        ("a.rs", "fn whole() {}"),
        ("a.rs", "struct CoverSheet;"),
        ("a.ts", "const handled = 1;"),
    ],
)
def test_a_word_of_the_domain_is_left_alone(plant: Plant, path: str, text: str) -> None:
    assert forbidden_names(plant(path, text)) == []
