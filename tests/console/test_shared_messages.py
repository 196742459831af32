"""One message is made for all pages of a poll, and narrowed for each visitor who may see less."""

import json
from types import SimpleNamespace
from typing import Any

import pytest

from slipring.console import shared_messages
from slipring.console.live_message import PARTS, LivePosition, Parts
from slipring.console.shared_messages import SharedMessages
from slipring.control.alarm_board import AlarmBoard
from slipring.status.message import LiveMessage
from tests.status.blank import blank

TOPICS = ("own/a", "other/b")


class Watcher:
    """May watch what begins with one of these."""

    def __init__(self, *starts: str) -> None:
        self.starts = starts
        self.watched = "all" if "" in starts else "some"
        self.key = starts

    def may_watch_each(self, topics: list[str]) -> list[bool]:
        return [topic.startswith(self.starts) for topic in topics]

    def may_watch_all_of(self, filter_: str) -> bool:
        return filter_.startswith(self.starts)


def test_a_narrowed_message_leaves_the_shared_one_as_it_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    values = [{"topic": topic} for topic in TOPICS]
    told: Any = blank(LiveMessage, values=values, prefixes=[{"prefix": "other/b"}])
    asked = []

    def made(_: object, seen: LivePosition, parts: Parts) -> tuple[LiveMessage, LivePosition]:
        assert parts == PARTS
        asked.append(seen)
        return told, LivePosition(7, 7)

    monkeypatch.setattr(shared_messages, "live_message", made)
    clock = SimpleNamespace(now_s=1.0)
    broker: Any = SimpleNamespace(alarms=SimpleNamespace(board=AlarmBoard()))
    messages = SharedMessages(broker, lambda: clock.now_s)

    def topics(*starts: str) -> list[str]:
        text, position = messages.after(LivePosition(), Watcher(*starts))  # type: ignore[arg-type]
        assert position == LivePosition(7, 7)
        return [one["topic"] for one in json.loads(text)["values"]]

    for _ in range(2):
        assert topics("own/") == ["own/a"]
        assert topics("") == list(TOPICS)
        assert topics("other/") == ["other/b"]
    assert len(asked) == 1
    clock.now_s += 1
    assert topics("") == list(TOPICS)
    assert len(asked) == 2


def test_pages_that_show_the_same_lists_share_a_message_wherever_they_are_in_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[tuple[LivePosition, Parts]] = []

    def made(_: object, seen: LivePosition, parts: Parts) -> tuple[LiveMessage, LivePosition]:
        asked.append((seen, parts))
        told: Any = blank(LiveMessage)
        return told, LivePosition(9, 9)

    monkeypatch.setattr(shared_messages, "live_message", made)
    broker: Any = SimpleNamespace(alarms=SimpleNamespace(board=AlarmBoard()))
    messages = SharedMessages(broker, lambda: 1.0)
    everybody: Any = Watcher("")
    clients, values = frozenset({"clients"}), frozenset({"values"})
    ends = [
        messages.after(LivePosition(change, change), everybody, parts)[1]
        for parts in (clients, values)
        for change in (3, 4)
    ]
    assert ends == [LivePosition(3, 3), LivePosition(4, 4), LivePosition(9, 3), LivePosition(9, 4)]
    assert asked == [
        (LivePosition(0, 0), clients),
        (LivePosition(3, 0), values),
        (LivePosition(4, 0), values),
    ]
