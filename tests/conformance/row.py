"""A row of a table: a sentence, the statements it tests, and who sends and receives what.

    A PINGREQ is answered
        3.1.1: 3.12.4-1
        5.0: 3.12.4-1
        a connects
        a > PINGREQ
        a < PINGRESP

A row is played in each version whose statements it names. Its steps, one a line; a name stands
for a connection, and `a'` is a later connection with the client identifier of `a`:

    a > PUBLISH qos=1 id=7     a sends this packet (or `bytes ...`, `raw ...`: see notation.py)
    a > CONNECT + PINGREQ      both in one write
    a < PUBACK id=7            this packet is the next that a receives
    a ~ PUBACK id=7            one of these, in any order, with the `~` lines next to it
    a < closed                 the broker closes a's connection, with no further packet
    a < ended 0x82             the same; MQTT 5 is told the reason by a DISCONNECT before
    a < refused 0x81|0x82      the same; MQTT 5 may be told one of these reasons by a CONNACK before
    a < cut                    the broker closes a's connection, whatever it says before
    a < quiet                  nothing comes, although the broker has handled all that was sent
    a connects clean=0         CONNECT with these fields, and a CONNACK that accepts
    a subscribes {t}/#:1       SUBSCRIBE with these filters, and a SUBACK that grants each
    these differ $m $n         what these two stand for is not the same
    a closes                   a's socket is closed without a DISCONNECT
    5 a < quiet                this step only in MQTT 5; `4` only in MQTT 3.1.1
    ... qos=1 id=3             the line before goes on

`{t}` is a topic, and `{id}` the start of the client identifiers, that no other row has; `{x*9}` is
nine times x; `$m` is what a field said before.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from tests.packets import V5, V311, Version

NAMED = re.compile(r"(3\.1\.1|5\.0):((?: +\d+\.\d+\.\d+-\d+)+)")


@dataclass(frozen=True, slots=True)
class Row:
    """What must be so, by version the statements that say it, and how it is seen."""

    says: str
    statements: dict[str, list[str]]
    lines: list[str]

    @classmethod
    def parse(cls, says: str, lines: list[str]) -> "Row":
        statements = {}
        while lines and (named := NAMED.fullmatch(lines[0])):
            statements[named[1]] = named[2].split()
            lines = lines[1:]
        if not statements or not lines:
            raise ValueError(f"a row names statements, and has steps: {says}")
        return cls(says, statements, lines)

    def cases(self, table: str) -> "Iterator[Case]":
        for version in (V311, V5):
            if version.name in self.statements:
                yield Case(self, version, table)


def rows(table: str) -> tuple[Row, ...]:
    """The rows of a table: each begins with its sentence, and what is indented belongs to it."""
    found: list[tuple[str, list[str]]] = []
    for line in filter(str.strip, table.splitlines()):
        if line.lstrip().startswith("... "):
            found[-1][1][-1] += line.strip().removeprefix("...")
        elif line.startswith(" "):
            found[-1][1].append(line.strip())
        else:
            found.append((line, []))
    return tuple(Row.parse(says, lines) for says, lines in found)


@dataclass(frozen=True, slots=True)
class Case:
    """A row in one version."""

    row: Row
    version: Version
    table: str

    def __str__(self) -> str:
        sentence = re.sub(r"\W+", "-", self.row.says).strip("-")
        return f"{self.version.name}-{self.statements[0]}-{sentence}"

    @property
    def statements(self) -> list[str]:
        return self.row.statements[self.version.name]

    def steps(self) -> list[str]:
        """The lines of this version, without comments."""
        mine, others = ("5 ", "4 ") if self.version is V5 else ("4 ", "5 ")
        lines = [line for line in self.row.lines if not line.startswith("# ")]
        return [line.removeprefix(mine) for line in lines if not line.startswith(others)]
