"""CSV: read with every problem and its line, written and read again."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slipring.dictionary import load, read, write_csv
from slipring.dictionary.checks import Checker
from slipring.dictionary.csv_file import COLUMNS, read_csv
from slipring.dictionary.problem import PROBLEMS_MAX, Findings, Severity
from slipring.errors import DictionaryError
from slipring.model import AlarmLimits, Parameter
from tests.dictionary.conftest import DATA, Said, Written

HEAD = ",".join(COLUMNS) + "\n"


def test_every_column_becomes_a_part_of_the_parameter() -> None:
    parameters = load(DATA / "engine.csv")
    assert list(parameters)[:3] == ["rpm", "egt", "oil/pressure"]
    assert parameters["oil/pressure"] == Parameter(
        "f32",
        unit="bar",
        description="Oil pressure, main gallery",
        range=(0, 10),
        limits=AlarmLimits(low_critical=1.5, low=2, high=6, high_critical=8),
        rate_hz=10,
        source="ECU",
    )
    assert parameters["stage"].labels == {0: "off", 1: "cranking", 2: "light-up", 3: "idle"}
    assert parameters["cycles"].range == (0.0, 4294967295.0), "the other end is that of the type"
    assert parameters["serial"] == Parameter("text", description='Serial number of the "RM12"')


def test_columns_come_in_any_order_and_most_may_be_missing(written: Written) -> None:
    path = written("few.csv", "Type, NAME ,unit\nf32, rpm ,1/min\n\nbool,on,\n")
    assert load(path) == {"rpm": Parameter("f32", unit="1/min"), "on": Parameter("bool")}


@pytest.mark.parametrize(
    ("head", "words"),
    [
        ("name,type,units", "write unit, or remove it"),
        ("name,type,descripton", "write description, or remove it"),
        ("name,type,colour", f"the columns are {', '.join(COLUMNS)}"),
        ("name,unit", "column 'type' is missing"),
        ("name,type,name", "column 'name' is there twice"),
        ("name;type;unit", "save the file with commas"),
        ("", "there is no header"),
    ],
)
def test_a_header_that_is_not_understood_is_refused_with_a_hint(
    said: Said, head: str, words: str
) -> None:
    problems = said("head.csv", f"{head}\nrpm,f64,\n")
    assert problems[0].startswith("1: error:")
    assert words in problems[0]
    assert len(problems) == 1, "rows are not looked at"


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ("rpm,float,,,,,,,,,,,", "'float' is not a type; write f32"),
        ("rpm,,,,,,,,,,,,", "the type is missing"),
        (",f32,,,,,,,,,,,", "the name is empty"),
        ("a/+/b,f32,,,,,,,,,,,", "+ cannot be in a name"),
        ("$a,f32,,,,,,,,,,,", "names that begin with $ are the broker's"),
        ("rpm,f32,,,20,10,,,,,,,", "max 10 is below min 20"),
        ("rpm,f32,,,20,,,,,,,,", "min and max come together"),
        ("rpm,f32,,,nan,1,,,,,,,", "finite"),
        ("rpm,f32,,,0,1e999,,,,,,,", "finite"),
        ("rpm,f32,,,x,1,,,,,,,", "min 'x' is not a number"),
        ('rpm,f32,,,"1,5",2,,,,,,,', "write 1.5"),
        ("rpm,f32,,,,,9,8,,,,,", "low 9 is above high 8"),
        ("rpm,f32,,,,,,,,,0,,", "rate_hz 0 is not above 0"),
        ("rpm,text,,,0,1,,,,,,,", "text has no min and max"),
        ("rpm,text,,,,,1,,,,,,", "text has no limits"),
        ("rpm,enum,,,,,,,,,,,", "an enum needs labels, such as 0=off;1=on"),
        ("rpm,u8,,,,,,,,,,,0=off", "a u8 has no labels"),
        ("rpm,enum,,,,,,,,,,,off", "'off' is not NUMBER=LABEL"),
        ("rpm,enum,,,,,,,,,,,0=a;1=a", "0 and 1 have the same label 'a'"),
        ("rpm,enum,,,,,,,,,,,0=a;0=b", "the number 0 twice"),
        ("rpm,enum,,,,,,,,,,,4294967296=a", "give 0 to 4294967295"),
        ("rpm,enum,,,,,,,,,,,0=", "the label of 0 has 0 bytes"),
        ("rpm,f32," + "m" * 65 + ",,,,,,,,,,", "the unit has 65 bytes"),
        ("rpm,f32,,,,,,,,,," + "s" * 257 + ",", "the source has 257 bytes"),
        ("rpm,f32", "2 cells, and the header has 13"),
        ("rpm,f32,,a,b,,,,,,,,,", "put quotes around"),
    ],
)  # fmt: skip
def test_a_wrong_row_is_told_with_its_line(said: Said, row: str, words: str) -> None:
    problems = said("rows.csv", f"{HEAD}fine,f32,,,,,,,,,,,\n\n{row}\n")
    assert [one.split(":")[:2] for one in problems] == [["4", " error"]]
    assert words in problems[0]


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ("rpm,f32,rpm,,,,,,,,,,", "write {rpm} or 1/min"),
        ("a//b,f32,,,,,,,,,,,", "empty level"),
        ("rpm,u8,,,0,300,,,,,,,", "more than a u8 holds, 0 to 255"),
        ("rpm,f32,,,0,10,,11,,,,,", "high 11 is outside min and max"),
        ("rpm,f32,," + "d" * 1001 + ",,,,,,,,,", "1000 are kept"),
    ],
)
def test_what_is_doubtful_is_a_warning_and_an_error_where_asked(
    said: Said, row: str, words: str
) -> None:
    (warning,) = said("rows.csv", f"{HEAD}{row}\n")
    assert warning.startswith("2: warning:")
    assert words in warning
    (error,) = said("rows.csv", f"{HEAD}{row}\n", strict=True)
    assert error.startswith("2: error:")


def test_a_valid_unit_that_is_often_misread_is_noted_and_never_an_error(said: Said) -> None:
    (note,) = said("rows.csv", f"{HEAD}charge,f32,C,,,,,,,,,,\n", strict=True)
    assert note == "2: note: charge: unit 'C' is coulomb; degrees Celsius are Cel"


def test_a_name_that_is_there_twice_is_told_with_both_lines(said: Said) -> None:
    (error,) = said(
        "rows.csv", f"{HEAD}rpm,f32,,,,,,,,,,,\non,bool,,,,,,,,,,,\nrpm,f64,,,,,,,,,,,\n"
    )
    assert error == "4: error: rpm: the name is in line 2 already; remove one or rename it"


def test_a_row_over_several_lines_counts_from_its_first(said: Said) -> None:
    (error,) = said("rows.csv", f'{HEAD}rpm,f32,,"one\ntwo",,,,,,,,,\nx,y,,,,,,,,,,,\n')
    assert error.startswith("4: error: x:")


def test_a_quote_that_is_not_closed_is_told_where_it_opens(said: Said) -> None:
    (error,) = said("rows.csv", f'{HEAD}rpm,f32,,"one,,,,,,,,,\nx,f32,,,,,,,,,,,\n')
    assert error.startswith("2: error: this is not CSV")


def test_all_problems_are_told_at_once_up_to_a_hundred(written: Written) -> None:
    rows = "".join(f"p{number},float,,,,,,,,,,,\n" for number in range(PROBLEMS_MAX + 30))
    found = read(written("many.csv", f"{HEAD}doubt,f32,rpm,,,,,,,,,,\n{rows}"))
    assert len(found.problems) == PROBLEMS_MAX
    assert found.counts == {Severity.ERROR: 130, Severity.WARNING: 1, Severity.NOTE: 0}
    assert {one.severity for one in found.problems} == {Severity.ERROR}, "errors come first"
    with pytest.raises(DictionaryError, match="and 30 more") as raised:
        load(found.file)
    assert raised.value.problems == found.problems


def test_a_file_that_is_not_utf8_is_refused_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "latin.csv"
    path.write_bytes(HEAD.encode() + b"rpm,f32,,Drehzahl f\xfcr,,,,,,,,,\n")
    with pytest.raises(DictionaryError, match=r"latin\.csv:2: is not UTF-8"):
        read(path)


@pytest.mark.parametrize("name", ["absent.csv", "wrong.txt"])
def test_a_file_that_cannot_be_read_is_an_error(tmp_path: Path, name: str) -> None:
    with pytest.raises(DictionaryError, match=name):
        read(tmp_path / name)


def test_a_mark_of_byte_order_is_no_part_of_the_header(tmp_path: Path) -> None:
    path = tmp_path / "excel.csv"
    path.write_bytes(b"\xef\xbb\xbfname,type\r\nrpm,f32\r\n")
    assert load(path) == {"rpm": Parameter("f32")}


WORDS = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs", "Z"]), min_size=1)
NUMBERS = st.floats(-1e300, 1e300)


@st.composite
def parameters(draw: st.DrawFn) -> Parameter:
    given_: dict[str, Any] = {
        "description": draw(st.none() | WORDS),
        "unit": draw(st.sampled_from([None, "m/s", "Cel"])),
        "source": draw(st.none() | WORDS.filter(lambda text: len(text.encode()) < 256)),
        "rate_hz": draw(st.none() | st.floats(1e-3, 1e6)),
    }
    if draw(st.booleans()):
        labels = draw(st.dictionaries(st.integers(0, 2**32 - 1), WORDS, min_size=1, max_size=5))
        told_apart = {number: f"{number} {label[:40]}" for number, label in labels.items()}
        return Parameter("enum", labels=dict(sorted(told_apart.items())), **given_)
    low, high = sorted((draw(NUMBERS), draw(NUMBERS)))
    limits = AlarmLimits(low=low, high=high)
    return Parameter("f64", range=(low, high), limits=limits, **given_)


@given(st.dictionaries(WORDS.filter(lambda name: not set("+#$/") & set(name)), parameters()))
def test_what_is_written_is_read_again_the_same(made: dict[str, Parameter]) -> None:
    findings = Findings(Path("round.csv"))
    checker = Checker(findings)
    for draft in read_csv(write_csv(made), findings):
        checker.add(draft)
    assert not findings.counts[Severity.ERROR]
    assert checker.parameters == made
