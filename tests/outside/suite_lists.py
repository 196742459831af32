"""Which tests of an outside suite are run, and why the others are not."""

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Self

ROOT = Path(__file__).parents[2]
SUITES = ROOT / ".build" / "outside"


@dataclass(frozen=True)
class SuiteList:
    """A suite's tests by name; those left out with their reasons."""

    run: tuple[str, ...]
    left_out: dict[str, str]

    @classmethod
    def read(cls, name: str) -> Self:
        text = (Path(__file__).parent / f"{name}.toml").read_text(encoding="utf-8")
        listed = tomllib.loads(text)
        return cls(tuple(listed["run"]), listed["left_out"])

    def problems(self, there: set[str]) -> list[str]:
        """What does not fit the tests that are there."""
        known = set(self.run) | set(self.left_out)
        both = set(self.run) & set(self.left_out)
        return [
            *(f"{name}: neither run nor left out" for name in sorted(there - known)),
            *(f"{name}: there is no such test" for name in sorted(known - there)),
            *(f"{name}: both run and left out" for name in sorted(both)),
            *(f"{name}: no reason" for name, reason in self.left_out.items() if not reason.strip()),
        ]
