"""The alarms that a visitor may watch, as JSON and as numbers: made once for all who may watch the
same, until an alarm changes. Changes none.
"""

import json
from collections.abc import Sequence

from slipring.console.visitor import Visitor
from slipring.control.alarm import Alarm
from slipring.control.alarm_board import STATES, AlarmBoard, summed
from slipring.status.alarms import AlarmSummary

ALARMS_SHOWN = 1_000
"""Alarms of one answer, at most."""
KEPT_MAX = 16
"""Answers that are kept until an alarm changes."""
HISTORY = "history"


class ShownAlarms:
    """What is told of the alarms of one board."""

    def __init__(self, board: AlarmBoard) -> None:
        """Nothing is made until somebody asks."""
        self._board = board
        self._revision = -1
        self._texts: dict[object, bytes] = {}
        self._summaries: dict[object, AlarmSummary] = {}

    def text(self, state: str | None, visitor: Visitor) -> bytes:
        """The answer to who asks for alarms in a state; None is all of the list."""
        self._forget_old()
        key = (state, visitor.key)
        if key not in self._texts:
            if len(self._texts) >= KEPT_MAX:
                self._texts.clear()
            self._texts[key] = self._text(state, visitor)
        return self._texts[key]

    def summary(self, visitor: Visitor) -> AlarmSummary:
        """How many there are that a visitor may watch."""
        self._forget_old()
        if visitor.key not in self._summaries:
            if len(self._summaries) >= KEPT_MAX:
                self._summaries.clear()
            found = watched(self._board.alarms, visitor)
            self._summaries[visitor.key] = summed(found, self._board.revision)
        return self._summaries[visitor.key]

    def _forget_old(self) -> None:
        if self._revision != self._board.revision:
            self._revision, self._texts, self._summaries = self._board.revision, {}, {}

    def _text(self, state: str | None, visitor: Visitor) -> bytes:
        board = self._board
        every = [*reversed(board.history)] if state == HISTORY else board.alarms
        is_wanted = STATES.get(state or "")
        found = watched([one for one in every if is_wanted is None or is_wanted(one)], visitor)
        shown = [alarm.shown() for alarm in found[:ALARMS_SHOWN]]
        told = {"revision": board.revision, "total": len(found), "alarms": shown}
        return json.dumps(told, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()


def watched(alarms: Sequence[Alarm], visitor: Visitor) -> list[Alarm]:
    """Those alarms whose parameters a visitor may watch."""
    seen = visitor.may_watch_each([alarm.parameter for alarm in alarms])
    return [alarm for alarm, is_seen in zip(alarms, seen, strict=True) if is_seen]
