"""Every limit at its edge, on a real broker: what is within passes, one more gets the documented
answer, and that is counted under the limit's key. A test is named after its key (T11).
"""

import sys
from contextlib import ExitStack
from typing import Any

import pytest

from slipring.control.limits import LimitsSection
from slipring.native import encode_frame
from tests.configured_broker import Configured
from tests.console_answer import overview
from tests.fairness import test_memory, test_passwords, test_quotas, test_user_quotas
from tests.limited_broker import (
    KEPT,
    Limited,
    LimitedBroker,
    ask,
    chosen,
    declare,
    retain,
    wait,
)
from tests.metrics import Metrics
from tests.mqtt_bytes import Pair, properties
from tests.raw_mqtt import V5, V311, Kind, Packet, RawPeer, Version, Will
from tests.remote.asking import BUSY as ASK_AGAIN
from tests.remote.asking import FINE, Asker
from tests.requests import test_bounds

BUSY, ELSEWHERE, QUOTA = 0x89, 0x9C, 0x97
TOO_LARGE, NO_CLIENT_ID, NO_TOPIC, NO_FILTER = 0x95, 0x85, 0x90, 0x8F
ALIAS_INVALID, TOO_MANY = 0x94, 0x93
TEXT = 12
FRAME = properties(content_type="application/vnd.slipring.frame")
POLICIES = {"qos0_full", "qos12_full"}
"""What happens at a limit; see test_slow_peers.py."""


def test_every_limit_has_a_test_here() -> None:
    names = [
        *dir(sys.modules[__name__]),
        *dir(test_quotas),
        *dir(test_user_quotas),
        *dir(test_memory),
        *dir(test_passwords),
        *dir(test_bounds),
    ]
    tests = [name for name in names if name.startswith("test_")]
    keys = set(LimitsSection.model_fields) - POLICIES
    assert [key for key in keys if not any(name.startswith(f"test_{key}_") for name in tests)] == []


def is_ended(peer: RawPeer, reason: int) -> bool:
    """Whether the broker ends the connection with this reason."""
    last = peer.until(Kind.DISCONNECT)[-1]
    return last.reason == reason and peer.closed()


def test_connections_beyond_the_limit_are_told_that_the_server_is_busy(limited: Limited) -> None:
    broker = limited(connections=2)
    broker.client("one")
    broker.client("two")
    assert broker.reached("connections") == 0
    assert broker.peer().connect("three").reason == BUSY
    assert broker.peer(V311).connect("four").reason == 3
    assert broker.reached("connections") == 2
    broker.client("two")  # takes the place of its own earlier connection


def test_connections_beyond_the_limit_are_sent_to_another_server(limited: Limited) -> None:
    broker = limited(mqtt="server_reference = 'other.example:1883'", connections=1)
    broker.client("one")
    answer = broker.peer().connect("two")
    assert answer.reason == ELSEWHERE
    assert answer.properties["server_reference"] == ("other.example:1883",)
    assert broker.reached("connections") == 1


def test_sessions_beyond_the_limit_are_refused_also_when_nobody_is_connected(
    limited: Limited,
) -> None:
    broker = limited(sessions=2)
    broker.away("one", ("t", 1))
    broker.client("two", properties=KEPT)
    assert broker.reached("sessions") == 0
    assert broker.peer().connect("three", properties=KEPT).reason == QUOTA
    assert broker.reached("sessions") == 1
    broker.back("one")
    broker.client("four")  # its session ends with its connection


def publish_of(packet_bytes: int) -> bytes:
    """A QoS 1 PUBLISH of exactly this size."""
    overhead = len(V5.publish("t", b"x" * 500, qos=1, packet_id=1)) - 500
    packet = V5.publish("t", b"x" * (packet_bytes - overhead), qos=1, packet_id=1)
    assert len(packet) == packet_bytes
    return packet


def test_packet_bytes_a_larger_packet_ends_its_connection(limited: Limited) -> None:
    broker = limited(packet_bytes=1024)
    peer = broker.client("one")
    peer.send(publish_of(1024))
    assert peer.packet().kind is Kind.PUBACK
    assert broker.reached("packet_bytes") == 0
    peer.send(publish_of(1025)[:3])  # its length is enough to know
    assert is_ended(peer, TOO_LARGE)
    assert broker.reached("packet_bytes") == 1


def test_connect_bytes_a_larger_connect_is_not_read(limited: Limited) -> None:
    broker = limited(connect_bytes=256)
    overhead = len(V5.connect("x" * 200)) - 200
    broker.client("x" * (256 - overhead))
    assert broker.reached("connect_bytes") == 0
    peer = broker.peer()
    peer.send(V5.connect("x" * (257 - overhead)))
    assert peer.closed()
    assert broker.reached("connect_bytes") == 1


