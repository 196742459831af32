"""The dictionaries beside the tests, whatever they are written in."""

from pathlib import Path

from slipring.dictionary import Dictionary, load, write_csv


def test_an_example_has_parameters_and_no_doubt(example: Dictionary) -> None:
    assert example.is_right
    assert len(example.parameters) > 7
    assert {problem.severity for problem in example.problems} <= {"note"}


def test_every_parameter_has_the_line_that_names_it(example: Dictionary) -> None:
    lines = example.file.read_text(encoding="utf-8").splitlines()
    for name in example.parameters:
        last = name if example.file.suffix == ".csv" else name.rpartition("/")[2]
        assert last in lines[example.lines[name] - 1]


def test_every_dictionary_can_become_a_csv(example: Dictionary, tmp_path: Path) -> None:
    path = tmp_path / "again.csv"
    path.write_text(write_csv(example.parameters), encoding="utf-8")
    assert load(path) == example.parameters
