"""Every path on which something reaches somebody: what right it needs, how a client begins it, and
how it is seen whether it works.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from slipring.native import encode_frame
from tests.access.world import Cell, asked, heard, hears, hears_before, published, subscribed
from tests.raw_mqtt import V5, V311, Kind, RawPeer, Version, Will, properties
from tests.remote.asking import FINE, Asker

FRAME = "application/vnd.slipring.frame"
F64 = 11
LASTING = properties(session_expiry=600)
Step = Callable[[Cell], bool]


@dataclass(frozen=True)
class AccessPath:
    """`begin` asks for it once, `use` shows whether it works; both say whether it was allowed."""

    name: str
    rights: tuple[str, ...]
    begin: Step
    use: Step
    topics: tuple[str, ...] = ("{base}/#",)
    version: Version = V5


def connected(cell: Cell) -> bool:
    """Nothing but a connection is needed before it is used."""
    return cell.client is not None or cell.connect()


def declare(peer: RawPeer, base: str, name: str) -> dict[str, Any]:
    one = {"name": name, "type": "f64"}
    return asked(peer, "table/declare", {"prefix": base, "parameters": [one]})


def frame_of(found: dict[str, Any], value: float = 1.0) -> bytes:
    """A frame with a sample of each parameter whose index the broker has answered."""
    indices = np.array(found["indices"], np.uint32)
    values = np.full(len(indices), value)
    run = ("row", F64, indices, time.time_ns(), values, 0)
    return encode_frame([run], table=found["table"], sequence=0, sent_ns=0)  # type: ignore[list-item]


def frame(peer: RawPeer, base: str, name: str, value: float) -> int:
    """Declare a parameter, and publish a sample of it in a frame; the reason code."""
    made = frame_of(declare(peer, base, name), value)
    return published(peer, "frames", made, properties=properties(content_type=FRAME))


# Sending.


def boss_listens(cell: Cell) -> bool:
    assert subscribed(cell.boss, f"{cell.base}/#") < 0x80
    return connected(cell)


def publishes_qos0(cell: Cell) -> bool:
    word = cell.next()
    cell.peer.send(cell.version.publish(f"{cell.base}/a", word.encode()))
    cell.peer.settle()
    return hears(cell.boss, word.encode())


def publishes_qos1(cell: Cell) -> bool:
    word = cell.next().encode()
    reason = published(cell.peer, f"{cell.base}/a", word)
    is_heard = hears(cell.boss, word)
    # MQTT 3.1.1 has no reason: its PUBACK says nothing.
    assert reason == (0 if is_heard or cell.version is V311 else 0x87)
    return is_heard


def publishes_qos2(cell: Cell) -> bool:
    word = cell.next().encode()
    cell.peer.send(cell.version.publish(f"{cell.base}/a", word, qos=2, packet_id=3))
    reason = cell.peer.until(Kind.PUBREC)[-1].reason
    if reason < 0x80:
        cell.peer.send(cell.version.pubrel(3))
        cell.peer.until(Kind.PUBCOMP)
    is_heard = hears(cell.boss, word)
    assert reason == (0 if is_heard else 0x87)
    return is_heard


def leaves_a_will(cell: Cell) -> bool:
    assert subscribed(cell.boss, f"{cell.base}/#") < 0x80
    cell.options["word"] = cell.next()
    return cell.connect(will=Will(f"{cell.base}/will", cell.options["word"].encode()))


def will_is_heard(cell: Cell) -> bool:
    cell.peer.hang_up()
    assert cell.connect()  # after the will is on its way, or is not
    return hears(cell.boss, cell.options["word"].encode())


# Retained messages.


def retained(cell: Cell, topic: str) -> list[bytes]:
    """What somebody new is shown."""
    with cell.world.boss() as fresh:
        assert subscribed(fresh, topic) < 0x80
        return [packet.payload for packet in heard(fresh)]


def keeps(cell: Cell) -> bool:
    topic = f"{cell.base}/{cell.next()}"
    published(cell.peer, topic, b"kept", retain=True)
    return retained(cell, topic) == [b"kept"]


def boss_keeps(cell: Cell) -> bool:
    published(cell.boss, f"{cell.base}/kept", b"old", retain=True)
    return connected(cell)


def deletes(cell: Cell) -> bool:
    published(cell.peer, f"{cell.base}/kept", b"", retain=True)
    return retained(cell, f"{cell.base}/kept") == []


def is_shown(cell: Cell) -> bool:
    topic = f"{cell.base}/{cell.next()}"
    published(cell.boss, topic, b"shown", retain=True)
    return subscribed(cell.peer, topic) < 0x80 and hears(cell.peer, b"shown")


# Receiving.


def subscribes(cell: Cell) -> bool:
    return connected(cell) and subscribed(cell.peer, f"{cell.base}/#") < 0x80


def shares(cell: Cell) -> bool:
    return connected(cell) and subscribed(cell.peer, f"$share/g/{cell.base}/#") < 0x80


def receives(cell: Cell) -> bool:
    word = cell.next().encode()
    assert published(cell.boss, f"{cell.base}/a", word) in {0, 0x10}
    return hears(cell.peer, word)


def gets_what_waited(cell: Cell) -> bool:
    word, topic = cell.next().encode(), f"{cell.base}/{cell.next()}"
    published(cell.boss, topic, word, properties=properties(user=("slipring-wait", "1")))
    return subscribed(cell.peer, topic) < 0x80 and hears(cell.peer, word)


def leaves_a_session(cell: Cell) -> bool:
    options = {"properties": LASTING} if cell.version is V5 else {}
    if not cell.connect(clean=False, **options):
        return False
    if subscribed(cell.peer, f"{cell.base}/#", 1) >= 0x80:
        return False
    assert subscribed(cell.peer, f"open/{cell.base}", 1) == 1
    heard(cell.peer)
    cell.peer.send(cell.version.disconnect())
    return cell.peer.closed()


def gets_what_was_queued(cell: Cell) -> bool:
    word = cell.next().encode()
    published(cell.boss, f"{cell.base}/a", word)
    published(cell.boss, f"open/{cell.base}", b"all has come")
    options = {"properties": LASTING} if cell.version is V5 else {}
    assert cell.connect(clean=False, **options)
    return hears_before(cell.peer, f"open/{cell.base}", word)


# Parameters.


def selects(cell: Cell) -> bool:
    declare(cell.boss, cell.base, "p")
    return (
        connected(cell) and subscribed(cell.peer, f"{cell.base}/#", deliver="json", beat="0") < 0x80
    )


def reads_plainly(cell: Cell) -> bool:
    declare(cell.boss, cell.base, "p")
    return subscribes(cell)


def gets_samples(cell: Cell) -> bool:
    value = float(cell.next()[1:]) + 0.25
    assert frame(cell.boss, cell.base, "p", value) == 0
    return hears(cell.peer, str(value).encode())


def boss_declares(cell: Cell) -> bool:
    declare(cell.boss, cell.base, "p")
    assert frame(cell.boss, cell.base, "p", 1.0) == 0
    return connected(cell)


def lists(cell: Cell) -> bool:
    found = asked(cell.peer, "table/list", {"filter": f"{cell.base}/#"})
    return [one["name"] for one in found["parameters"]] == [f"{cell.base}/p"]


def finds(cell: Cell) -> bool:
    found = asked(cell.peer, "table/find", {"names": [f"{cell.base}/p", f"{cell.base}/none"]})
    errors = {one["name"]: (one["code"], one["message"]) for one in found["errors"]}
    there, absent = errors.get(f"{cell.base}/p"), errors[f"{cell.base}/none"]
    assert there in {None, absent}, "what may not be seen answers like what is not there"
    return there is None


def asks_for_values(cell: Cell) -> bool:
    found = asked(cell.peer, "table/values", {"filter": f"{cell.base}/#"})
    return [one["name"] for one in found["values"]] == [f"{cell.base}/p"]


def declares(cell: Cell) -> bool:
    return "indices" in declare(cell.peer, cell.base, cell.next())


def client_declares(cell: Cell) -> bool:
    return connected(cell) and "indices" in declare(cell.peer, cell.base, "p")


def sends_frames(cell: Cell) -> bool:
    made = frame_of(asked(cell.boss, "table/find", {"names": [f"{cell.base}/p"]}))
    told = properties(content_type=FRAME)
    return published(cell.peer, "frames", made, properties=told) == 0


def follows_changes(cell: Cell) -> bool:
    return connected(cell) and subscribed(cell.peer, "$slipring/table/changes") < 0x80


def is_told_of_changes(cell: Cell) -> bool:
    heard(cell.peer)
    declare(cell.boss, cell.base, cell.next())
    return any(packet.topic == "$slipring/table/changes" for packet in heard(cell.peer))


# Streams.


def declare_stream(peer: RawPeer, cell: Cell) -> dict[str, Any]:
    one = {"name": "s", "media": "audio/pcm"}
    return asked(peer, "streams/declare", {"prefix": cell.base, "streams": [one]})


def declares_a_stream(cell: Cell) -> bool:
    return connected(cell) and "indices" in declare_stream(cell.peer, cell)


def sends_chunks(cell: Cell) -> bool:
    return published(cell.peer, f"{cell.base}/s", cell.next().encode()) in {0, 0x10}


def follows_a_stream(cell: Cell) -> bool:
    declare_stream(cell.boss, cell)
    return connected(cell) and subscribed(cell.peer, f"{cell.base}/#", deliver="stream") < 0x80


def gets_chunks(cell: Cell) -> bool:
    word = cell.next().encode()
    assert published(cell.boss, f"{cell.base}/s", word) in {0, 0x10}
    return hears(cell.peer, word)


def boss_streams(cell: Cell) -> bool:
    declare_stream(cell.boss, cell)
    return connected(cell)


def lists_streams(cell: Cell) -> bool:
    found = asked(cell.peer, "streams/list", {"filter": f"{cell.base}/#"})
    return [one["name"] for one in found["streams"]] == [f"{cell.base}/s"]


# Requests.


def boss_serves(cell: Cell) -> bool:
    assert subscribed(cell.boss, f"$slipring/serve/9/{cell.base}/#") < 0x80
    return connected(cell)


def ask(peer: RawPeer, topic: str, word: str) -> int:
    told = properties(
        response_topic="answers",
        correlation_data=word.encode(),
        user=[("slipring-timeout", "60"), ("slipring-wait", "1")],
    )
    return published(peer, topic, word.encode(), properties=told)


def asks(cell: Cell) -> bool:
    word = cell.next()
    reason = ask(cell.peer, f"{cell.base}/work", word)
    is_heard = hears(cell.boss, word.encode())
    assert is_heard or reason == 0x87
    return is_heard


def serves(cell: Cell) -> bool:
    return connected(cell) and subscribed(cell.peer, f"$slipring/serve/9/{cell.base}/#") < 0x80


def gets_requests(cell: Cell) -> bool:
    word = cell.next()
    assert ask(cell.boss, f"{cell.base}/work", word) == 0
    return hears(cell.peer, word.encode())


# The journal and the broker itself.


def reads_the_journal(cell: Cell) -> bool:
    topic = f"{cell.base}/{cell.next()}"
    assert published(cell.boss, topic, b"recorded") in {0, 0x10}
    asker = Asker(cell.peer)
    about = asker.ask("about")
    if about.status != FINE:
        return False
    _, end, _ = about.about
    answer = asker.read(max(0, end - 20), end)
    assert answer.status == FINE
    assert answer.end == end, "offsets go on over what is withheld"
    return topic in {one.topic for one in answer.messages}


def sends_a_notice(cell: Cell) -> bool:
    return published(cell.peer, "$slipring/to/all", cell.next().encode()) in {0, 0x10}


def subscribes_to_sys(cell: Cell) -> bool:
    return subscribed(cell.peer, "$SYS/broker/uptime") < 0x80


def changes_the_budget(cell: Cell) -> bool:
    return published(cell.peer, "$slipring/memory", b"3GiB") == 0


PATHS = (
    AccessPath("publish-qos0", ("publish",), boss_listens, publishes_qos0),
    AccessPath("publish-qos1", ("publish",), boss_listens, publishes_qos1),
    AccessPath("publish-qos2", ("publish",), boss_listens, publishes_qos2),
    AccessPath("publish-311", ("publish",), boss_listens, publishes_qos1, version=V311),
    AccessPath("will", ("publish",), leaves_a_will, will_is_heard),
    AccessPath("retain", ("publish", "retain"), connected, keeps),
    AccessPath("retain-delete", ("publish", "retain"), boss_keeps, deletes),
    AccessPath("retained", ("subscribe",), connected, is_shown),
    AccessPath("subscribe", ("subscribe",), subscribes, receives),
    AccessPath("subscribe-311", ("subscribe",), subscribes, receives, version=V311),
    AccessPath("share", ("subscribe",), shares, receives),
    AccessPath("waiting", ("subscribe",), connected, gets_what_waited),
    AccessPath("away", ("subscribe",), leaves_a_session, gets_what_was_queued),
    AccessPath("select", ("select",), selects, gets_samples),
    AccessPath("plain-samples", ("subscribe",), reads_plainly, gets_samples),
    AccessPath("list", ("select",), boss_declares, lists),
    AccessPath("find", ("select",), boss_declares, finds),
    AccessPath("values", ("select",), boss_declares, asks_for_values),
    AccessPath("declare", ("declare",), connected, declares),
    AccessPath("frames", ("declare", "publish"), client_declares, sends_frames),
    AccessPath("changes", ("select",), follows_changes, is_told_of_changes),
    AccessPath("stream-send", ("stream",), declares_a_stream, sends_chunks),
    AccessPath("stream-follow", ("stream",), follows_a_stream, gets_chunks),
    AccessPath("stream-list", ("stream",), boss_streams, lists_streams),
    AccessPath("request", ("request",), boss_serves, asks),
    AccessPath("serve", ("serve",), serves, gets_requests),
    AccessPath("journal", ("journal",), connected, reads_the_journal),
    AccessPath("notice", ("publish",), connected, sends_a_notice, topics=("$slipring/to/#",)),
    AccessPath("sys", ("subscribe",), connected, subscribes_to_sys, topics=("$SYS/#",)),
    AccessPath("memory", ("administer",), connected, changes_the_budget, topics=("memory",)),
)
