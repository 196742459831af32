"""The board of alarms: who did what, what leaves it, and its bounds; the file, and the events."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from slipring.control import Broker, alarm_board, alarm_keeper
from slipring.control.alarm import LimitEvent
from slipring.control.alarm_board import ALARMS_MAX, HISTORY_MAX, AlarmBoard
from slipring.control.alarm_keeper import AlarmKeeper
from slipring.control.alarm_store import AlarmStore, encoded
from slipring.control.config import load_config
from slipring.errors import AlarmError

MS = 1_000_000


def event(parameter: str = "egt", at_ms: int = 1, *, began: bool = True) -> LimitEvent:
    return LimitEvent(parameter, "high", began, 905.0, 900.0, "K", at_ms * MS, at_ms * MS)


def test_an_alarm_leaves_the_list_when_it_ended_and_somebody_has_seen_it() -> None:
    board = AlarmBoard()
    board.take(event())
    [alarm] = board.alarms
    board.acknowledge([alarm], "anna", 5, "hot")
    assert board.alarms == [alarm]
    board.take(event(at_ms=7, began=False))
    assert (board.alarms, [*board.history]) == ([], [alarm])
    assert (alarm.acknowledged_by, alarm.ended_ms, alarm.comments[0].by) == ("anna", 7, "anna")


def test_what_nobody_has_seen_stays_and_is_to_be_seen_again_when_it_begins_again() -> None:
    board = AlarmBoard()
    board.take(event())
    board.take(event(at_ms=2, began=False))
    assert board.summary() == {
        "revision": board.revision, "active": 0, "unacknowledged": 1, "critical": 0, "shelved": 0,
    }  # fmt: skip
    board.take(event(at_ms=3))
    [alarm] = board.alarms
    assert (alarm.times, alarm.state, alarm.began_ns) == (2, "active", 3 * MS)


def test_an_event_that_is_told_twice_is_one() -> None:
    board = AlarmBoard()
    assert board.take(event()) is not None
    assert board.take(event()) is None
    assert board.take(event("other", began=False)) is None
    assert [alarm.times for alarm in board.alarms] == [1]


def test_a_shelved_alarm_stays_until_its_time_is_over() -> None:
    board = AlarmBoard()
    board.take(event())
    [alarm] = board.alarms
    board.shelve([alarm], "otto", until_ms=100)
    board.acknowledge([alarm], "otto", 6, "")
    board.take(event(at_ms=7, began=False))
    board.pass_time(99)
    assert (board.alarms, board.summary()["shelved"]) == ([alarm], 1)
    board.take(event(at_ms=50))
    assert not alarm.is_acknowledged
    board.pass_time(100)
    assert (board.summary()["shelved"], board.summary()["unacknowledged"]) == (0, 1)


def test_beyond_the_bound_those_leave_that_ended_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(alarm_board, "ALARMS_MAX", 3)
    board = AlarmBoard()
    for number in range(3):
        board.take(event(f"p{number}"))
    assert board.take(event("late")) is None
    assert (board.lacks_some, board.unlisted, len(board.alarms)) == (True, 1, 3)
    board.take(event("p1", 5, began=False))
    board.take(event("p0", 6, began=False))
    assert board.take(event("late")) is not None
    assert [alarm.parameter for alarm in board.history] == ["p1"]
    news = board.take_standing([event("p2"), event("late"), event("new")], 9)
    assert [(one.alarm.parameter, one.began) for one in news] == [("new", True)]
    assert not board.lacks_some
    assert (ALARMS_MAX, HISTORY_MAX) == (5_000, 1_000)


def test_what_stands_out_no_more_has_ended_when_events_were_lost() -> None:
    board = AlarmBoard()
    board.take(event("a"))
    board.take(event("b"))
    news = board.take_standing([event("b"), event("c")], 9)
    assert [(one.alarm.parameter, one.began) for one in news] == [("a", False), ("c", True)]
    assert board.active_keys == {("b", "high"), ("c", "high")}


def test_the_history_is_bounded() -> None:
    board = AlarmBoard()
    for number in range(HISTORY_MAX + 5):
        board.take(event(at_ms=2 * number))
        board.acknowledge(board.alarms, "anna", 1, "")
        board.take(event(at_ms=2 * number + 1, began=False))
    assert len(board.history) == HISTORY_MAX
    assert board.history[-1].id == str(HISTORY_MAX + 5)


def test_the_file_gives_back_what_was_written(tmp_path: Path) -> None:
    board = AlarmBoard()
    for name in ("a", "b\n\u202e", "c"):
        board.take(event(name))
    first, second, _ = board.alarms
    board.acknowledge([first], "anna", 3, "ä")
    board.take(event(first.parameter, 4, began=False))
    board.shelve([second], "otto", 9)
    AlarmStore(tmp_path / "data").write(encoded(board))
    read = AlarmStore(tmp_path / "data").read()
    assert (read.alarms, [*read.history]) == (board.alarms, [*board.history])
    assert read.next_id == board.next_id
    assert (tmp_path / "data" / "alarms.json").stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(
    "content",
    [b"", b"[]", b"{}", b"\xff", b"[" * 5_000, b'{"slipring": "alarms", "format": 2}',
     b'{"slipring": "alarms", "format": 1, "next_id": 1, "alarms": [{}], "history": []}',
     b'{"slipring": "alarms", "format": 1, "next_id": 1, "alarms": [7], "history": []}'],
)  # fmt: skip
def test_a_damaged_file_is_refused_and_set_aside(tmp_path: Path, content: bytes) -> None:
    store = AlarmStore(tmp_path)
    store.file.write_bytes(content)
    with pytest.raises(AlarmError, match=r"alarms\.json is damaged"):
        store.read()
    assert store.set_aside().read_bytes() == content
    assert store.read().alarms == []


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[Broker]:
    running = Broker(load_config(data=tmp_path / "data", mqtt__listen="127.0.0.1:0"))
    yield running
    running.abandon()


def test_a_broker_with_a_damaged_file_begins_with_an_empty_list(
    broker: Broker, tmp_path: Path
) -> None:
    (tmp_path / "alarms.json").write_text("damaged")
    keeper = AlarmKeeper(broker.engine, tmp_path, lambda *_: None)
    assert keeper.board.alarms == []
    assert (tmp_path / "alarms.json.damaged").read_text() == "damaged"


def test_a_flood_of_alarms_is_a_bounded_number_of_lines(broker: Broker, tmp_path: Path) -> None:
    told: list[tuple[str, str]] = []
    keeper = AlarmKeeper(broker.engine, tmp_path, lambda kind, text, _: told.append((kind, text)))
    keeper._feed = _Flood(100)  # type: ignore[assignment]
    keeper.poll(1, keeper._started_s)
    assert len(told) == alarm_keeper.LINES_MAX + 1
    assert told[0] == ("alarm began", "p0 is above high 900 K: 905 K")
    assert told[-1] == ("alarm began", "80 more alarms began")


def test_an_alarm_of_an_earlier_run_ends_if_nobody_declares_its_parameter(
    broker: Broker, tmp_path: Path
) -> None:
    board = AlarmBoard()
    board.take(event())
    AlarmStore(tmp_path).write(encoded(board))
    keeper = AlarmKeeper(broker.engine, tmp_path, lambda *_: None)
    keeper.poll(5 * MS, keeper._started_s + alarm_keeper.RESTORED_S - 1)
    assert [alarm.state for alarm in keeper.board.alarms] == ["active"]
    keeper.poll(9 * MS, keeper._started_s + alarm_keeper.RESTORED_S)
    assert [alarm.ended_ms for alarm in keeper.board.alarms] == [9]


def test_a_disk_that_takes_nothing_stops_nobody(broker: Broker, tmp_path: Path) -> None:
    keeper = AlarmKeeper(broker.engine, tmp_path, lambda *_: None)
    (tmp_path / "alarms.json").mkdir()
    keeper.board.take(event())
    asyncio.run(keeper.save())
    keeper.board.acknowledge(keeper.board.alarms, "anna", 1, "")
    (tmp_path / "alarms.json").rmdir()
    asyncio.run(keeper.save())
    assert [alarm.acknowledged_by for alarm in AlarmStore(tmp_path).read().alarms] == ["anna"]


class _Flood:
    """An engine that notices many events at once."""

    def __init__(self, count: int) -> None:
        self.events = [event(f"p{number}") for number in range(count)]

    def take(self) -> tuple[list[LimitEvent], int]:
        return self.events, 0
