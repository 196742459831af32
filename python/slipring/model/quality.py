"""How far a sample can be trusted, and the reason if not fully: one byte in a frame."""

from enum import IntEnum
from typing import NamedTuple


class Status(IntEnum):
    """How far a sample can be trusted."""

    GOOD = 0
    UNCERTAIN = 1
    BAD = 2
    STALE = 3

    @property
    def word(self) -> str:
        """The word for it in text and JSON: `good`, `stale`."""
        return self.name.lower()


class Reason(IntEnum):
    """Why a sample is not good. The numbers from 32 to 63 are free for users."""

    NONE = 0
    SILENT = 1
    PUBLISHER_GONE = 2
    RESTORED = 3
    OUT_OF_RANGE = 4
    SENSOR_FAILED = 5
    SIMULATED = 6
    BAD_INPUTS = 7


class Quality(NamedTuple):
    """`Quality()` is good; `Quality(Status.BAD, Reason.SENSOR_FAILED)` says more."""

    status: Status = Status.GOOD
    reason: int = Reason.NONE

    @classmethod
    def of_byte(cls, byte: int) -> "Quality":
        """The quality that a frame encodes as this byte."""
        return cls(Status(byte >> 6), byte & 0x3F)

    @classmethod
    def of_words(cls, status: str, reason: str | None = None) -> "Quality":
        """The quality that text and JSON write as these words."""
        return cls(Status[status.upper()], 0 if reason is None else _reason_of(reason))

    @property
    def byte(self) -> int:
        """The status in the two upper bits, the reason in the others."""
        if not 0 <= self.reason < 64:
            raise ValueError(f"a reason is a number from 0 to 63, not {self.reason}")
        return self.status << 6 | self.reason

    @property
    def why(self) -> str | None:
        """The reason in a word, or its number; None if there is none."""
        return _words(self.reason) if self.reason else None

    @property
    def is_good(self) -> bool:
        """Whether the status is good."""
        return self.status is Status.GOOD

    def __str__(self) -> str:
        return f"{self.status.word} ({self.why})" if self.reason else self.status.word


GOOD = Quality()


def _words(reason: int) -> str:
    try:
        return Reason(reason).name.lower().replace("_", "-")
    except ValueError:
        return str(reason)


def _reason_of(words: str) -> int:
    return int(words) if words.isdigit() else Reason[words.upper().replace("-", "_")]
