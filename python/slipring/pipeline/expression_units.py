"""The unit of an SQL expression, as far as it can be told. Pure.

Sums and differences need like units. A number takes the unit of what it is added to; one that
multiplies may convert, so that only the dimension of the result is known. What this does not
understand (CASE, comparisons, unknown functions) has no known unit, and nothing is refused for it.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from math import isqrt

from slipring.dictionary.unit_algebra import UnitProduct

_TOKEN = re.compile(
    r"\s*(?:(`(?:[^`]|``)+`)|(\d+\.?\d*(?:[eE][+-]?\d+)?|\.\d+)|([A-Za-z_]\w*)|(.))"
)
_SAME = frozenset("abs coalesce greatest least round floor ceil ceiling nanvl ifnull nvl".split())  # noqa: SIM905
_ANGLE = frozenset("sin cos tan sec csc cot".split())  # noqa: SIM905
_NUMBER = frozenset("exp ln log log2 log10 log1p expm1 asin acos atan".split())  # noqa: SIM905
_DEGREES = UnitProduct.of("deg")


class UnlikeUnits(ValueError):
    """Two units that cannot be added, or a function of something that is no number."""


@dataclass(frozen=True)
class KnownUnit:
    """What is known of the unit of a value."""

    unit: UnitProduct
    is_literal: bool = False
    """A plain number, which takes the unit of what it meets."""
    is_scaled: bool = False
    """A number multiplied it, perhaps to convert: its factor is not known."""
    is_difference: bool = False


class _NotUnderstood(Exception):
    pass


def expression_unit(expression: str, units: Mapping[str, str | None]) -> KnownUnit | None:
    """The unit of an expression over inputs of these units; None if it cannot be told.

    Raises UnlikeUnits.
    """
    parser = _Parser(_tokens(expression), units)
    try:
        found = parser.sum()
    except _NotUnderstood:
        return None
    return found if parser.is_done else None


def declared_mismatch(found: KnownUnit | None, declared: str | None) -> str | None:
    """Why the declared unit cannot be that of the expression; None if it can."""
    if found is None or found.is_literal:
        return None
    unit, wanted = found.unit, UnitProduct.of(declared)
    if found.is_difference and unit.is_like(UnitProduct.of("Cel")):
        unit = UnitProduct.of("K") if wanted.is_like(UnitProduct.of("K")) else unit
    if not unit.is_like(wanted):
        return f"the expression is in {unit}, and {declared or 'no unit'} is declared"
    if unit.factor != wanted.factor and not found.is_scaled:
        return f"the expression is in {unit}, and {wanted} ({declared}) is declared; convert it"
    return None


def _tokens(expression: str) -> list[tuple[str, str]]:
    kinds = ("input", "number", "word", "sign")
    found = []
    for match in _TOKEN.finditer(expression.strip()):
        kind = next(kind for kind, text in zip(kinds, match.groups(), strict=True) if text)
        found.append((kind, match[0].strip()))
    return [*found, ("end", "")]


class _Parser:
    """Reads + - * / over inputs, numbers, parentheses and functions."""

    def __init__(self, tokens: list[tuple[str, str]], units: Mapping[str, str | None]) -> None:
        self._tokens = tokens
        self._units = units
        self._at = 0

    @property
    def is_done(self) -> bool:
        return self._tokens[self._at][0] == "end"

    def sum(self) -> KnownUnit:
        found = self._product()
        while (sign := self._taken("+", "-")) is not None:
            found = _added(found, self._product(), sign)
        return found

    def _product(self) -> KnownUnit:
        found = self._factor()
        while (sign := self._taken("*", "/")) is not None:
            other = self._factor()
            if found.is_literal and other.is_literal:
                continue
            is_scaled = any((found.is_scaled, other.is_scaled, found.is_literal, other.is_literal))
            unit = found.unit.times(other.unit, 1 if sign == "*" else -1)
            found = KnownUnit(unit, is_scaled=is_scaled)
        return found

    def _factor(self) -> KnownUnit:
        if self._taken("-", "+") is not None:
            return self._factor()
        if self._taken("(") is not None:
            found = self.sum()
            self._expect(")")
            return found
        kind, text = self._tokens[self._at]
        self._at += 1
        if kind == "number":
            return KnownUnit(UnitProduct(), is_literal=True)
        if kind == "input":
            return KnownUnit(UnitProduct.of(self._units[text[1:-1].replace("``", "`")]))
        if kind == "word" and self._taken("(") is not None:
            return self._function(text.lower())
        raise _NotUnderstood

    def _function(self, name: str) -> KnownUnit:
        arguments = [self.sum()]
        while self._taken(",") is not None:
            arguments.append(self.sum())
        self._expect(")")
        if name in _SAME:
            some = arguments[:1] if name in ("round", "floor", "ceil", "ceiling") else arguments
            found = some[0]
            for other in some[1:]:
                found = _added(found, other, "+")
            return found
        first = arguments[0]
        if name in ("sign", "signum"):
            return KnownUnit(UnitProduct())
        if name == "sqrt":
            return _root(first)
        if name not in _ANGLE | _NUMBER:
            raise _NotUnderstood
        if name in _ANGLE and first.unit.is_like(_DEGREES) and not first.is_scaled:
            raise UnlikeUnits(f"{name} takes radians, and its argument is in deg")
        is_plain = first.is_literal or first.is_scaled or first.unit.is_number()
        if not is_plain:
            raise UnlikeUnits(f"{name} takes a number, and its argument is in {first.unit}")
        return KnownUnit(UnitProduct())

    def _taken(self, *signs: str) -> str | None:
        kind, text = self._tokens[self._at]
        if kind == "sign" and text in signs:
            self._at += 1
            return text
        return None

    def _expect(self, sign: str) -> None:
        if self._taken(sign) is None:
            raise _NotUnderstood


def _root(of: KnownUnit) -> KnownUnit:
    """The square root; if that of the factor is no fraction, only the dimension is known."""
    root = UnitProduct().times(of.unit, Fraction(1, 2))
    factor = of.unit.factor
    exact = Fraction(isqrt(factor.numerator), isqrt(factor.denominator))
    if exact * exact == factor:
        return replace(of, unit=replace(root, factor=exact))
    return replace(of, unit=root, is_scaled=True)


def _added(left: KnownUnit, right: KnownUnit, sign: str) -> KnownUnit:
    if left.is_literal or right.is_literal:
        return right if left.is_literal else left
    if not left.unit.is_like(right.unit):
        raise UnlikeUnits(f"{left.unit} {sign} {right.unit} are unlike units")
    is_scaled = left.is_scaled or right.is_scaled
    if left.unit.factor != right.unit.factor and not is_scaled:
        raise UnlikeUnits(f"{left.unit} {sign} {right.unit} differ in size; convert one of them")
    return KnownUnit(left.unit, is_scaled=is_scaled, is_difference=sign == "-")
