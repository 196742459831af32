"""Every statement that binds a broker is tested or has its reason, and the page says so."""

from collections import Counter
from pathlib import Path

import pytest

from tests.conformance.page import page
from tests.conformance.reasons import ELSEWHERE, NOT_TESTED
from tests.conformance.statements import STATEMENTS, Side, Statement
from tests.conformance.tables import ALL_CASES
from tests.packets import V5, V311, Version

ROOT = Path(__file__).parents[2]
BOTH = pytest.mark.parametrize("version", [V311, V5], ids=lambda version: version.name)


def ways(statement: Statement) -> int:
    return bool(statement.cases) + bool(statement.elsewhere) + bool(statement.reason)


@BOTH
def test_every_statement_for_a_broker_is_tested_or_says_why_not(version: Version) -> None:
    bound = [entry for entry in STATEMENTS[version] if entry.side is not Side.CLIENT]
    assert [entry.number for entry in bound if ways(entry) != 1] == []


@BOTH
def test_statements_for_clients_alone_have_no_rows(version: Version) -> None:
    clients = [entry for entry in STATEMENTS[version] if entry.side is Side.CLIENT]
    assert [entry.number for entry in clients if ways(entry) != 0] == []


@BOTH
def test_no_statement_is_listed_twice(version: Version) -> None:
    counted = Counter(statement.number for statement in STATEMENTS[version])
    assert [number for number, count in counted.items() if count > 1] == []


@BOTH
def test_what_is_named_is_a_statement(version: Version) -> None:
    known = {statement.number for statement in STATEMENTS[version]}
    in_rows = {
        number for case in ALL_CASES if case.version is version for number in case.statements
    }
    named = in_rows | ELSEWHERE[version.name].keys() | NOT_TESTED[version.name].keys()
    assert sorted(named - known) == []


def test_tests_elsewhere_are_there() -> None:
    files = {file for tested in ELSEWHERE.values() for file in tested.values()}
    assert [file for file in files if not (ROOT / file).is_file()] == []


def test_no_two_rows_say_the_same() -> None:
    counted = Counter((case.version.name, case.row.says) for case in ALL_CASES)
    assert [says for says, count in counted.items() if count > 1] == []


def test_the_page_is_what_the_tables_say() -> None:
    written = (ROOT / "docs" / "conformance.md").read_text(encoding="utf-8")
    assert written == page(), "run `make conformance`"
