"""Who may do what: the defects that let others do what nobody allowed, each by its name, on every
transport.
"""

import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.access.paths import FRAME, LASTING, declare, frame_of
from tests.access.proofs import PASSWORDS, Way, by_certificate, connack, make_client_certificate
from tests.access.world import Rule, World, asked, heard, hears, published, subscribed
from tests.hostile.transports import TRANSPORTS, Transport
from tests.raw_mqtt import V5, V311, Kind, RawPeer, Will, properties
from tests.remote.asking import Asker

HOSTILE = ("#", "+", "+/+", "a/#", "$SYS", "a/b", ".*", "%u", "%c", "*", "a+", "x#")
"""Client identifiers and user names that would mean more than themselves in a pattern."""


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """A broker whose users have the hostile names, too."""
    made = World(tmp_path_factory.mktemp("hostile"))
    made.further_users(HOSTILE)
    yield made
    made.stop()


def peer_on(world: World, transport: Transport, client_id: str, **options: object) -> RawPeer:
    peer = transport.dial(world.broker, V5)
    named: dict[str, object] = {"username": "pass", "password": PASSWORDS["pass"].encode()}
    assert peer.connect(client_id, **(named | options)).reason == 0
    return peer


def grant(*rights: str, topics: tuple[str, ...], who: str = "user:pass") -> Rule:
    return Rule(who, rights, topics)


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("place", ["%c", "%u"])
def test_cve_2017_7650_and_cve_2026_44838_a_name_with_wildcards_is_no_pattern(
    world: World, transport: Transport, name: str, place: str
) -> None:
    """`own/%c/#` with the client identifier `#` must not mean `own/#/#`."""
    world.allow(
        grant("publish", "subscribe", "select", "journal", topics=(f"own/{place}/#",), who="known")
    )
    named = {"username": name, "password": b"hostile"} if place == "%u" else {}
    client_id = name if place == "%c" else "victimless"
    with world.boss() as boss, peer_on(world, transport, client_id, **named) as evil:
        assert subscribed(boss, "own/#") < 0x80
        for wanted in ("own/#", "own/+/x", "own/victim/#", "#", "own/+/#"):
            assert subscribed(evil, wanted) == 0x87, wanted
        assert published(evil, "own/victim/x", b"forged") == 0x87
        assert not hears(boss, b"forged")
        published(boss, "own/victim/x", b"secret")
        assert not hears(evil, b"secret")


def test_cve_2026_95846_a_will_that_nobody_authorised_refuses_the_connection(
    world: World, transport: Transport
) -> None:
    world.allow(grant("publish", topics=("fine/#",)))
    for topic, retain, reason in (
        ("secret/x", False, 0x87),
        ("fine/x", True, 0x87),  # it may publish, and not retain
        ("$SYS/broker/version", False, None),
        ("$slipring/to/all", False, None),
        ("fine/x", False, 0),
    ):
        peer = transport.dial(world.broker, V5)
        named = {"username": "pass", "password": PASSWORDS["pass"].encode()}
        answer = peer.connect("willing", will=Will(topic, b"will", retain=retain), **named)
        assert answer.reason == reason if reason is not None else answer.reason >= 0x80
        peer.close()


def test_cve_2026_95846_a_will_whose_right_was_taken_back_is_not_published(
    world: World, transport: Transport
) -> None:
    world.allow(grant("publish", topics=("will/#",)))
    with world.boss() as boss:
        assert subscribed(boss, "will/#") < 0x80
        leaver = peer_on(world, transport, "leaver", will=Will("will/x", b"unwanted"))
        world.allow()
        leaver.hang_up()
        peer_on(world, transport, "leaver").close()
        assert not hears(boss, b"unwanted")


