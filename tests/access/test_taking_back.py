"""Rights that are taken back from what a client has already: queues, wills, retained messages on
their way, open requests, streams, sessions of an earlier run (T13).
"""

from pathlib import Path

import pytest

from tests.access.paths import LASTING, ask, declare, declare_stream
from tests.access.proofs import KEYS_FILE, PASSWORDS, Way, by_token, connack, make_token
from tests.access.world import (
    Cell,
    Rule,
    World,
    asked,
    heard,
    hears,
    hears_before,
    published,
    subscribed,
)
from tests.hostile.transports import TCP
from tests.raw_mqtt import V5, Kind, RawPeer, Will, properties

NO_KEYS = '{"keys": []}'
PASS = {"username": "pass", "password": PASSWORDS["pass"].encode()}


def client(world: World, client_id: str, **options: object) -> RawPeer:
    peer = RawPeer(world.broker.host, world.broker.port)
    assert peer.connect(client_id, **PASS, **options).reason == 0
    return peer


def may(*rights: str, topics: tuple[str, ...] = ("t/#",)) -> Rule:
    return Rule("user:pass", rights, topics)


@pytest.mark.parametrize("qos", [1, 2])
def test_what_waits_for_a_client_that_is_away_is_not_sent_any_more(world: World, qos: int) -> None:
    base = next(world.names())
    world.allow(may("subscribe", topics=(f"{base}/#",)))
    with client(world, base, clean=False, properties=LASTING) as away:
        assert subscribed(away, f"{base}/#", qos) == qos
        assert subscribed(away, f"open/{base}", 1) == 1
        away.send(V5.disconnect())
        assert away.closed()
    with world.boss() as boss:
        published(boss, f"{base}/secret", b"secret")
        published(boss, f"{base}/fine", b"fine")
        world.allow(may("subscribe", topics=(f"{base}/fine",)))
        published(boss, f"open/{base}", b"sign")
    with client(world, base, clean=False, properties=LASTING) as back:
        found = []
        while (packet := back.until(Kind.PUBLISH)[-1]).topic != f"open/{base}":
            found.append(packet.payload)
        assert found == [b"fine"]


def test_a_message_in_flight_is_not_sent_again(world: World) -> None:
    """At QoS 2, unacknowledged when its connection was lost."""
    base = next(world.names())
    world.allow(may("subscribe", topics=(f"{base}/#",)))
    lost = client(world, base, clean=False, properties=LASTING)
    assert subscribed(lost, f"{base}/#", 2) == 2
    assert subscribed(lost, f"open/{base}", 1) == 1
    with world.boss() as boss:
        boss.send(V5.publish(f"{base}/secret", b"secret", qos=2, packet_id=1))
        assert boss.packet().kind is Kind.PUBREC
        boss.send(V5.pubrel(1))
        assert boss.packet().kind is Kind.PUBCOMP
        assert lost.until(Kind.PUBLISH)[-1].payload == b"secret"
        lost.hang_up()
        world.allow()
        published(boss, f"open/{base}", b"sign")
    with client(world, base, clean=False, properties=LASTING) as back:
        assert not hears_before(back, f"open/{base}", b"secret")


def test_the_session_of_an_earlier_run_gets_only_what_the_rules_of_this_run_allow(
    tmp_path: Path,
) -> None:
    world = World(tmp_path)
    world.allow(may("subscribe"))
    with client(world, "kept", clean=False, properties=LASTING) as away, world.boss() as boss:
        assert subscribed(away, "t/#", 1) == 1
        assert subscribed(away, "open/kept", 1) == 1
        away.send(V5.disconnect())
        assert away.closed()
        published(boss, "t/secret", b"secret")
        published(boss, "t/fine", b"fine")
        published(boss, "open/kept", b"sign")
    world.stop()
    again = World(tmp_path, may("subscribe", topics=("t/fine",)))
    try:
        with client(again, "kept", clean=False, properties=LASTING) as back:
            found = []
            while (packet := back.until(Kind.PUBLISH)[-1]).topic != "open/kept":
                found.append(packet.payload)
            assert found == [b"fine"]
    finally:
        again.stop()


def test_a_stored_request_of_an_earlier_run_ends_if_its_asker_may_not_ask_any_more(
    tmp_path: Path,
) -> None:
    world = World(tmp_path)
    world.allow(may("request"))
    with client(world, "kept", clean=False, properties=LASTING) as away:
        assert ask(away, "t/work", "denied") == 0
        assert ask(away, "t/fine", "allowed") == 0
        away.send(V5.disconnect())
        assert away.closed()
    world.stop()
    again = World(tmp_path, may("request", topics=("t/fine",)))
    try:
        with (
            client(again, "kept", clean=False, properties=LASTING) as back,
            again.boss() as service,
        ):
            end = back.until(Kind.PUBLISH)[-1]
            assert ("slipring-status", "cancelled") in end.properties["user"]
            assert subscribed(service, "$slipring/serve/9/t/#") < 0x80
            assert service.until(Kind.PUBLISH)[-1].payload == b"allowed"
            assert not hears(service, b"denied")
    finally:
        again.stop()


