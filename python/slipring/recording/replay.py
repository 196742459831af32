"""A recording played again, in its order and with its timing."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Protocol

import pyarrow as pa
import pyarrow.compute as pc

from slipring.errors import JournalDamaged, RecordingError
from slipring.journal.native_messages import to_native
from slipring.native import Messages
from slipring.recording.message_columns import to_messages
from slipring.recording.properties import REQUEST, of_plain_message
from slipring.recording.recording import Piece, Recording
from slipring.recording.replay_schedule import EARLIEST_NS, ReplaySchedule, due_times

SLEEP_NS_MAX = 1_000_000_000
"""The longest sleep while no message is due, so that progress is reported meanwhile."""


class ReplayTarget(Protocol):
    """Takes the messages of a replay."""

    async def send_columns(self, messages: Messages, start: int, end: int) -> None:
        """Send the messages [start, end); wait only while the client has no room."""


Prepare = Callable[[Piece], Awaitable[pa.RecordBatch]]
"""Returns the messages to send for a piece."""


class MonotonicClock:
    """The monotonic clock of this machine, and a way to wait for it."""

    def now_ns(self) -> int:
        """Nanoseconds since an unknown moment."""
        return time.monotonic_ns()

    async def sleep(self, wait_ns: int) -> None:
        """Wait at least so long."""
        await asyncio.sleep(wait_ns / 1e9)


@dataclass
class ReplayProgress:
    """How far a replay has come; up to date at every moment."""

    began_ns: int | None = None
    """When the first message was due, on the replay's clock."""
    messages: int = 0
    passes: int = 0
    """Completed ones."""
    recorded_ns: int = 0
    """The recorded time that was played, in all passes."""
    damaged: list[JournalDamaged] = field(default_factory=list)


class Replay:
    """Plays a recording once, or in a loop."""

    def __init__(
        self,
        recording: Recording,
        target: ReplayTarget,
        clock: MonotonicClock,
        *,
        speed: float | None,
        prepare: Prepare | None = None,
        on_progress: Callable[[int, int], None] = lambda _messages, _offset: None,
    ) -> None:
        """`speed` None is as fast as the target takes messages; `prepare` returns what is sent."""
        self.played: ReplayProgress = ReplayProgress()
        self._recording = recording
        self._target = target
        self._clock = clock
        self._speed = speed
        self._prepare = prepare or _as_recorded
        self._on_progress = on_progress
        self._schedule: ReplaySchedule | None = None
        self._due_ns = EARLIEST_NS

    async def run(self, *, loop: bool = False) -> None:
        """Play it; with `loop` until cancelled."""
        await self._pass()
        while loop:
            if self._schedule is None:
                raise RecordingError(f"no message of {self._recording.name} can be looped")
            self._schedule = self._schedule.again(self._due_ns)
            self._due_ns = EARLIEST_NS
            await self._pass()

    async def _pass(self) -> None:
        damaged = self.played.damaged if self.played.passes == 0 else []
        before_ns = self.played.recorded_ns
        for piece in self._recording.pieces(damaged.append):
            rows = await self._prepare(piece)
            if rows.num_rows:
                await self._play(rows, piece.end, before_ns)
            self._on_progress(self.played.messages, piece.end)
        self.played.passes += 1

    async def _play(self, rows: pa.RecordBatch, end: int, before_ns: int) -> None:
        """Send each message when it is due, and messages that are due together in one call."""
        due = due_times(rows.column("receive_ns"), self._due_ns)
        if self._schedule is None:
            self.played.began_ns = self._clock.now_ns()
            self._schedule = ReplaySchedule(due[0], self.played.began_ns, self._speed)
        messages, at = to_native(to_messages(_without_requests(rows))), 0
        while at < len(due):
            now_ns = self._clock.now_ns()
            ready = self._schedule.ready(due, at, now_ns)
            if ready == at:
                await self._clock.sleep(min(SLEEP_NS_MAX, self._schedule.wait_ns(due[at], now_ns)))
                self._on_progress(self.played.messages, end - len(due) + at)
                continue
            await self._target.send_columns(messages, at, ready)
            self.played.messages += ready - at
            self._due_ns = due[ready - 1]
            self.played.recorded_ns = before_ns + self._due_ns - self._schedule.first_ns
            at = ready


def _without_requests(rows: pa.RecordBatch) -> pa.RecordBatch:
    """Requests as plain messages: whoever asked does not wait for an answer any more."""
    properties = rows.column("properties").cast(pa.binary())
    asked = pc.match_substring(properties, REQUEST)
    if not pc.any(asked).as_py():
        return rows
    pairs = zip(properties.to_pylist(), asked.to_pylist(), strict=True)
    plain = [of_plain_message(value) if is_request else value for value, is_request in pairs]
    at = rows.schema.get_field_index("properties")
    return rows.set_column(
        at, "properties", pa.array(plain, pa.binary()).cast(rows.schema.field(at).type)
    )


async def _as_recorded(piece: Piece) -> pa.RecordBatch:
    return piece.rows