def test_nats_2026_26_retained_stored_and_replayed_messages_do_not_skip_a_deny(
    world: World, transport: Transport
) -> None:
    base = next(world.names())
    everything = grant("subscribe", "journal", topics=(f"{base}/#", f"open/{base}"))
    denied = Rule("user:pass", ("subscribe", "journal"), (f"{base}/secret/#",), allows=False)
    world.allow(everything, denied)
    with world.boss() as boss:
        start = Asker(boss).ask("about").about[1]
        told = properties(user=("slipring-wait", "1"))
        published(boss, f"{base}/secret/kept", b"secret", retain=True)
        published(boss, f"{base}/secret/waits", b"secret", properties=told)
        published(boss, f"{base}/fine/kept", b"fine", retain=True)
        end = Asker(boss).ask("about").about[1]
        with peer_on(world, transport, base) as reader:
            for wanted in (f"{base}/#", f"{base}/+/kept", f"{base}/secret/kept", "#"):
                assert subscribed(reader, wanted) == 0x87, wanted
            assert subscribed(reader, f"{base}/fine/#") == 0
            assert [packet.payload for packet in heard(reader)] == [b"fine"]
            topics = {one.topic for one in Asker(reader).read(start, end).messages}
            assert topics == {f"{base}/fine/kept"}
        # What waits is for the first who may have it.
        assert subscribed(boss, f"{base}/secret/waits") < 0x80
        assert hears(boss, b"secret")


def test_nats_2026_17_and_18_overlapping_wildcards_and_shares_do_not_go_around_a_deny(
    tmp_path_factory: pytest.TempPathFactory, transport: Transport
) -> None:
    """Where wide subscriptions are narrowed: whatever overlaps, what is denied does not come."""
    world = World(tmp_path_factory.mktemp("narrowed"), wide="narrow")
    try:
        reads = grant("subscribe", topics=("#",))
        world.allow(reads, Rule("user:pass", ("subscribe",), ("+/secret/#",), allows=False))
        wanted = ("#", "a/#", "+/secret/+", "a/+/x", "a/secret/x", "$share/g/#", "$share/h/a/+/x")
        with peer_on(world, transport, "reader") as reader, world.boss() as boss:
            reasons = {one: subscribed(reader, one) for one in wanted}
            assert reasons["#"] == 0
            assert reasons["a/secret/x"] == reasons["+/secret/+"] == 0x87
            published(boss, "a/secret/x", b"secret")
            published(boss, "a/fine/x", b"fine")
            published(boss, "a/secret/x", b"secret", retain=True)
            got = heard(reader)
            assert {packet.topic for packet in got} == {"a/fine/x"}
    finally:
        world.stop()


def test_nats_2026_18_a_share_gives_each_message_to_a_member_that_may_have_it(
    world: World, transport: Transport
) -> None:
    base = next(world.names())
    world.allow(grant("subscribe", topics=(f"{base}/#",)))
    with peer_on(world, transport, f"{base}-1") as member, world.boss() as boss:
        assert subscribed(member, f"$share/g/{base}/#") == 0
        with world.boss() as other:
            assert subscribed(other, f"$share/g/{base}/#") == 0
            world.allow(grant("subscribe", topics=(f"{base}/fine",)))
            for word in ("secret", "fine"):
                for number in range(10):
                    published(boss, f"{base}/{word}", b"%d" % number)
            mine, others = heard(member), heard(other)
            assert {packet.topic for packet in mine} == {f"{base}/fine"}
            assert sum(packet.topic == f"{base}/secret" for packet in others) == 10
            assert len(mine) + len(others) == 20
            other.send(V5.disconnect())
            assert other.closed()
        told = properties(user=("slipring-wait", "1"))
        assert published(boss, f"{base}/secret", b"nobody", properties=told) in {0, 0x10}
        assert not hears(member, b"nobody")
        assert subscribed(boss, f"{base}/secret") < 0x80
        assert hears(boss, b"nobody"), "it waited for somebody who may have it"


