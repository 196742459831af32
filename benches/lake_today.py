"""What a user would do without Slipring: JSON messages, one for each sample, into Parquet.

By Spark's file source, and by paho into pandas. For comparison in benches of the lake.
"""

import json
import subprocess
import sys
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
UNANSWERED_MAX = 10_000
"""Messages without an acknowledgement: paho has numbers for 65,535."""


def write_json(samples: DataFrame, where: Path, count: int) -> None:
    """A JSON message for each sample, as bridges from MQTT write them."""
    samples.limit(count).write.mode("overwrite").json(str(where))


def json_to_parquet(spark: SparkSession, where: Path, into: Path) -> None:
    """Through Spark's file source."""
    found = spark.read.schema(SCHEMA).json(str(where))
    found = found.withColumn("time", f.timestamp_micros(f.expr("source_ns div 1000")))
    found.write.mode("overwrite").parquet(str(into))


def paho_to_parquet(where: Path, into: Path, count: int) -> tuple[float, float]:
    """Mosquitto, paho, pandas; seconds, and those of this process's processor.

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
        command = [sys.executable, "-m", "benches.lake_today", str(port), str(where), str(count)]
        subprocess.run(command, check=True, timeout=PATIENCE_S)
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


def publish(port: int, where: Path, count: int) -> None:
    """Publish the JSON messages of a folder."""
    lines = b"".join(part.read_bytes() for part in sorted(where.glob("*.json"))).splitlines()
    client = mqtt.Client(CallbackAPIVersion.VERSION2, "writer")
    client.connect("127.0.0.1", port)
    client.loop_start()
    for start in range(0, count, UNANSWERED_MAX):
        part = lines[start : min(count, start + UNANSWERED_MAX)]
        sent = [client.publish(TOPIC, line, qos=1) for line in part]
        sent[-1].wait_for_publish(PATIENCE_S)
    client.disconnect()
    client.loop_stop()


if __name__ == "__main__":
    publish(int(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]))
