"""Requests to the journal as any MQTT 5 client sends them: by the page, and against it."""

import struct
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from slipring.native import JournalReader
from tests.hostile.transports import LISTENERS, TRANSPORTS, Transport, make_certificate
from tests.journal_messages import RECEIVE_NS, payloads, write_messages
from tests.limited_broker import KEPT, Limited
from tests.metrics import Metrics
from tests.mqtt_bytes import properties
from tests.raw_mqtt import V5, V311, Kind, RawPeer
from tests.remote.asking import (
    BEYOND,
    BUSY,
    FINE,
    MALFORMED,
    NOT_ALLOWED,
    TOO_LARGE,
    TOPIC,
    Asker,
)
from tests.running_broker import RunningBroker, broker_in

WHOLE = struct.pack("<QQI", 0, 1000, 1 << 20)


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningBroker]:
    """A broker whose journal has 1000 messages, and gets no more."""
    folder = tmp_path_factory.mktemp("recorded")
    write_messages(folder / "data" / "journal", 1000, segment_bytes=5000)
    with broker_in(folder) as running:
        yield running


@pytest.fixture(scope="module")
def everywhere(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningBroker]:
    """A broker with a listener of every kind."""
    folder = tmp_path_factory.mktemp("everywhere")
    make_certificate(folder)
    write_messages(folder / "data" / "journal", 500, segment_bytes=5000)
    config = LISTENERS.format(folder=folder)
    with broker_in(folder, "--console", "off", config=config) as running:
        yield running


@pytest.fixture
def asker(recorded: RunningBroker) -> Iterator[Asker]:
    with RawPeer(recorded.host, recorded.port) as peer:
        assert peer.connect("asker").reason == 0
        yield Asker(peer)


def peer_of(running: RunningBroker, client_id: str, **options: bytes) -> RawPeer:
    peer = RawPeer(running.host, running.port)
    assert peer.connect(client_id, **options).reason == 0
    return peer


def test_about_tells_which_journal_it_is_and_how_far_it_goes(
    asker: Asker, recorded: RunningBroker
) -> None:
    answer = asker.ask("about")
    assert answer.packet.properties["correlation_data"] == ((1).to_bytes(4, "big"),)
    assert answer.identity == JournalReader(recorded.data / "journal").identity
    assert answer.about == (0, 1000, RECEIVE_NS + 995)


@pytest.mark.parametrize("bytes_max", [0, 300, 1 << 20, 0xFFFFFFFF])
def test_every_message_is_read_by_what_the_page_says(asker: Asker, bytes_max: int) -> None:
    found = asker.read_all(0, 1000, bytes_max)
    assert [message.payload for message in found] == payloads(0, 1000)
    assert found[7][:3] == (7, "publisher-1", "demo/1")
    assert [message.offset for message in asker.read(333, 337).messages] == [333, 334, 335, 336]


@pytest.mark.parametrize("transport", TRANSPORTS, ids=lambda transport: transport.name)
def test_the_journal_is_read_by_every_kind_of_listener(
    everywhere: RunningBroker, transport: Transport
) -> None:
    with transport.dial(everywhere, V5) as peer:
        assert peer.connect("asker").reason == 0
        found = Asker(peer).read_all(0, 500)
    assert [message.payload for message in found] == payloads(0, 500)


def test_messages_that_no_broker_took_as_samples_are_none(asker: Asker) -> None:
    answer = asker.ask("samples", struct.pack("<QQ", 3, 1000))
    assert answer.status == FINE
    assert answer.content[16:] == struct.pack("<Q", 1000)


def test_the_first_offset_of_a_time_is_told(asker: Asker) -> None:
    answers = [asker.ask("at", struct.pack("<q", RECEIVE_NS + late)) for late in (-1, 1, 10**9)]
    assert [struct.unpack("<Q", answer.content[16:])[0] for answer in answers] == [0, 5, 1000]


