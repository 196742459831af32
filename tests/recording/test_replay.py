"""A replay under virtual time: order, completeness, and when each message is sent."""

import asyncio
from pathlib import Path

import pytest

from slipring.errors import RecordingError
from slipring.native import Messages
from slipring.recording.moment import AtOffset, AtTime
from slipring.recording.recording import Recording
from slipring.recording.replay import MonotonicClock, Replay
from tests.recording.messages import Row, record

START_NS = 1_767_323_045_000_000_000
STEP_NS = 20_000_000


class VirtualClock(MonotonicClock):
    """Time passes only by sleeping, and by what a sending takes."""

    def __init__(self) -> None:
        self.time_ns = 7

    def now_ns(self) -> int:
        return self.time_ns

    async def sleep(self, wait_ns: int) -> None:
        assert wait_ns > 0
        self.time_ns += wait_ns


class Notes:
    """Notes what is sent when; ends after a number of sendings."""

    def __init__(self, clock: VirtualClock, *, work_ns: int = 0, most: int = 10_000) -> None:
        self.clock = clock
        self.work_ns = work_ns
        self.most = most
        self.sendings: list[tuple[int, int]] = []

    async def send_columns(self, messages: Messages, start: int, end: int) -> None:
        assert 0 <= start < end <= len(messages)
        self.sendings.append((self.clock.time_ns, end - start))
        self.clock.time_ns += self.work_ns
        if len(self.sendings) == self.most:
            raise asyncio.CancelledError


def play(recording: Recording, *, speed: float | None, work_ns: int = 0) -> tuple[Notes, Replay]:
    clock = VirtualClock()
    notes = Notes(clock, work_ns=work_ns)
    replay = Replay(recording, notes, clock, speed=speed)
    asyncio.run(replay.run())
    return notes, replay


@pytest.fixture
def flight(tmp_path: Path) -> Path:
    """Ten sendings of three messages each, 20 ms apart."""
    rows: list[Row] = [
        (START_NS + number // 3 * STEP_NS, "plane", f"a/{number % 3}", 0, b"", b"%d" % number)
        for number in range(30)
    ]
    record(tmp_path / "journal", rows)
    return tmp_path / "journal"


@pytest.mark.parametrize("speed", [0.5, 1.0, 10.0])
def test_messages_are_sent_when_they_are_due(flight: Path, speed: float) -> None:
    notes, replay = play(Recording(flight), speed=speed)
    assert notes.sendings == [(7 + round(step * STEP_NS / speed), 3) for step in range(10)]
    assert (replay.played.messages, replay.played.passes) == (30, 1)
    assert replay.played.recorded_ns == 9 * STEP_NS


def test_a_slow_target_delays_only_what_is_due_meanwhile(flight: Path) -> None:
    notes, _ = play(Recording(flight), speed=1.0, work_ns=3 * STEP_NS // 2)
    # 1.5 steps for each sending: every other one finds two steps of messages due.
    assert notes.sendings[:4] == [
        (7, 3),
        (7 + 3 * STEP_NS // 2, 3),
        (7 + 3 * STEP_NS, 6),
        (7 + 9 * STEP_NS // 2, 3),
    ]
    assert sum(count for _, count in notes.sendings) == 30


def test_at_max_everything_is_sent_at_once(flight: Path) -> None:
    notes, _ = play(Recording(flight), speed=None)
    assert notes.sendings == [(7, 30)]


def test_filters_and_places_choose_what_is_played(flight: Path) -> None:
    notes, _ = play(Recording(flight, filters=["a/1"]), speed=1.0)
    assert notes.sendings == [(7 + step * STEP_NS, 1) for step in range(10)]
    middle = Recording(flight, first=AtTime(START_NS + 2 * STEP_NS), last=AtOffset(12))
    assert (middle.start, middle.end) == (6, 12)
    notes, _ = play(middle, speed=1.0)
    assert notes.sendings == [(7, 3), (7 + STEP_NS, 3)]


def test_a_clock_that_was_set_back_stops_nothing(tmp_path: Path) -> None:
    times = [5, 3, 4, 9]
    record(tmp_path, [(time, "", "a", 0, b"", b"") for time in times])
    notes, _ = play(Recording(tmp_path), speed=1.0)
    assert notes.sendings == [(7, 3), (11, 1)]


def test_a_loop_goes_on_without_drifting(flight: Path) -> None:
    clock = VirtualClock()
    notes = Notes(clock, most=25)
    replay = Replay(Recording(flight), notes, clock, speed=1.0)
    with pytest.raises(asyncio.CancelledError):
        asyncio.run(replay.run(loop=True))
    times = [time_ns - 7 for time_ns, _ in notes.sendings]
    # A pass begins when the last messages of the one before are due.
    assert times[9] == times[10] == 9 * STEP_NS
    assert times[20] == 18 * STEP_NS
    assert replay.played.passes == 2
    assert replay.played.recorded_ns == (18 + 3) * STEP_NS


def test_there_is_no_loop_of_nothing(flight: Path) -> None:
    clock = VirtualClock()
    replay = Replay(Recording(flight, filters=["b"]), Notes(clock), clock, speed=1.0)
    with pytest.raises(RecordingError, match="loop"):
        asyncio.run(replay.run(loop=True))


def test_the_end_is_fixed_when_the_recording_is_opened(flight: Path) -> None:
    recording = Recording(flight)
    record(flight, [(START_NS, "", "late", 0, b"", b"")])
    _, replay = play(recording, speed=None)
    assert replay.played.messages == 30


@pytest.mark.parametrize("offset", [31, 1_000])
def test_an_offset_that_is_not_there_is_refused(flight: Path, offset: int) -> None:
    with pytest.raises(RecordingError, match=f"no offset {offset}: it holds offsets 0 to 30"):
        Recording(flight, first=AtOffset(offset))


def test_a_range_that_ends_before_it_begins_is_refused(flight: Path) -> None:
    with pytest.raises(RecordingError, match="ends before"):
        Recording(flight, first=AtOffset(9), last=AtOffset(5))
