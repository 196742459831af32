"""All tables of rows, by name."""

from tests.conformance import (
    acknowledgements,
    connack,
    connect,
    ends,
    flow,
    frames,
    limited,
    publish,
    retained,
    sessions,
    shared,
    subscribe,
    text,
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
    "header": frames.HEADER,
    "properties": frames.PROPERTIES,
    "utf8": text.UTF8,
    "topics": text.TOPICS,
    "retained": retained.ROWS,
    "shared": shared.ROWS,
    "flow": flow.FLOW,
    "aliases": flow.ALIASES,
    "sizes": flow.SIZES,
    "expiry": flow.EXPIRY,
    "sessions": sessions.ROWS,
    "wills": wills.ROWS,
}

CASES: list[Case] = [
    case for table, rows in TABLES.items() for row in rows for case in row.cases(table)
]
LIMITED_CASES: list[Case] = [case for row in limited.ROWS for case in row.cases("limited")]
ALL_CASES = CASES + LIMITED_CASES
