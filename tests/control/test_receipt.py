"""What a start found, in words: what there is, and what is missing with its offsets."""

import logging

from slipring.control.receipt import DAMAGE_TOLD, in_words, kept_messages, log_lines
from slipring.status.engine import DamagedRange, StartReceipt
from tests.status.blank import blank


def damaged(first_offset: int, end_offset: int) -> DamagedRange:
    why = "segment 0.seg at byte 64: the checksum is wrong"
    return {"first_offset": first_offset, "end_offset": end_offset, "why": why}


def receipt(**found: object) -> StartReceipt:
    return blank(StartReceipt, **({"identity": "5ca1ab1e", "segments": 1} | found))


def warnings(found: StartReceipt) -> list[str]:
    return [line for level, line in log_lines(found) if level == logging.WARNING]


def test_what_there_is_is_one_line() -> None:
    found = receipt(
        first_offset=5,
        next_offset=1_239,
        segments=3,
        sessions=1,
        queued=17,
        retained=2,
        requests=3,
        seconds=0.5,
    )
    ((level, line),) = log_lines(found)
    assert level == logging.INFO
    assert line == (
        "journal 5ca1ab1e: 1,234 messages kept, offsets 5 to 1,238 in 3 segments; "
        "recovered 1 session, 17 messages that wait, 2 retained messages, 3 requests in 0.50 s"
    )


def test_a_journal_without_messages_says_so() -> None:
    assert in_words(receipt()).startswith("no messages yet; ")
    emptied = in_words(receipt(first_offset=9, next_offset=9))
    assert emptied.startswith("no messages, the next offset is 9; ")


def test_what_was_cut_is_a_warning() -> None:
    assert warnings(receipt(cut_why="12 bytes cut")) == ["journal: 12 bytes cut"]


def test_damage_is_a_warning_with_its_offsets() -> None:
    found = receipt(next_offset=100, damage=[damaged(10, 20)])
    assert warnings(found) == [
        (
            "journal: offsets 10 to 19 cannot be read, the rest is served: "
            "segment 0.seg at byte 64: the checksum is wrong"
        )
    ]
    assert in_words(found).startswith("90 messages kept, offsets 0 to 99 ")


def test_a_range_that_is_told_twice_counts_once() -> None:
    damage = [damaged(10, 20), damaged(40, 50), damaged(15, 30), damaged(16, 18)]
    assert kept_messages(receipt(next_offset=100, damage=damage)) == 100 - 20 - 10


def test_much_damage_is_a_few_lines_and_a_sum() -> None:
    found = receipt(next_offset=10_000, damage=[damaged(n, n + 1) for n in range(0, 1_000, 2)])
    told = warnings(found)
    assert len(told) == DAMAGE_TOLD + 1
    assert told[-1].startswith("journal: 480 more damaged ranges")


def test_records_that_made_no_sense_are_told() -> None:
    found = receipt(flaws=["records at offset 7: cut short"])
    assert warnings(found) == [
        "journal: some of the sessions' state is lost: records at offset 7: cut short"
    ]
