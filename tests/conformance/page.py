"""The page docs/conformance.md, made from the statements and the rows."""

from collections.abc import Iterator

from tests.conformance.reasons import CHOICES, DEVIATIONS
from tests.conformance.row import Case
from tests.conformance.statements import STATEMENTS, Side, Statement
from tests.conformance.tables import ALL_CASES
from tests.packets import V5, V311, Version

ROWS_SHOWN = 3

OPENING = """\
# Conformance

How Slipring keeps the normative statements of MQTT 3.1.1 and MQTT 5.0 (Appendix B of both). Each
statement stands here in our words, with whom it binds and where it is tested. `make conformance`
writes this page from the tables in `tests/conformance/`; a test holds it to them.

A test is a row of a table: the statements, a sentence, and the packets that go to and fro over a
plain TCP socket. The rows know nothing of the broker, so that they can be played against others:

```sh
pytest tests/conformance                                       # against Slipring
CONFORMANCE_BROKER=127.0.0.1:1883 pytest tests/conformance     # against what listens there
```
"""


def page() -> str:
    parts = [OPENING, _counts(), _deviations(), _choices()]
    parts += [_statements(version) for version in (V311, V5)]
    return "\n".join(parts)


def _counts() -> str:
    lines = [
        "| | statements | bind a broker | have rows | tested elsewhere | cannot be tested | rows |"
    ]
    lines.append("|---|---|---|---|---|---|---|")
    for version, statements in STATEMENTS.items():
        bound = [statement for statement in statements if statement.side is not Side.CLIENT]
        numbers = [
            len(statements),
            len(bound),
            sum(bool(statement.cases) for statement in bound),
            sum(bool(statement.elsewhere) for statement in bound),
            sum(bool(statement.reason) for statement in bound),
            sum(case.version is version for case in ALL_CASES),
        ]
        lines.append(f"| MQTT {version.name} | " + " | ".join(map(str, numbers)) + " |")
    return "\n".join(lines) + "\n"


def _deviations() -> str:
    if not DEVIATIONS.strip():
        return "## Deviations\n\nNone.\n"
    return "\n".join(["## Deviations", "", *_table("statement", "why", DEVIATIONS)]) + "\n"


def _choices() -> str:
    return "\n".join(["## Choices", "", *_table("where", "what we do", CHOICES)]) + "\n"


def _table(left: str, right: str, entries: str) -> Iterator[str]:
    """An entry is `left: right`, and goes on where it is indented."""
    yield f"| {left} | {right} |"
    yield "|---|---|"
    for entry in entries.replace("\n    ", " ").strip().splitlines():
        yield "| " + entry.replace(": ", " | ", 1) + " |"


def _statements(version: Version) -> str:
    lines = [f"## MQTT {version.name}", "", "| statement | binds | asks | tested by |"]
    lines.append("|---|---|---|---|")
    for statement in STATEMENTS[version]:
        shown = [f"MQTT-{statement.number}", statement.side.value, statement.asks]
        lines.append("| " + " | ".join([*shown, _tested(statement)]) + " |")
    return "\n".join(lines) + "\n"


def _tested(statement: Statement) -> str:
    if statement.cases:
        return _rows(statement.cases)
    if statement.elsewhere:
        return f"`{statement.elsewhere}`"
    return statement.reason or "a matter of clients"


def _rows(cases: list[Case]) -> str:
    shown = [f"{case.table}: {case.row.says}" for case in cases[:ROWS_SHOWN]]
    if len(cases) > ROWS_SHOWN:
        shown.append(f"and {len(cases) - ROWS_SHOWN} more")
    return "; ".join(shown)
