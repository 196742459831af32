"""The overview: rates over the last second, limits reached, events in words; all bounded."""

from dataclasses import dataclass
from typing import cast

from slipring.control.events import LINES_MAX
from slipring.control.overview import EVENTS_KEPT, Overview
from slipring.native import Event
from slipring.status.engine import BrokerStatus, TableStatus, Totals
from tests.status.blank import blank


@dataclass
class Happened:
    """An event as the engine gives it."""

    kind: str
    client: str = "gripen"
    detail: str = ""
    at_ns: int = 0
    topic: str = ""
    request: str = ""


def counted(messages_in: int = 0, **table: int) -> BrokerStatus:
    totals = blank(Totals, messages_in=messages_in)
    return blank(BrokerStatus, totals=totals, table=blank(TableStatus, **table))


def events(*happened: Happened) -> list[Event]:
    return cast("list[Event]", list(happened))


def test_a_rate_is_taken_over_the_last_second() -> None:
    overview = Overview()
    for beat in range(9):
        overview.sample(beat * 0.25, counted(beat * 250))
    assert overview.rates["messages_in"] == 1000


def test_a_burst_is_forgotten_after_a_second() -> None:
    overview = Overview()
    overview.sample(0.0, counted())
    for beat in range(1, 6):
        overview.sample(beat * 0.25, counted(5000))
    assert overview.rates["messages_in"] == 0


def test_the_rates_of_the_table_are_taken_over_the_last_second() -> None:
    overview = Overview()
    for beat in range(9):
        overview.sample(beat * 0.25, counted(parameters=9, frames=beat, samples=beat * 250))
    assert overview.table_rates == {"frames_s": 4, "samples_s": 1000, "refused_s": 0}


def test_one_reading_gives_no_rate() -> None:
    overview = Overview()
    overview.sample(10.0, counted(5000))
    assert overview.rates["messages_in"] == 0


def test_events_are_told_in_words_and_levels() -> None:
    told = Overview().add_events(
        events(
            Happened("connected", detail="from 127.0.0.1:5 with MQTT 5"),
            Happened("disconnected", detail="keep alive timeout (0x8d)"),
            Happened("subscribed", topic="gripen/#"),
            Happened("subscription refused", topic="a/#", detail="quota exceeded (0x97)"),
            Happened("publish refused", topic="a", detail="not a number"),
            Happened("dropped", detail="12 messages: it does not keep up"),
            Happened("failed", client="journal", detail="no space"),
        ),
        lost=0,
        now_ns=0,
    )
    assert [(event.level, event.text) for event in told] == [
        ("info", "gripen connected from 127.0.0.1:5 with MQTT 5"),
        ("info", "gripen disconnected: keep alive timeout (0x8d)"),
        ("debug", "gripen subscribed gripen/#"),
        ("warning", "gripen subscription refused: a/#: quota exceeded (0x97)"),
        ("warning", "gripen publish refused: a: not a number"),
        ("warning", "gripen lost 12 messages: it does not keep up"),
        ("error", "journal failed: no space"),
    ]


def test_a_flood_is_a_few_lines_and_a_sum() -> None:
    overview = Overview()
    flood = [Happened("connected", at_ns=number) for number in range(5_000)]
    told = overview.add_events(events(*flood, Happened("refused")), lost=0, now_ns=0)
    assert len(told) == LINES_MAX + 2
    last = told[-1]
    assert (last.text, last.at_ns, last.client) == ("4,950 more clients connected", 4_999, None)
    assert sum(event.kind == "refused" for event in told) == 1, "a flood hides no other kind"
    assert overview.event_counts["connected"] == 5_000, "and every one is counted"


def test_the_next_beat_tells_one_by_one_again() -> None:
    overview = Overview()
    overview.add_events(events(*[Happened("connected")] * 5_000), lost=0, now_ns=0)
    assert len(overview.add_events(events(Happened("connected")), lost=0, now_ns=0)) == 1


def test_a_limit_is_shown_with_when_it_was_reached_last() -> None:
    overview = Overview()
    overview.reach({"sessions": 1, "packet_bytes": 0}, now_ns=1)
    overview.reach({"sessions": 1, "packet_bytes": 2}, now_ns=2)
    overview.reach({"sessions": 1, "packet_bytes": 2}, now_ns=3)
    shown = [(one.limit, one.times, one.last_ns) for one in overview.limits_reached()]
    assert shown == [("packet_bytes", 2, 2), ("sessions", 1, 1)]


def test_a_reader_gets_each_event_once_and_the_oldest_go_first() -> None:
    overview = Overview()
    for _ in range(EVENTS_KEPT + 5):
        overview.add_events(events(Happened("connected")), lost=0, now_ns=0)
    first = overview.events_after(0)
    assert len(first) == EVENTS_KEPT
    assert overview.events_after(first[-1].number) == []


def test_lost_events_are_told() -> None:
    told = Overview().add_events([], lost=7, now_ns=1)
    assert "7 events were lost" in told[0].text


def test_what_was_seen_here_is_told_and_counted_like_an_event() -> None:
    overview = Overview()
    told = overview.add_own_event("full", "journal: no room", 7)
    assert (told.level, told.kind, told.at_ns) == ("error", "full", 7)
    assert overview.events_after(0) == [told]
    assert overview.event_counts["full"] == 1