def test_what_waited_at_qos_0_stays_for_who_has_lost_nothing(world: World) -> None:
    """The rules of somebody else change: nobody is disturbed."""
    base = next(world.names())
    mine = may("subscribe", topics=(f"{base}/#",))
    world.allow(mine)
    with client(world, base) as reader, world.boss() as boss:
        assert subscribed(reader, f"{base}/#") == 0
        for number in range(200):
            boss.send(V5.publish(f"{base}/a", str(number).encode()))
        boss.settle()
        world.allow(mine, Rule("user:scram", ("publish",), ("x",)))
        world.allow(mine, may("publish", topics=(f"{base}/more",)))
        assert [packet.payload for packet in heard(reader)] == [b"%d" % one for one in range(200)]


def test_a_client_without_a_right_to_serve_gives_its_requests_back(world: World) -> None:
    base = next(world.names())
    serves = f"$slipring/serve/1/{base}/#"
    world.allow(may("serve", topics=(f"{base}/#",)))
    with client(world, base) as service, world.boss() as boss, world.boss() as other:
        assert subscribed(service, serves) < 0x80
        told = properties(
            response_topic="answers",
            correlation_data=b"1",
            user=[("slipring-timeout", "60"), ("slipring-retry", "1"), ("slipring-wait", "1")],
        )
        assert published(boss, f"{base}/work", b"compute", properties=told) == 0
        request = service.until(Kind.PUBLISH)[-1]
        assert subscribed(other, serves) < 0x80
        world.allow()
        handed = other.until(Kind.PUBLISH)[-1]
        assert handed.payload == b"compute"
        key = request.topic.split("/")[2]
        assert published(service, f"$slipring/answer/{key}", b"too late") == 0x10
        assert published(other, f"$slipring/answer/{handed.topic.split('/')[2]}", b"so") == 0
        assert boss.until(Kind.PUBLISH)[-1].payload == b"so"


def test_only_who_was_given_a_request_answers_it(world: World) -> None:
    base = next(world.names())
    world.allow(may("all"))
    with client(world, base) as stranger, world.boss() as boss, world.boss() as service:
        assert subscribed(service, f"$slipring/serve/1/{base}/#") < 0x80
        assert ask(boss, f"{base}/work", "what") == 0
        key = service.until(Kind.PUBLISH)[-1].topic.split("/")[2]
        never = "0" * len(key)
        reasons = {published(stranger, f"$slipring/answer/{one}", b"lie") for one in (key, never)}
        assert reasons == {0x10}, "the same for a request that never was"
        assert published(service, f"$slipring/answer/{key}", b"truth") == 0
        assert boss.until(Kind.PUBLISH)[-1].payload == b"truth"


def test_an_asker_without_the_right_is_told_that_its_requests_are_cancelled(world: World) -> None:
    """The one that a service has, which is told, too, and the one that waits for a service."""
    base = next(world.names())
    world.allow(may("request", topics=(f"{base}/#",)))
    with client(world, base) as asker, world.boss() as service:
        assert subscribed(service, f"$slipring/serve/1/{base}/work") < 0x80
        assert subscribed(service, "$slipring/cancelled") < 0x80
        assert ask(asker, f"{base}/work", "what") == 0
        assert ask(asker, f"{base}/nobody", "else") == 0
        request = service.until(Kind.PUBLISH)[-1]
        world.allow()
        for _ in range(2):
            end = asker.until(Kind.PUBLISH)[-1]
            assert ("slipring-status", "cancelled") in end.properties["user"]
            assert any("taken back" in str(pair) for pair in end.properties["user"])
        assert service.until(Kind.PUBLISH)[-1].topic == "$slipring/cancelled"
        key = request.topic.split("/")[2]
        assert published(service, f"$slipring/answer/{key}", b"late") == 0x10
        assert subscribed(service, f"$slipring/serve/9/{base}/#") < 0x80
        assert not heard(service)


def test_a_stream_that_is_still_allowed_goes_on_where_it_was(world: World) -> None:
    base = next(world.names())
    everything = may("stream", topics=(f"{base}/#", f"{base}-2/#"))
    world.allow(everything)
    with client(world, base) as reader, world.boss() as boss:
        for name in (base, f"{base}-2"):
            one = {"name": "s", "media": "audio/pcm"}
            assert "indices" in asked(boss, "streams/declare", {"prefix": name, "streams": [one]})
        assert subscribed(reader, "#", deliver="stream") == 0
        for name in (base, f"{base}-2"):
            published(boss, f"{name}/s", b"before")
        assert len(heard(reader)) == 2
        world.allow(may("stream", topics=(f"{base}/#",)))
        for name in (base, f"{base}-2"):
            published(boss, f"{name}/s", b"after")
        found = [(packet.topic, packet.payload) for packet in heard(reader)]
        assert found == [(f"{base}/s", b"after")], "nothing twice, nothing of the other"


