"""What a user would do without Slipring: JSON messages, one for each sample, into Parquet.

By Spark's file source, and by paho into pandas. For comparison in benches of the lake.
"""

import json
import subprocess
import threading
import time
from pathlib import Path

import paho.mqtt.client as mqtt
import pandas as pd
from paho.mqtt.enums import CallbackAPIVersion
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f

from tests.mosquitto import start_mosquitto

TOPIC = "samples"
SCHEMA = "parameter string, source_ns bigint, value double"
PATIENCE_S = 600


def write_json(samples: DataFrame, where: Path, count: int) -> None:
    """A JSON message for each sample, as bridges from MQTT write them."""
    samples.limit(count).write.mode("overwrite").json(str(where))


def json_to_parquet(spark: SparkSession, where: Path, into: Path) -> None:
    """Through Spark's file source."""
    found = spark.read.schema(SCHEMA).json(str(where))
    found = found.withColumn("time", f.timestamp_micros(f.expr("source_ns div 1000")))
    found.write.mode("overwrite").parquet(str(into))


def paho_to_parquet(where: Path, into: Path, count: int) -> tuple[float, float]:
    """Mosquitto and its publisher, paho, pandas; seconds, and those of this process's processor.

    The publisher and the broker are not counted.
    """
    rows: list[dict[str, object]] = []
    ready, done = threading.Event(), threading.Event()

    def take(_client: object, _data: object, message: mqtt.MQTTMessage) -> None:
        rows.append(json.loads(message.payload))
        if len(rows) == count:
            done.set()

    broker, port = start_mosquitto(into.parent)
    try:
        client = mqtt.Client(CallbackAPIVersion.VERSION2, "reader")
        client.on_message = take
        client.on_subscribe = lambda *_: ready.set()
        client.connect("127.0.0.1", port)
        client.loop_start()
        client.subscribe(TOPIC, qos=1)
        assert ready.wait(PATIENCE_S)
        began_s, began_cpu_s = time.perf_counter(), time.process_time()
        lines = b"".join(part.read_bytes() for part in sorted(where.glob("*.json")))
        command = ["mosquitto_pub", "-p", str(port), "-t", TOPIC, "-q", "1", "-l"]
        with subprocess.Popen(command, stdin=subprocess.PIPE) as publisher:
            publisher.communicate(b"\n".join(lines.splitlines()[:count]) + b"\n", PATIENCE_S)
        assert done.wait(PATIENCE_S), f"{len(rows)} of {count} messages arrived"
        client.disconnect()
        client.loop_stop()
        frame = pd.DataFrame(rows)
        frame["time"] = pd.to_datetime(frame["source_ns"], utc=True)
        frame.to_parquet(into)
        return time.perf_counter() - began_s, time.process_time() - began_cpu_s
    finally:
        broker.terminate()
        broker.wait()