@pytest.mark.parametrize(
    ("name", "body", "status"),
    [
        ("read", struct.pack("<QQI", 0, 1001, 9), BEYOND),
        ("read", struct.pack("<QQI", 0, 2**64 - 1, 2**32 - 1), BEYOND),
        ("read", struct.pack("<QQI", 2**64 - 1, 2**64 - 1, 9), BEYOND),
        ("read", struct.pack("<QQI", 500, 499, 9), MALFORMED),
        ("read", struct.pack("<QQI", 2**64 - 1, 0, 0), MALFORMED),
        ("read", b"", MALFORMED),
        ("read", b"nonsense", MALFORMED),
        ("read", bytes(1_000_000), MALFORMED),
        ("samples", struct.pack("<QQ", 0, 1001), BEYOND),
        ("samples", struct.pack("<QQ", 2**64 - 1, 2**64 - 1), BEYOND),
        ("samples", struct.pack("<QQ", 500, 499), MALFORMED),
        ("samples", b"nonsense", MALFORMED),
        ("definitions", b"", MALFORMED),
        ("definitions", bytes(13), MALFORMED),
        ("about", b"x", MALFORMED),
        ("at", b"x", MALFORMED),
        ("commit", b"", MALFORMED),
        ("commit", bytes(32) + b"\xff\xfe", MALFORMED),
        ("commit", bytes(32) + b"x" * 65, MALFORMED),
        ("write", b"", MALFORMED),
        ("", b"", MALFORMED),
        ("read/more", WHOLE, MALFORMED),
    ],
)
def test_a_request_that_cannot_be_answered_is_told_why(
    asker: Asker, name: str, body: bytes, status: int
) -> None:
    answer = asker.ask(name, body)
    assert (answer.status, bool(answer.text)) == (status, True)
    assert asker.ask("about").status == FINE


def test_without_a_response_topic_nobody_is_answered(asker: Asker) -> None:
    asker.peer.send(V5.publish(f"{TOPIC}read", WHOLE))
    asker.peer.send(V5.publish(f"{TOPIC}read", WHOLE, qos=1, packet_id=1))
    assert asker.peer.packet().reason == 0x83
    assert asker.peer.quiet()


def test_at_qos_1_a_request_is_acknowledged_and_at_qos_2_it_is_refused(asker: Asker) -> None:
    asker.peer.send(asker.request("about", qos=1))
    kinds = sorted((asker.peer.packet() for _ in range(2)), key=lambda packet: packet.kind)
    assert [packet.kind for packet in kinds] == [Kind.PUBLISH, Kind.PUBACK]
    assert kinds[1].reason == 0
    asker.peer.send(asker.request("about", qos=2))
    assert (asker.peer.packet().reason, asker.peer.quiet()) == (0x87, True)


def test_an_mqtt_3_client_has_no_way_to_ask(recorded: RunningBroker) -> None:
    with RawPeer(recorded.host, recorded.port, V311) as peer:
        assert peer.connect("old").reason == 0
        peer.send(V311.publish(f"{TOPIC}about"))
        assert peer.quiet()


def test_a_thousand_requests_at_once_are_each_answered_or_told_to_wait(
    asker: Asker, recorded: RunningBroker
) -> None:
    before = Metrics.of(recorded).reached("journal_requests")
    with peer_of(recorded, "other") as other:
        asker.peer.send(*(asker.request("read", WHOLE) for _ in range(1000)))
        assert other.quiet()
        answers = [asker.answer() for _ in range(1000)]
    numbers = [answer.packet.properties["correlation_data"] for answer in answers]
    assert len(set(numbers)) == 1000
    statuses = Counter(answer.status for answer in answers)
    assert set(statuses) == {FINE, BUSY}
    assert statuses[FINE] >= 2
    assert Metrics.of(recorded).reached("journal_requests") - before == statuses[BUSY]
    assert asker.ask("about").status == FINE


