"""Further paths on which something reaches somebody: lists and removals, services of each kind,
what is in flight, and the parts of the journal beside its messages.
"""

import struct
from typing import Any

from tests.access.paths import (
    LASTING,
    AccessPath,
    ask,
    boss_declares,
    boss_listens,
    connected,
    declare,
    declares_a_stream,
    frame,
    gets_samples,
    publishes_qos1,
    retained,
    sends_frames,
)
from tests.access.world import Cell, asked, heard, hears, hears_before, published, subscribed
from tests.raw_mqtt import V311, Kind, RawPeer, Will, properties
from tests.remote.asking import FINE, Asker
from tests.remote.test_definitions import pages

DELAYED = properties(will_delay=600)
REPLAYING = properties(user=("slipring-replay", "1"))

# Sending.


def boss_reads_samples(cell: Cell) -> bool:
    declare(cell.boss, cell.base, "p")
    return boss_listens(cell)


def sends_a_sample_as_text(cell: Cell) -> bool:
    value = f"{cell.next()[1:]}.25".encode()
    reason = published(cell.peer, f"{cell.base}/p", value)
    is_heard = hears(cell.boss, value)
    assert reason == (0 if is_heard else 0x87)
    return is_heard


def leaves_a_retained_will(cell: Cell) -> bool:
    cell.options["topic"] = f"{cell.base}/{cell.next()}"
    return cell.connect(will=Will(cell.options["topic"], b"will", retain=True))


def will_is_kept(cell: Cell) -> bool:
    cell.peer.hang_up()
    assert cell.connect()  # after the will is on its way, or is not
    return retained(cell, cell.options["topic"]) == [b"will"]


def leaves_a_delayed_will(cell: Cell) -> bool:
    assert subscribed(cell.boss, f"{cell.base}/#") < 0x80
    cell.options["word"] = cell.next()
    will = Will(f"{cell.base}/will", cell.options["word"].encode(), properties=DELAYED)
    if not cell.connect(clean=False, will=will, properties=LASTING):
        return False
    cell.peer.hang_up()
    return True


def delayed_will_is_heard(cell: Cell) -> bool:
    assert cell.connect(clean=True)  # the session is over, so that its will is due
    return hears(cell.boss, cell.options["word"].encode())


def says_that_it_replays(cell: Cell) -> bool:
    assert subscribed(cell.boss, f"{cell.base}/#") < 0x80
    return cell.client is not None or cell.connect(properties=REPLAYING)


def replays_a_sample(cell: Cell) -> bool:
    declare(cell.boss, cell.base, "p")
    return says_that_it_replays(cell)


def declares_to_replay(cell: Cell) -> bool:
    return says_that_it_replays(cell) and "indices" in declare(cell.peer, cell.base, "p")


# Receiving.


def has_a_message_in_flight(cell: Cell) -> bool:
    if not cell.connect(clean=False, properties=LASTING):
        return False
    if subscribed(cell.peer, f"{cell.base}/#", 2) >= 0x80:
        return False
    assert subscribed(cell.peer, f"open/{cell.base}", 1) == 1
    heard(cell.peer)
    cell.options["word"] = cell.next().encode()
    published(cell.boss, f"{cell.base}/a", cell.options["word"])
    assert cell.peer.until(Kind.PUBLISH)[-1].payload == cell.options["word"]
    cell.peer.hang_up()
    return True


def is_sent_it_again(cell: Cell) -> bool:
    published(cell.boss, f"open/{cell.base}", b"all has come")
    assert cell.connect(clean=False, properties=LASTING)
    return hears_before(cell.peer, f"open/{cell.base}", cell.options["word"])


def shares_samples(cell: Cell) -> bool:
    declare(cell.boss, cell.base, "p")
    return connected(cell) and subscribed(cell.peer, f"$share/g/{cell.base}/#") < 0x80


# Parameters and streams.


def selects_by_list(cell: Cell) -> bool:
    """A list that boss has made: who may not see its parameters gets nothing by it."""
    declare(cell.boss, cell.base, "p")
    made = asked(cell.boss, "table/select", {"names": [f"{cell.base}/p"]})
    chosen = f"$selection/{made['selection']}"
    assert subscribed(cell.boss, chosen, deliver="json", beat="0") < 0x80  # so that it is kept
    return connected(cell) and subscribed(cell.peer, chosen, deliver="json", beat="0") < 0x80


def makes_a_list(cell: Cell) -> bool:
    by_name = asked(cell.peer, "table/select", {"names": [f"{cell.base}/p"]})
    by_filter = asked(cell.peer, "table/select", {"filters": [f"{cell.base}/#"]})
    found = {by_name["indices"] != [None], by_filter["ranges"] != []}
    assert len(found) == 1, "by name and by filter it is the same"
    return found == {True}


