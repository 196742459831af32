"""The name that a person may have meant by a mistyped one. Pure."""

from collections.abc import Iterable
from difflib import get_close_matches

COMPARED_MAX = 5_000
"""Names that are compared; comparing takes time, and a table may be large."""


def nearest_name(name: str, names: Iterable[str]) -> str | None:
    """The most similar name: with the same levels above it, or else with the same last level."""
    above, _, last = name.rpartition("/")
    beside, below = list[str](), list[str]()
    for one in names:
        one_above, _, one_last = one.rpartition("/")
        if one_above == above:
            beside.append(one)
        elif one_last == last:
            below.append(one)
    for some in (beside, below):
        if found := get_close_matches(name, some[:COMPARED_MAX], n=1):
            return found[0]
    return None
