"""When messages are due again: a pure function of the recording, the speed and the clock."""

from itertools import pairwise

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from slipring.recording.replay_schedule import ReplaySchedule, due_times

FIRST_NS = 1_767_323_045_678_901_234
BEGAN_NS = 5_000_000_000

GAPS = st.lists(st.integers(0, 10_000_000_000), min_size=1, max_size=50)
SPEEDS = st.sampled_from([0.1, 1.0, 3.0, 10.0, 1000.0])


def recorded(gaps: list[int]) -> list[int]:
    """Receive times with these gaps."""
    times = [FIRST_NS]
    for gap in gaps:
        times.append(times[-1] + gap)
    return times


def sent_at(schedule: ReplaySchedule, due: list[int], work_ns: int = 0) -> list[int]:
    """When each message is sent by somebody who needs `work_ns` for every sending."""
    now_ns, at, times = schedule.began_ns, 0, []
    while at < len(due):
        ready = schedule.ready(due, at, now_ns)
        times += [now_ns] * (ready - at)
        if ready == at:
            now_ns += schedule.wait_ns(due[at], now_ns)
        else:
            now_ns += work_ns
        at = ready
    return times


@given(GAPS, SPEEDS)
def test_the_time_between_messages_is_the_recorded_one_divided_by_the_speed(
    gaps: list[int], speed: float
) -> None:
    schedule = ReplaySchedule(FIRST_NS, BEGAN_NS, speed)
    times = sent_at(schedule, list(due_times(pa.array(recorded(gaps)))))
    for number, receive_ns in enumerate(recorded(gaps)):
        assert abs((times[number] - BEGAN_NS) * speed - (receive_ns - FIRST_NS)) <= speed


@given(GAPS, SPEEDS, st.integers(0, 1_000_000_000))
def test_a_sender_that_is_late_catches_up_and_never_sends_early(
    gaps: list[int], speed: float, work_ns: int
) -> None:
    schedule, due = ReplaySchedule(FIRST_NS, BEGAN_NS, speed), recorded(gaps)
    times = sent_at(schedule, due, work_ns)
    for number, (sent_ns, due_ns) in enumerate(zip(times, due, strict=True)):
        assert sent_ns >= schedule.at_ns(due_ns)
        # What is due while others are sent waits for that one sending, and for no earlier one.
        before = max([BEGAN_NS, *times[:number]])
        assert sent_ns <= max(schedule.at_ns(due_ns), before + work_ns)


@given(st.lists(st.integers(-(1 << 62), 1 << 62), min_size=1))
def test_the_order_is_the_journals_also_where_the_clock_went_back(times: list[int]) -> None:
    due = list(due_times(pa.array(times, pa.int64())))
    assert all(one <= two for one, two in pairwise(due))
    assert due == [max(times[: number + 1]) for number in range(len(times))]


@given(st.lists(st.integers(0, 1000), min_size=2, max_size=20), st.data())
def test_pieces_have_the_same_schedule_as_the_whole(times: list[int], data: st.DataObject) -> None:
    cut = data.draw(st.integers(1, len(times) - 1))
    whole = list(due_times(pa.array(times)))
    head = list(due_times(pa.array(times[:cut])))
    assert head + list(due_times(pa.array(times[cut:]), head[-1])) == whole


def test_at_the_greatest_speed_everything_is_due() -> None:
    schedule = ReplaySchedule(FIRST_NS, BEGAN_NS, None)
    assert schedule.ready(recorded([10**12] * 9), 0, BEGAN_NS) == 10
    assert schedule.wait_ns(FIRST_NS + 10**15, BEGAN_NS) == 0


def test_another_pass_begins_when_the_last_message_of_the_one_before_was_due() -> None:
    again = ReplaySchedule(FIRST_NS, BEGAN_NS, 2.0).again(FIRST_NS + 3_000_000_000)
    assert again == ReplaySchedule(FIRST_NS, BEGAN_NS + 1_500_000_000, 2.0)


def test_nobody_waits_for_a_message_that_is_late() -> None:
    schedule = ReplaySchedule(FIRST_NS, BEGAN_NS, 1.0)
    assert schedule.wait_ns(FIRST_NS + 30, BEGAN_NS + 20) == 10
    assert schedule.wait_ns(FIRST_NS + 30, BEGAN_NS + 40) == 0
