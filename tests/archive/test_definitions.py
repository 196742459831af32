"""The archive alone can name its parameters: the definitions are beside the manifest (D1)."""

import json
from pathlib import Path

import pytest

from slipring.client import connect
from slipring.journal.location import JournalArchive, JournalBroker
from slipring.native import JournalReader
from tests.archive.archived_broker import (
    archive_told,
    is_caught_up,
    location,
    open_archive,
    publish,
    start_broker,
)
from tests.s3_server import S3Server

pytestmark = pytest.mark.timeout(300)


async def test_the_definitions_of_the_archive_are_those_of_the_journal(
    tmp_path: Path, s3_server: S3Server, s3_bucket: str
) -> None:
    where = location(s3_server, s3_bucket)
    broker = start_broker(tmp_path / "data", where.url, s3_server)
    async with connect(broker.url) as bus:
        await bus.declare("jet/engine/1", {"egt": "f64"})
        await publish(broker, 200)
        archive_told(broker, is_caught_up)
        there = open_archive(where, tmp_path)
        here = JournalReader(tmp_path / "data" / "journal")
        told = json.loads(there.definitions())
        assert told == json.loads(here.definitions())
        assert [row["name"] for row in told["versions"]] == ["jet/engine/1/egt"]
        assert there.definitions_edition() == (told["table"], told["revision"], told["epoch"])
        joined = JournalArchive(where, JournalBroker(broker.url), str(tmp_path / "cache")).open()
        assert joined.definitions_edition() == there.definitions_edition()
        # The broker replaces them while a reader, which has not asked yet, has the old manifest.
        waits = open_archive(where, tmp_path)
        await bus.declare("jet/engine/2", {"egt": "f64"})
        await publish(broker, 200, start=200)
        archive_told(broker, lambda told: told["end_offset"] > 200 and is_caught_up(told))
        names = [row["name"] for row in json.loads(waits.definitions())["versions"]]
        assert names == ["jet/engine/1/egt", "jet/engine/2/egt"]
    broker.stop()