def test_connect_ms_a_silent_connection_is_closed_and_others_stay(configured: Configured) -> None:
    broker = configured("")
    with ExitStack() as stack:
        # It is in before there is so little time, in which a busy machine may do nothing at all.
        quick = stack.enter_context(broker.peer("quick"))
        broker.reload("[limits]\nconnect_ms = 500\n")
        broker.line("connect_ms is 500 now")
        assert Metrics.of(broker.running).reached("connect_ms") == 0
        address = broker.running.host, broker.running.port
        silent, half = (stack.enter_context(RawPeer(*address)) for _ in range(2))
        half.send(V5.connect("half")[:5])
        assert silent.closed()
        assert half.closed()
        assert quick.quiet()
        assert Metrics.of(broker.running).reached("connect_ms") == 2


def test_keep_alive_s_a_longer_one_or_none_is_cut_and_told(limited: Limited) -> None:
    broker = limited(keep_alive_s=20)
    for asked, told in ((20, None), (21, (20,)), (0, (20,))):
        answer = broker.peer().connect(f"asks-{asked}", keep_alive_s=asked)
        assert answer.properties.get("server_keep_alive") == told, asked
    assert broker.reached("keep_alive_s") == 2


def test_session_expiry_s_a_longer_one_is_cut_and_told(limited: Limited) -> None:
    broker = limited(session_expiry_s=100)
    for asked, told in ((100, None), (101, (100,)), (2**32 - 1, (100,))):
        expiry = properties(session_expiry=asked)
        answer = broker.peer().connect(f"asks-{asked}", properties=expiry)
        assert answer.properties.get("session_expiry") == told, asked
    assert broker.reached("session_expiry_s") == 2


def test_client_id_bytes_a_longer_one_is_refused(limited: Limited) -> None:
    broker = limited(client_id_bytes=23)
    broker.client("å" * 11 + "x")
    assert broker.reached("client_id_bytes") == 0
    assert broker.peer().connect("å" * 12).reason == NO_CLIENT_ID
    assert broker.peer(V311).connect("x" * 24).reason == 2
    assert broker.reached("client_id_bytes") == 2


def check_names(broker: LimitedBroker, limit: str, within: str, beyond: str) -> None:
    """A topic and a filter within the limit pass, the ones beyond it do not."""
    peer = broker.client("one")
    peer.send(V5.publish(within, qos=1, packet_id=1), V5.subscribe(2, within, beyond))
    assert peer.packet().kind is Kind.PUBACK
    assert peer.packet().reasons == (0, NO_FILTER)
    assert broker.reached(limit) == 1
    peer.send(V5.publish(beyond, qos=1, packet_id=3))
    assert is_ended(peer, NO_TOPIC)
    assert broker.reached(limit) == 2


def test_topic_levels_more_are_refused_in_topics_and_filters(limited: Limited) -> None:
    check_names(limited(topic_levels=3), "topic_levels", "a/b/c", "a/b/c/d")


def test_topic_bytes_more_are_refused_in_topics_and_filters(limited: Limited) -> None:
    check_names(limited(topic_bytes=16), "topic_bytes", "x" * 16, "x" * 17)


def test_topic_bytes_hold_for_a_will_too(limited: Limited) -> None:
    broker = limited(topic_bytes=16)
    broker.client("one", will=Will("x" * 16))
    assert broker.peer().connect("two", will=Will("x" * 17)).reason == NO_TOPIC
    assert broker.reached("topic_bytes") == 1


def test_user_properties_more_end_the_connection(limited: Limited) -> None:
    broker = limited(user_properties=2)
    peer = broker.client("one")
    pairs: list[Pair] = [("a", "1"), ("a", "1"), ("b", "2")]
    peer.send(V5.publish("t", qos=1, packet_id=1, properties=properties(user=pairs[:2])))
    assert peer.packet().kind is Kind.PUBACK
    assert broker.reached("user_properties") == 0
    peer.send(V5.publish("t", qos=1, packet_id=1, properties=properties(user=pairs)))
    assert is_ended(peer, QUOTA)
    assert broker.reached("user_properties") == 1


def test_topic_aliases_a_higher_one_ends_the_connection(limited: Limited) -> None:
    broker = limited(topic_aliases=2)
    peer = broker.peer()
    assert peer.connect("one").properties["topic_alias_maximum"] == (2,)
    peer.send(V5.publish("t", qos=1, packet_id=1, properties=properties(topic_alias=2)))
    assert peer.packet().kind is Kind.PUBACK
    assert broker.reached("topic_aliases") == 0
    peer.send(V5.publish("t", qos=1, packet_id=1, properties=properties(topic_alias=3)))
    assert is_ended(peer, ALIAS_INVALID)
    assert broker.reached("topic_aliases") == 1


