"""Units: what is UCUM, what is not, and what is proposed instead."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slipring.dictionary.ucum import fault
from slipring.dictionary.ucum_atoms import METRIC, PLAIN, PREFIXES
from slipring.dictionary.unit_words import WORDS, doubt, suggestion, translation


@pytest.mark.parametrize(
    "unit",
    ["m", "m/s", "m/s2", "km/h", "1/min", "/min", "{rpm}", "%", "Cel", "[degF]", "kg.m2", "10*3/ul",
     "mm[Hg]", "[in_i'Hg]", "dB", "B[10.nV]", "um/m", "A.h", "Mbit/s", "m/s2{peak}", "l/(100.km)",
     "W/(m2.K)", "deg/s", "daN", "[kn_i]", "s-1", "m+2", "KiBy", "1", "{a b}/s"],
)  # fmt: skip
def test_what_is_written_in_ucum_is_taken(unit: str) -> None:
    assert fault(unit) is None
    assert doubt(unit) is None


@pytest.mark.parametrize(
    "unit",
    ["rpm", "degC", "M/S", "m//s", "m/", "(m", "m)", "()", "m s", "m^2", "{a", "a}", "[ft]", "m2s",
     "kdeg", "kkm", ".", "(m)2", "µm", "m²"],
)  # fmt: skip
def test_what_is_not_ucum_is_found(unit: str) -> None:
    assert fault(unit) is not None


@pytest.mark.parametrize(
    ("unit", "meant"),
    [
        ("rpm", "{rpm}"), ("degC", "Cel"), ("°C", "Cel"), ("celsius", "Cel"), ("sec", "s"),
        ("kmh", "km/h"), ("kph", "km/h"), ("percent", "%"), ("Nm", "N.m"), ("NM", "[nmi_i]"),
        ("ft", "[ft_i]"), ("ft/min", "[ft_i]/min"), ("kts", "[kn_i]"), ("m/s^2", "m/s2"),
        ("m/s²", "m/s2"), ("W/m**2", "W/m2"), ("N*m", "N.m"), ("degrees/s", "deg/s"),
        ("µm", "um"), ("KPA", "kPa"), ("hz", "Hz"), ("rad/Nm", "rad/(N.m)"), ("psi", "[psi]"),
        ("km per hour", "km/h"), ("l/100km", "l/(100.km)"), ("microstrain", "um/m"),
    ],
)  # fmt: skip
def test_a_frequent_mistake_has_a_hint(unit: str, meant: str) -> None:
    assert suggestion(unit) == meant
    assert fault(meant) is None
    assert f"write {meant}" in str(doubt(unit))


def test_revolutions_have_two_ways_to_be_written() -> None:
    assert str(doubt("rpm")).endswith("write {rpm} or 1/min")


@pytest.mark.parametrize("unit", ["MPA", "xyz", "Nm2", "m/xyz"])
def test_what_could_be_several_units_is_not_guessed(unit: str) -> None:
    assert suggestion(unit) is None
    assert translation(unit) == unit


def test_a_translation_leaves_ucum_as_it_is_except_what_nobody_means() -> None:
    assert [translation(unit) for unit in ("km/h", "kg", "C", "ft", "g")] == [
        "km/h", "kg", "Cel", "[ft_i]", "g",
    ]  # fmt: skip


@pytest.mark.parametrize("meant", sorted(set(WORDS.values())))
def test_every_proposal_is_ucum_itself(meant: str) -> None:
    assert fault(meant) is None


SYMBOLS = st.one_of(
    st.sampled_from(sorted(METRIC | PLAIN)),
    st.builds(str.__add__, st.sampled_from(sorted(PREFIXES)), st.sampled_from(sorted(METRIC))),
)
UNITS = st.recursive(
    st.builds("{}{}".format, SYMBOLS, st.sampled_from(["", "2", "-1", "{note}"])),
    lambda inner: st.builds(
        "{}{}{}".format, inner, st.sampled_from("./"), inner.map("({})".format)
    ),
    max_leaves=6,
)


@given(UNITS)
def test_products_and_quotients_of_units_are_units(unit: str) -> None:
    assert fault(unit) is None


@given(st.text(max_size=20))
def test_any_text_is_a_unit_or_has_a_fault_and_a_proposal_never_has_one(text: str) -> None:
    meant = suggestion(text)
    assert fault(text) is None or fault(text)
    assert meant is None or fault(meant) is None