def test_cve_2021_34434_a_subscription_in_a_stored_session_gives_nothing_after_the_right_is_gone(
    world: World, transport: Transport
) -> None:
    base = next(world.names())
    world.allow(grant("subscribe", topics=(f"{base}/#",)))
    with peer_on(world, transport, base, clean=False, properties=LASTING) as stored:
        assert subscribed(stored, f"{base}/#", 1) == 1
        assert subscribed(stored, f"open/{base}", 1) == 1
    world.allow()
    with world.boss() as boss:
        published(boss, f"{base}/a", b"secret")
        published(boss, f"open/{base}", b"sign")
    with peer_on(world, transport, base, clean=False, properties=LASTING) as back:
        assert back.until(Kind.PUBLISH)[-1].payload == b"sign"


def test_cve_2018_12546_a_retained_message_is_shown_only_to_who_may_read_it_now(
    world: World, transport: Transport
) -> None:
    base = next(world.names())
    world.allow(grant("publish", "retain", "subscribe", topics=(f"{base}/#",)))
    with peer_on(world, transport, base) as writer:
        assert published(writer, f"{base}/kept", b"kept", retain=True) in {0, 0x10}
        world.allow(grant("subscribe", topics=(f"{base}/other",)))
        assert subscribed(writer, f"{base}/kept") == 0x87
        assert published(writer, f"{base}/kept", b"forged", retain=True) == 0x87
        assert published(writer, f"{base}/kept", b"", retain=True) == 0x87
        assert not hears(writer, b"kept")


@pytest.mark.parametrize("file", ["absent", "empty", "unreadable", "broken"])
def test_cve_2018_12550_and_cve_2017_7652_a_rules_file_that_is_no_use_allows_nothing(
    tmp_path: Path, file: str
) -> None:
    """Without rules users may do nothing; a file that cannot be read stops the start, and a reload
    that fails leaves what was.
    """
    world = World(tmp_path)
    try:
        world.allow(grant("publish", topics=("fine/#",)))
        with peer_on(world, TRANSPORTS[0], "client") as client:
            config = world.configured.file
            text = config.read_text(encoding="utf-8")
            rules = text.index("[[access.rule]]")
            if file == "empty":  # the rules are gone: nobody may do anything
                world.configured.reload(text[:rules].replace('name = "world-', 'name = "empty-'))
                world.configured.line("name is 'empty-")
                assert published(client, "fine/x") == 0x87
                assert subscribed(client, "#") == 0x87
                return
            if file == "absent":
                config.unlink()
            elif file == "unreadable":
                config.unlink()
                config.mkdir()
            else:
                config.write_text(text + "[[access.rule]]\nwho = [")
            world.broker.process.send_signal(signal.SIGHUP)
            world.configured.line("config")
            assert published(client, "fine/x") < 0x80
            assert published(client, "secret/x") == 0x87
            command = [sys.executable, "-m", "slipring", "serve", "--config", str(config)]
            started = subprocess.run(command, capture_output=True, check=False, timeout=60)
            assert started.returncode != 0
    finally:
        world.stop()


def test_cve_2016_9877_a_name_without_its_password_is_refused(
    world: World, transport: Transport
) -> None:
    world.allow()
    for version, given in (
        (V5, {}),
        (V5, {"password": b""}),
        (V311, {}),
        (V311, {"password": b""}),
    ):
        with transport.dial(world.broker, version) as peer:
            answer = peer.connect("nameless", username="boss", **given)
            assert answer.reason in ({0x86, 0x87} if version is V5 else {4, 5})
            assert peer.closed()


@pytest.mark.parametrize("name", ["Boss", "boss.", "xboss", "#", "+", "cert, CN=boss"])
def test_cve_2026_33248_a_certificate_is_the_name_that_it_has_and_no_other(
    world: World, name: str
) -> None:
    """It gives the rights of its own common name: not of one that is like it, nor of a pattern."""
    boss_only = grant("publish", topics=("boss/#",), who="user:boss")
    world.allow(boss_only, grant("publish", topics=("own/%u/#",), who="known"))
    file = f"named-{HOSTILE.index(name) if name in HOSTILE else len(name)}-{name[0].isalpha()}"
    make_client_certificate(world.folder, name, file=file)
    way = Way(world.broker, TRANSPORTS[1], world.folder, V5)
    for options in ({}, {"username": "boss"}):
        with by_certificate(way, "certified", dict(options), file=file) as peer:
            if connack(peer).reason == 0:
                for topic in ("boss/x", "own/boss/x", "own/victim/x"):
                    assert published(peer, topic) == 0x87, topic


