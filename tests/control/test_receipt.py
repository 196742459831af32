"""What a start found, in words: what there is, and what is missing with its offsets."""

import logging
from dataclasses import dataclass, field
from typing import cast

from slipring.control.receipt import DAMAGE_TOLD, in_a_line, kept, tell
from slipring.native import DamagedRange, Receipt


@dataclass
class Damaged:
    first_offset: int
    end_offset: int
    why: str = "segment 0.seg at byte 64: the checksum is wrong"


@dataclass
class Found:
    """A receipt as the engine gives it."""

    identity: str = "5ca1ab1e"
    first_offset: int = 0
    next_offset: int = 0
    left_out: list[tuple[int, int]] = field(default_factory=list)
    narrowed: int | None = None
    segments: int = 1
    cut_why: str | None = None
    damage: list[Damaged] = field(default_factory=list)
    flaws: list[str] = field(default_factory=list)
    sessions: int = 0
    queued: int = 0
    retained: int = 0
    seconds: float = 0.0


def receipt(**found: object) -> Receipt:
    return cast("Receipt", Found(**found))  # type: ignore[arg-type]


def warnings(found: Receipt) -> list[str]:
    return [line for level, line in tell(found) if level == logging.WARNING]


def test_what_there_is_is_one_line() -> None:
    found = receipt(
        first_offset=5,
        next_offset=1_239,
        segments=3,
        sessions=1,
        queued=17,
        retained=2,
        seconds=0.5,
    )
    ((level, line),) = tell(found)
    assert level == logging.INFO
    assert line == (
        "journal 5ca1ab1e: 1,234 messages kept, offsets 5 to 1,238 in 3 segments; "
        "recovered 1 session, 17 messages that wait, 2 retained messages in 0.50 s"
    )


def test_a_journal_without_messages_says_so() -> None:
    assert in_a_line(receipt()).startswith("no messages yet; ")
    emptied = in_a_line(receipt(first_offset=9, next_offset=9))
    assert emptied.startswith("no messages, the next offset is 9; ")


def test_what_was_cut_is_a_warning() -> None:
    assert warnings(receipt(cut_why="12 bytes cut")) == ["journal: 12 bytes cut"]


def test_damage_is_a_warning_with_its_offsets() -> None:
    found = receipt(next_offset=100, damage=[Damaged(10, 20)])
    assert warnings(found) == [
        (
            "journal: offsets 10 to 19 cannot be read, the rest is served: "
            "segment 0.seg at byte 64: the checksum is wrong"
        )
    ]
    assert in_a_line(found).startswith("90 messages kept, offsets 0 to 99 ")


def test_a_range_that_is_told_twice_counts_once() -> None:
    ranges = [Damaged(10, 20), Damaged(40, 50), Damaged(15, 30), Damaged(16, 18)]
    damage = cast("list[DamagedRange]", ranges)
    assert kept(receipt(next_offset=100, damage=damage)) == 100 - 20 - 10


def test_much_damage_is_a_few_lines_and_a_sum() -> None:
    found = receipt(next_offset=10_000, damage=[Damaged(n, n + 1) for n in range(0, 1_000, 2)])
    told = warnings(found)
    assert len(told) == DAMAGE_TOLD + 1
    assert told[-1].startswith("journal: 480 more damaged ranges")


def test_records_that_made_no_sense_are_told() -> None:
    found = receipt(flaws=["records at offset 7: cut short"])
    assert warnings(found) == [
        "journal: some of the sessions is lost: records at offset 7: cut short"
    ]
