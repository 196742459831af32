"""The witness tells a broker that keeps its word from one that does not: Mosquitto is both.

Ended with SIGTERM it saves its sessions, killed it has acknowledged what it does not have any more.
"""

import signal
from pathlib import Path

from tests.faults.mosquitto import Mosquitto
from tests.faults.telling import Tell
from tests.faults.verdict import Report
from tests.faults.witness import PATIENCE_S, Witness, clients

LIVES = 3


LOST_S = 2
"""What is lost does not come: then it is enough to have waited a little."""


def after_lives_that_end_with(
    how: signal.Signals, folder: Path, tell: Tell, patience_s: float = PATIENCE_S
) -> Report:
    """What became of three lives; without a shared group, which Mosquitto does not save."""
    publishers, subscribers = clients()
    alone = [one for one in subscribers if one.group is None]
    witness = Witness(lambda: Mosquitto.start(folder), 1, publishers, alone)
    witness.begin()
    assert witness.join()
    for _ in range(LIVES):
        assert witness.load(200)
        witness.end(how)
        witness.send_some_away()
        witness.begin()
    witness.patience_s = patience_s
    witness.settle()
    witness.end()
    return tell(witness.report())


def test_a_broker_that_saves_its_sessions_has_lost_nothing(tmp_path: Path, tell: Tell) -> None:
    report = after_lives_that_end_with(signal.SIGTERM, tmp_path / "mosquitto", tell)
    assert report.is_clean
    assert report.acknowledged >= LIVES * 200
    assert report.delivered >= 6 * report.acknowledged


def test_a_broker_that_acknowledges_what_it_forgets_is_caught(tmp_path: Path, tell: Tell) -> None:
    report = after_lives_that_end_with(signal.SIGKILL, tmp_path / "mosquitto", tell, LOST_S)
    assert report.lost
    assert report.sessions_lost
