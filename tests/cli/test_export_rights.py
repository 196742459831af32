"""`slipring export` with narrower rights than the journal is wide: what is left out is told."""

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

import slipring
from tests.auth.scram import verifier
from tests.cli.commands import slipring as command
from tests.running_broker import RunningBroker, broker_in

CONFIG = f"""
[[user]]
name = "pump"
password = "{verifier("pencil")}"

[[user]]
name = "lake"
password = "{verifier("pencil")}"

[[access.rule]]
who = ["user:pump"]
allow = ["publish", "declare", "journal", "subscribe", "select"]
topics = ["#"]

[[access.rule]]
who = ["user:lake"]
allow = ["journal", "subscribe", "select"]
topics = ["open/#"]
"""
TOLD = (
    "slipring: left out: {} that you may not read; that needs the right `journal` on their topics"
)


@pytest.fixture(scope="module")
def narrowed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningBroker]:
    """Three open messages and four others, and a frame of each kind."""

    async def fill(url: str) -> None:
        async with slipring.connect(url, user="pump", password="pencil") as bus:
            for number in range(7):
                where = "open" if number % 2 else "closed"
                await bus.publish(f"{where}/text", str(number), qos=1)
            for where in ("open", "closed"):
                declared = await bus.declare(f"{where}/engine", {"rpm": "f64"}, qos=1)
                declared.write({"rpm": 12034.5})
                await declared.flush()

    folder = tmp_path_factory.mktemp("narrowed")
    with broker_in(folder, "--console", "off", config=CONFIG) as broker:
        asyncio.run(fill(broker.url))
        yield broker


@pytest.fixture
def password(tmp_path: Path) -> Path:
    file = tmp_path / "password"
    file.touch(0o600)
    file.write_text("pencil")
    return file


def test_messages_that_the_user_may_not_read_are_counted(
    narrowed: RunningBroker, password: Path
) -> None:
    as_lake = ("--user", "lake", "--password-file", password)
    done = command("export", narrowed.url, "-", *as_lake, "--filter", "+/text")
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert [row["payload"] for row in rows] == ["1", "3", "5"]
    assert done.stderr.splitlines() == ["3 messages", TOLD.format("5 messages")]
    as_pump = ("--user", "pump", "--password-file", password)
    done = command("export", narrowed.url, "-", *as_pump, "--filter", "+/text")
    assert done.stderr == "7 messages\n"


@pytest.mark.parametrize("shape", [("--format", "csv"), ("--format", "mcap")])
def test_samples_that_the_user_may_not_read_are_counted_once(
    narrowed: RunningBroker, password: Path, tmp_path: Path, shape: tuple[str, str]
) -> None:
    as_lake = ("--user", "lake", "--password-file", password)
    done = command("export", narrowed.url, tmp_path / "out", *shape, *as_lake, "--parameters", "#")
    assert TOLD.format("5 messages") in done.stderr.splitlines()
    assert done.stderr.startswith("1 sample")
