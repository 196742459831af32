"""A row of a table: the statements it tests, a sentence, and who sends and receives what.

The steps of a row, one a line; a name stands for a connection, and `a'` is a later connection
with the client identifier of `a`:

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
    a closes                   a's socket is closed without a DISCONNECT
    5 a < ...                  this step only in MQTT 5; `4` only in MQTT 3.1.1

`{t}` is a topic, and `{id}` the start of the client identifiers, that no other row has; `{x*9}` is
nine times x; `$m` is what a field said before.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from tests.packets import V5, V311, Version

PREFIX = "MQTT-"


@dataclass(frozen=True, slots=True)
class Row:
    """What must be so, in the versions whose statements it names (`v5="3.3.1-2 4.3.1-1"`)."""

    says: str
    steps: str
    v311: str = ""
    v5: str = ""

    def statements(self, version: Version) -> list[str]:
        return (self.v5 if version is V5 else self.v311).split()

    def cases(self, table: str) -> "Iterator[Case]":
        for version in (V311, V5):
            if self.statements(version):
                yield Case(self, version, table)


@dataclass(frozen=True, slots=True)
class Case:
    """A row in one version."""

    row: Row
    version: Version
    table: str

    def __str__(self) -> str:
        sentence = re.sub(r"\W+", "-", self.row.says).strip("-")
        return f"{self.version.name}-{self.row.statements(self.version)[0]}-{sentence}"

    def steps(self) -> list[str]:
        """The lines of this version, without comments."""
        mine, others = ("5", "4") if self.version is V5 else ("4", "5")
        lines = [line.partition(" # ")[0].strip() for line in self.row.steps.splitlines()]
        return [
            line.removeprefix(f"{mine} ").strip()
            for line in lines
            if line and not line.startswith((f"{others} ", "# "))
        ]
