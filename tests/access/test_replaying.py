"""A client that plays a recording again needs `replay` instead of `publish`, and only while its
connection says so.
"""

from tests.access.further_paths import REPLAYING
from tests.access.paths import FRAME, LASTING, ask, declare, frame, frame_of
from tests.access.proofs import PASSWORDS
from tests.access.world import Rule, World, hears, published, subscribed
from tests.raw_mqtt import RawPeer, Will, properties

PASS = {"username": "pass", "password": PASSWORDS["pass"].encode()}
SAMPLES = properties(content_type=FRAME)
DENIED = 0x87


def client(world: World, client_id: str, given: bytes = REPLAYING, **options: object) -> RawPeer:
    peer = RawPeer(world.broker.host, world.broker.port)
    assert peer.connect(client_id, **PASS, properties=given, **options).reason == 0
    return peer


def may(base: str, *rights: str) -> Rule:
    return Rule("user:pass", rights, (f"{base}/#",))


def test_who_may_publish_may_not_play_a_recording_again(world: World) -> None:
    base = next(world.names())
    world.allow(may(base, "publish", "retain", "declare"))
    with client(world, base) as peer:
        assert published(peer, f"{base}/a") == DENIED
        assert published(peer, f"{base}/a", retain=True) == DENIED
        assert frame(peer, base, "p", 1.0) != 0
    with client(world, base, b"") as peer:
        assert published(peer, f"{base}/a") in {0, 0x10}


def test_the_mark_is_of_the_connection_and_not_of_its_session(world: World) -> None:
    """What the session has declared is judged again when its client comes back otherwise."""
    base = next(world.names())
    world.allow(may(base, "publish", "declare"))
    with client(world, base, LASTING, clean=False) as peer:
        made = frame_of(declare(peer, base, "p"))
        assert published(peer, "frames", made, properties=SAMPLES) == 0
        peer.hang_up()
    with client(world, base, REPLAYING + LASTING, clean=False) as peer:
        assert published(peer, "frames", made, properties=SAMPLES) != 0
        assert published(peer, f"{base}/a") == DENIED
    with client(world, base, LASTING, clean=False) as peer:
        assert published(peer, "frames", made, properties=SAMPLES) == 0
        assert published(peer, f"{base}/a") in {0, 0x10}


def test_requests_and_the_will_need_what_they_always_need(world: World) -> None:
    base = next(world.names())
    world.allow(may(base, "publish", "request"))
    with world.boss() as boss:
        assert subscribed(boss, f"$slipring/serve/9/{base}/work") < 0x80
        assert subscribed(boss, f"{base}/will") < 0x80
        peer = client(world, base, will=Will(f"{base}/will", b"gone"))
        assert ask(peer, f"{base}/work", "asked") == 0
        assert hears(boss, b"asked")
        peer.hang_up()
        with client(world, base):  # after the will is on its way
            assert hears(boss, b"gone")
