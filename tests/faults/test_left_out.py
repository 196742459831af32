"""Offsets that a crash leaves out are no messages: not to read, not to sync, not lost."""

from slipring.native import JournalReader, commit_consumer
from tests.faults.disk import Disk
from tests.faults.stage import Stage
from tests.faults.station import CONFIG, Station
from tests.faults.trouble import journal_told
from tests.metrics import Metrics

MESSAGES = 10
BEHIND = 'slipring_journal_consumer_behind{consumer="reader"}'


def test_figures_count_messages_and_not_the_offsets_that_a_crash_left_out(disk: Disk) -> None:
    station = Station.on(disk, CONFIG, console=True)
    stage = Stage(station, station.start())
    for _ in range(MESSAGES):
        stage.publish("t", b"x")
    stage.broker.process.kill()
    stage.broker.process.communicate()
    commit_consumer(station.journal, "reader", JournalReader(station.journal).identity, MESSAGES)
    stage.broker = station.start()
    figures = Metrics.of(stage.broker)
    assert figures["slipring_journal_next_offset"] > MESSAGES, "a crash leaves offsets out"
    assert figures[BEHIND] == 0
    assert figures["slipring_receipt_kept_messages"] == MESSAGES
    assert figures["slipring_receipt_damaged_messages"] == 0
    told = journal_told(stage.broker)
    assert (told["messages"], told["unsynced"]) == (MESSAGES, 0)
    stage.publish("t", b"x")
    assert Metrics.of(stage.broker)[BEHIND] == 1
    stage.peers.close()
    assert stage.broker.stop()[0] == 0
