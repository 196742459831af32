"""`RemoteJournal` beside a broker at work: it follows, it waits, it comes back."""

import asyncio
import signal
import threading
import time
from pathlib import Path

import pytest

import slipring
from slipring.credentials import NO_CREDENTIALS
from slipring.errors import ConnectError, JournalError, JournalGap
from slipring.journal.columns import record_batch
from slipring.journal.location import JournalBroker, settled_end
from slipring.native import RemoteJournal
from tests.journal_messages import payloads, write_messages
from tests.running_broker import RunningBroker

MESSAGES = 20_000
WAIT_S = 60.0


def publish(url: str, count: int) -> None:
    async def send() -> None:
        async with slipring.connect(url) as bus:
            for number in range(count):
                await bus.publish("live/number", str(number).encode())

    asyncio.run(send())


def wait_until_synced(url: str, end: int) -> None:
    """At QoS 0 the broker may still have to read what the client has sent."""
    reader, deadline_s = JournalBroker(url).open(), time.monotonic() + WAIT_S
    while settled_end(reader) < end:
        assert time.monotonic() < deadline_s


def test_a_reader_slower_than_the_writer_misses_nothing(broker: RunningBroker) -> None:
    writer = threading.Thread(target=publish, args=(broker.url, MESSAGES))
    writer.start()
    reader, at, found = JournalBroker(broker.url).open(), 0, list[bytes]()
    while at < MESSAGES:
        end = reader.end_offset()
        while at < end:
            columns = reader.read(at, min(end, at + 700), 4_000)
            found += record_batch(columns).column("payload").to_pylist()
            at = columns.end
    writer.join()
    assert found == payloads(0, MESSAGES)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_broker_that_is_restarted_is_waited_for(
    tmp_path: Path, address: str, number: signal.Signals
) -> None:
    write_messages(tmp_path / "journal", 3000)
    place = ("--console", "off", "--mqtt", address)
    running = RunningBroker.start(tmp_path, *place)
    reader = JournalBroker(running.url).open()
    at = reader.read(0, 3000, 2_000).end
    assert 0 < at < 3000
    running.stop(number)
    again: list[RunningBroker] = []

    def start() -> None:
        again.append(RunningBroker.start(tmp_path, *place))

    starting = threading.Thread(target=start)
    starting.start()
    while at < 3000:
        at = reader.read(at, 3000, 2_000).end
    assert reader.end_offset() == 3000
    starting.join()
    assert again[0].stop()[0] == 0


def test_what_cannot_be_read_is_told_in_the_words_of_the_folder(broker: RunningBroker) -> None:
    reader = JournalBroker(broker.url).open()
    assert (reader.first_offset, reader.end_offset(), reader.url) == (0, 0, broker.url)
    with pytest.raises(JournalGap, match=r"offset 5 was asked for, .* synced up to 0"):
        reader.read(0, 5, 100)
    with pytest.raises(JournalError, match="is not a consumer's name"):
        reader.commit("../lake", 0)
    with pytest.raises(JournalError, match=f"but journal {'0' * 32} was being read"):
        JournalBroker(broker.url).open("0" * 32)
    with pytest.raises(ConnectError, match="has no scheme"):
        JournalBroker("localhost").open()
    with pytest.raises(JournalError, match="is not the identity of a journal"):
        JournalBroker(broker.url).open("abc")


def opened(url: str, *, timeout_s: float, patience_s: float) -> RemoteJournal:
    """A reader without credentials that waits as long as the test says."""
    options = {
        "identity": None,
        "credentials": NO_CREDENTIALS.native(None),
        "token_file": None,
        "tls": None,
        "timeout_s": timeout_s,
        "patience_s": patience_s,
    }
    return RemoteJournal(url, options)


def test_an_address_where_nobody_listens_is_told_at_once() -> None:
    with pytest.raises(ConnectError, match="connection refused"):
        opened("mqtt://127.0.0.1:1", timeout_s=5.0, patience_s=60.0)


def test_a_prefetched_answer_does_not_hide_the_next_one(broker: RunningBroker) -> None:
    """Each wait would end with the time-out, and without patience that is an error."""
    publish(broker.url, 3_000)
    wait_until_synced(broker.url, 3_000)
    reader = opened(broker.url, timeout_s=20.0, patience_s=0.0)
    for start in range(0, 2_900, 100):
        # The answer behind this one is on its way, or here, when the position is asked for.
        reader.read(start, start + 100, 200)
        reader.check_position(start)
