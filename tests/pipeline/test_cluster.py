"""The archive on a Spark cluster of two workers, which read from a broker over the network and
write to S3-compatible storage (D1).
"""

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

import slipring
from slipring.lake.storage import LakeLocation
from slipring.native import list_consumers
from tests.running_broker import RunningBroker
from tests.s3_server import S3Server

pytestmark = pytest.mark.timeout(900)

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "pipeline.md").read_text()
REMOTE = (ROOT / "docs" / "remote.md").read_text()
USER = re.findall(r"```toml\n(.*?)```", REMOTE, re.DOTALL)[0]
PASSWORD = "pencil"
PUBLISHER = USER.split("\n\n")[0].replace('"lake"', '"jet"')
MAY_PUBLISH = """
[[access.rule]]
who = ["user:jet"]
allow = ["publish", "declare"]
"""
READY = re.compile(r"spark cluster ready master=(\S+) workers=(\d+),(\d+) logs=(\S+)\n")
RUN_S = 400
END_S = 120
STEP = 100
"""Messages of which the first is a frame of three samples."""
PAYLOAD_BYTES = 2_000


@dataclass
class Cluster:
    """The one that the script starts."""

    master: str
    workers: list[int]
    logs: Path

    def said(self) -> str:
        """The ends of all logs, for a person."""
        files = [*self.logs.glob("*.log"), *self.logs.glob("worker-*/*/*/stderr")]
        return "\n".join(f"== {file}\n{file.read_text(errors='replace')[-2000:]}" for file in files)


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    """Knows neither the broker's password nor the keys of the storage."""
    secret = ("AWS_", "SLIPRING_")
    environment = {k: text for k, text in os.environ.items() if not k.startswith(secret)}
    program = str(ROOT / "scripts" / "spark_cluster.py")
    with subprocess.Popen(
        [sys.executable, program], stdout=subprocess.PIPE, text=True, env=environment
    ) as process:
        assert process.stdout is not None
        try:
            found = READY.fullmatch(line := process.stdout.readline())
            assert found, line
            yield Cluster(found[1], [int(found[2]), int(found[3])], Path(found[4]))
        finally:
            process.terminate()
            try:
                process.wait(END_S)
            finally:
                process.kill()


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[RunningBroker]:
    """Only a user with a password may read its journal."""
    config = tmp_path / "broker.toml"
    config.write_text(f"{USER}\n{PUBLISHER}\n{MAY_PUBLISH}")
    running = RunningBroker.start(tmp_path / "data", "--console", "off", "--config", str(config))
    yield running
    code, errors = running.stop()
    assert code == 0, errors


def payload(number: int) -> bytes:
    return f"{number} ".encode().ljust(PAYLOAD_BYTES, b".")


async def publish(broker: RunningBroker, messages: int) -> None:
    """Messages that say which they are, and between them samples."""
    async with slipring.connect(broker.url, user="jet", password=PASSWORD) as bus:
        engine = await bus.declare("jet/engine", {"rpm": "f64", "on": "bool", "mode": "text"})
        for start in range(0, messages, STEP):
            engine.write(
                {"rpm": start / 7, "on": start % 200 == 0, "mode": f"step {start}"},
                time_ns=start + 1,
            )
            await engine.flush()
            numbers = range(start + 1, start + STEP)
            await bus.publish_many([("t", payload(one)) for one in numbers], qos=1)


def environment(server: S3Server) -> dict[str, str]:
    """Of the driver: the secrets are there, and reach the workers from there only."""
    return {**os.environ, **server.options, "SLIPRING_USER": "lake", "SLIPRING_PASSWORD": PASSWORD}


def driver(cluster: Cluster, server: S3Server, folder: Path, *command: str) -> str:
    """Run a driver to its end; what it said."""
    done = subprocess.run(
        [sys.executable, *command],
        cwd=folder,
        env=environment(server),
        timeout=RUN_S,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr + cluster.said()
    return done.stdout


def assert_all_rows_once(lake: LakeLocation, messages: int, broker: RunningBroker) -> None:
    """What was published is in the lake: every message, and every sample, once."""
    from deltalake import DeltaTable

    def rows(name: str, columns: list[str]) -> list[dict[str, object]]:
        table = DeltaTable(lake.child(name).uri, storage_options=lake.delta_options())
        return list(table.to_pyarrow_table(columns=columns).to_pylist())

    found = rows("messages", ["offset", "topic", "payload"])
    offsets = sorted(row["offset"] for row in found)  # type: ignore[type-var]
    assert offsets == [*range(len(found))]
    texts = sorted(row["payload"] for row in found if row["topic"] == "t")  # type: ignore[type-var]
    assert texts == sorted(payload(one) for one in range(messages) if one % STEP)
    expected = [
        ("jet/engine/" + name, start + 1, value, text)
        for start in range(0, messages, STEP)
        for name, value, text in (
            ("rpm", start / 7, None),
            ("on", float(start % 200 == 0), None),
            ("mode", None, f"step {start}"),
        )
    ]
    samples = rows("samples", ["parameter", "source_ns", "value", "text"])
    assert sorted(tuple(row.values()) for row in samples) == sorted(expected)
    (consumer,) = list_consumers(broker.data / "journal")
    assert (consumer.name, consumer.offset) == ("lake", len(found))


async def test_the_archive_runs_on_a_cluster_over_the_network_into_s3(
    cluster: Cluster, broker: RunningBroker, s3_server: S3Server, s3_bucket: str, tmp_path: Path
) -> None:
    """D1: the command of docs/pipeline.md; the workers know no secret before."""
    lake = LakeLocation.of(f"s3://{s3_bucket}/lake", s3_server.options)
    await publish(broker, 1_000)
    (line,) = re.findall(r"^slipring .+ --master spark://.+$", PAGE, re.MULTILINE)
    addresses = {
        "mqtt://broker.example": broker.url,
        "s3://lake/jets": lake.uri,
        "spark://spark.example:7077": cluster.master,
    }
    words = [addresses.get(word, word) for word in shlex.split(line)]
    assert set(addresses.values()) < set(words)
    said = driver(cluster, s3_server, tmp_path, "-m", *words, "--once")
    assert "reading the journal through Spark" in said
    assert_all_rows_once(lake, 1_000, broker)


async def test_a_worker_that_is_killed_costs_no_row_and_doubles_none(
    cluster: Cluster, broker: RunningBroker, s3_server: S3Server, s3_bucket: str, tmp_path: Path
) -> None:
    """Fault "Spark worker killed": its tasks are done again by the other one."""
    lake = LakeLocation.of(f"s3://{s3_bucket}/lake", s3_server.options)
    await publish(broker, 6_000)
    program = str(ROOT / "tests" / "pipeline" / "killed_worker.py")
    command = (program, broker.url, lake.uri, cluster.master, str(cluster.workers[0]))
    driver(cluster, s3_server, tmp_path, *command)
    assert_all_rows_once(lake, 6_000, broker)
