"""The statements of both standards with where each is tested, or why it is not."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

from tests.conformance import reasons, statements_v5, statements_v311
from tests.conformance.row import Case
from tests.conformance.tables import ALL_CASES
from tests.packets import V5, V311, Version


class Side(Enum):
    """Whom a statement binds."""

    SERVER = "server"
    CLIENT = "client"
    BOTH = "both"


@dataclass(frozen=True, slots=True)
class Statement:
    """One normative statement, in our words."""

    version: Version
    number: str
    side: Side
    asks: str

    @classmethod
    def parse(cls, version: Version, line: str) -> "Statement":
        number, side, asks = line.split(maxsplit=2)
        return cls(version, number, Side(side), asks)

    @property
    def cases(self) -> list[Case]:
        """The rows that test it."""
        return [
            case
            for case in ALL_CASES
            if case.version is self.version and self.number in case.statements
        ]

    @property
    def elsewhere(self) -> str:
        """Another test that tests it, as a path."""
        return reasons.ELSEWHERE[self.version.name].get(self.number, "")

    @property
    def reason(self) -> str:
        """Why no row tests it."""
        return reasons.NOT_TESTED[self.version.name].get(self.number, "")


def _parse(version: Version, table: str) -> list[Statement]:
    return [Statement.parse(version, line) for line in table.strip().splitlines()]


STATEMENTS: Mapping[Version, list[Statement]] = {
    V311: _parse(V311, statements_v311.STATEMENTS),
    V5: _parse(V5, statements_v5.STATEMENTS),
}