def test_topic_aliases_the_broker_uses_no_more_itself(limited: Limited) -> None:
    broker = limited(topic_aliases=2)
    peer = broker.client("one", properties=properties(topic_alias_maximum=10))
    peer.send(V5.subscribe(1, "#"), *(V5.publish(topic, b"1") for topic in "abc"))
    peer.packet()
    used = [peer.packet().properties.get("topic_alias") for _ in "abc"]
    assert used == [(1,), (2,), None]


def test_subscriptions_a_further_one_is_refused(limited: Limited) -> None:
    broker = limited(subscriptions=2)
    peer = broker.client("one")
    peer.send(V5.subscribe(1, "a", "b", "c", "a"))
    assert peer.packet().reasons == (0, 0, QUOTA, 0), "one that is there already is no further one"
    peer.send(V5.unsubscribe(2, "a"), V5.subscribe(3, "c"))
    assert peer.packet().reasons == (0,)
    assert peer.packet().reasons == (0,)
    assert broker.reached("subscriptions") == 1


def test_receive_max_one_more_unfinished_message_ends_the_connection(limited: Limited) -> None:
    broker = limited(receive_max=2)
    peer = broker.peer()
    assert peer.connect("one").properties["receive_maximum"] == (2,)
    for number in (1, 2):
        peer.send(V5.publish("t", qos=2, packet_id=number))
        assert peer.packet().kind is Kind.PUBREC
    assert broker.reached("receive_max") == 0
    peer.send(V5.publish("t", qos=2, packet_id=3))
    assert is_ended(peer, TOO_MANY)
    assert broker.reached("receive_max") == 1


def publish_at(writer: RawPeer, qos: int, *payloads: bytes) -> None:
    """Publish these to `t` and wait until the broker has them."""
    for number, payload in enumerate(payloads, 1):
        writer.send(V5.publish("t", payload, qos=qos, packet_id=number if qos else None))
    writer.settle()


def test_inflight_further_messages_wait_for_an_acknowledgement(limited: Limited) -> None:
    broker = limited(inflight=2)
    reader, writer = broker.client("reader"), broker.client("writer")
    reader.send(V5.subscribe(1, ("t", 1)))
    reader.packet()
    publish_at(writer, 1, b"1", b"2")
    assert [reader.packet().payload for _ in "12"] == [b"1", b"2"]
    assert broker.reached("inflight") == 0
    publish_at(writer, 1, b"3", b"4")
    assert reader.quiet(), "two are on their way"
    assert broker.reached("inflight") == 1
    reader.send(V5.puback(1))
    assert reader.packet().payload == b"3"


def waiting_for(broker: LimitedBroker, client_id: str) -> list[tuple[bytes, object]]:
    """The two that waited for a client: each payload, and the drops that were told with it."""
    found = broker.stored(client_id, 2)
    return [(one.payload, one.properties.get("user")) for one in found]


def told(count: int) -> tuple[tuple[str, str], ...]:
    return (("slipring-dropped", str(count)),)


def test_queue_messages_beyond_the_limit_the_oldest_goes(limited: Limited) -> None:
    broker = limited(queue_messages=2)
    broker.away("reader", ("t", 1))
    writer = broker.client("writer")
    publish_at(writer, 1, b"1", b"2")
    assert broker.reached("queue_messages") == 0
    publish_at(writer, 1, b"3", b"4")
    assert broker.reached("queue_messages") == 2, "counted while the client is away"
    assert waiting_for(broker, "reader") == [(b"3", told(2)), (b"4", None)]


def test_queue_bytes_beyond_the_limit_the_oldest_goes(limited: Limited) -> None:
    broker = limited(queue_bytes=1024)
    broker.away("reader", ("t", 1))
    writer = broker.client("writer")
    topic_bytes = len("t")
    halves = [letter * (512 - topic_bytes) for letter in (b"1", b"2")]
    publish_at(writer, 1, *halves)
    assert broker.reached("queue_bytes") == 0
    publish_at(writer, 1, b"3")
    assert broker.reached("queue_bytes") == 1
    assert waiting_for(broker, "reader") == [(halves[1], told(1)), (b"3", None)]


