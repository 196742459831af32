"""The pipeline's Spark session, quiet and local by default. Knows no job."""

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from pyspark import SparkContext
from pyspark.sql import SparkSession

_LOG_CONFIG = Path(__file__).with_name("log4j2.properties")


# The work is done by Python workers; Java only plans and schedules. So its code is compiled quickly
# rather than optimised, and its garbage is collected on one thread.
QUICK_JAVA = "-XX:+UseSerialGC -XX:TieredStopAtLevel=1 -XX:-UsePerfData"


@contextmanager
def own_session(
    master: str, on_step: Callable[[str], None] = lambda _step: None
) -> Iterator[SparkSession]:
    """A session that ends with the block, unless it was running before."""
    found = SparkContext._active_spark_context  # noqa: SLF001 (Spark has no public way to ask)
    on_step(f"starting Spark on {master}; this takes some seconds")
    began_s = time.monotonic()
    session = _start(master)
    on_step(f"Spark is ready after {time.monotonic() - began_s:.1f} s")
    try:
        yield session
    finally:
        if found is None:
            # Whoever stops a service may end its Java first.
            with suppress(Exception):
                session.stop()


def session_settings(master: str) -> dict[str, str]:
    """The settings of a session; a cluster keeps its own addresses."""
    cores = str(_cores(master))
    settings = {
        "spark.app.name": "slipring",
        "spark.driver.extraJavaOptions": (
            f"-Dlog4j2.configurationFile={_LOG_CONFIG.as_uri()} {QUICK_JAVA}"
        ),
        "spark.scheduler.mode": "FAIR",
        "spark.sql.catalogImplementation": "in-memory",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.shuffle.partitions": cores,
        "spark.sql.streaming.noDataMicroBatches.enabled": "false",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }
    if master.startswith("local"):
        settings |= {
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.driver.host": "127.0.0.1",
        }
    return settings


def _start(master: str) -> SparkSession:
    # Spark's workers must run in this environment, not in the first python3 on the path.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    # For Spark's launcher, a small Java program that starts the large one.
    os.environ.setdefault("SPARK_LAUNCHER_OPTS", QUICK_JAVA)
    if master.startswith("local"):
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    builder = SparkSession.builder.master(master)
    for name, value in session_settings(master).items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def _cores(master: str) -> int:
    number = master.removeprefix("local[").removesuffix("]")
    return int(number) if number.isdecimal() else os.cpu_count() or 1
