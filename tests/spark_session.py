"""One Spark session for the whole run: starting Java takes seconds."""

import os
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture(scope="session")
def spark() -> "Iterator[SparkSession]":
    """`local[2]`, without a UI, on 127.0.0.1, in UTC, as the pipeline sets it up."""
    from pyspark.sql import SparkSession

    from slipring.pipeline.session import QUICK_JAVA, session_settings

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    settings = session_settings("local[2]", QUICK_JAVA)
    builder = SparkSession.builder.master("local[2]")
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    yield session
    session.stop()