def test_outbox_bytes_a_message_that_finds_no_room_is_lost_and_told(limited: Limited) -> None:
    broker = limited(outbox_bytes=1024)
    reader, writer = broker.client("reader"), broker.client("writer")
    reader.send(V5.subscribe(1, "t"))
    reader.packet()
    overhead = len(V5.publish("t", b"x" * 500)) - 500
    publish_at(writer, 0, b"x" * (1024 - overhead))
    assert len(reader.packet().raw) == 1024
    assert broker.reached("outbox_bytes") == 0
    publish_at(writer, 0, b"x" * (1025 - overhead))
    publish_at(writer, 0, b"next")
    after = reader.packet()
    assert (after.payload, after.properties.get("user")) == (b"next", told(1))
    assert broker.reached("outbox_bytes") == 1


def retained(broker: LimitedBroker) -> list[str]:
    """The topics with a retained message."""
    reader = broker.client("reader")
    reader.send(V5.subscribe(1, "#"))
    reader.packet()
    return [message.topic for message in reader.waiting()]


NOBODY = 0x10
"""No matching subscribers: accepted."""


def test_retained_messages_a_further_topic_is_not_retained(limited: Limited) -> None:
    broker = limited(retained_messages=2)
    writer = broker.client("writer")
    assert [retain(writer, topic, b"1") for topic in "aba"] == [NOBODY] * 3
    assert broker.reached("retained_messages") == 0
    assert retain(writer, "c", b"1") == QUOTA
    assert broker.reached("retained_messages") == 1
    assert retain(writer, "a", b"") == NOBODY, "an empty one makes room"
    assert retain(writer, "c", b"1") == NOBODY
    assert retained(broker) == ["b", "c"]


def test_retained_bytes_what_has_no_room_is_not_retained(limited: Limited) -> None:
    entry_bytes = 384 + len("a")
    broker = limited(retained_bytes=1_000, owner_retained_percent=100, reserve_percent=0)
    writer = broker.client("writer")
    assert retain(writer, "a", b"x" * (1_000 - entry_bytes)) == NOBODY
    assert broker.reached("retained_bytes") == 0
    assert retain(writer, "a", b"x" * (1_001 - entry_bytes)) == QUOTA
    assert broker.reached("retained_bytes") == 1
    assert retained(broker) == ["a"], "the earlier one stays"


def test_waiting_messages_a_further_one_is_refused_or_costs_a_less_urgent_one(
    limited: Limited,
) -> None:
    broker = limited(waiting_messages=2)
    writer = broker.client("writer")
    assert [wait(writer, topic) for topic in "ab"] == [NOBODY] * 2
    assert broker.reached("waiting_messages") == 0
    assert wait(writer, "c") == QUOTA
    assert broker.reached("waiting_messages") == 1
    assert wait(writer, "d", priority="high") == NOBODY
    assert broker.reached("waiting_messages") == 2
    assert retained(broker) == ["d", "a"], "the more urgent first"


def test_waiting_bytes_what_has_no_room_is_refused(limited: Limited) -> None:
    broker = limited(waiting_bytes=1_000, owner_waiting_percent=100, reserve_percent=0)
    writer = broker.client("writer")
    assert wait(writer, "a/b", bytes(150)) == QUOTA, "a further level counts"
    assert wait(writer, "a", bytes(550)) == NOBODY
    assert broker.reached("waiting_bytes") == 1
    assert wait(writer, "b", bytes(50)) == QUOTA
    assert broker.reached("waiting_bytes") == 2


def test_journal_requests_a_further_one_is_told_to_ask_again(limited: Limited) -> None:
    broker = limited(journal_requests=1)
    asker = Asker(broker.client("asker"))
    assert asker.ask("about").status == FINE
    assert broker.reached("journal_requests") == 0
    asker.peer.send(*(asker.request("about") for _ in range(50)))
    answers = [asker.answer() for _ in range(50)]
    waiting = [answer for answer in answers if answer.status != FINE]
    assert 0 < len(waiting) < 50
    assert {answer.status for answer in waiting} == {ASK_AGAIN}
    assert "ask again" in waiting[0].text
    assert broker.reached("journal_requests") == len(waiting)


@pytest.mark.parametrize("version", [V5, V311])
def test_values_a_further_topic_is_carried_and_not_shown(
    limited: Limited, version: Version
) -> None:
    broker = limited(values=2)
    reader, writer = broker.client("reader"), broker.client("writer", version)
    reader.send(V5.subscribe(1, "#"))
    reader.packet()
    for topic in "ab":
        writer.send(writer.version.publish(topic, b"1"))
    writer.settle()
    assert broker.reached("values") == 0
    writer.send(writer.version.publish("c", b"1"))
    writer.settle()
    assert [reader.packet().topic for _ in "abc"] == ["a", "b", "c"]
    shown = overview(broker.running)
    assert {value["topic"] for value in shown["values"]} == {"a", "b"}
    assert broker.reached("values") == 1


