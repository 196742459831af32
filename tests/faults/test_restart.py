"""Sessions, retained messages and wills after a restart, however the broker ended (V3, T3).

Each scenario is in scenarios.py; all first halves share a life of the broker, all second halves the
next one.
"""

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.faults.disk import Disk
from tests.faults.scenarios import SCENARIOS
from tests.faults.stage import Scenario, Stage, first_half, second_half
from tests.faults.station import Station
from tests.running_broker import RunningBroker

ENDS = ("only-connections", "kill-9", "sigterm", "power-cut")
"""The first is the measure: what holds when only connections end holds when the broker does."""


@pytest.fixture(scope="module", params=ENDS)
def halves(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, library: Path
) -> Iterator[dict[Scenario, Iterator[None] | BaseException]]:
    """Every scenario at its half, in the second life; one that failed before is its failure."""
    folder = tmp_path_factory.mktemp("restart")
    station = Station.on(Disk.under(folder / "data", folder, library))
    stage = Stage(station, station.start())
    played: dict[Scenario, Iterator[None] | BaseException] = {}
    for one in SCENARIOS:
        try:
            played[one] = first_half(one, stage)
        except (AssertionError, OSError) as failure:
            played[one] = failure
    if request.param == "only-connections":
        stage.peers.close()
    else:
        stage.broker = restarted(stage, request.param)
    yield played
    stage.peers.close()
    assert stage.broker.stop()[0] == 0


def restarted(stage: Stage, how: str) -> RunningBroker:
    stage.broker.stop(signal.SIGTERM if how == "sigterm" else signal.SIGKILL)
    if how == "power-cut":
        stage.station.cut_power()
    stage.peers.close()
    return stage.station.start()


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.__name__)
def test_after_a_restart(
    halves: dict[Scenario, Iterator[None] | BaseException], scenario: Scenario
) -> None:
    half = halves[scenario]
    if isinstance(half, BaseException):
        raise half
    second_half(half)
