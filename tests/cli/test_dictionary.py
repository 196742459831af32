"""`slipring dictionary` and `slipring declare`, as a person runs them."""

from pathlib import Path

from tests.cli.commands import slipring
from tests.dictionary.conftest import DATA, Written


def test_a_check_says_what_is_in_each_file() -> None:
    run = slipring("dictionary", "check", *sorted(DATA.iterdir()))
    said = run.stdout.splitlines()
    assert f"{DATA}/engine.csv: 8 parameters" in said
    assert f"{DATA}/powertrain.dbc: 18 parameters, 1 note" in said


def test_a_check_fails_with_every_error_and_its_line(written: Written) -> None:
    path = written("bad.csv", "name,type,unit\nrpm,float,rpm\n\x1b[31m,u8,\n")
    run = slipring("dictionary", "check", DATA / "engine.csv", path, code=1)
    assert f"{path}:2: error: rpm: 'float' is not a type; write f32\n" in run.stdout
    assert f"{path}:3: error: \\x1b[31m: there is a control character" in run.stdout
    assert f"{path}: 0 parameters, 2 errors, 1 warning\n" in run.stdout


def test_a_file_that_cannot_be_read_does_not_hide_the_others(tmp_path: Path) -> None:
    path = tmp_path / "latin.csv"
    path.write_bytes("name,type,description\nrpm,f64,Größe\n".encode("latin-1"))
    run = slipring("dictionary", "check", path, DATA / "engine.csv", code=1)
    assert run.stderr == f"slipring: {path}:2: is not UTF-8; save the file as UTF-8\n"
    assert run.stdout == f"{DATA}/engine.csv: 8 parameters\n"


def test_strict_makes_an_unknown_unit_an_error(written: Written) -> None:
    path = written("doubt.csv", "name,type,unit\nrpm,f32,rpm\n")
    slipring("dictionary", "check", path)
    slipring("dictionary", "check", "--strict", path, code=1)


def test_a_dictionary_is_shown_as_a_table_or_as_csv(tmp_path: Path) -> None:
    shown = slipring("dictionary", "show", DATA / "engine.csv").stdout.splitlines()
    (row,) = (line for line in shown if line.startswith("oil/pressure"))
    assert " ".join(shown[0].split()) == "name type unit range limits Hz source description"
    assert " ".join(row.split()) == (
        "oil/pressure f32 bar 0 to 10 <<1.5 <2 >6 >>8 10 ECU Oil pressure, main gallery"
    )
    made = tmp_path / "made.csv"
    made.write_text(slipring("dictionary", "show", "--csv", DATA / "powertrain.dbc").stdout)
    assert slipring("dictionary", "check", made).stdout == f"{made}: 18 parameters\n"


def test_nothing_is_declared_from_a_file_with_an_error(written: Written) -> None:
    path = written("bad.csv", "name,type\nrpm,float\n")
    nowhere = "mqtt://127.0.0.1:1"
    run = slipring("declare", path, "--prefix", "a", "--url", nowhere, code=1)
    assert run.stderr.splitlines() == [
        f"{path}:2: error: rpm: 'float' is not a type; write f32",
        f"slipring: {path} has 1 error; nothing was declared",
    ]
