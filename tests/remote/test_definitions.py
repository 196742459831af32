"""Requests for definitions as any MQTT 5 client sends them, by docs/remote.md."""

import asyncio
import json
import struct
from collections.abc import Iterator
from typing import Any

import pytest

from slipring import Parameter, connect
from tests.mqtt_bytes import properties
from tests.raw_mqtt import RawPeer
from tests.remote.asking import FINE, TOO_LARGE, Asker
from tests.running_broker import RunningBroker

HEADER = struct.Struct("<16s5Q")
END = (2**32 - 1, 0)


def page(asker: Asker, index: int, offset: int) -> tuple[int, tuple[int, int], list[Any]]:
    """The revision, where the next page begins, and the versions."""
    answer = asker.ask("definitions", struct.pack("<IQ", index, offset))
    assert answer.status == FINE, answer.text
    _, table, revision, epoch, *following = HEADER.unpack_from(answer.content)
    assert (table > 0) == (revision > 0)
    assert epoch > 0
    versions = json.loads(b"[" + answer.content[HEADER.size :] + b"]")
    return revision, (following[0], following[1]), versions


def pages(asker: Asker) -> Iterator[list[Any]]:
    start = (0, 0)
    while start != END:
        _, start, versions = page(asker, *start)
        yield versions


def test_a_broker_without_parameters_has_no_definitions(broker: RunningBroker) -> None:
    with RawPeer(broker.host, broker.port) as peer:
        assert peer.connect("asker").reason == 0
        assert page(Asker(peer), 0, 0) == (0, END, [])


def test_definitions_come_in_answers_that_are_never_larger_than_the_client_takes(
    broker: RunningBroker,
) -> None:
    async def declare() -> None:
        async with connect(broker.url) as bus:
            for rate in range(1, 5):
                texts = {f"x{number}": Parameter("u8", rate_hz=rate) for number in range(30)}
                await bus.declare("p", texts)
                await bus.publish("between", b"", qos=1)

    asyncio.run(declare())
    found = []
    for size in (300, 2_000, 100_000):
        with RawPeer(broker.host, broker.port) as peer:
            given = properties(maximum_packet_size=size)
            assert peer.connect(f"asker{size}", properties=given).reason == 0
            parts = list(pages(Asker(peer)))
            assert all(parts)
            found.append([version for part in parts for version in part])
            assert page(Asker(peer), *END) == (4, END, [])
    assert found[0] == found[1] == found[2]
    assert [(one["index"], one["since"], one["until"]) for one in found[0]] == [
        (index, since, until) for index in range(30) for since, until in enumerate((1, 2, 3, None))
    ]
    with RawPeer(broker.host, broker.port) as peer:
        assert peer.connect("tiny", properties=properties(maximum_packet_size=150)).reason == 0
        answer = Asker(peer).ask("definitions", struct.pack("<IQ", 7, 0))
        assert (answer.status, answer.numbers[0]) == (TOO_LARGE, 7)


@pytest.mark.parametrize("index", [30, 2**32 - 1])
def test_beyond_the_last_parameter_there_are_only_numbers(
    broker: RunningBroker, index: int
) -> None:
    with RawPeer(broker.host, broker.port) as peer:
        assert peer.connect("asker").reason == 0
        assert page(Asker(peer), index, 2**64 - 1) == (0, END, [])
