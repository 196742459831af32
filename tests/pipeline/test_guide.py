"""Every example of docs/spark.md and docs/pipeline.md runs as it stands; test_cluster runs the one
on a cluster.
"""

import re
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import slipring
import slipring.lake
from tests.cli.commands import command
from tests.running_broker import RunningBroker

pytestmark = pytest.mark.timeout(900)

DOCS = Path(__file__).parents[2] / "docs"
SPARK, PIPELINE = (DOCS / "spark.md").read_text(), (DOCS / "pipeline.md").read_text()
COMMANDS = re.findall(r"^(?:\| `)?(slipring (?:pipeline|query) [^`\n]+)", PIPELINE, re.MULTILINE)
RUN_S = 400
SAMPLES = 40


def examples(page: str) -> list[str]:
    return re.findall(r"```python\n(.*?)```", page, re.DOTALL)


@pytest.fixture
async def jet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RunningBroker:
    """A broker that has samples of a jet in `slipring-data`, where the pages look."""
    monkeypatch.chdir(tmp_path)
    broker = RunningBroker.start(tmp_path / "slipring-data", "--console", "off")
    egt = slipring.Parameter("f64", unit="Cel")
    async with slipring.connect(broker.url) as bus:
        engine = await bus.declare("jet/engine/1", {"egt": egt, "on": "bool", "mode": "text"})
        for number in range(SAMPLES):
            engine.write({"egt": 880.0 + number, "on": True, "mode": f"step {number}"})
            await engine.flush()
        await bus.publish("fleet/39-7/position", b"somewhere", qos=1)
    return broker


@pytest.fixture(autouse=True)
def ended(jet: RunningBroker) -> Iterator[None]:
    yield
    code, errors = jet.stop()
    assert code == 0, errors


def test_the_page_about_spark_runs_from_top_to_bottom(spark: SparkSession, tmp_path: Path) -> None:
    """D1: every example, in one session, as a reader types them."""
    found: dict[str, object] = {}
    for number, example in enumerate(examples(SPARK)):
        # The session was started in another folder.
        here = re.sub(r'"(slipring-data|out)/', rf'"{tmp_path}/\1/', example)
        exec(compile(here, f"docs/spark.md, example {number}", "exec"), found)
    assert found["spark"] is spark
    assert spark.read.parquet(f"{tmp_path}/out/rows").count() == 3 * SAMPLES
    assert slipring.lake.open("slipring-data/lake").table("samples").to_arrow().num_rows == 120


def test_the_example_of_a_managed_spark_runs_in_its_session(
    spark: SparkSession, jet: RunningBroker
) -> None:
    (example,) = examples(PIPELINE)
    here = example.replace("mqtts://broker.example", jet.url).replace("s3://lake/jets", "lake")
    exec(compile(here, "docs/pipeline.md", "exec"), {"spark": spark, "password": "any"})
    assert slipring.lake.open("lake").table("samples").to_arrow().num_rows == 3 * SAMPLES


def test_the_commands_and_the_file_of_the_page_about_the_pipeline_run() -> None:
    """D1: all jobs, with the configuration of the page."""
    (config,) = re.findall(r"```toml\n(.*?)```", PIPELINE, re.DOTALL)
    Path("slipring.toml").write_text(config)
    for line in COMMANDS:
        words = shlex.split(line)[1:]
        if "spark://" not in line:
            run(*words, *(["--once"] if words[0] == "pipeline" else []))
    lake = slipring.lake.open("slipring-data/lake")
    rows = {table.name: table.rows for table in lake.tables()}
    assert rows["samples"] == 3 * SAMPLES
    assert rows["budget"] == 1
    assert {"rollup_1s", "derived", "events", "latency"} <= set(rows)


def run(*words: str) -> None:
    done = subprocess.run(
        command(*words), capture_output=True, text=True, timeout=RUN_S, check=False
    )
    assert done.returncode == 0, f"{words}\n{done.stdout[-2000:]}\n{done.stderr[-3000:]}"


def test_the_pages_have_examples() -> None:
    assert len(examples(SPARK)) >= 7
    assert len([line for line in COMMANDS if "pipeline run" in line]) >= 5
    assert len([line for line in COMMANDS if "query" in line]) >= 3
