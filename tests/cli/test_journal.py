"""`slipring journal ...`: what a journal holds, whether it is whole, who reads it."""

import json
from pathlib import Path
from typing import Any

import pytest

from slipring.native import JournalReader, commit_consumer
from tests.cli.commands import publish, refused, slipring
from tests.journal_messages import RECEIVE_NS, write_and_be_killed, write_messages
from tests.recording.messages import record
from tests.running_broker import RunningBroker


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Three segments: ten messages, five, and an empty one."""
    write_messages(tmp_path / "journal", 10)
    write_messages(tmp_path / "journal", 5, start=10, receive_ns=RECEIVE_NS + 1_000_000_000)
    return tmp_path / "journal"


def asked(*arguments: str | Path, code: int = 0) -> Any:
    return json.loads(slipring("journal", *arguments, "--json", code=code).stdout)


def flip(file: Path, position: int) -> None:
    """Turn one bit round."""
    content = bytearray(file.read_bytes())
    content[position] ^= 1
    file.write_bytes(content)


def test_show_tells_segments_times_and_consumers(folder: Path) -> None:
    identity = JournalReader(folder).identity
    commit_consumer(folder, "lake", identity, 12)
    shown = asked("show", folder)
    assert (shown["first_offset"], shown["end_offset"], shown["open"]) == (0, 15, False)
    ranges = [(one["first_offset"], one["end_offset"]) for one in shown["segments"]]
    assert ranges == [(0, 10), (10, 15), (15, 15)]
    times = [(one["first_ns"], one["last_ns"]) for one in shown["segments"]]
    second = RECEIVE_NS + 1_000_000_000
    assert times == [(RECEIVE_NS, RECEIVE_NS + 5), (second, second), (None, None)]
    assert sum(one["bytes"] for one in shown["segments"]) == shown["bytes"]
    (consumer,) = shown["consumers"]
    assert (consumer["name"], consumer["offset"], consumer["behind"]) == ("lake", 12, 3)
    words = slipring("journal", "show", folder.parent).stdout
    assert f"{10:020}.seg" in words
    assert "2026-01-02T03:04:06.678Z" in words
    assert "lake" in words


def test_a_whole_journal_is_told_to_be_whole(folder: Path) -> None:
    report = asked("check", folder)
    assert (report["whole"], report["damage"], report["tail"]) == (True, [], None)
    assert (report["messages"], report["end_offset"]) == (15, 15)
    words = slipring("journal", "check", folder).stdout
    assert "15 messages" in words
    assert "2026-01-02T03:04:05.678901234Z" in words


def test_damage_is_named_and_is_an_exit_code(folder: Path) -> None:
    first = folder / f"{0:020}.seg"
    flip(first, first.stat().st_size - 1)
    report = asked("check", folder, code=1)
    (damage,) = report["damage"]
    assert (damage["first_offset"], damage["end_offset"]) == (5, 10)
    assert report["messages"] == 10
    words = slipring("journal", "check", folder, code=1).stdout
    assert "5 messages lost" in words
    assert first.stem in words


def test_a_torn_end_is_cut_by_the_next_start_and_no_damage(tmp_path: Path) -> None:
    folder = tmp_path / "journal"
    record(folder, [(1, "p", "a", 0, b"", b"0123456789")])
    segment = folder / f"{0:020}.seg"
    (folder / f"{1:020}.seg").unlink()
    segment.write_bytes(segment.read_bytes()[:-3])
    report = asked("check", folder)
    assert report["whole"]
    assert report["messages"] == 0
    assert report["tail"]["bytes"] > 0
    words = slipring("journal", "check", folder).stdout
    assert "at the next start" in words


def test_a_running_brokers_journal_can_be_checked_and_shown(broker: RunningBroker) -> None:
    publish(broker, "a")
    report = asked("check", broker.data)
    assert (report["whole"], report["open"], report["messages"]) == (True, True, 1)
    assert asked("show", broker.data)["open"]
    assert "has it open" in slipring("journal", "show", broker.data).stdout


def test_consumers_are_listed_and_forgotten(folder: Path) -> None:
    assert slipring("journal", "consumers", folder).stdout.endswith(" has no consumers\n")
    commit_consumer(folder, "lake", JournalReader(folder).identity, 4)
    (consumer,) = asked("consumers", folder)
    assert (consumer["name"], consumer["behind"]) == ("lake", 11)
    assert "lake" in slipring("journal", "consumers", folder).stdout
    assert slipring("journal", "forget", "lake", folder).stdout == "lake is forgotten\n"
    assert asked("consumers", folder) == []


def test_a_consumer_that_is_not_there_is_told(folder: Path) -> None:
    assert "no consumer 'lake'" in refused("journal", "forget", "lake", folder)
    assert "../lake" in refused("journal", "forget", "../lake", folder)


@pytest.mark.parametrize("name", ["check", "show", "consumers"])
def test_a_folder_without_a_journal_is_told(tmp_path: Path, name: str) -> None:
    assert str(tmp_path / "none") in refused("journal", name, tmp_path / "none")


@pytest.mark.parametrize("name", ["check", "show", "consumers", "forget"])
def test_the_help_has_an_example(name: str) -> None:
    assert f"slipring journal {name}" in slipring("journal", name, "--help").stdout


def test_salvage_copies_what_is_whole_and_lists_what_is_not(folder: Path, tmp_path: Path) -> None:
    commit_consumer(folder, "lake", JournalReader(folder).identity, 12)
    flip(folder / f"{0:020}.seg", 120)
    before = {file: file.read_bytes() for file in folder.glob("*.seg")}
    report = asked("salvage", folder, tmp_path / "new", code=1)
    assert (report["whole"], report["messages"], report["lost"]) == (False, 10, 5)
    (damage,) = report["damage"]
    assert (damage["first_offset"], damage["end_offset"]) == (0, 5)
    assert {file: file.read_bytes() for file in folder.glob("*.seg")} == before
    checked = asked("check", tmp_path / "new")
    assert (checked["whole"], checked["messages"], checked["end_offset"]) == (True, 10, 15)
    (consumer,) = checked["consumers"]
    assert (consumer["name"], consumer["offset"]) == ("lake", 12)
    words = slipring("journal", "salvage", tmp_path / "new", tmp_path / "again").stdout
    assert "10 messages" in words
    assert "nothing" in words


def test_salvage_says_why_not(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").touch()
    assert "is not empty" in refused("journal", "salvage", folder, tmp_path / "full")
    assert "no journal" in refused("journal", "salvage", tmp_path / "none", tmp_path / "new")


def test_show_counts_nothing_in_an_empty_segment_behind_offsets_that_were_left_out(
    tmp_path: Path,
) -> None:
    write_and_be_killed(tmp_path, 10)
    write_messages(tmp_path, 0)
    shown = asked("show", tmp_path)
    assert [one["end_offset"] - one["first_offset"] for one in shown["segments"]] == [10, 0]


def test_show_counts_no_offsets_that_were_left_out(tmp_path: Path) -> None:
    write_and_be_killed(tmp_path, 10)
    write_messages(tmp_path, 5, start=10)
    shown = asked("show", tmp_path)
    assert [one["end_offset"] - one["first_offset"] for one in shown["segments"]] == [10, 5, 0]
    assert "15 messages" in slipring("journal", "show", tmp_path).stdout
    assert asked("check", tmp_path)["messages"] == 15
