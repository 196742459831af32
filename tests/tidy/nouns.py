"""One noun, one meaning: in the names of public types, and in the glossary."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import PurePosixPath

from tests.tidy.tree import Source, Tree

SHARED_MAX = 2
"""A name may stand for one idea in two rooms, such as a sample in Rust and in Python."""
NOT_PRODUCT = frozenset({"tests", "test", "fuzz", "simulation", "examples"})
MIRRORS = (
    "crates/python/",
    "python/slipring/status/",
    "python/slipring/sync/",
    "web/src/model/contract/",
)
"""They show types of other rooms under the same names; their own tests compare the two."""
TYPES = {
    ".rs": re.compile(r"^\s*pub(?:\([^)]*\))?\s+(?:struct|enum|trait|type|union)\s+(\w+)"),
    ".py": re.compile(r"^class ([A-Z]\w*)"),
    ".ts": re.compile(r"^export (?:default )?(?:abstract )?(?:class|interface|type|enum) (\w+)"),
}
ROOM_DEPTH = {"crates": 2, "python": 3}
GLOSSARY = "docs/terms.md"
ROW = re.compile(r"^\| (?P<word>[^|]+?) \| (?P<meaning>.+?) \|$")
INNER_WORD = re.compile(r"[;,] ([a-z][a-z -]*):")


def overworked_names(tree: Tree) -> list[str]:
    """Public types with one name: two in one room, or three in all languages together."""
    return sorted(
        f"{places[0]}: {name} is {len(places)} public types, also at {', '.join(places[1:])}"
        for name, places in _places_by_name(tree).items()
        if len(places) > SHARED_MAX or len(set(map(_room, places))) < len(places)
    )


def words_explained_twice(tree: Tree) -> list[str]:
    """Words of the glossary with two rows, or with a row and an explanation in another one."""
    glossary = next((page for page in tree.sources(".md") if str(page.path) == GLOSSARY), None)
    counts = Counter(_words(glossary)) if glossary else {}
    return [f"{GLOSSARY}: {word} is explained twice" for word in sorted(counts) if counts[word] > 1]


def _places_by_name(tree: Tree) -> dict[str, list[str]]:
    places = defaultdict(list)
    for source in filter(_is_product, tree.sources(*TYPES)):
        pattern = TYPES[source.path.suffix]
        for number, line in enumerate(source.lines, start=1):
            if match := pattern.match(line):
                places[match[1]].append(f"{source.path}:{number}")
    return places


def _is_product(source: Source) -> bool:
    is_mirror = str(source.path).startswith(MIRRORS)
    return not (source.is_test or is_mirror or NOT_PRODUCT & set(source.path.parts))


def _room(place: str) -> tuple[str, ...]:
    """A crate, a package below slipring, or a folder such as benches."""
    parts = PurePosixPath(place).parts
    return parts[: ROOM_DEPTH.get(parts[0], 1)]


def _words(glossary: Source) -> Iterator[str]:
    for line in glossary.lines:
        if (row := ROW.match(line)) and row["word"] not in {"word", "---"}:
            yield row["word"].partition(" (")[0]
            yield from INNER_WORD.findall(row["meaning"])