def test_what_exists_is_not_told_by_an_error(world: World, transport: Transport) -> None:
    """The same answers for a parameter, a stream and a topic that are there, and that are not."""
    base = next(world.names())
    world.allow(grant("publish", "subscribe", "select", "declare", "stream", topics=("mine/#",)))
    with peer_on(world, transport, base) as curious, world.boss() as boss:
        declare(boss, base, "p")
        stream = {"prefix": base, "streams": [{"name": "s", "media": "audio/pcm"}]}
        assert "indices" in asked(boss, "streams/declare", stream)
        published(boss, f"{base}/kept", b"1", retain=True)

        def told(what: str, body: dict[str, object]) -> str:
            return str(asked(curious, what, body)).replace("/none", "/p").replace("/void", "/s")

        for there, absent in ((f"{base}/p", f"{base}/none"), (f"{base}/s", f"{base}/void")):
            questions: list[tuple[str, dict[str, object], dict[str, object]]] = [
                ("table/find", {"names": [there]}, {"names": [absent]}),
                ("table/values", {"names": [there]}, {"names": [absent]}),
                ("table/select", {"names": [there]}, {"names": [absent]}),
                ("table/remove", {"names": [there]}, {"names": [absent]}),
                ("table/list", {"filter": there}, {"filter": absent}),
                ("streams/list", {"filter": there}, {"filter": absent}),
                ("streams/remove", {"names": [there]}, {"names": [absent]}),
            ]
            for what, one, other in questions:
                assert told(what, one) == told(what, other), what
            for what, key in (("table/declare", "parameters"), ("streams/declare", "streams")):
                kind = {"type": "f64"} if key == "parameters" else {"media": "x/y"}
                one = {key: [{"name": there, **kind}]}
                other = {key: [{"name": absent, **kind}]}
                assert told(what, one) == told(what, other), what
            assert published(curious, there) == published(curious, absent) == 0x87
            assert subscribed(curious, there) == subscribed(curious, absent) == 0x87
        assert subscribed(curious, f"{base}/kept") == subscribed(curious, f"{base}/nope") == 0x87


def test_a_refused_frame_names_no_parameter_of_others(world: World, transport: Transport) -> None:
    """A client that sends samples of any index learns nothing of whose they are."""
    base = next(world.names())
    world.allow()
    with peer_on(world, transport, base) as curious, world.boss() as boss:
        made = frame_of(declare(boss, base, "hidden"))
        told = properties(content_type=FRAME)
        curious.send(V5.publish("x", made, qos=1, packet_id=1, properties=told))
        refused = curious.until(Kind.PUBACK)[-1]
        assert refused.reason == 0x87
        assert base not in str(refused.properties)


def test_changes_of_the_table_are_told_only_to_who_may_see_what_changed(
    world: World, transport: Transport
) -> None:
    base = next(world.names())
    world.allow(grant("select", "stream", topics=(f"{base}/mine/#",)))
    filters = ("$slipring/#", "$slipring/+/changes", "$slipring/table/changes")
    with peer_on(world, transport, base) as curious, world.boss() as boss:
        for wanted in filters:
            subscribed(curious, wanted)
        declare(boss, f"{base}/theirs", "p")
        stream = {"prefix": f"{base}/theirs", "streams": [{"name": "s", "media": "audio/pcm"}]}
        asked(boss, "streams/declare", stream)
        assert heard(curious) == []
        declare(boss, f"{base}/mine", "p")
        assert [packet.topic for packet in heard(curious)] == ["$slipring/table/changes"]
