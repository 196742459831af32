"""What a broker promises and whether it can keep it: levels, a full journal, a failed one."""

import json
import resource
import subprocess
import sys

from tests.configured_broker import Configured, ConfiguredBroker
from tests.console_answer import answer
from tests.metrics import Metrics
from tests.raw_mqtt import V5, Kind, RawPeer

NO_ROOM = 0x97
SMALL = "[journal]\nsegment_bytes = 65536\nbytes_max = 200000\n"
LARGE = SMALL.replace("200000", "20000000")
PAYLOAD = b"x" * 10_000
MESSAGES = 40


def probe(broker: ConfiguredBroker, path: str) -> tuple[int, str]:
    """What a probe is answered."""
    return answer(f"{broker.console}{path}")


def status(broker: ConfiguredBroker, *arguments: str) -> str:
    command = [sys.executable, "-m", "slipring", "status", broker.console, *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout


def publish(peer: RawPeer, topic: str, qos: int = 1) -> int:
    """How a message is answered."""
    peer.send(V5.publish(topic, PAYLOAD, qos=qos, packet_id=1))
    answer = peer.packet()
    if qos == 2 and answer.reason < 0x80:
        peer.send(V5.pubrel(1))
        assert peer.packet().kind is Kind.PUBCOMP
    return answer.reason


def fill(broker: ConfiguredBroker, peer: RawPeer) -> None:
    """Publish more than there is room for."""
    for number in range(1, MESSAGES + 1):
        peer.send(V5.publish("t", PAYLOAD, qos=1, packet_id=number))
    Metrics.when(broker.running, "slipring_journal_full", 1)


def test_messages_are_counted_by_what_they_survive(configured: Configured) -> None:
    broker = configured(
        "[journal]\ntopics = ['kept/#']\ndurability = 'disk'\n"
        "[[durability]]\ntopics = ['kept/quick/#']\nlevel = 'memory'\n"
        "[[durability]]\ntopics = ['kept/written/#']\nlevel = 'process'\n"
    )
    with broker.peer("writer") as peer:
        for topic, qos in (
            ("kept/quick/a", 1),
            ("not/journaled", 2),
            ("kept/written/a", 1),
            ("kept/a", 1),
            ("kept/b", 2),
            ("kept/c", 2),
        ):
            assert publish(peer, topic, qos) < 0x80
        peer.send(V5.publish("kept/d", b"x"))
        peer.settle()
    metrics = Metrics.of(broker.running)
    counts = [
        metrics[f'slipring_messages_acknowledged_total{{level="{level}"}}']
        for level in ("memory", "process", "disk")
    ]
    assert counts == [2, 1, 3]
    shown = " ".join(status(broker).split())
    assert "durability disk; memory for kept/quick/#; process for kept/written/#;" in shown
    assert "acknowledged 2 memory, 1 process, 3 disk" in shown


def test_a_full_journal_is_told_everywhere_and_a_higher_bound_heals_it(
    configured: Configured,
) -> None:
    broker = configured(SMALL)
    assert probe(broker, "/ready") == (200, "ready\n")
    with broker.peer("writer") as writer, broker.peer("late") as late:
        fill(broker, writer)
        assert publish(late, "t") == NO_ROOM
        code, reason = probe(broker, "/ready")
        assert code == 503
        assert reason.startswith("no room for more: ")
        assert "journal.bytes_max" in reason
        assert probe(broker, "/live") == (200, "live\n")
        assert Metrics.of(broker.running)["slipring_journal_bytes_max"] == 200_000
        assert status(broker).startswith("FULL: no room for more")
        assert json.loads(status(broker, "--json"))["broker"]["journal"]["state"] == "full"
        assert " ERROR journal: no room for more: " in broker.line("no room for more")
        broker.reload(LARGE)
        broker.line("journal.bytes_max is 20000000 now, was 200000")
        answers = [writer.packet() for _ in range(MESSAGES)]
        assert {answer.reason for answer in answers} <= {0x00, 0x10, NO_ROOM}
        assert publish(late, "t") < 0x80
        assert " INFO journal: there is room again" in broker.line("room again")
    assert probe(broker, "/ready") == (200, "ready\n")
    assert Metrics.of(broker.running)["slipring_journal_full"] == 0


def test_a_failed_journal_is_told_everywhere_and_nothing_is_acknowledged(
    configured: Configured,
) -> None:
    broker = configured("")
    with broker.peer("writer") as peer:
        assert publish(peer, "t") < 0x80
        # A file that may not grow fails with another error than a full disk, and that is final.
        resource.prlimit(broker.running.process.pid, resource.RLIMIT_FSIZE, (1, 1))
        peer.send(V5.publish("t", PAYLOAD, qos=1, packet_id=2))
        assert not [packet for packet in rest_of(peer) if packet == Kind.PUBACK]
    code, reason = probe(broker, "/ready")
    assert code == 503
    assert "the journal failed" in reason
    assert "restart" in reason
    assert probe(broker, "/live")[0] == 200
    assert Metrics.of(broker.running)["slipring_journal_up"] == 0
    assert status(broker).startswith("FAILED: ")
    assert " ERROR journal: the journal failed: " in broker.line("no QoS 1 or 2 message")
    assert broker.stop() == 1
    assert broker.line("slipring: ").startswith("slipring: the journal failed: ")


def rest_of(peer: RawPeer) -> list[Kind]:
    """What still comes before the broker closes the connection."""
    kinds: list[Kind] = []
    while (packet := peer.receive()) is not None:
        kinds.append(packet.kind)
    return kinds
