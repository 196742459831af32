"""Whether a unit is written in UCUM: its syntax and its symbols. Pure; knows no dimensions."""

import re

from slipring.dictionary.ucum_atoms import METRIC, PLAIN, PREFIXES

COMPONENT = re.compile(
    r"""(?:(?P<symbol>10[*^]|(?:[^\s./(){}\[\]+\-0-9]|\[[^\[\]\s]*\])+)(?:[+-]?[0-9]+)?
         |[0-9]+)?
        (?P<annotation>\{[\x20-\x7a|~]*\})?""",
    re.VERBOSE,
)
PREFIX_LENGTH_MAX = 2


def fault(unit: str) -> str | None:
    """What keeps a unit from being UCUM; None where nothing does."""
    place = 1 if unit.startswith("/") else 0
    depth = 0
    expects_component = True
    while place < len(unit):
        if not expects_component:
            if unit[place] not in (".", "/", ")") or (unit[place] == ")" and not depth):
                return f"{unit[place]!r} cannot follow {unit[:place]!r}"
            expects_component = unit[place] != ")"
            depth -= unit[place] == ")"
            place += 1
        elif unit[place] == "(":
            depth += 1
            place += 1
        else:
            found = COMPONENT.match(unit, place)
            if found is None or not found.group():
                return f"{unit[place]!r} cannot stand at {unit[place:]!r}"
            if (symbol := found["symbol"]) and not is_symbol(symbol):
                return f"there is no {symbol!r}"
            place = found.end()
            expects_component = False
    if expects_component:
        return "it ends where a unit is missing"
    return "a ) is missing" if depth else None


def is_symbol(symbol: str) -> bool:
    """Whether it is one unit, with a prefix or without."""
    return (
        symbol in METRIC
        or symbol in PLAIN
        or any(
            symbol[:length] in PREFIXES and symbol[length:] in METRIC
            for length in range(1, PREFIX_LENGTH_MAX + 1)
        )
    )
