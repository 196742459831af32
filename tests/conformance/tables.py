"""All tables of rows, by the name of their file."""

from tests.conformance import connect
from tests.conformance.row import Case, Row

TABLES: dict[str, tuple[Row, ...]] = {
    "connect": connect.ROWS,
}

CASES: list[Case] = [
    case for table, rows in TABLES.items() for row in rows for case in row.cases(table)
]