def test_a_selection_is_narrowed_and_widened_while_its_client_says_nothing(world: World) -> None:
    base = next(world.names())
    world.allow(may("select", topics=(f"{base}/a", f"{base}/b")))
    with client(world, base) as reader, world.boss() as boss:
        declare(boss, base, "a")
        declare(boss, base, "b")
        assert subscribed(reader, f"{base}/#", deliver="json", beat="0") == 0
        for allowed in (("a",), ("a", "b"), (), ("b",)):
            world.allow(may("select", topics=tuple(f"{base}/{one}" for one in ("x", *allowed))))
            heard(reader)
            for one in ("a", "b"):
                published(boss, f"{base}/{one}", b"1.5")
            got = {packet.topic for packet in heard(reader)}
            assert got == {f"{base}/{one}" for one in allowed}


def test_a_will_of_a_user_that_was_removed_is_not_published(tmp_path: Path) -> None:
    world = World(tmp_path)
    try:
        world.allow(Rule("known", ("publish",), ("t/#",)))
        with world.boss() as boss:
            assert subscribed(boss, "t/#") < 0x80
            leaver = client(world, "leaver", will=Will("t/will", b"gone"))
            text = world.configured.file.read_text(encoding="utf-8")
            head, _, rest = text.partition("[[user]]\nname = 'pass'")
            removed = head + rest.partition("[[user]]")[1] + rest.partition("[[user]]")[2]
            world.configured.reload(removed.replace('name = "world-', 'name = "later-'))
            world.configured.line("name is 'later-")
            with leaver:
                assert leaver.packet().reason == 0x87
                assert leaver.closed()
            world.boss("leaver").close()  # let in once the will has gone, or has not
            assert not hears(boss, b"gone")
    finally:
        world.stop()


@pytest.mark.parametrize("is_away", [False, True])
def test_a_will_of_a_client_whose_token_was_taken_back_is_not_published(
    tmp_path: Path, is_away: bool
) -> None:
    world = World(tmp_path)
    way = Way(world.broker, TCP, tmp_path, V5)
    will = Will("t/will", b"gone", properties=properties(will_delay=600) if is_away else b"")
    kept = {"clean": False, "properties": LASTING}
    try:
        world.allow(Rule("claim:site=north", ("publish",), ("t/#",)))
        with world.boss() as boss, by_token(way, "witness", {}) as witness:
            assert subscribed(boss, "t/#") < 0x80
            assert connack(witness).reason == 0
            leaver = by_token(way, "leaver", {"will": will, **kept})
            assert connack(leaver).reason == 0
            if is_away:
                leaver.hang_up()
            (tmp_path / KEYS_FILE).write_text(NO_KEYS)
            for peer in (witness,) if is_away else (witness, leaver):
                assert peer.packet().reason == 0x87
                assert peer.closed()
            leaver.close()
            world.allow(Rule("claim:site=north", ("publish",), ("t/#", "u/#")))
            make_token(tmp_path)
            while connack(back := by_token(way, "leaver", {})).reason != 0:
                back.close()  # the keys are read again within a second
            back.close()
            assert not hears(boss, b"gone")
    finally:
        world.stop()


def test_a_suback_does_not_tell_which_parameters_exist(tmp_path: Path) -> None:
    """Where wide filters are narrowed, a filter reaches over names that its client may not see."""
    world = World(tmp_path, wide="narrow")
    try:
        world.allow(may("subscribe", topics=("mine/#",)))
        with client(world, "curious") as curious, world.boss() as boss:
            declare(boss, "theirs", "there")
            told = []
            for wanted in ("+/there", "+/absent"):
                curious.send(V5.subscribe(1, (wanted, 0)))
                suback = curious.until(Kind.SUBACK)[-1]
                told.append((suback.reasons, suback.properties))
            assert told[0] == told[1]
    finally:
        world.stop()


def test_a_retained_message_is_not_shown_to_a_session_that_lost_the_right(world: World) -> None:
    base = next(world.names())
    world.allow(may("subscribe", topics=(f"{base}/#",)))
    with client(world, base) as reader, world.boss() as boss:
        published(boss, f"{base}/kept", b"kept", retain=True)
        assert subscribed(reader, f"{base}/#") == 0
        assert hears(reader, b"kept")
        world.allow(may("subscribe", topics=(f"{base}/other",)))
        assert subscribed(reader, f"{base}/#") == 0x87
        assert subscribed(reader, f"{base}/kept") == 0x87
        assert subscribed(reader, f"{base}/never") == 0x87, "as one that does not exist"
        assert not hears(reader, b"kept")


def test_a_stream_of_a_client_that_lost_the_right_takes_no_chunk(world: World) -> None:
    base = next(world.names())
    world.allow(may("stream", topics=(f"{base}/#",)))
    with client(world, base) as sender, world.boss() as boss:
        cell = Cell(world, None, None, V5, base, boss)  # type: ignore[arg-type]
        assert "indices" in declare_stream(sender, cell)
        assert published(sender, f"{base}/s", b"1") < 0x80
        world.allow()
        assert published(sender, f"{base}/s", b"2") == 0x87
