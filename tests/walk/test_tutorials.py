"""The tutorials about a fleet and about its data, as a reader types them (V4, D1)."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.walk.tutorial_reader import TutorialReader

pytestmark = pytest.mark.timeout(1_800)


@pytest.fixture
def reader(tmp_path: Path) -> Iterator[TutorialReader]:
    made = TutorialReader(tmp_path)
    yield made
    made.put_away()


def test_the_tutorial_of_the_fleet_finds_the_silent_and_the_hot_truck(
    reader: TutorialReader,
) -> None:
    reader.follow("tutorial-fleet.md")
    assert "fleet/20/Engine/CoolantTemp" in reader.said("slipring table 'fleet/+")
    assert "fleet/13/" in reader.said("until slipring top")
    assert len(reader.said("slipring sub --count 3").splitlines()) == 3
    assert "worn thermostat" in reader.said("slipring request ")
    topic, _, alarm = reader.said("slipring sub --count 1 'alarms").partition(" ")
    assert topic == "alarms/fleet/7/Engine/CoolantTemp/high"
    assert json.loads(alarm)["threshold"] == 105
    assert "fleet/7/Engine/CoolantTemp" in reader.said('slipring query "SELECT parameter')
    shares = reader.said('slipring query "SELECT vehicle').splitlines()
    assert len([line for line in shares if "0.0" in line]) == 3


def test_the_tutorial_of_the_data_doubles_nothing_and_comes_back_to_the_bus(
    reader: TutorialReader,
) -> None:
    """D1, G12."""
    reader.follow("tutorial-data.md")
    assert "hot samples: 2" in reader.said("python rows.py")
    counted = reader.said('slipring query "SELECT parameter, count(*) AS samples FROM')
    rows = [line.split() for line in counted.splitlines() if "/engine/" in line]
    assert {row[0]: row[-1] for row in rows} == {
        f"{prefix}jet/engine/1/{name}": "500" for prefix in ("", "again/") for name in ("egt", "n1")
    }
    assert "egt_margin" in reader.said("slipring table jet/engine/1/egt_margin")
    computed = reader.said('slipring query "SELECT count(*) AS computed')
    assert "30." in computed
