"""A definition that cannot be is not made, and one that can survives the way to the broker."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slipring.model import AlarmLimits, Kind, Parameter

NUMBERS = st.floats(allow_nan=False, allow_infinity=False)


@st.composite
def parameters(draw: st.DrawFn) -> Parameter:
    kind = draw(st.sampled_from([*(kind.word for kind in Kind), "enum"]))
    labels = st.dictionaries(st.integers(0, 2**32 - 1), st.text(), min_size=1)
    low, high = sorted([draw(NUMBERS), draw(NUMBERS)])
    return Parameter(
        kind,
        unit=draw(st.none() | st.text()),
        description=draw(st.none() | st.text()),
        labels=draw(labels) if kind == "enum" else None,
        range=draw(st.sampled_from([None, (low, high)])),
        limits=draw(st.sampled_from([None, AlarmLimits(low=low, high_critical=high)])),
        rate_hz=draw(st.none() | st.floats(0, 1e6, exclude_min=True)),
        source=draw(st.none() | st.text()),
    )


@given(parameters())
def test_a_definition_survives_json(parameter: Parameter) -> None:
    assert Parameter.of_json(json.loads(json.dumps(parameter.as_json()))) == parameter


def test_what_a_newer_broker_adds_is_left_out() -> None:
    assert Parameter.of_json({"type": "f64", "index": 3, "colour": "red"}) == Parameter("f64")


@pytest.mark.parametrize(
    ("greatest", "kind"), [(255, Kind.U8), (256, Kind.U16), (65_535, Kind.U16), (65_536, Kind.U32)]
)
def test_an_enumeration_travels_as_the_smallest_number_that_holds_it(
    greatest: int, kind: Kind
) -> None:
    assert Parameter("enum", labels={0: "off", greatest: "most"}).kind is kind


@pytest.mark.parametrize(
    ("definition", "words"),
    [
        (lambda: Parameter("double"), "'double' is not a type.*f64.*or enum"),
        (lambda: Parameter("enum"), "needs labels"),
        (lambda: Parameter("f64", labels={0: "off"}), "only an enum has them"),
        (lambda: Parameter("enum", labels={-1: "off"}), "from 0 to 4294967295"),
        (lambda: Parameter("f64", range=(2, 1)), "not 2 to 1"),
        (lambda: Parameter("f64", range=(0, float("nan"))), "not 0 to nan"),
        (lambda: Parameter("f64", rate_hz=0), "Hz, not 0"),
        (lambda: Parameter("f64", rate_hz=2e6), "at most 1e6"),
        (lambda: AlarmLimits(low=3, high=2), "must rise"),
        (lambda: AlarmLimits(high=float("inf")), "must rise"),
    ],
)
def test_a_definition_that_cannot_be_is_told(definition: object, words: str) -> None:
    assert callable(definition)
    with pytest.raises(ValueError, match=words):
        definition()
