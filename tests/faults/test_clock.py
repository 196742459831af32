"""The clock of the day jumps: what runs goes on, and what was due while it was down is due (V3).

Keep-alive, expiry and leases use the monotonic clock; only a restart has to ask what day it is.
"""

from collections.abc import Iterator

import pytest

from tests.faults.disk import Disk
from tests.faults.stage import HOUR_S, KEPT, Stage, messages
from tests.faults.station import CONFIG, Station
from tests.metrics import Metrics
from tests.raw_mqtt import Will, properties

DAY_S = 86_400
EXPIRES = properties(message_expiry=HOUR_S)


@pytest.fixture
def stage(disk: Disk) -> Iterator[Stage]:
    """Sessions, messages and wills that have an hour left, or half a day."""
    station = Station.on(disk, CONFIG, console=True)
    stage = Stage(station, station.start())
    half_a_day = properties(session_expiry=DAY_S // 2)
    stage.away("hour", ("clock/#", 1))
    stage.away("day", ("clock/#", 1), properties=half_a_day)
    stage.publish("clock/expires", b"expires", properties=EXPIRES)
    stage.publish("clock/stays", b"stays")
    stage.away("heir", ("will/#", 1), properties=half_a_day)
    late = Will("will/late", b"gone", qos=1, properties=properties(will_delay=HOUR_S))
    stage.client("dying", will=late, properties=half_a_day).hang_up()
    Metrics.when(stage.broker, "slipring_sessions_away", 4)
    # What the broker noted by itself is safe with the next message that is.
    stage.publish("elsewhere", b"")
    yield stage
    stage.peers.close()
    stage.broker.stop()


def jump(stage: Stage, seconds: int) -> None:
    stage.station.disk.panel.clock_ns = seconds * 1_000_000_000


def restart(stage: Stage) -> None:
    stage.peers.close()
    stage.broker.process.kill()
    stage.broker.process.communicate()
    stage.broker = stage.station.start()


@pytest.mark.parametrize("jump_s", [DAY_S, -DAY_S])
def test_a_jump_while_it_runs_ends_no_connection_session_message_or_will(
    stage: Stage, jump_s: int
) -> None:
    alive = stage.client("alive", keep_alive_s=60)
    jump(stage, jump_s)
    uptime_s = Metrics.of(stage.broker)["slipring_uptime_seconds"]
    Metrics.when(stage.broker, "slipring_uptime_seconds", uptime_s + 2)
    assert alive.quiet()
    for name in ("hour", "day"):
        found = messages(stage.back(name), 2)
        assert [one.payload for one in found] == [b"expires", b"stays"]
        [left_s] = found[0].properties["message_expiry"]
        assert isinstance(left_s, int)
        assert 0 < left_s <= HOUR_S
    assert stage.back("heir", properties=properties(session_expiry=DAY_S)).quiet()


@pytest.mark.parametrize("jump_s", [0, -DAY_S])
def test_a_restart_takes_nothing_before_its_time(stage: Stage, jump_s: int) -> None:
    jump(stage, jump_s)
    restart(stage)
    for name in ("hour", "day"):
        found = messages(stage.back(name), 2)
        assert [one.payload for one in found] == [b"expires", b"stays"]
    assert stage.back("heir").quiet()


def test_what_was_due_while_it_was_down_is_due_at_the_start(stage: Stage) -> None:
    jump(stage, 2 * HOUR_S)
    restart(stage)
    assert not stage.peer().connect("hour", clean=False, properties=KEPT).session_present
    assert [one.payload for one in messages(stage.back("day"), 1)] == [b"stays"]
    heir = stage.back("heir")
    assert [one.payload for one in messages(heir, 1)] == [b"gone"]
    assert heir.quiet()
