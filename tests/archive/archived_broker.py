"""A real broker with small segments that archives its journal to a real S3-compatible server."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from slipring.archive.cache import SegmentCache
from slipring.archive.location import ArchiveLocation
from slipring.archive.manifest import segment_place
from slipring.archive.reader import ArchiveReader
from slipring.archive.segments import HEADER_BYTES, sealed_segments
from slipring.client import connect
from slipring.journal.location import OpenJournal
from tests.faults.trouble import journal_told
from tests.running_broker import RunningBroker
from tests.s3_server import S3Server

CONFIG = """
[journal]
segment_bytes = 65536
archive = "{url}"
{more}
"""
PAYLOAD_BYTES = 2_000
TOGETHER = 20
"""Messages of one batch; some thirty fill a segment."""


def start_broker(data: Path, url: str, server: S3Server, more: str = "") -> RunningBroker:
    """A broker in a folder; further lines are of the section `journal`."""
    config = data.parent / f"{data.name}.toml"
    config.write_text(CONFIG.format(url=url, more=more))
    environment = {**os.environ, **server.options}
    return RunningBroker.start(data, "--config", str(config), environment=environment)


async def publish(broker: RunningBroker, count: int, start: int = 0) -> None:
    """Publish messages whose payloads begin with their numbers."""
    async with connect(broker.url) as bus:
        for first in range(start, start + count, TOGETHER):
            numbers = range(first, min(first + TOGETHER, start + count))
            await bus.publish_many([("t", payload(one)) for one in numbers], qos=1)


def payload(number: int) -> bytes:
    return f"{number} ".encode().ljust(PAYLOAD_BYTES, b".")


def archive_told(broker: RunningBroker, holds: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
    """What the broker tells of its archive, as soon as it is so.

    `sealed_after` counts segments that were sealed by then, and begin where the archive ends or
    later.
    """
    while True:
        told = dict(journal_told(broker)["archive"])
        sealed = sealed_segments(broker.data / "journal")
        later = [one for one in sealed if segment_place(one.name)[0] >= told["end_offset"]]
        told["sealed_after"] = sum(one.stat().st_size > HEADER_BYTES for one in later)
        if holds(told):
            return told
        assert broker.process.poll() is None


def is_caught_up(told: dict[str, Any]) -> bool:
    """Whether every complete segment is archived. `waiting` may be older than the last of them."""
    is_complete = told["waiting"] == 0 and told["sealed_after"] == 0
    return bool(told["segments"]) and is_complete and told["failure"] is None


def location(server: S3Server, bucket: str) -> ArchiveLocation:
    return ArchiveLocation.of(f"s3://{bucket}/jets", server.options)


def open_archive(where: ArchiveLocation, folder: Path, bytes_max: int = 1 << 20) -> ArchiveReader:
    return ArchiveReader(where, cache=SegmentCache(folder / "cache", bytes_max))


def messages(journal: OpenJournal, start: int, end: int) -> list[tuple[Any, ...]]:
    """All messages of a range, column by column."""
    from slipring.journal.columns import record_batch

    found: list[tuple[Any, ...]] = []
    while start < end:
        columns = journal.read(start, end, 100_000)
        assert columns.end > start
        found += (tuple(row.values()) for row in record_batch(columns).to_pylist())
        start = columns.end
    return found
