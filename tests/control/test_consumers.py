"""Who reads a journal, and how far behind each is."""

from pathlib import Path

from slipring.control.consumers import consumer_statuses, known_consumers
from slipring.native import JournalReader, commit_consumer
from slipring.status.message import ConsumerStatus
from tests.control.test_receipt import receipt
from tests.journal_messages import write_messages

LEFT_OUT = (20, 4_116)


def standing(folder: Path, next_offset: int = 10) -> list[ConsumerStatus]:
    found = receipt(identity=JournalReader(folder).identity, left_out=[LEFT_OUT])
    return consumer_statuses(known_consumers(folder), found, next_offset)


def test_the_one_that_is_furthest_behind_comes_first(tmp_path: Path) -> None:
    write_messages(tmp_path, 10)
    identity = JournalReader(tmp_path).identity
    for name, offset in (("a", 10), ("b", 3), ("c", 7)):
        commit_consumer(tmp_path, name, identity, offset)
    shown = [(one["name"], one["offset"], one["behind"]) for one in standing(tmp_path)]
    assert shown == [("b", 3, 7), ("c", 7, 3), ("a", 10, 0)]
    assert all(one["updated_ms"] for one in standing(tmp_path))


def test_one_that_is_ahead_after_a_power_cut_is_not_behind(tmp_path: Path) -> None:
    write_messages(tmp_path, 10)
    commit_consumer(tmp_path, "a", JournalReader(tmp_path).identity, 10)
    assert standing(tmp_path, next_offset=8)[0]["behind"] == 0


def test_one_with_a_flaw_comes_last_and_says_what_it_is(tmp_path: Path) -> None:
    write_messages(tmp_path, 10)
    identity = JournalReader(tmp_path).identity
    for name, journal in (
        ("broken", identity),
        ("foreign", "f" * len(identity)),
        ("good", identity),
    ):
        commit_consumer(tmp_path, name, journal, 1)
    (tmp_path / "consumers" / "broken").write_bytes(b"x")
    flaws = {one["name"]: one["flaw"] for one in standing(tmp_path)}
    assert list(flaws) == ["good", "broken", "foreign"]
    assert flaws["good"] is None
    assert flaws["broken"] == "its content is damaged"
    assert flaws["foreign"] == f"it read journal {'f' * len(identity)}"


def test_without_a_journal_there_is_nobody(tmp_path: Path) -> None:
    assert known_consumers(None) == []
    assert known_consumers(tmp_path / "none") == []


def test_offsets_that_were_left_out_are_no_messages_to_read(tmp_path: Path) -> None:
    write_messages(tmp_path, 10)
    commit_consumer(tmp_path, "a", JournalReader(tmp_path).identity, 10)
    first, end = LEFT_OUT
    behind = [standing(tmp_path, at)[0]["behind"] for at in (first, first + 7, end, end + 5)]
    assert behind == [10, 10, 10, 15]
