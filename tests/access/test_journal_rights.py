"""The journal for a reader that may have some of it: record by record, with offsets that go on."""

import struct
from collections.abc import Iterator

import pytest

from slipring.credentials import BrokerCredentials
from slipring.errors import JournalError
from slipring.journal.columns import record_batch
from slipring.journal.location import JournalBroker
from tests.access.paths import declare, frame
from tests.access.proofs import PASSWORDS
from tests.access.world import Rule, World, published
from tests.raw_mqtt import RawPeer
from tests.remote.asking import FINE, NOT_ALLOWED, Asker
from tests.remote.test_definitions import pages


def reader(world: World) -> JournalBroker:
    return JournalBroker(world.broker.url, BrokerCredentials("pass", PASSWORDS["pass"].encode()))


def may_read(*topics: str) -> Rule:
    return Rule("user:pass", ("journal",), topics)


@pytest.fixture
def boss(world: World) -> Iterator[RawPeer]:
    with world.boss() as peer:
        yield peer


def read(world: World, start: int, end: int, bytes_max: int = 1 << 20) -> list[tuple[int, str]]:
    """Offsets and topics that Slipring's own reader gets, in as many calls as it takes."""
    opened, found = reader(world).open(), list[tuple[int, str]]()
    while start < end:
        columns = opened.read(start, end, bytes_max)
        assert columns.end > start
        rows = record_batch(columns)
        found += zip(
            rows.column("offset").to_pylist(), rows.column("topic").to_pylist(), strict=True
        )
        start = columns.end
    return found


@pytest.mark.parametrize("bytes_max", [1, 300, 1 << 20])
def test_a_reader_gets_what_it_may_have_at_the_offsets_that_it_has(
    world: World, boss: RawPeer, bytes_max: int
) -> None:
    base = next(world.names())
    start = Asker(boss).ask("about").about[1]
    for number in range(60):
        published(boss, f"{base}/{'open' if number % 7 < 2 else 'secret'}", b"%d" % number)
    world.allow(may_read(f"{base}/open"))
    wanted = [(start + number, f"{base}/open") for number in range(60) if number % 7 < 2]
    assert read(world, start, start + 60, bytes_max) == wanted
    world.allow(may_read(f"{base}/#"))
    assert len(read(world, start, start + 60, bytes_max)) == 60
    world.allow(may_read("elsewhere/#"))
    assert read(world, start, start + 60, bytes_max) == []


def test_what_is_withheld_tells_nothing_but_its_offsets(world: World, boss: RawPeer) -> None:
    base = next(world.names())
    start = Asker(boss).ask("about").about[1]
    for _ in range(10):
        published(boss, f"{base}/secret", b"secret payload")
    world.allow(may_read("elsewhere"))
    with RawPeer(world.broker.host, world.broker.port) as peer:
        named = {"username": "pass", "password": PASSWORDS["pass"].encode()}
        assert peer.connect("reads", **named).reason == 0
        answer = Asker(peer).read(start, start + 10)
        assert (answer.status, answer.end, answer.messages) == (FINE, start + 10, [])
        batches = answer.content[24:]
        assert len(batches) == 44, "one header for all of them"
        magic, length, base_offset, count, receive_ns, *_ = struct.unpack("<4sIQIqIIII", batches)
        assert (magic, length, base_offset, count) == (b"SLPB", 0, start, 10)
        assert receive_ns == 0
        world.allow()
        refused = Asker(peer).read(start, start + 10)
        assert refused.status == NOT_ALLOWED


def test_a_frame_is_for_who_may_read_each_of_its_parameters(world: World, boss: RawPeer) -> None:
    base = next(world.names())
    start = Asker(boss).ask("about").about[1]
    for name in ("a", "b"):
        assert frame(boss, base, name, 1.0) == 0
    end = Asker(boss).ask("about").about[1]
    for allowed, count in ((("a",), 1), (("a", "b"), 2), (("none",), 0)):
        world.allow(may_read(*(f"{base}/{one}" for one in allowed)))
        assert [topic for _, topic in read(world, start, end)] == ["frames"] * count


def test_definitions_and_samples_are_those_of_parameters_that_may_be_read(
    world: World, boss: RawPeer
) -> None:
    base = next(world.names())
    for name in ("a", "b"):
        declare(boss, base, name)
    start = Asker(boss).ask("about").about[1]
    for name in ("a", "b", "a"):
        published(boss, f"{base}/{name}", b"1.5")
    end = Asker(boss).ask("about").about[1]
    world.allow(may_read(f"{base}/a"))
    _, pairs = reader(world).open().samples(start, end)
    offsets = [struct.unpack_from("<QI", pairs, at)[0] for at in range(0, len(pairs), 12)]
    assert offsets == [start, start + 2]
    with RawPeer(world.broker.host, world.broker.port) as peer:
        named = {"username": "pass", "password": PASSWORDS["pass"].encode()}
        assert peer.connect("defines", **named).reason == 0
        names = {one["name"] for some in pages(Asker(peer)) for one in some}
    assert {name for name in names if name.startswith(f"{base}/")} == {f"{base}/a"}
    assert names == {f"{base}/a"}


def test_who_may_read_a_part_commits_no_position_of_another_consumer(
    world: World, boss: RawPeer
) -> None:
    """What a consumer has not read is kept: to say that it has would remove it."""
    base = next(world.names())
    published(boss, f"{base}/a", b"1")
    about = Asker(boss).ask("about")
    position = bytes.fromhex(about.identity) + struct.pack("<QQ", about.about[1], 0)
    assert Asker(boss).ask("commit", position + b"lake").status == FINE
    named = {"username": "pass", "password": PASSWORDS["pass"].encode()}
    with RawPeer(world.broker.host, world.broker.port) as peer:
        world.allow(may_read(f"{base}/#"))
        assert peer.connect("commits", **named).reason == 0
        for consumer, status in ((b"lake", NOT_ALLOWED), (b"new", NOT_ALLOWED), (b"pass", FINE)):
            assert Asker(peer).ask("commit", position + consumer).status == status, consumer
        world.allow(may_read("#"))
        assert Asker(peer).ask("commit", position + b"lake").status == FINE


def test_a_reader_that_lost_the_right_meanwhile_is_refused(world: World, boss: RawPeer) -> None:
    base = next(world.names())
    start = Asker(boss).ask("about").about[1]
    published(boss, f"{base}/a", b"1")
    world.allow(may_read(f"{base}/#"))
    opened = reader(world).open()
    assert opened.read(start, start + 1, 100).end == start + 1
    published(boss, f"{base}/a", b"2")
    world.allow()
    with pytest.raises(JournalError, match="right `journal`"):
        opened.read(start + 1, start + 2, 100)