def removes(cell: Cell) -> bool:
    name = cell.next()
    declare(cell.boss, cell.base, name)
    asking = {"names": [f"{cell.base}/{name}"], "force": True}
    return asked(cell.peer, "table/remove", asking).get("removed") == 1


def removes_a_stream(cell: Cell) -> bool:
    return asked(cell.peer, "streams/remove", {"names": [f"{cell.base}/s"]}).get("removed") == 1


def follows_stream_changes(cell: Cell) -> bool:
    return connected(cell) and subscribed(cell.peer, "$slipring/streams/changes") < 0x80


def is_told_of_streams(cell: Cell) -> bool:
    heard(cell.peer)
    one = {"name": cell.next(), "media": "audio/pcm"}
    asked(cell.boss, "streams/declare", {"prefix": cell.base, "streams": [one]})
    return any(packet.topic == "$slipring/streams/changes" for packet in heard(cell.peer))


# Requests.


def serves_by_property(cell: Cell) -> bool:
    return connected(cell) and subscribed(cell.peer, f"{cell.base}/#", slipring_serve="9") < 0x80


def serves_by_topic(cell: Cell) -> bool:
    return connected(cell) and subscribed(cell.peer, f"$slipring/serve/9/{cell.base}/#") < 0x80


def answers(cell: Cell) -> bool:
    """Whether the asker gets an answer of this client."""
    heard(cell.peer)
    word = cell.next()
    assert ask(cell.boss, f"{cell.base}/work", word) == 0
    given = [packet for packet in heard(cell.peer) if word.encode() in packet.payload]
    for request in given:
        cell.peer.send(cell.version.publish(answer_topic(request), b"to " + word.encode()))
        cell.peer.settle()
    return hears(cell.boss, b"to " + word.encode())


def answer_topic(request: Any) -> str:
    """Where the answer goes: in a property, or, of a service by its filter, in the topic."""
    named: tuple[str, ...] = request.properties.get("response_topic", ())
    return named[0] if named else f"$slipring/answer/{request.topic.split('/')[2]}"


# The journal.


def boss_records(cell: Cell) -> bool:
    declare(cell.boss, cell.base, "p")
    return connected(cell)


def journal_end(peer: RawPeer) -> int:
    return Asker(peer).ask("about").about[1]


def reads_samples(cell: Cell) -> bool:
    """Which messages were samples."""
    start = journal_end(cell.boss)
    published(cell.boss, f"{cell.base}/p", b"1.5")
    answer = Asker(cell.peer).ask("samples", struct.pack("<QQ", start, journal_end(cell.boss)))
    return answer.status == FINE and len(answer.content) > 24


def reads_frames(cell: Cell) -> bool:
    start = journal_end(cell.boss)
    assert frame(cell.boss, cell.base, "p", 2.5) == 0
    answer = Asker(cell.peer).read(start, journal_end(cell.boss))
    return answer.status == FINE and [one.topic for one in answer.messages] == ["frames"]


def reads_definitions(cell: Cell) -> bool:
    asker = Asker(cell.peer)
    if asker.ask("about").status != FINE:
        return False
    names = {one["name"] for some in pages(asker) for one in some}
    return f"{cell.base}/p" in names


FURTHER = (
    AccessPath("sample-text", ("publish",), boss_reads_samples, sends_a_sample_as_text),
    AccessPath("replay", ("replay",), says_that_it_replays, publishes_qos1),
    AccessPath("replay-text", ("replay",), replays_a_sample, sends_a_sample_as_text),
    AccessPath("replay-frames", ("declare", "replay"), declares_to_replay, sends_frames),
    AccessPath("will-retained", ("publish", "retain"), leaves_a_retained_will, will_is_kept),
    AccessPath("will-delayed", ("publish",), leaves_a_delayed_will, delayed_will_is_heard),
    AccessPath("in-flight", ("subscribe",), has_a_message_in_flight, is_sent_it_again),
    AccessPath("share-samples", ("subscribe",), shares_samples, gets_samples),
    AccessPath("select-list", ("select",), selects_by_list, gets_samples),
    AccessPath("make-list", ("select",), boss_declares, makes_a_list),
    AccessPath("remove", ("declare",), connected, removes),
    AccessPath("stream-remove", ("stream",), declares_a_stream, removes_a_stream),
    AccessPath("stream-changes", ("stream",), follows_stream_changes, is_told_of_streams),
    AccessPath("serve-property", ("subscribe", "serve"), serves_by_property, answers),
    AccessPath("serve-answer", ("serve",), serves_by_topic, answers),
    AccessPath("serve-311", ("serve",), serves_by_topic, answers, version=V311),
    AccessPath("journal-samples", ("journal",), boss_records, reads_samples),
    AccessPath("journal-frames", ("journal",), boss_records, reads_frames),
    AccessPath("journal-definitions", ("journal",), boss_records, reads_definitions),
)
