"""The pipeline's Spark session, quiet and local by default. Knows no job."""

import os
import re
import socket
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from pyspark import SparkContext
from pyspark.sql import SparkSession

from slipring.errors import PipelineError
from slipring.pipeline.quick_start import start_sooner
from slipring.pipeline.stopping import interrupt_kept

_LOG_CONFIG = Path(__file__).with_name("log4j2.properties")


# For rows that go through Java: its compiler optimises, which makes them twice as fast and the
# start some seconds of processor time longer. Garbage is collected on one thread.
ROW_JAVA = "-XX:+UseSerialGC -XX:-UsePerfData"
# For the archive, whose rows stay in Python workers. Java only plans and schedules there, so its
# code is compiled quickly rather than optimised.
QUICK_JAVA = f"{ROW_JAVA} -XX:TieredStopAtLevel=1"

# A task of a cluster is tried again elsewhere: when its machine is gone, or when its Python process
# did not start within the ten seconds that Spark gives it. A lake shows only what is committed.
TASK_FAILURES_MAX = 8


@contextmanager
def own_session(
    master: str,
    on_step: Callable[[str], None] = lambda _step: None,
    conf: Mapping[str, str] | None = None,
    java: str = ROW_JAVA,
) -> Iterator[SparkSession]:
    """A session that ends with the block, unless it was running before.

    `conf` has settings of Spark by name, which count more than ours; `java` the options of Java.
    """
    found = SparkContext._active_spark_context  # noqa: SLF001 (Spark has no public way to ask)
    on_step(f"starting Spark on {master}; this takes some seconds")
    began_s = time.monotonic()
    with interrupt_kept():
        session = _start(session_settings(master, java) | dict(conf or {}))
    on_step(f"Spark is ready after {time.monotonic() - began_s:.1f} s")
    try:
        yield session
    finally:
        if found is None:
            # Whoever stops a service may end its Java first.
            with suppress(Exception):
                session.stop()


def session_settings(master: str, java: str = ROW_JAVA) -> dict[str, str]:
    """The settings of a session; on a cluster, also those that let its machines work for us."""
    cores = str(_cores(master))
    settings = {
        "spark.app.name": "slipring",
        "spark.master": master,
        "spark.driver.extraJavaOptions": (
            f"-Dlog4j2.configurationFile={_LOG_CONFIG.as_uri()} {java}"
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
    else:
        settings |= {
            "spark.executor.extraJavaOptions": ROW_JAVA,
            "spark.task.maxFailures": str(TASK_FAILURES_MAX),
        }
    if (host := _standalone_host(master)) is not None and "SPARK_LOCAL_IP" not in os.environ:
        settings["spark.driver.host"] = _address_towards(host)
    return settings


def _standalone_host(master: str) -> str | None:
    """The host of the first of the masters of `spark://host:port,host:port`."""
    found = re.match(r"spark://(\[[^]]+\]|[^:,]+)", master)
    return found[1].strip("[]") if found else None


def _address_towards(host: str) -> str:
    """The address of this machine on the way to a host: there the workers reach the driver."""
    try:
        family, kind, _, _, address = socket.getaddrinfo(host, 9, type=socket.SOCK_DGRAM)[0]
        with socket.socket(family, kind) as asked:
            asked.connect(address)  # sends nothing: only the route is looked up
            return str(asked.getsockname()[0])
    except OSError as error:
        raise PipelineError(f"there is no way to the Spark master {host}: {error}") from None


def _start(settings: Mapping[str, str]) -> SparkSession:
    # Spark's workers must run in this environment, not in the first python3 on the path.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    # For Spark's launcher, a small Java program that starts the large one.
    os.environ.setdefault("SPARK_LAUNCHER_OPTS", QUICK_JAVA)
    if settings["spark.master"].startswith("local"):
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
        settings = start_sooner(settings)
    builder = SparkSession.builder
    for name, value in settings.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def _cores(master: str) -> int:
    number = master.removeprefix("local[").removesuffix("]")
    return int(number) if number.isdecimal() else os.cpu_count() or 1
