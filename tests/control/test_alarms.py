"""The board of alarms: who did what, what leaves it, and its bounds; the file, and the events."""

import asyncio
import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from slipring.control import Broker, alarm_board, alarm_keeper
from slipring.control.alarm import LimitEvent
from slipring.control.alarm_board import ALARMS_MAX, COMMENTS_ALL_MAX, HISTORY_MAX, AlarmBoard
from slipring.control.alarm_keeper import AlarmKeeper
from slipring.control.alarm_store import AlarmStore, encoded, rows_of
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
    assert (board.lacks_some, len(board.alarms)) == (True, 3)
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
    AlarmStore(tmp_path / "data").write(encoded(rows_of(board)))
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


@pytest.mark.parametrize(
    ("field", "wrong"),
    [("value", "hot"), ("since_ns", 2**70), ("since_ns", True), ("parameter", "\ud800"),
     ("ended_ms", "noon"), ("shelved_until_ms", "soon"), ("shelved_until_ms", math.inf),
     ("value", math.nan), ("times", "x"), ("acknowledged_by", ["anna"]),
     ("comments", [{"at_ms": "noon", "by": "anna", "text": "x"}]),
     ("comments", [{"at_ms": 1, "by": "anna", "text": "\ud800"}])],
)  # fmt: skip
def test_a_file_with_what_no_alarm_has_is_refused(
    tmp_path: Path, field: str, wrong: object
) -> None:
    board = AlarmBoard()
    board.take(event())
    rows = rows_of(board)
    rows["alarms"][0][field] = wrong
    store = AlarmStore(tmp_path)
    store.file.write_text(json.dumps(rows))
    with pytest.raises(AlarmError, match=r"alarms\.json is damaged"):
        store.read()
    rows["next_id"], rows["alarms"] = math.inf, []
    store.file.write_text(json.dumps(rows))
    with pytest.raises(AlarmError, match="next_id"):
        store.read()


def test_an_infinite_value_is_kept_and_shown_as_none(tmp_path: Path) -> None:
    board = AlarmBoard()
    board.take(event()._replace(value=math.inf))
    AlarmStore(tmp_path).write(encoded(rows_of(board)))
    [alarm] = AlarmStore(tmp_path).read().alarms
    assert alarm.value == math.inf
    assert json.loads(json.dumps(alarm.shown(), allow_nan=False))["value"] is None


def test_a_value_that_came_back_for_a_moment_does_not_begin_an_alarm_again() -> None:
    board = AlarmBoard()
    board.take(event())
    board.acknowledge(board.alarms, "anna", 5, "")
    # Within the off delay it was in, and out again: the series is another one, the event is not.
    assert board.take_standing([event()._replace(since_ns=9 * MS)], 10) == []
    assert [(one.times, one.acknowledged_by) for one in board.alarms] == [(1, "anna")]


def test_alarms_without_room_do_not_each_walk_through_the_list() -> None:
    board = AlarmBoard()
    board.take_standing([event(f"p{number}") for number in range(ALARMS_MAX)], 1)
    board._alarms = _Uncounted(board._alarms)
    board.take_standing([event(f"p{number}") for number in range(3 * ALARMS_MAX)], 2)
    assert board.lacks_some
    assert board._alarms.walks < 5


def test_all_alarms_together_have_a_bounded_number_of_comments() -> None:
    board = AlarmBoard()
    for number in range(COMMENTS_ALL_MAX // 10 + 1):
        board.take(event(f"p{number}"))
    for _ in range(9):
        board.comment(board.alarms, "anna", 1, "seen")
    with pytest.raises(AlarmError, match="all alarms together have at most 5,000 comments"):
        board.acknowledge(board.alarms, "anna", 1, "seen")
    assert not any(one.is_acknowledged for one in board.alarms)


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
    AlarmStore(tmp_path).write(encoded(rows_of(board)))
    keeper = AlarmKeeper(broker.engine, tmp_path, lambda *_: None)
    keeper.poll(5 * MS, keeper._started_s + alarm_keeper.RESTORED_S - 1)
    assert [alarm.state for alarm in keeper.board.alarms] == ["active"]
    keeper.poll(9 * MS, keeper._started_s + alarm_keeper.RESTORED_S + 1)
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


def test_all_that_stands_is_compared_at_intervals_that_its_cost_sets(
    broker: Broker, tmp_path: Path
) -> None:
    keeper = AlarmKeeper(broker.engine, tmp_path, lambda *_: None)
    feed = keeper._feed = _Behind(2_000)  # type: ignore[assignment]
    now_s = keeper._started_s
    keeper.poll(1, now_s)
    keeper.poll(2, now_s)
    assert feed.compared == 1
    keeper.poll(3, now_s + 60)
    assert feed.compared == 2


class _Uncounted(dict[Any, Any]):
    """A dictionary that counts who walks through it."""

    walks = 0

    def values(self) -> Any:
        self.walks += 1
        return super().values()

    def items(self) -> Any:
        self.walks += 1
        return super().items()


class _Behind:
    """An engine that loses events all the time."""

    def __init__(self, count: int) -> None:
        self.events = [event(f"p{number}") for number in range(count)]
        self.compared = 0

    def take(self) -> tuple[list[LimitEvent], int]:
        return [], 1

    def standing(self) -> list[LimitEvent]:
        self.compared += 1
        return self.events


class _Flood:
    """An engine that notices many events at once."""

    def __init__(self, count: int) -> None:
        self.events = [event(f"p{number}") for number in range(count)]

    def take(self) -> tuple[list[LimitEvent], int]:
        return self.events, 0
