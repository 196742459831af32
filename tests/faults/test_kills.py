"""The broker is killed again and again: what it acknowledged is there (V3, T3, P9, CVE-2026-8741).

`ROUNDS=200 SEED=7` has it killed more often, at other moments.
"""

import os
import signal
from collections.abc import Callable
from random import Random

import pytest

from tests.faults.lives import AfterDeath, Lives
from tests.faults.publisher import LASTING
from tests.faults.station import SEED, Station
from tests.faults.telling import Tell
from tests.faults.verdict import Report
from tests.faults.witness import Witness, in_journal
from tests.hostile.crowd import Crowd

ROUNDS = int(os.environ.get("ROUNDS", "15"))
TIMEOUT_S = 120 + ROUNDS * 20
ACKNOWLEDGEMENTS_MAX = 300
CROWD = 2_000


def verdict(witness: Witness, station: Station) -> Report:
    """A last life in which everyone catches up; then the journal is read."""
    witness.settle()
    code = witness.end(signal.SIGTERM)
    assert code == 0, witness.said
    return witness.report(in_journal(station.journal))


@pytest.mark.timeout(TIMEOUT_S)
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM], ids=["kill-9", "sigterm"])
def test_a_broker_that_is_ended_under_load_has_what_it_acknowledged(
    station: Station, tell: Tell, how: signal.Signals
) -> None:
    witness = Witness(station.start, SEED)
    witness.begin()
    assert witness.join()
    for _ in range(ROUNDS if how == signal.SIGKILL else min(ROUNDS, 5)):
        assert witness.load(witness.choice.randint(1, ACKNOWLEDGEMENTS_MAX))
        assert witness.end(how) == (-how if how == signal.SIGKILL else 0), witness.said
        witness.send_some_away()
        witness.begin()
    assert tell(verdict(witness, station)).is_clean


@pytest.mark.timeout(TIMEOUT_S)
def test_a_power_cut_under_load_takes_nothing_that_was_acknowledged(
    station: Station, tell: Tell
) -> None:
    station.disk.panel.sync_us = 2_000
    witness = Witness(station.start, SEED)
    witness.begin()
    assert witness.join()
    for _ in range(ROUNDS):
        assert witness.load(witness.choice.randint(1, ACKNOWLEDGEMENTS_MAX))
        witness.end()
        station.cut_power(witness.choice)
        witness.send_some_away()
        witness.begin()
    assert tell(verdict(witness, station)).is_clean


def test_a_crowd_finds_its_sessions_after_a_kill(station: Station) -> None:
    """Thousands come back at once, to a broker that was killed the moment it had let them in."""
    first = station.start()
    crowd = Crowd(first, CROWD)
    assert crowd.connect(clean=True, properties=LASTING) == {(0, False): CROWD}
    first.stop(signal.SIGKILL)
    crowd.hang_up()
    second = station.start()
    again = Crowd(second, CROWD)
    assert again.connect(clean=False, properties=LASTING) == {(0, True): CROWD}
    again.hang_up()
    assert second.stop()[0] == 0


def test_nothing_is_written_behind_the_back_of_the_failing_disk(station: Station) -> None:
    witness = Witness(station.start, SEED)
    witness.begin()
    assert witness.join()
    assert witness.load(ACKNOWLEDGEMENTS_MAX)
    assert witness.end(signal.SIGTERM) == 0
    station.platter.follow(station.disk.trace.read_bytes())
    assert station.platter.differences() == []


@pytest.mark.timeout(TIMEOUT_S * 2)
@pytest.mark.parametrize("has_power", [True, False], ids=["kill-9", "power-cut"])
@pytest.mark.parametrize("part", [Lives.run, Lives.run_ends], ids=["life", "end"])
def test_a_broker_that_dies_at_every_call_on_its_disk_has_what_it_acknowledged(
    station: Station, tell: Tell, part: Callable[[Lives, AfterDeath], None], has_power: bool
) -> None:
    lives = Lives.on(station, SEED)

    def after_death(choice: Random) -> None:
        if not has_power:
            station.cut_power(choice)

    part(lives, after_death)
    lives.witness.begin()
    assert lives.unmourned() == []
    forgotten = lives.forgotten()
    assert tell(verdict(lives.witness, station)).is_clean
    assert forgotten == []
