"""Who reads a journal, how far behind each is, for how long, and how fast it reads (D1)."""

from pathlib import Path

import pytest

from slipring.control.consumer_watch import ConsumerWatch, known_consumers
from slipring.control.consumers import consumer_statuses
from slipring.journal.consumer_note import ConsumerNote
from slipring.native import JournalReader, commit_consumer
from slipring.status.message import ConsumerStatus
from tests.control.test_receipt import receipt
from tests.journal_messages import RECEIVE_NS, write_messages

LEFT_OUT = (20, 4_116)
SECOND_NS = 1_000_000_000


class Watched:
    """A journal of a folder, and a watch over its consumers."""

    def __init__(self, folder: Path, synced_offset: int | None = 10) -> None:
        self.folder = folder
        self.watch = ConsumerWatch(folder)
        self.watch.synced_offset = synced_offset
        self.identity = JournalReader(folder).identity

    def commit(self, name: str, offset: int, rows: dict[str, int] | None = None) -> None:
        note = ConsumerNote().then(rows or {}).encode()
        commit_consumer(self.folder, name, self.identity, offset, None, note)

    def statuses(
        self, next_offset: int = 10, *, after_s: float = 0.0, now_s: float = 0.0
    ) -> list[ConsumerStatus]:
        """A look at `now_s`, shown some time after the first message was received."""
        self.watch.look(now_s)
        found = receipt(identity=self.identity, left_out=[LEFT_OUT])
        now_ns = RECEIVE_NS + int(after_s * SECOND_NS)
        return consumer_statuses(self.watch.readings, found, next_offset, now_ns)


@pytest.fixture
def watched(tmp_path: Path) -> Watched:
    write_messages(tmp_path, 10)
    return Watched(tmp_path)


def test_the_one_that_is_furthest_behind_comes_first(watched: Watched) -> None:
    for name, offset in (("a", 10), ("b", 3), ("c", 7)):
        watched.commit(name, offset)
    shown = [(one["name"], one["offset"], one["behind"]) for one in watched.statuses()]
    assert shown == [("b", 3, 7), ("c", 7, 3), ("a", 10, 0)]
    assert all(one["updated_ms"] for one in watched.statuses())


def test_one_that_is_ahead_after_a_power_cut_is_not_behind(watched: Watched) -> None:
    watched.commit("a", 10)
    assert watched.statuses(8)[0]["behind"] == 0


def test_one_with_a_flaw_comes_last_and_says_what_it_is(watched: Watched) -> None:
    identity = watched.identity
    for name, journal in (
        ("broken", identity),
        ("foreign", "f" * len(identity)),
        ("good", identity),
    ):
        commit_consumer(watched.folder, name, journal, 1)
    (watched.folder / "consumers" / "broken").write_bytes(b"x")
    found = {one["name"]: one for one in watched.statuses()}
    assert list(found) == ["good", "broken", "foreign"]
    assert found["good"]["flaw"] is None
    assert found["broken"]["flaw"] == "its content is damaged"
    assert found["foreign"]["flaw"] == f"it read journal {'f' * len(identity)}"
    assert found["broken"]["lag_s"] is found["foreign"]["lag_s"] is None


def test_without_a_journal_there_is_nobody(tmp_path: Path) -> None:
    assert known_consumers(None) == []
    assert known_consumers(tmp_path / "none") == []
    watch = ConsumerWatch(tmp_path / "none")
    watch.look(0.0)
    assert watch.readings == []


def test_offsets_that_were_left_out_are_no_messages_to_read(watched: Watched) -> None:
    watched.commit("a", 10)
    first, end = LEFT_OUT
    behind = [watched.statuses(at)[0]["behind"] for at in (first, first + 7, end, end + 5)]
    assert behind == [10, 10, 10, 15]


def test_lag_is_the_age_of_the_oldest_message_that_is_not_read(tmp_path: Path) -> None:
    for batch in range(3):
        later_ns = RECEIVE_NS + 10 * batch * SECOND_NS
        write_messages(tmp_path, 5, start=5 * batch, receive_ns=later_ns)
    watched = Watched(tmp_path, synced_offset=15)
    for name, offset in (("all", 15), ("first", 0), ("last", 14), ("second", 5)):
        watched.commit(name, offset)

    def lags(after_s: float) -> dict[str, float | None]:
        return {one["name"]: one["lag_s"] for one in watched.statuses(15, after_s=after_s)}

    assert lags(25.0) == {"all": 0.0, "first": 25.0, "second": 15.0, "last": 5.0}
    assert lags(26.5) == {"all": 0.0, "first": 26.5, "second": 16.5, "last": 6.5}
    watched.commit("first", 5)
    assert lags(27.0)["first"] == 17.0
    assert lags(-1.0)["first"] == 0.0, "a clock that was set back makes no lag"


def test_lag_is_unknown_until_it_is_known_what_is_on_the_disk(watched: Watched) -> None:
    watched.commit("a", 3)
    watched.watch.synced_offset = None
    assert watched.statuses()[0]["lag_s"] is None
    watched.watch.synced_offset = 10
    assert watched.statuses(after_s=2.0)[0]["lag_s"] == 2.0


def test_messages_that_are_not_on_the_disk_yet_make_no_lag(watched: Watched) -> None:
    watched.commit("a", 10)
    assert watched.statuses(12, after_s=9.0)[0]["lag_s"] == 0.0
    assert watched.statuses(12)[0]["behind"] == 2


def test_one_that_stands_at_a_removed_message_lags_as_the_oldest_that_is_there(
    tmp_path: Path,
) -> None:
    for batch in range(2):
        later_ns = RECEIVE_NS + 10 * batch * SECOND_NS
        write_messages(tmp_path, 5, start=5 * batch, receive_ns=later_ns, segment_bytes=65_536)
    watched = Watched(tmp_path)
    watched.commit("a", 2)
    assert watched.statuses(after_s=30.0)[0]["lag_s"] == 30.0
    first, *_ = sorted(tmp_path.glob("*.seg"))
    first.unlink()
    again = Watched(tmp_path)
    assert again.statuses(after_s=30.0)[0]["lag_s"] == 20.0


def test_rates_follow_from_how_a_position_and_the_rows_grow(watched: Watched) -> None:
    watched.commit("a", 0)
    assert watched.statuses(now_s=0.0)[0]["messages_s"] == 0.0
    watched.commit("a", 4, {"samples": 400, "set_aside": 1})
    (status,) = watched.statuses(now_s=2.0)
    assert status["messages_s"] == 2.0
    assert status["rows"] == [
        {"table": "samples", "rows": 400, "rows_s": 200.0, "last_rows": 400},
        {"table": "set_aside", "rows": 1, "rows_s": 0.5, "last_rows": 1},
    ]
    for second in range(3, 40):
        (status,) = watched.statuses(now_s=float(second))
    assert status["messages_s"] == 0.0, "it stands still for longer than rates look back"


def test_rates_begin_again_with_another_run(watched: Watched) -> None:
    watched.commit("a", 4, {"samples": 400})
    watched.statuses(now_s=0.0)
    watched.commit("a", 6, {"samples": 100})
    assert watched.statuses(now_s=1.0)[0]["rows"][0]["rows_s"] == 0.0
    watched.commit("a", 8, {"samples": 300})
    assert watched.statuses(now_s=2.0)[0]["rows"][0]["rows_s"] == 200.0
