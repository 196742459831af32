"""The newest values of any number of parameters, of an engine that answers in parts."""

import json

from slipring.control.newest_values import newest_rows
from tests.console.fake_table import FakeTable


def table_of(count: int) -> FakeTable:
    table = FakeTable(*(f"p/{at}" for at in range(count)))
    table.values = {name: float(at) for at, name in enumerate(table.names)}
    return table


def found(table: FakeTable) -> dict[str, float]:
    return {name: row["value"] for name, row in newest_rows(table.ask, table.names).items()}


def test_all_parts_of_the_answer_are_read() -> None:
    table = table_of(10)
    table.room = 3
    assert found(table) == table.values
    assert table.asked == ["values"] * 4
    assert newest_rows(table.ask, []) == {}


def test_a_value_larger_than_an_answer_takes_nothing_from_the_others() -> None:
    table = table_of(64)
    too_large = {"p/0", "p/17", "p/18", "p/63"}

    def ask(name: str, body: bytes) -> bytes:
        """As the engine: it refuses when already the first value of an answer is too large."""
        answer = json.loads(table.ask(name, body))
        rows = answer["values"]
        at = next((at for at, row in enumerate(rows) if row["name"] in too_large), None)
        if at == 0:
            return b'{"error": "too_large", "message": "", "problems": []}'
        if at is not None:
            answer |= {"values": rows[:at], "next": rows[at]["index"]}
        return json.dumps(answer).encode()

    rows = newest_rows(ask, table.names)
    assert rows.keys() == set(table.names) - too_large
    assert len(table.asked) < 64
