"""A search for parameters: text, MQTT filters, and words such as `unit:`, `publisher:`, `state:`.

Never looks at the table.
"""

import re
from dataclasses import dataclass

from slipring.errors import InvalidTopic
from slipring.native import check_filter

STATES = ("critical", "warning", "bad", "uncertain", "stale", "none", "good")
"""How far a value can be trusted, the worst first; each parameter is in one of them."""
MEANT = {"limit": ("critical", "warning")} | {state: (state,) for state in STATES}
"""The words after `state:`, and the states that they mean."""

WORDS_MAX = 16
"""Words of one search: each is looked for in every name."""

_WORD = re.compile(
    r'(?:(unit|publisher|state|type|name):)?(?:"(.*?)"(?=\s|$)|(\S+))', re.DOTALL | re.IGNORECASE
)


@dataclass(frozen=True)
class Search:
    """What a parameter must have: all of the texts, and of each other kind one of those named."""

    texts: tuple[str, ...] = ()
    filters: tuple[str, ...] = ()
    units: tuple[str, ...] = ()
    publishers: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    states: tuple[str, ...] = ()
    problem: str | None = None
    """What is wrong with it; then it finds nothing."""


def read_search(text: str) -> Search:
    """Read the words. Case makes no difference, except in filters; quotes keep a space."""
    found: dict[str, list[str]] = {"": [], "filter": []}
    for match in _WORD.finditer(text):
        key, quoted, plain = match.groups()
        word = plain if quoted is None else quoted
        kind = (key or "name").lower()
        if kind == "name":
            kind = "filter" if is_filter(word) else ""
        found.setdefault(kind, []).append(word if kind == "filter" else word.casefold())
    if sum(map(len, found.values())) > WORDS_MAX:
        return Search(problem=f"A search has at most {WORDS_MAX} words.")
    states = found.get("state", [])
    unknown = next((state for state in states if state not in MEANT), None)
    return Search(
        texts=tuple(found[""]),
        filters=tuple(found["filter"]),
        units=tuple(found.get("unit", ())),
        publishers=tuple(found.get("publisher", ())),
        types=tuple(found.get("type", ())),
        states=tuple(sorted({one for state in states for one in MEANT.get(state, ())})),
        problem=None
        if unknown is None
        else f"There is no state “{unknown}”. States are {', '.join(sorted(MEANT))}.",
    )


def is_filter(text: str) -> bool:
    """Whether it is an MQTT filter with wildcards."""
    try:
        check_filter(text)
    except (InvalidTopic, UnicodeEncodeError):  # half of a surrogate pair is in no name
        return False
    return any(level in ("+", "#") for level in text.split("/"))


def filter_pattern(filter_: str) -> re.Pattern[str]:
    """A filter as a regular expression; `a/#` also matches `a` (MQTT-4.7.1-2)."""
    levels = filter_.split("/")
    rest = levels[-1] == "#"
    parts = [
        "[^/]*" if level == "+" else re.escape(level) for level in levels[: -1 if rest else None]
    ]
    if not parts:
        return re.compile(".*", re.DOTALL)
    return re.compile("/".join(parts) + ("(/.*)?" if rest else ""), re.DOTALL)
