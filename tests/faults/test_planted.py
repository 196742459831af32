"""Planted faults: a broker that acknowledges what is not safe yet is caught by the checker.

The product has no switch for that. A disk that says it has synced and has not does the same to a
right broker as a wrong broker does to itself; so does a level that promises less than `disk`.
"""

import pytest

from tests.faults.disk import Disk
from tests.faults.station import CONFIG, SEED, Station
from tests.faults.telling import Tell
from tests.faults.verdict import Report
from tests.faults.witness import TRAVELLERS, Witness, in_journal

PROMISES_LESS = CONFIG + 'durability = "process"\n'
SLOW_SYNC_US = 500_000
HELD_SYNC_US = 10_000_000
"""Much longer than it takes to kill who waits for it, on any machine."""
LOST_S = 3
"""Silence after which what has not come is taken as lost; here that is what is expected."""


def begun(station: Station) -> Witness:
    """Everyone is subscribed, some have left, and all that was sent is acknowledged."""
    witness = Witness(station.start, SEED)
    witness.begin()
    assert witness.join()
    for one in witness.subscribers:
        one.is_away = one.name in TRAVELLERS
    witness.begin()
    assert witness.load(50)
    assert witness.finish()
    return witness


def after_power_cut(witness: Witness, station: Station) -> Report:
    """One more is acknowledged, killed, without power; the verdict of the next life.

    At QoS 1: one write and its acknowledgement. Where an answer needs a further write, as at QoS 2,
    a sync that takes long may come between, and then the message is safe.
    """
    assert witness.publish_one(next(one for one in witness.publishers if one.qos == 1))
    witness.end()
    assert station.cut_power() > 0
    station.disk.mend()
    witness.begin()
    witness.patience_s = LOST_S
    witness.settle()
    witness.end()
    return witness.report(in_journal(station.journal))


def test_a_disk_that_lies_about_its_syncs_is_caught(station: Station, tell: Tell) -> None:
    witness = begun(station)
    station.disk.panel.sync_lies = 1
    assert tell(after_power_cut(witness, station)).lost


def test_a_broker_that_acknowledges_before_the_sync_is_caught(disk: Disk, tell: Tell) -> None:
    station = Station.on(disk, PROMISES_LESS)
    witness = begun(station)
    disk.panel.sync_us = HELD_SYNC_US
    assert tell(after_power_cut(witness, station)).lost


@pytest.mark.parametrize("level", ["process", "disk"])
def test_what_is_acknowledged_as_process_survives_a_kill(
    disk: Disk, tell: Tell, level: str
) -> None:
    station = Station.on(disk, CONFIG + f'durability = "{level}"\n')
    witness = begun(station)
    disk.panel.sync_us = SLOW_SYNC_US
    assert witness.load(1)
    witness.end()
    disk.mend()
    witness.begin()
    witness.settle()
    witness.end()
    assert tell(witness.report()).is_clean
