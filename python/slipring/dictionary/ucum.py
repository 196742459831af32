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
    """Why a unit is not UCUM; None if it is."""
    position = 1 if unit.startswith("/") else 0
    depth = 0
    expects_component = True
    while position < len(unit):
        if not expects_component:
            if unit[position] not in (".", "/", ")") or (unit[position] == ")" and not depth):
                return f"{unit[position]!r} cannot follow {unit[:position]!r}"
            expects_component = unit[position] != ")"
            depth -= unit[position] == ")"
            position += 1
        elif unit[position] == "(":
            depth += 1
            position += 1
        else:
            found = COMPONENT.match(unit, position)
            if found is None or not found.group():
                return f"{unit[position]!r} cannot stand at {unit[position:]!r}"
            if (symbol := found["symbol"]) and not is_symbol(symbol):
                return f"there is no {symbol!r}"
            position = found.end()
            expects_component = False
    if expects_component:
        return "it ends where a unit is missing"
    return "a ) is missing" if depth else None


def is_symbol(symbol: str) -> bool:
    """Whether it is the symbol of a unit, with or without a prefix."""
    return (
        symbol in METRIC
        or symbol in PLAIN
        or any(
            symbol[:length] in PREFIXES and symbol[length:] in METRIC
            for length in range(1, PREFIX_LENGTH_MAX + 1)
        )
    )
