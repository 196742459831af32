"""The metrics in the text format of Prometheus, from a real broker."""

import re
from pathlib import Path

import httpx
import pytest

from tests.metrics import Metrics
from tests.raw_mqtt import V5, RawPeer
from tests.running_broker import PATIENCE_S, RunningBroker

LINE = re.compile(
    r"# (HELP|TYPE) slipring_[a-z_]+ .+"
    r'|slipring_[a-z_]+(\{[a-z_]+="(?:[^"\\\n]|\\[\\"n])*"\})? -?[0-9.e+-]+'
)
HOSTILE = 'a"} 1\nslipring_clients 99\\'


def text_of(broker: RunningBroker) -> str:
    answer = httpx.get(f"{broker.console}/metrics", timeout=PATIENCE_S)
    assert answer.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    return answer.text


def peer(broker: RunningBroker, client_id: str, **options: object) -> RawPeer:
    made = RawPeer(broker.host, broker.port)
    assert made.connect(client_id, **options).reason == 0
    return made


def test_every_line_is_of_the_format_whatever_clients_are_called(broker: RunningBroker) -> None:
    with peer(broker, HOSTILE) as hostile:
        hostile.send(V5.publish(HOSTILE, b"1"))
        hostile.settle()
        lines = text_of(broker).split("\n")
    assert [line for line in lines[:-1] if not LINE.fullmatch(line)] == []
    assert lines[-1] == ""
    assert "slipring_clients 1" in lines


def test_every_family_says_what_it_is_before_its_samples(shared_broker: RunningBroker) -> None:
    families: set[str] = set()
    for line in text_of(shared_broker).splitlines():
        if line.startswith("# TYPE "):
            _, _, name, kind = line.split(" ")
            assert (kind == "counter") == name.endswith("_total")
            families.add(name)
        elif not line.startswith("#"):
            assert re.split(r"[ {]", line)[0] in families
    assert len(families) > 20


def test_every_family_is_in_the_documentation_and_no_other(shared_broker: RunningBroker) -> None:
    page = (Path(__file__).parents[2] / "docs" / "observing.md").read_text()
    table = page.split("## Metrics")[1].split("```")[0]
    told = re.findall(r"^# TYPE (\S+)", text_of(shared_broker), re.MULTILINE)
    documented = re.findall(r"`(slipring_[a-z_]+[a-z])(?:\{[a-z,]+\})?`", table)
    assert sorted(documented) == sorted(told)


def test_what_clients_do_is_counted(broker: RunningBroker) -> None:
    with peer(broker, "reader") as reader, peer(broker, "writer") as writer:
        reader.send(V5.subscribe(1, "gripen/#"))
        reader.packet()
        for topic in ("gripen/39-7/rpm", "gripen/39-7/fuel", "plant/7"):
            writer.send(V5.publish(topic, b"12345", retain=topic == "plant/7"))
        writer.settle()
        reader.packet()
        reader.packet()
        metrics = Metrics.of(broker)
        assert metrics["slipring_clients"] == 2
        assert metrics["slipring_sessions"] == 2
        assert metrics["slipring_subscriptions"] == 1
        assert metrics["slipring_connections_total"] == 2
        assert metrics["slipring_messages_received_total"] == 3
        assert metrics["slipring_messages_sent_total"] == 2
        assert metrics["slipring_received_bytes_total"] > 3 * 5
        assert metrics['slipring_prefix_messages_total{prefix="gripen/39-7"}'] == 2
        assert metrics['slipring_prefix_payload_bytes_total{prefix="gripen/39-7"}'] == 10
        assert metrics['slipring_prefix_deliveries_total{prefix="plant/7"}'] == 0
        metrics = Metrics.when(broker, "slipring_journal_next_offset", 3)
        assert metrics["slipring_journal_up"] == 1
        metrics = Metrics.when(broker, 'slipring_events_total{kind="subscribed"}', 1)
        assert metrics['slipring_events_total{kind="connected"}'] == 2
        assert metrics['slipring_events_total{kind="failed"}'] == 0


def test_a_session_that_waits_for_its_client_is_counted(broker: RunningBroker) -> None:
    with RawPeer(broker.host, broker.port) as leaving:
        assert leaving.connect("away", clean=True, properties=b"\x11\x00\x00\x0e\x10").reason == 0
        leaving.send(V5.disconnect())
        assert leaving.closed()
    metrics = Metrics.when(broker, "slipring_sessions_away", 1)
    assert (metrics["slipring_clients"], metrics["slipring_sessions"]) == (0, 1)


@pytest.mark.parametrize("path", ["/metrics", "/api/overview"])
def test_no_password_is_shown_cve_2026_33216(broker: RunningBroker, path: str) -> None:
    secret = "correct horse battery staple"
    with peer(broker, "client", username="user", password=secret.encode()):
        assert secret not in httpx.get(f"{broker.console}{path}", timeout=PATIENCE_S).text
    _, errors = broker.stop()
    assert secret not in errors
