"""All tables of rows, by name."""

from tests.conformance import (
    acknowledgements,
    connack,
    connect,
    ends,
    publish,
    retained,
    sessions,
    subscribe,
    unsubscribe,
    wills,
)
from tests.conformance.row import Case, Row

TABLES: dict[str, tuple[Row, ...]] = {
    "connect": connect.ROWS,
    "connack": connack.ROWS,
    "publish": publish.ROWS,
    "puback": acknowledgements.PUBACK,
    "pubrec": acknowledgements.PUBREC,
    "pubrel": acknowledgements.PUBREL,
    "pubcomp": acknowledgements.PUBCOMP,
    "subscribe": subscribe.ROWS,
    "unsubscribe": unsubscribe.ROWS,
    "pingreq": ends.PINGREQ,
    "disconnect": ends.DISCONNECT,
    "auth": ends.AUTH,
    "retained": retained.ROWS,
    "sessions": sessions.ROWS,
    "wills": wills.ROWS,
}

CASES: list[Case] = [
    case for table, rows in TABLES.items() for row in rows for case in row.cases(table)
]
