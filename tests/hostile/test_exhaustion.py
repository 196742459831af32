"""What runs out: descriptors, patience, and the moment when everybody comes back at once."""

import resource
from pathlib import Path

import pytest

from tests.hostile.crowd import Crowd
from tests.hostile.siege import LASTING, MIB, Siege
from tests.raw_mqtt import V5, Kind, Version, Will

CONFIG = """
[limits]
connections = 20000
sessions = 20000
keep_alive_s = 60
"""

CLIENTS = 10_000


def open_descriptors(process_id: int) -> int:
    return len(list(Path(f"/proc/{process_id}/fd").iterdir()))


def test_when_descriptors_run_out_the_old_are_served_and_the_new_wait_or_go(siege: Siege) -> None:
    process = siege.broker.process.pid
    before = resource.prlimit(process, resource.RLIMIT_NOFILE)
    client = siege.client("early")
    client.send(V5.subscribe(1, "early/#"))
    assert client.packet().kind is Kind.SUBACK
    resource.prlimit(process, resource.RLIMIT_NOFILE, (open_descriptors(process) + 20, before[1]))
    try:
        crowd = [siege.transport.dial(siege.broker, V5) for _ in range(60)]
        for number, peer in enumerate(crowd):
            peer.send(V5.connect(f"crowd-{number}"))
        for _ in range(20):
            siege.bystander.round_trip()
            client.send(V5.publish("early/bird", b"x"))
            assert client.packet().payload == b"x"
        assert siege.is_alive()
        for peer in crowd:
            peer.hang_up()
    finally:
        resource.prlimit(process, resource.RLIMIT_NOFILE, before)
    assert siege.client("late").quiet()


def test_ten_thousand_clients_that_reconnect_at_once_find_their_sessions(siege: Siege) -> None:
    siege.growth_bytes_max = 256 * MIB
    first = Crowd(siege.broker, CLIENTS)
    assert first.connect(clean=True, properties=LASTING) == {(0, False): CLIENTS}
    siege.bystander.round_trip()
    first.hang_up()
    second = Crowd(siege.broker, CLIENTS)
    assert second.connect(clean=False, properties=LASTING) == {(0, True): CLIENTS}
    siege.bystander.round_trip()
    second.hang_up()


def test_a_half_open_peer_goes_after_its_keep_alive_and_its_will_is_sent_once(
    siege: Siege, version: Version
) -> None:
    watcher = siege.client("watcher")
    watcher.send(V5.subscribe(1, ("half/#", 1)))
    assert watcher.packet().reasons == (1,)
    silent = siege.client("silent", version, keep_alive_s=1, will=Will("half/open", b"gone", 1))
    heard = watcher.packet()
    assert heard.payload == b"gone"
    watcher.send(V5.puback(heard.id))
    if version is V5:
        assert silent.packet().reason == 0x8D
    assert silent.closed()
    assert watcher.quiet()


@pytest.mark.parametrize("qos", [0, 1])
def test_a_slow_consumer_changes_nothing_for_the_others(siege: Siege, qos: int) -> None:
    slow, keen, publisher = siege.client("slow"), siege.client("keen"), siege.client("speaks")
    for subscriber in (slow, keen):
        subscriber.send(V5.subscribe(1, ("slow/#", qos)))
        assert subscriber.packet().reasons == (qos,)
    payload = bytes(16 * 1024)
    siege.growth_bytes_max = 96 * MIB
    for number in range(3000):
        message = V5.publish("slow/load", payload, qos=qos, packet_id=1 if qos else None)
        publisher.send(message)
        heard = keen.packet()
        assert heard.kind is Kind.PUBLISH, number
        if qos:
            keen.send(V5.puback(heard.id))
            assert publisher.packet().kind is Kind.PUBACK
