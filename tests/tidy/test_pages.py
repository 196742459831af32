"""Pages lead to each other, the changelog knows the version, and the rules for it can fail."""

import pytest

from tests.tidy.conftest import Plant
from tests.tidy.findings import assert_none
from tests.tidy.pages import broken_links, lost_paths, unlisted_pages, version_mismatch
from tests.tidy.tree import Tree


def test_every_link_leads_somewhere(repository: Tree) -> None:
    assert_none(broken_links(repository))


def test_every_path_that_a_page_names_is_there(repository: Tree) -> None:
    assert_none(lost_paths(repository))


def test_every_page_is_listed_once(repository: Tree) -> None:
    assert_none(unlisted_pages(repository))


def test_the_changelog_opens_with_the_version_that_is_built(repository: Tree) -> None:
    assert_none(version_mismatch(repository))


@pytest.mark.parametrize("link", ["docs/gone.md", "/docs/terms.md", "#gone", "docs/terms.md#gone"])
def test_a_link_to_nowhere_is_found(plant: Plant, link: str) -> None:
    plant("docs/terms.md", "# Terms\n")
    tree = plant("README.md", f"# Slipring\nSee [this]({link}).\n")
    assert broken_links(tree) == [f"README.md: the link to {link} leads nowhere"]


@pytest.mark.parametrize(
    "link", ["docs/terms.md", "docs", "docs/terms.md#the-words-of-p10", "#slipring", "https://a.b"]
)
def test_a_link_to_a_page_a_folder_or_a_heading_is_left_alone(plant: Plant, link: str) -> None:
    plant("docs/terms.md", "# Terms\n## The words, of `P10`\n")
    assert broken_links(plant("README.md", f"# Slipring\nSee [this]({link}).\n")) == []


def test_code_is_not_read_as_a_link(plant: Plant) -> None:
    assert broken_links(plant("README.md", "`[a](b)`\n\n```\n[a](b)\n```\n")) == []


def test_a_path_that_is_not_there_is_found(plant: Plant) -> None:
    plant("crates/core/src/lib.rs", "")
    tree = plant("README.md", "`crates/core/src/lib.rs` and `crates/core/`, not `crates/gone.rs`")
    assert lost_paths(tree) == ["README.md: there is no crates/gone.rs"]


def test_a_placeholder_and_a_page_of_the_past_are_left_alone(plant: Plant) -> None:
    plant("README.md", "`crates/core/src/NAME.rs`")
    assert lost_paths(plant("docs/decisions/0001-a.md", "`crates/gone.rs`")) == []


def test_a_page_that_is_not_listed_or_listed_twice_is_found(plant: Plant) -> None:
    plant("README.md", "[terms](docs/terms.md)")
    assert len(unlisted_pages(plant("docs/terms.md", "[here](terms.md)"))) == 1
    assert unlisted_pages(plant("docs/README.md", "[terms](terms.md)")) == []
    assert len(unlisted_pages(plant("docs/README.md", "[a](terms.md) [b](terms.md#c)"))) == 1


@pytest.mark.parametrize("heading", ["## 0.2.0 (2026-01-01)", "## Unreleased", "No heading"])
def test_a_changelog_with_another_version_is_found(plant: Plant, heading: str) -> None:
    plant("Cargo.toml", '[workspace.package]\nversion = "0.1.0"\n')
    tree = plant("CHANGELOG.md", f"# Changes\n\n{heading}\n\n## 0.1.0\n"[: 20 + len(heading)])
    assert len(version_mismatch(tree)) == 1


@pytest.mark.parametrize("heading", ["## 0.1.0", "## [0.1.0] - 2026-01-01"])
def test_a_changelog_with_the_same_version_is_left_alone(plant: Plant, heading: str) -> None:
    plant("Cargo.toml", '[workspace.package]\nversion = "0.1.0"\n')
    assert version_mismatch(plant("CHANGELOG.md", f"# Changes\n\n{heading}\n")) == []
