"""Readers with other rights in one process: each decodes all that it may read."""

import asyncio
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import slipring
from slipring.credentials import BrokerCredentials
from slipring.journal import samples
from slipring.journal.location import Journal, JournalBroker, settled_end
from slipring.journal.samples import JournalSamples
from tests.auth.scram import verifier
from tests.running_broker import RunningBroker, broker_in

RULE = """
[[access.rule]]
who = ["{who}"]
allow = [{allow}]
topics = ["{topics}"]
"""
WAIT_S = 60.0


def config(lake_topics: str) -> str:
    users = "".join(
        f'[[user]]\nname = "{name}"\npassword = "{verifier("pencil")}"\n'
        for name in ("pump", "lake")
    )
    everything = '"publish", "declare", "journal", "subscribe", "select"'
    pump = RULE.format(who="user:pump", allow=everything, topics="#")
    return users + pump + RULE.format(who="user:lake", allow='"journal"', topics=lake_topics)


def reader(broker: RunningBroker, user: str) -> JournalBroker:
    return JournalBroker(broker.url, BrokerCredentials(user, b"pencil"))


def read(where: JournalBroker, after: int = 0) -> tuple[set[str], int]:
    """The parameters of all samples, and how many messages could not be decoded."""
    opened = where.open()
    found = JournalSamples(Journal(where, opened.identity))
    rows = [batch.to_pylist() for batch in found.batches(after, settled_end(opened))]
    return {row["parameter"] for some in rows for row in some}, len(found.set_aside)


def write(broker: RunningBroker, *names: str) -> None:
    async def send() -> None:
        async with slipring.connect(broker.url, user="pump", password="pencil") as bus:
            for name in names:
                declared = await bus.declare(name, {"rpm": "f64"}, qos=1)
                declared.write({"rpm": 1.5})
                await declared.flush()

    asyncio.run(send())


def eventually(holds: Callable[[], bool]) -> None:
    deadline_s = time.monotonic() + WAIT_S
    while not holds():
        assert time.monotonic() < deadline_s


def test_one_readers_rights_do_not_narrow_what_another_one_decodes(tmp_path: Path) -> None:
    with broker_in(tmp_path, "--console", "off", config=config("open/#")) as broker:
        write(broker, "open", "closed")
        eventually(lambda: read(reader(broker, "lake")) == ({"open/rpm"}, 0))
        assert read(reader(broker, "pump")) == ({"open/rpm", "closed/rpm"}, 0)
        assert read(reader(broker, "lake")) == ({"open/rpm"}, 0)


def test_a_right_that_is_given_later_counts_for_a_reader_at_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(samples, "LOOK_S", 0.0)
    with broker_in(tmp_path, "--console", "off", config=config("open/#")) as broker:
        write(broker, "open", "closed")
        lake = reader(broker, "lake")
        eventually(lambda: read(lake) == ({"open/rpm"}, 0))
        (tmp_path / "broker.toml").write_text(config("#"))
        os.kill(broker.process.pid, signal.SIGHUP)
        eventually(lambda: read(lake) != ({"open/rpm"}, 0))
        assert read(lake) == ({"open/rpm", "closed/rpm"}, 0)