def test_parameters_a_further_one_is_refused_with_its_whole_declaration(limited: Limited) -> None:
    broker = limited(parameters=2)
    writer = broker.client("writer")
    rows = [{"name": name, "type": "f64"} for name in "abc"]
    assert declare(writer, "table", parameters=rows[:1])["indices"] == [0]
    assert broker.reached("parameters") == 0
    assert declare(writer, "table", parameters=rows[1:])["error"] == "full"
    assert broker.reached("parameters") == 1
    assert declare(writer, "table", parameters=rows[:2])["indices"] == [0, 1]


def texts(table: int, *samples: tuple[int, str]) -> bytes:
    """A frame with texts of these indices."""
    rows = [(index, 1, 0, text) for index, text in samples]
    return encode_frame([("samples", TEXT, rows)], table=table, sequence=0, sent_ns=0)


def test_parameter_bytes_a_longer_text_is_refused_and_others_go_on(limited: Limited) -> None:
    broker = limited(parameter_bytes=100)
    writer, other, old = broker.client("writer"), broker.client("other"), broker.client("o", V311)
    rows = [{"name": name, "type": "text"} for name in "ab"] + [{"name": "n", "type": "u8"}]
    declared = declare(writer, "table", parameters=rows)
    a, b, _ = declared["indices"]

    def send(topic: str, payload: bytes, **options: Any) -> Packet:
        writer.send(V5.publish(topic, payload, qos=1, packet_id=1, **options))
        return writer.packet()

    def send_frame(*samples: tuple[int, str]) -> Packet:
        return send("frames", texts(declared["table"], *samples), properties=FRAME)

    assert send_frame((a, "x" * 40), (b, "y" * 60)).reason == 0
    assert broker.reached("parameter_bytes") == 0
    larger = [(a, "x"), (b, "y" * 61)]
    refusals = [send_frame((a, "x" * 41)), send("b", b"y" * 61), send_frame(*larger)]
    for refused in refusals:
        assert refused.reason == QUOTA
        assert "(limits.parameter_bytes)" in str(refused.properties["reason_string"][0])
    old.send(V311.publish("b", b"y" * 61, qos=1, packet_id=1))
    assert old.packet().kind is Kind.PUBACK, "it cannot be told, and is not sent away"
    assert broker.reached("parameter_bytes") == 4
    assert Metrics.of(broker.running)["slipring_table_value_bytes"] == 100
    other.send(V5.publish("n", b"7", qos=1, packet_id=1))
    assert other.packet().reason < QUOTA, "numbers have their place"
    assert send_frame((b, "y" * 59)).reason == 0
    assert send("a", b"x" * 41).reason < QUOTA
    found = ask(writer, "table/values", names=["a", "b"])["values"]
    assert [len(row["value"]) for row in found] == [41, 59]


def test_selection_bytes_a_further_selection_that_compares_is_refused(limited: Limited) -> None:
    broker = limited(selection_bytes=100, owner_selections_percent=100, reserve_percent=0)
    writer, reader = broker.client("writer"), broker.client("reader")
    rows = [{"name": f"n/{name}", "type": "f64"} for name in "abc"]
    declare(writer, "table", parameters=rows[:2])
    assert chosen(reader, "n/#", change="true").reasons == (0,)
    assert broker.reached("selection_bytes") == 0
    refused = chosen(reader, "n/a", "+/#", "n/b", deadband="2")
    assert refused.reasons == (QUOTA, QUOTA, QUOTA)
    assert "(limits.selection_bytes)" in str(refused.properties["reason_string"][0])
    assert broker.reached("selection_bytes") == 3
    assert chosen(reader, "+/#", rate="1").reasons == (0,), "without comparing there is room"
    assert chosen(reader, "n/#", deadband="2").reasons == (0,), "instead of its own"
    declare(writer, "table", parameters=rows)
    assert broker.reached("selection_bytes") == 4, "what is declared later is not compared"


def test_streams_a_further_one_is_refused_with_its_whole_declaration(limited: Limited) -> None:
    broker = limited(streams=2)
    writer = broker.client("writer")
    rows = [{"name": name, "media": "audio/pcm"} for name in "abc"]
    assert declare(writer, "streams", streams=rows[:1])["indices"] == [0]
    assert broker.reached("streams") == 0
    assert declare(writer, "streams", streams=rows[1:])["error"] == "full"
    assert broker.reached("streams") == 1
    assert declare(writer, "streams", streams=rows[:2])["indices"] == [0, 1]
