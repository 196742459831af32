"""VSS: what a leaf becomes, and where in the JSON a problem is."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slipring.dictionary import load
from slipring.dictionary.json_tree import DEPTH_MAX, NotJson, parse
from slipring.model import Parameter
from tests.dictionary.conftest import DATA, Said

TEXT = (DATA / "vehicle.json").read_text(encoding="utf-8")
PARAMETERS = load(DATA / "vehicle.json")


def test_dots_become_slashes_and_units_become_ucum() -> None:
    assert PARAMETERS["Vehicle/Powertrain/CombustionEngine/ECT"] == Parameter(
        "f32",
        unit="Cel",
        description="Coolant where it leaves the engine.",
        range=(-40, 215),
        source="sensor",
    )
    window = PARAMETERS["Vehicle/Cabin/Door/Row1/DriverSide/Window/Position"]
    assert (window.type, window.unit, window.source) == ("u8", "%", "actuator")


def test_allowed_words_become_an_enum_in_their_order() -> None:
    state = PARAMETERS["Vehicle/LowVoltageSystemState"]
    assert state.type == "enum"
    assert state.labels == dict(enumerate(["UNDEFINED", "LOCK", "OFF", "ACC", "ON", "START"]))


def test_allowed_numbers_become_a_range() -> None:
    cylinders = PARAMETERS["Vehicle/Powertrain/CombustionEngine/NumberOfCylinders"]
    assert (cylinders.type, cylinders.range) == ("u8", (1, 12))


def test_an_array_is_text_and_half_a_range_of_a_float_is_none(said: Said) -> None:
    assert PARAMETERS["Vehicle/Cabin/SeatPosCount"].type == "text"
    assert PARAMETERS["Vehicle/AverageSpeed"].range is None
    (note,) = said("same.json", TEXT)
    assert note.startswith("50: note: Vehicle/Cabin/SeatPosCount: uint8[] is an array")


@pytest.mark.parametrize(
    ("old", "new", "said_"),
    [
        ('"unit": "km/h",\n        "uuid"', '"unit": "kmx",\n        "uuid"',
         "4: warning: Vehicle/Speed: unit 'kmx' is not UCUM"),
        ('"datatype": "boolean"', '"datatype": "bool"',
         "12: error: Vehicle/IsMoving: 'bool' is not a datatype; give one of uint8"),
        ('"datatype": "boolean"', '"datatype": "Types.Pair"',
         "12: warning: Vehicle/IsMoving: Types.Pair is a struct; it is left out"),
        ('"datatype": "boolean",\n', "", "11: error: Vehicle/IsMoving: the datatype is missing"),
        ('"max": 215', '"max": -100', "107: error: Vehicle/Powertrain/CombustionEngine/ECT: max"),
        ('"max": 215', '"max": "hot"', "110: error: Vehicle/Powertrain/CombustionEngine/ECT: max"),
        ('"max": 215', '"max": NaN', "110: error: Vehicle/Powertrain/CombustionEngine/ECT: max"),
        ('"max": 215', '"max": 1e999', "107: error: Vehicle/Powertrain/CombustionEngine/ECT: min"),
        ('"max": 100', '"max": 1000', "68: warning: Vehicle/Cabin/Door/Row1/DriverSide/Window/Pos"),
        ('"ON", "START"', '"ON", 7', "36: error: Vehicle/LowVoltageSystemState: allowed is a list"),
        ('"ON", "START"', '"ON", "ON"', "35: error: Vehicle/LowVoltageSystemState: 4 and 5 have"),
        ('"IsMoving": {', '"Is/Moving": {', "11: error: Vehicle/Is/Moving: a node's name has"),
        ('"IsMoving": {', '"Speed": {', "11: error: this is not JSON: the key 'Speed' is in"),
        ('"IsMoving": {', '"IsMoving": 7, "More": {', "11: error: Vehicle/IsMoving: a node is an"),
        ('"type": "attribute",\n        "unit": "iso8601"', '"type": "stream"',
         "29: error: Vehicle/StartTime: 'stream' is not a type of a node"),
        ('"AngularVelocity": {', '"AngularVelocity": {"instances": ["A"],',
         "135: error: Vehicle/AngularVelocity: instances are not expanded"),
        ('"type": "sensor"\n      },', '"type": "sensor",\n      },', "15: error: this is not JS"),
        ('"Vehicle": {', '"Vehicle" {', "2: error: this is not JSON: ':' is missing"),
    ],
)  # fmt: skip
def test_a_problem_is_told_with_its_line(said: Said, old: str, new: str, said_: str) -> None:
    assert old in TEXT
    problems = said("changed.json", TEXT.replace(old, new, 1))
    assert any(one.startswith(said_) for one in problems), problems


@pytest.mark.parametrize("text", ["[]", "{}", "7", '{"a": 1}', '{"parameters": []}'])
def test_other_json_is_no_vss(said: Said, text: str) -> None:
    (error,) = said("other.json", text)
    assert error.startswith("1: error: this is not VSS")


@pytest.mark.parametrize(
    "text",
    ["", "{", '{"a"', '{"a":', '{"a":1', '{"a":1,}', "[1,]", "[1 2]", "{1:2}", '{"a":1} x', "'a'",
     "{[[[[", "[" * (DEPTH_MAX + 5), '{"a":' * (DEPTH_MAX + 5), "1" * 5000, '"a\nb"'],
)  # fmt: skip
def test_what_is_no_json_is_refused(text: str) -> None:
    with pytest.raises(NotJson):
        parse(text)


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(JSON, st.sampled_from([None, 0, 2]))
def test_json_with_lines_has_the_same_values(value: object, indent: int | None) -> None:
    text = json.dumps(value, indent=indent, allow_nan=False)
    assert parse(text).plain() == json.loads(text)
