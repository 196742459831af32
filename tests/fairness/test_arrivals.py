"""Running traffic while thousands connect: arrivals have a lane of their own, at lower priority."""

import statistics
from pathlib import Path

from tests.configured_broker import Configured
from tests.fairness.bystander import ENGINE_THREAD, bystander
from tests.hostile.crowd import Crowd
from tests.raw_mqtt import V5, RawPeer
from tests.running_broker import RunningBroker

CLIENTS = 5_000
LANE_THREAD = "slipring-lane"
NICE_FIELD = 18
"""Its place in /proc/PID/stat, counted behind the name (proc(5))."""
TYPICAL_MS_MAX = 5.0
"""Three quarters of the messages wait for a few arrivals at most, each some 0.1 ms."""


def priorities(process_id: int) -> dict[str, set[int]]:
    """How much the threads give way to others, by their names."""
    found: dict[str, set[int]] = {}
    for thread in Path(f"/proc/{process_id}/task").iterdir():
        try:
            name = (thread / "comm").read_text().strip()
            behind = (thread / "stat").read_text().rpartition(")")[2].split()
        except (FileNotFoundError, ProcessLookupError):
            continue  # the thread has ended meanwhile
        found.setdefault(name, set()).add(int(behind[NICE_FIELD - 2]))
    return found


def test_clients_arrive_on_threads_that_give_way_to_the_engine(configured: Configured) -> None:
    broker = configured("threads = 1\n")
    with broker.peer("first"):  # both threads have run by now
        found = priorities(broker.running.process.pid)
    (own,), (lane,) = found[ENGINE_THREAD], found[LANE_THREAD]
    assert lane > own


def test_running_traffic_waits_for_a_few_arrivals_and_not_for_all(broker: RunningBroker) -> None:
    crowd = Crowd(broker, CLIENTS)
    with bystander(broker) as beside:
        assert crowd.connect(clean=True, properties=b"") == {(0, False): CLIENTS}
        crowd.hang_up()
    beside.assert_served()
    typical_ms = statistics.quantiles(beside.waits_ms, n=4)[2]
    assert typical_ms < TYPICAL_MS_MAX, sorted(beside.waits_ms)


def test_a_newcomer_is_let_in_while_others_never_finish_their_connect(
    broker: RunningBroker,
) -> None:
    halves = [RawPeer(broker.host, broker.port) for _ in range(500)]
    try:
        for peer in halves:
            peer.send(V5.connect("half")[:-1])
        with RawPeer(broker.host, broker.port) as newcomer:
            assert newcomer.connect("newcomer").reason == 0
            assert newcomer.quiet()
    finally:
        for peer in halves:
            peer.hang_up()
