"""Decisions that later ones overtook or extended: the page and the index name the same ones."""

import re

from tests.tidy.tree import Source, Tree

FOLDER = "docs/decisions"
NUMBER = re.compile(r"\d{4}")
INDEX_ROW = re.compile(r"^\| \[(?P<number>\d{4})\].*\| (?P<status>[^|]+) \|$")
NOTE = re.compile(r"^> .*$", re.MULTILINE)
LATER = re.compile(r"\[(\d{4})\]")


def wrong_statuses(tree: Tree) -> list[str]:
    pages = [page for page in tree.sources(".md") if str(page.path.parent) == FOLDER]
    index = next((page for page in pages if page.path.name == "README.md"), None)
    listed = _listed(index) if index else {}
    return [
        f"{page.path}: it names {_joined(named)} as later decisions, and README.md {_joined(shown)}"
        for page in pages
        if page is not index
        if (named := _named(page)) != (shown := listed.get(page.path.name[:4], set()))
    ]


def _listed(index: Source) -> dict[str, set[str]]:
    rows = filter(None, map(INDEX_ROW.match, index.lines))
    return {row["number"]: set(NUMBER.findall(row["status"])) for row in rows}


def _named(page: Source) -> set[str]:
    return {number for note in NOTE.findall(page.text) for number in LATER.findall(note)}


def _joined(numbers: set[str]) -> str:
    return ", ".join(sorted(numbers)) or "none"