def test_a_client_that_does_not_read_its_answers_is_in_nobodys_way(
    asker: Asker, recorded: RunningBroker
) -> None:
    asker.peer.send(*(asker.request("read", WHOLE) for _ in range(20_000)))
    with peer_of(recorded, "other") as other:
        patient = Asker(other)
        assert len(patient.read_all(0, 1000)) == 1000
    assert asker.answer().status in (FINE, BUSY)


def test_an_answer_is_never_larger_than_the_client_takes(recorded: RunningBroker) -> None:
    with peer_of(recorded, "small", properties=properties(maximum_packet_size=300)) as peer:
        asker = Asker(peer)
        found = asker.read_all(0, 100)
        assert [message.payload for message in found] == payloads(0, 100)
    with peer_of(recorded, "tiny", properties=properties(maximum_packet_size=100)) as peer:
        answer = Asker(peer).read(3, 100)
        assert (answer.status, answer.numbers[0], answer.text) == (TOO_LARGE, 3, "")
    with peer_of(recorded, "none", properties=properties(maximum_packet_size=40)) as peer:
        peer.send(Asker(peer).request("read", WHOLE))
        assert peer.quiet()
        peer.send(Asker(peer).request("about"))
        assert peer.quiet()


def test_nobody_else_sees_an_answer_and_nothing_of_it_is_journaled(
    asker: Asker, recorded: RunningBroker
) -> None:
    asker.answers = "answers/for/asker"
    with peer_of(recorded, "eavesdropper") as ear:
        filters = ("#", "$slipring/#", "answers/#")
        ear.send(V5.subscribe(1, *((filter_, 0) for filter_ in filters)))
        assert ear.packet().reasons == (0, 0, 0)
        asker.peer.send(V5.subscribe(1, ("answers/#", 0)))
        assert asker.peer.packet().reasons == (0,)
        assert len(asker.read_all(0, 1000, 2000)) == 1000
        assert asker.peer.quiet()
        assert ear.quiet()
    assert asker.ask("about").about[1] == 1000
    assert "$slipring" not in "".join(Metrics.of(recorded))


def test_what_the_journal_keeps_about_sessions_stays_there(limited: Limited) -> None:
    broker = limited()
    broker.away("secret-session", ("secret/filter/#", 1))
    peer = broker.client("plain", clean=False, properties=KEPT)
    peer.send(V5.publish("secret/filter/1", b"open", qos=1, packet_id=1))
    assert peer.packet().reason == 0
    asker = Asker(broker.client("asker"))
    end = asker.ask("about").about[1]
    answers = [asker.read(offset, end) for offset in range(end)]
    assert [one.payload for one in answers[0].messages] == [b"open"]
    for answer in answers:
        assert b"secret-session" not in answer.packet.raw
        assert b"secret/filter/#" not in answer.packet.raw


def test_a_user_without_the_right_is_told_which_key_to_set(tmp_path: Path) -> None:
    page = (Path(__file__).parents[2] / "docs" / "remote.md").read_text()
    user = page.split("```toml\n")[1].split("```")[0]
    config = tmp_path / "broker.toml"
    other = user.split("[[access.rule]]")[0].replace('"lake"', '"pump"')
    config.write_text(user + other)
    running = RunningBroker.start(tmp_path / "data", "--config", str(config))
    for name, status in [("lake", FINE), ("pump", NOT_ALLOWED)]:
        with RawPeer(running.host, running.port) as peer:
            assert peer.connect(name, username=name, password=b"pencil").reason == 0
            answer = Asker(peer).ask("definitions", bytes(12))
            assert answer.status == status
            answer = Asker(peer).ask("about")
            assert answer.status == status
            peer.send(Asker(peer).request("about", qos=1))
            acks = [packet for packet in (peer.packet(), peer.packet()) if packet.id == 1]
            assert [ack.reason for ack in acks] == [0x87 if status == NOT_ALLOWED else 0]
            if status == NOT_ALLOWED:
                assert "the right `journal`" in answer.text
    assert running.stop()[0] == 0
