"""Spark reads the journal of a broker over the network: the same rows as from the folder."""

import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, DataFrameReader, SparkSession
from pyspark.sql.functions import spark_partition_id

from slipring.credentials import BrokerCredentials
from slipring.journal.location import JournalBroker
from slipring.native import list_consumers
from slipring.pipeline import run
from tests.cli.test_serve_listeners import MAKE_CERTIFICATES, port_of
from tests.journal_messages import payloads, write_messages
from tests.running_broker import RunningBroker, broker_in

pytestmark = pytest.mark.timeout(900)

LAKE = BrokerCredentials("lake", b"pencil")

PAGE = (Path(__file__).parents[2] / "docs" / "remote.md").read_text()
USER = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)[0]
CONFIG = """
[[listener]]
name = "secure"
listen = "127.0.0.1:0"
certificate = "{folder}/broker.pem"
key = "{folder}/broker.key"

"""


@dataclass
class Guarded:
    """A broker with users, the one of the page and one without the right, and its TLS."""

    running: RunningBroker
    secure: str
    ca: str


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Guarded]:
    folder = tmp_path_factory.mktemp("guarded")
    subprocess.run(["sh", "-ec", MAKE_CERTIFICATES], cwd=folder, check=True, capture_output=True)
    write_messages(folder / "data" / "journal", 5000, segment_bytes=20_000)
    other_user = USER.split("[[access.rule]]")[0].replace('"lake"', '"pump"')
    config = CONFIG.format(folder=folder) + USER + other_user
    with broker_in(folder, "--console", "off", config=config) as running:
        port = port_of(running.further["secure"])
        yield Guarded(running, f"mqtts://localhost:{port}", str(folder / "ca.pem"))


def reader(spark: SparkSession, user: str = "lake", password: str = "pencil") -> DataFrameReader:
    return spark.read.format("slipring").option("user", user).option("password", password)


def rows_of(frame: DataFrame) -> list[tuple[object, ...]]:
    return sorted(tuple(row) for row in frame.collect())


def test_the_rows_are_those_of_the_folder_in_as_many_streams(
    spark: SparkSession, guarded: Guarded
) -> None:
    here = spark.read.format("slipring").load(str(guarded.running.data / "journal"))
    there = reader(spark).option("partitions", 4).load(guarded.running.url)
    assert rows_of(there) == rows_of(here)
    assert there.select(spark_partition_id()).distinct().count() == 4
    part = reader(spark).option("startingOffset", 4321).option("columns", "payload,offset")
    some = part.option("endingOffset", 4400).option("broker", guarded.running.url).load()
    assert [bytes(row.payload) for row in some.orderBy("offset").collect()] == payloads(4321, 4400)


def test_over_tls_the_broker_must_be_the_one_it_says(spark: SparkSession, guarded: Guarded) -> None:
    there = reader(spark).option("ca", guarded.ca).option("partitions", 2).load(guarded.secure)
    assert there.count() == 5000
    with pytest.raises(PySparkException, match="an authority we do not know"):
        reader(spark).load(guarded.secure).count()


@pytest.mark.parametrize(
    ("user", "password", "words"),
    [
        ("lake", "wrong", "bad user name or password"),
        ("nobody", "pencil", "bad user name or password"),
        ("pump", "pencil", "may not read the journal; it needs the right `journal`"),
    ],
)
def test_who_may_not_is_told_so(
    spark: SparkSession, guarded: Guarded, user: str, password: str, words: str
) -> None:
    with pytest.raises(PySparkException, match=words):
        reader(spark, user, password).load(guarded.running.url).count()


def test_a_password_is_in_no_plan(
    spark: SparkSession, guarded: Guarded, capsys: pytest.CaptureFixture[str]
) -> None:
    frame = reader(spark).load(guarded.running.url)
    frame.explain("extended")
    frame.explain("formatted")
    shown = capsys.readouterr().out
    assert "slipring" in shown.lower()
    assert "pencil" not in shown
    assert "pencil" not in str(frame._jdf.queryExecution().toString())


def test_a_password_is_in_no_checkpoint_and_no_report(
    spark: SparkSession, guarded: Guarded, tmp_path: Path
) -> None:
    stream = spark.readStream.format("slipring").option("user", "lake").option("password", "pencil")
    writing = (
        stream.load(guarded.running.url)
        .writeStream.format("noop")
        .option("checkpointLocation", str(tmp_path / "checkpoint"))
        .trigger(availableNow=True)
    )
    query = writing.start()
    query.awaitTermination(200)
    files = [file for file in (tmp_path / "checkpoint").rglob("*") if file.is_file()]
    assert files
    assert b"pencil" not in b"".join(file.read_bytes() for file in files)
    assert "pencil" not in f"{query.recentProgress} {query.lastProgress} {query.status}"
    assert query.lastProgress is not None
    assert query.lastProgress["numInputRows"] == 5000


def test_a_stream_goes_on_when_the_broker_was_restarted(
    spark: SparkSession, tmp_path: Path, address: str
) -> None:
    write_messages(tmp_path / "data" / "journal", 3000, segment_bytes=20_000)
    place = ("--console", "off", "--mqtt", address)
    brokers = [RunningBroker.start(tmp_path / "data", *place)]
    seen: list[int] = []

    def take(batch: DataFrame, number: int) -> None:
        seen.extend(row.offset for row in batch.select("offset").collect())
        if number == 0:
            assert brokers[0].stop()[0] == 0
            brokers.append(RunningBroker.start(tmp_path / "data", *place))

    stream = spark.readStream.format("slipring").option("maxMessagesPerTrigger", 1000)
    stream = stream.option("consumer", "stream").option("partitions", 2)
    query = (
        stream.load(f"mqtt://{address}")
        .writeStream.foreachBatch(take)
        .option("checkpointLocation", str(tmp_path / "checkpoint"))
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination(200)
    assert sorted(seen) == list(range(3000))
    noted = {one.name: one.offset for one in list_consumers(tmp_path / "data" / "journal")}
    assert noted["stream"] is not None
    assert 1000 <= noted["stream"] <= 3000
    assert brokers[1].stop()[0] == 0


def test_the_lake_is_filled_from_a_broker_elsewhere(
    spark: SparkSession, guarded: Guarded, tmp_path: Path
) -> None:
    lake, broker = tmp_path / "lake", JournalBroker(guarded.running.url, LAKE)
    rows: list[int] = []
    run(
        broker,
        lake,
        once=True,
        spark=spark,
        on_batch=lambda done: rows.append(done.rows["messages"]),
    )
    assert sum(rows) == 5000
    consumers = list_consumers(guarded.running.data / "journal")
    assert [(one.name, one.offset) for one in consumers] == [("lake", 5000)]
