"""Who reads a journal, and how far behind each is."""

from pathlib import Path

from slipring.control.consumers import Reading, known_consumers, readings
from slipring.native import JournalReader, commit_consumer
from tests.journals import write_messages


def standing(folder: Path, next_offset: int = 10) -> list[Reading]:
    return readings(known_consumers(folder), JournalReader(folder).identity, next_offset)


def test_the_one_that_is_furthest_behind_comes_first(tmp_path: Path) -> None:
    write_messages(tmp_path, 10)
    identity = JournalReader(tmp_path).identity
    for name, offset in (("a", 10), ("b", 3), ("c", 7)):
        commit_consumer(tmp_path, name, identity, offset)
    shown = [(one.name, one.offset, one.behind) for one in standing(tmp_path)]
    assert shown == [("b", 3, 7), ("c", 7, 3), ("a", 10, 0)]
    assert all(one.updated_ns for one in standing(tmp_path))


def test_one_that_is_ahead_after_a_power_cut_is_not_behind(tmp_path: Path) -> None:
    write_messages(tmp_path, 10)
    commit_consumer(tmp_path, "a", JournalReader(tmp_path).identity, 12)
    assert standing(tmp_path)[0].behind == 0


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
    flaws = {one.name: one.flaw for one in standing(tmp_path)}
    assert list(flaws) == ["good", "broken", "foreign"]
    assert flaws["good"] is None
    assert flaws["broken"] == "its content is damaged"
    assert flaws["foreign"] == f"it read journal {'f' * len(identity)}"


def test_without_a_journal_there_is_nobody(tmp_path: Path) -> None:
    assert known_consumers(None) == []
    assert known_consumers(tmp_path / "none") == []
