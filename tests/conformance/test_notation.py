"""The conformance tests' own tools: the bytes they write, and the differences they see."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.conformance.expected import Known, differences
from tests.conformance.notation import Line, as_packet
from tests.conformance.play import play
from tests.conformance.row import rows
from tests.packets import V5, V311, Version
from tests.raw_mqtt import RawPeer

WRITTEN = [
    (V311, "CONNECT keep_alive=60", "10 0e 0004 4d515454 04 02 003c 0002 6161"),
    (V5, "CONNECT session_expiry=10", "10 14 0004 4d515454 05 02 0000 05 11 0000000a 0002 6161"),
    (V311, "CONNECT will.topic=w will.qos=1 will.retain=1 will.payload=g username=u password=p",
     "10 1a 0004 4d515454 04 ee 0000 0002 6161 0001 77 0001 67 0001 75 0001 70"),
    (V5, "CONNECT will.topic=w will.delay=1 will.payload=''",
     "10 1a 0004 4d515454 05 06 0000 00 0002 6161 05 18 00000001 0001 77 0000"),
    (V311, "PUBLISH topic=a/b qos=1 id=10 payload=z dup=1", "3a 08 0003 612f62 000a 7a"),
    (V5, "PUBLISH topic=a user=k:v topic_alias=5 payload=''",
     "30 0e 0001 61 0a 26 0001 6b 0001 76 23 0005"),
    (V5, "PUBLISH topic=b'\\xff' retain=1", "31 05 0001 ff 00 78"),
    (V311, "PUBACK id=7 reason=0x10", "40 02 0007"),
    (V5, "PUBACK id=7 reason=0x10", "40 03 0007 10"),
    (V5, "PUBREC id=7", "50 02 0007"),
    (V5, "PUBREL id=7 reason=0x92 reason_string=n", "62 08 0007 92 04 1f 0001 6e"),
    (V311, "PUBCOMP id=258", "70 02 0102"),
    (V5, "SUBSCRIBE id=1 filter=a/#:2,nl,rap,rh2 subscription_id=300",
     "82 0c 0001 03 0b ac02 0003 612f23 2e"),
    (V311, "SUBSCRIBE id=1 filter=a:0 filter=b:1", "82 0a 0001 0001 61 00 0001 62 01"),
    (V311, "UNSUBSCRIBE id=1 filter=a first=0xa0", "a0 05 0001 0001 61"),
    (V5, "UNSUBSCRIBE id=1 filter=a", "a2 06 0001 00 0001 61"),
    (V5, "PINGREQ", "c0 00"),
    (V5, "DISCONNECT reason=4", "e0 01 04"),
    (V311, "DISCONNECT reason=4", "e0 00"),
    (V5, "AUTH reason=0x18 auth_method=m", "f0 06 18 04 15 0001 6d"),
    (V5, "bytes 30 'ab' 00", "30 05 0002 6162 00"),
    (V5, "raw 30 ff", "30 ff"),
]  # fmt: skip


@pytest.mark.parametrize(("version", "words", "expected"), WRITTEN)
def test_a_line_is_the_bytes_of_the_standard(version: Version, words: str, expected: str) -> None:
    written = as_packet(version, Line.parse(words), "aa", "t")
    assert written.hex() == expected.replace(" ", "")


@pytest.mark.parametrize("words", ["PUBLISH topik=a", "PUBLISH hello", "PUBLISH qos=1 2"])
def test_a_word_that_is_not_understood_is_an_error(words: str) -> None:
    with pytest.raises(ValueError, match=r"no field is named|not understood"):
        Line.parse(words)


@pytest.mark.parametrize("table", ["A sentence\n    a > PINGREQ", "A sentence\n    5.0: 3.1.0-1"])
def test_a_row_names_statements_and_has_steps(table: str) -> None:
    with pytest.raises(ValueError, match="names statements, and has steps"):
        rows(table)


def found(words: str, received: bytes, known: Known | None = None) -> list[str]:
    return differences(V5, Line.parse(words), V5.read(received), "t", known or {})


def test_a_packet_as_expected_has_no_differences() -> None:
    packet = V5.publish("t", b"hello", qos=1, packet_id=9)
    assert found("PUBLISH payload=hello qos=1", packet) == []
    assert found("PUBLISH payload=hello qos=1 id=1..9", packet) == []
    assert found("PUBLISH payload=hello qos=1|2 id=$m", packet, {"$m": 9}) == []


@pytest.mark.parametrize(
    "words",
    [
        "PUBACK",
        "PUBLISH qos=1",
        "PUBLISH payload=hello",
        "PUBLISH payload=hello qos=1 dup=1",
        "PUBLISH payload=hello qos=1 topic=u",
        "PUBLISH payload=hello qos=1 retain=1",
        "PUBLISH payload=hello qos=1 id=1..8",
        "PUBLISH payload=hello qos=1 id=$m",
        "PUBLISH payload=hello qos=1 size=1..5",
        "PUBLISH payload=hello qos=1 content_type=*",
    ],
)
def test_every_difference_is_seen(words: str) -> None:
    packet = V5.publish("t", b"hello", qos=1, packet_id=9)
    assert len(found(words, packet, {"$m": 8})) == 1


def test_a_property_nobody_asked_for_is_a_difference() -> None:
    packet = V5.publish("t", b"x", properties=bytes.fromhex("0100"))
    assert found("PUBLISH", packet) == ["payload_format is there"]
    assert found("PUBLISH payload_format=!", packet) == ["payload_format is not !"]
    assert found("PUBLISH payload_format=0", packet) == []


@contextmanager
def answering(*answers: bytes) -> Iterator[tuple[str, int]]:
    """A listener that gives these answers, one for each time it hears something."""

    def answer() -> None:
        peer, _ = server.accept()
        with peer:
            for data in answers:
                peer.recv(1000)
                peer.sendall(data)

    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=answer)
        thread.start()
        yield server.getsockname()
        thread.join()


MISSED = [
    ("a < quiet", V311.publish("t") + b"\xd0\x00", "received PUBLISH"),
    ("a > PINGREQ\n    a < closed", b"\xd0\x00", "instead of the end"),
    ("a > PINGREQ\n    a < PUBACK", b"\xd0\x00", "it is a PINGRESP"),
    ("a > PINGREQ\n    a ~ PUBACK", b"\xd0\x00", "none of"),
    ("a > CONNECT\n    a < CONNACK", b"\x20\x02\x00\x02", "reason is not 0"),
    ("a > PUBREL\n    a < PUBCOMP id=$m\n    these differ $m $m", b"\x70\x02\x00\x01", "are .1, 1"),
    ("a > CONNECT\n    a < refused", b"\x20\x02\x00\x02", "instead of the end"),
]


@pytest.mark.parametrize(("steps", "answer", "complaint"), MISSED)
def test_a_step_that_is_not_met_fails(steps: str, answer: bytes, complaint: str) -> None:
    (row,) = rows(f"A row\n    3.1.1: 3.1.0-1\n    {steps}\n")
    (case,) = row.cases("none")
    with answering(answer) as (host, port), pytest.raises(AssertionError, match=complaint):
        play(host, port, case, 1)


def test_what_comes_before_the_answer_to_a_ping_can_still_be_read() -> None:
    with answering(V5.publish("t") + b"\xd0\x00") as (host, port), RawPeer(host, port) as peer:
        peer.settle()
        assert peer.packet().topic == "t"
        assert peer.closed()
