"""Units of derived parameters are checked as far as their expressions tell (D1)."""

import pytest

from slipring.dictionary.unit_algebra import UnitProduct
from slipring.errors import ConfigError
from slipring.pipeline.config import parse_pipeline
from slipring.pipeline.derivation import check_units, derivations_of

UNITS = {
    "egt": "Cel", "oat": "°C", "p": "kPa", "q": "Pa", "f": "N", "v": "m/s", "t": "s",
    "n": "1/min", "a": "deg", "x": None,
}  # fmt: skip


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("N.m/s", "W"), ("kW.h", "3600.kJ"), ("m/s2", "N/kg"), ("l", "dm3"), ("%", "10.[ppth]"),
        ("1/min", "/min"), ("V.A", "W"), ("kPa", "1000.Pa"), ("km/h", "1000.m/(60.min)"),
    ],
)  # fmt: skip
def test_units_of_the_same_size_are_equal(left: str, right: str) -> None:
    assert UnitProduct.of(left) == UnitProduct.of(right)


@pytest.mark.parametrize(
    ("expression", "unit"),
    [
        ("1000 - `egt`", "°C"),
        ("`egt` - `oat`", "K"),
        ("`p` * 1000 + `q`", "Pa"),
        ("`f` * `v`", "W"),
        ("`f` * `v` / 1000", "kW"),
        ("sqrt(`v` * `v`)", "m/s"),
        ("sqrt(`p` * `p` + `p` * `p`)", "kPa"),
        ("sign(`egt`) * `f`", "N"),
        ("abs(`v`) * `t`", "m"),
        ("3.6 * `v`", "km/h"),
        ("sin(`a` * pi() / 180)", "1"),
        ("greatest(`p`, 0)", "kPa"),
        ("CASE WHEN `p` > 1 THEN `egt` END", "Cel"),
        ("`x` * 2", ""),
        ("exp(-(`t` / 10))", ""),
    ],
)
def test_what_fits_is_accepted(expression: str, unit: str) -> None:
    check(expression, unit)


@pytest.mark.parametrize(
    ("expression", "unit", "told"),
    [
        ("`egt` + `p`", "Cel", "Cel + 1000 kg.m-1.s-2 are unlike units"),
        ("`p` - `q`", "kPa", "differ in size; convert one of them"),
        ("`f` * `v`", "N", "the expression is in kg.m2.s-3, and N is declared"),
        ("`f` * `v`", "kW", "convert it"),
        ("1000 - `egt`", "K", "the expression is in Cel, and K is declared"),
        ("`v` * `t`", "", "and no unit is declared"),
        ("sin(`a`)", "1", "sin takes radians, and its argument is in deg"),
        ("sqrt(`p` * `p`)", "Pa", "convert it"),
        ("exp(`t`)", "1", "exp takes a number, and its argument is in s"),
    ],
)
def test_what_does_not_fit_is_refused(expression: str, unit: str, told: str) -> None:
    with pytest.raises(ConfigError) as failure:
        check(expression, unit)
    assert told in str(failure.value)
    assert str(failure.value).startswith("pipeline.derive.out: ")


def check(expression: str, unit: str) -> None:
    given = {"derive": {"out": {"expression": expression, "unit": unit}}}
    check_units(derivations_of(parse_pipeline(given).derive), UNITS)
