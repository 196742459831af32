"""DBC: what a signal becomes, and where a problem is."""

import pytest

from slipring.dictionary import load, read
from slipring.model import Parameter
from tests.dictionary.conftest import DATA, Said, Written

TEXT = (DATA / "powertrain.dbc").read_text(encoding="utf-8")
PARAMETERS = load(DATA / "powertrain.dbc")


def one_signal(layout: str, *more: str) -> str:
    lines = ["BU_: ECU", "BO_ 1 M: 8 ECU", f" SG_ s : {layout} ECU", *more, ""]
    return 'VERSION ""\n' + "\n".join(lines)


@pytest.mark.parametrize(
    ("layout", "becomes"),
    [
        ('0|1@1+ (1,0) [0|1] ""', "bool"),
        ('0|4@1+ (1,0) [0|15] ""', "u8"),
        ('0|8@1- (1,0) [0|0] ""', "i8"),
        ('0|9@1+ (1,0) [0|0] ""', "u16"),
        ('0|16@1- (1,0) [0|0] ""', "i16"),
        ('0|24@1+ (1,0) [0|0] ""', "u32"),
        ('0|33@1- (1,0) [0|0] ""', "i64"),
        ('0|64@1+ (1,0) [0|0] ""', "u64"),
        ('0|8@1+ (1,-40) [-40|215] "degC"', "i16"),
        ('0|8@1+ (10,0) [0|2550] ""', "u16"),
        ('0|16@1+ (0.1,0) [0|0] ""', "f32"),
        ('0|16@1+ (0.1,-1000000) [0|0] ""', "f64"),
        ('0|32@1+ (0.1,0) [0|0] ""', "f64"),
        ('0|1@1+ (0.5,0) [0|0] ""', "f32"),
    ],
)
def test_the_type_is_what_a_decoded_value_needs(
    written: Written, layout: str, becomes: str
) -> None:
    assert load(written("one.dbc", one_signal(layout)))["M/s"].type == becomes


def test_a_signal_brings_unit_range_comment_sender_and_rate() -> None:
    assert PARAMETERS["EngineData/EngineSpeed"] == Parameter(
        "f32",
        unit="{rpm}",
        description="Speed of the crankshaft, averaged over one revolution.",
        range=(0, 16000),
        rate_hz=100,
        source="ECU",
    )
    assert PARAMETERS["BatteryModules/Module2Energy"].type == "f32", "by SIG_VALTYPE_"
    assert PARAMETERS["Diagnostics/Odometer"].rate_hz is None, "no cycle time is known"


def test_a_value_table_becomes_an_enum_whose_labels_can_be_told_apart() -> None:
    assert PARAMETERS["EngineData/IdleState"].labels == {
        0: "Off", 1: "Warming", 2: "Stable", 3: "Reserved 3", 4: "Reserved 4",
    }  # fmt: skip
    on = PARAMETERS["EngineData/IgnitionOn"]
    assert (on.type, on.description) == ("bool", "(0 Off, 1 On)")


def test_a_value_table_of_single_values_leaves_a_number_a_number(said: Said) -> None:
    assert PARAMETERS["EngineData/ThrottlePosition"].type == "f32"
    (note,) = said("same.dbc", TEXT)
    assert note.startswith("18: note: EngineData/ThrottlePosition: its value table")


def test_every_multiplexed_signal_is_a_parameter_without_a_rate() -> None:
    modules = {name: one for name, one in PARAMETERS.items() if name.startswith("BatteryModules")}
    rates = {name.partition("/")[2]: one.rate_hz for name, one in modules.items()}
    assert rates.pop("ModuleIndex") == 20
    assert len(rates) == 5
    assert set(rates.values()) == {None}


@pytest.mark.parametrize(
    ("old", "new", "said_"),
    [
        ("SG_ Gear : 0|4@1+", "SG_ Gear : 0|4@1", "24: error: no DBC from here on: '(1,0)"),
        ("BO_ 288 GearboxStatus:", "BO_ 288 GearboxStatus", "23: error: no DBC from here on"),
        ("VAL_ 288 Gear ", "VAL_ 288 Geer ", "58: error: VAL_ 288 Geer is of a signal that is not"),
        ('BA_DEF_ BO_ "GenMsgCycleTime" INT 0 65535;\n', "",
         "49: error: 'GenMsgCycleTime' is used and not defined"),
        ("24|24@1+", "24|0@1+", "26: error: cantools says: The signal ShiftCounter length 0"),
        ("24|24@1+", "24|9999999999@1+", "26: error: GearboxStatus/ShiftCounter: 9999999999 bits"),
        ("BO_ 288 ", "BO_ 9288 ", "23: error: cantools says: Standard frame id 0x2448"),
        ('[0|100] "bar"', '[100|0] "bar"',
         "25: error: GearboxStatus/OilPressure: max 0 is below min 100"),
        ("24|24@1+", "20|24@1+", "26: warning: GearboxStatus: The signals ShiftCounter and Oil"),
        ("24|24@1+", "24|32@1+", "26: warning: GearboxStatus: The signal ShiftCounter does not"),
        ('"bar"', '"blue"', "25: warning: GearboxStatus/OilPressure: unit 'blue' is not UCUM"),
    ],
)  # fmt: skip
def test_a_problem_is_told_with_its_line(said: Said, old: str, new: str, said_: str) -> None:
    assert old in TEXT
    problems = said("changed.dbc", TEXT.replace(old, new))
    assert any(one.startswith(said_) for one in problems), problems


def test_two_messages_of_one_name_cannot_have_one_signal(said: Said) -> None:
    again = TEXT.replace("BO_ 800 InertialUnit", "BO_ 800 EngineData").replace(
        "Timestamp", "CoolantTemp"
    )
    assert "41: error: EngineData/CoolantTemp: the name is in line 17 already" in "".join(
        problem for problem in said("twice.dbc", again) if "already" in problem
    )


def test_a_signal_longer_than_a_number_is_bytes(written: Written) -> None:
    text = one_signal('0|128@1+ (1,0) [0|100] ""').replace("M: 8", "M: 64")
    assert load(written("long.dbc", text)) == {"M/s": Parameter("bytes", source="ECU")}


def test_text_of_windows_is_understood(tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("dbc") / "windows.dbc"
    path.write_bytes(one_signal('0|8@1+ (1,0) [0|0] "°C"').encode("cp1252"))
    assert read(path).parameters["M/s"].unit == "Cel"
