"""Units as products of powers, to be multiplied and compared. Pure.

What has a name in the SI is taken apart: `N.m/s` and `W` are equal, `kPa` is 1000 `Pa`. Any other
symbol stands for itself: `Cel` is like `Cel` only.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from types import MappingProxyType

from slipring.dictionary.ucum_atoms import METRIC, PLAIN
from slipring.dictionary.unit_words import EXPONENT, PART, translation

_DECIMAL = {
    "Q": 30, "R": 27, "Y": 24, "Z": 21, "E": 18, "P": 15, "T": 12, "G": 9, "M": 6, "k": 3, "h": 2,
    "da": 1, "d": -1, "c": -2, "m": -3, "u": -6, "n": -9, "p": -12, "f": -15, "a": -18, "z": -21,
    "y": -24, "r": -27, "q": -30,
}  # fmt: skip
_MADE_OF: dict[str, tuple[Fraction | int, str]] = {
    "Hz": (1, "/s"), "N": (1, "kg.m/s2"), "Pa": (1, "N/m2"), "J": (1, "N.m"), "W": (1, "J/s"),
    "C": (1, "A.s"), "V": (1, "W/A"), "Ohm": (1, "V/A"), "S": (1, "A/V"), "F": (1, "C/V"),
    "Wb": (1, "V.s"), "T": (1, "Wb/m2"), "H": (1, "Wb/A"), "Bq": (1, "/s"), "rad": (1, "1"),
    "sr": (1, "1"), "l": (Fraction(1, 1000), "m3"), "L": (Fraction(1, 1000), "m3"),
    "t": (1000, "kg"), "bar": (100_000, "Pa"), "min": (60, "s"), "h": (3600, "s"),
    "d": (86_400, "s"), "%": (Fraction(1, 100), "1"), "[ppth]": (Fraction(1, 1000), "1"),
    "[ppm]": (Fraction(1, 10**6), "1"), "atm": (101_325, "Pa"), "By": (8, "bit"),
    "[in_i]": (Fraction(254, 10**4), "m"), "[ft_i]": (Fraction(3048, 10**4), "m"),
    "[mi_i]": (Fraction(1_609_344, 1000), "m"), "[nmi_i]": (1852, "m"),
    "[kn_i]": (Fraction(1852, 3600), "m/s"), "[lb_av]": (Fraction(45_359_237, 10**8), "kg"),
}  # fmt: skip


@dataclass(frozen=True)
class UnitProduct:
    """A factor and powers of symbols that cannot be taken apart."""

    factor: Fraction = Fraction(1)
    powers: Mapping[str, Fraction] = field(default_factory=lambda: MappingProxyType({}))

    @classmethod
    def of(cls, unit: str | None) -> "UnitProduct":
        """A unit as people write it; no unit is the number 1."""
        return _parsed(translation(unit.strip())) if unit else cls()

    def times(self, other: "UnitProduct", power: int | Fraction = 1) -> "UnitProduct":
        """The product with a power of another unit."""
        powers = dict(self.powers)
        for symbol, exponent in other.powers.items():
            powers[symbol] = powers.get(symbol, Fraction(0)) + exponent * power
        left = {symbol: exponent for symbol, exponent in powers.items() if exponent}
        whole = Fraction(power)
        # A root of a factor is seldom a fraction; the factor is then not known, and taken as 1.
        scale = other.factor ** int(whole) if whole.denominator == 1 else Fraction(1)
        return UnitProduct(self.factor * scale, MappingProxyType(left))

    def is_like(self, other: "UnitProduct") -> bool:
        """Whether the two measure the same, perhaps in other steps."""
        return dict(self.powers) == dict(other.powers)

    def is_number(self) -> bool:
        """Whether it has no dimension."""
        return not self.powers

    def __str__(self) -> str:
        parts = [
            symbol if exponent == 1 else f"{symbol}{exponent}"
            for symbol, exponent in sorted(self.powers.items())
        ]
        product = ".".join(parts) or "1"
        return product if self.factor == 1 else f"{float(self.factor):g} {product}"


def _parsed(unit: str) -> UnitProduct:
    """A product of parts from left to right, as UCUM reads it; / divides by the next part."""
    stack: list[tuple[UnitProduct, int]] = []
    made, sign = UnitProduct(), 1
    for part in PART.findall(unit):
        if part == "(":
            stack.append((made, sign))
            made, sign = UnitProduct(), 1
        elif part == ")" and stack:
            before, outer = stack.pop()
            made, sign = before.times(made, outer), 1
        elif part in (".", "/"):
            sign = 1 if part == "." else -1
        elif not part.startswith("{"):
            made, sign = made.times(_power(part), sign), 1
    return made


def _power(part: str) -> UnitProduct:
    if part.isdecimal():
        return UnitProduct(Fraction(int(part)))
    found = EXPONENT.match(part.partition("{")[0])
    symbol, exponent = (part, 1) if found is None else (found[1], int(found[2] or 1))
    return UnitProduct().times(_symbol(symbol), exponent)


def _symbol(symbol: str) -> UnitProduct:
    if symbol == "g":
        return UnitProduct(Fraction(1, 1000), MappingProxyType({"kg": Fraction(1)}))
    if symbol in _MADE_OF:
        factor, unit = _MADE_OF[symbol]
        return UnitProduct(Fraction(factor)).times(_parsed(unit))
    if symbol in METRIC or symbol in PLAIN:
        return UnitProduct(powers=MappingProxyType({symbol: Fraction(1)}))
    for length in (2, 1):
        prefix, rest = symbol[:length], symbol[length:]
        if prefix in _DECIMAL and rest in METRIC:
            return UnitProduct(Fraction(10) ** _DECIMAL[prefix]).times(_symbol(rest))
    return UnitProduct(powers=MappingProxyType({symbol: Fraction(1)}))
