"""A broker that starts again with a lower limit than it reached before."""

from contextlib import ExitStack
from pathlib import Path

from tests.limited_broker import LimitedBroker, ask
from tests.metrics import Metrics
from tests.raw_mqtt import V5
from tests.running_broker import RunningBroker

NO_SUBSCRIBER = 0x10


def test_parameter_bytes_a_lower_limit_holds_after_a_restart(tmp_path: Path) -> None:
    config, data = tmp_path / "broker.toml", tmp_path / "data"

    def started(limit: int) -> LimitedBroker:
        config.write_text(f"[limits]\nparameter_bytes = {limit}\n")
        running = RunningBroker.start(data, "--config", str(config))
        stack.callback(running.stop)
        return LimitedBroker(running, stack)

    with ExitStack() as stack:
        broker = started(100)
        writer = broker.client("writer")
        rows = [{"name": name, "type": "text"} for name in "ab"]
        ask(writer, "table/declare", parameters=rows)
        for name in "ab":
            writer.send(V5.publish(name, b"x" * 50, qos=1, packet_id=1))
            assert writer.packet().reason == NO_SUBSCRIBER
    with ExitStack() as stack:
        broker = started(60)
        reader = broker.client("reader")
        found = ask(reader, "table/values")["values"]
        assert [(row["name"], len(row["value"])) for row in found] == [("a", 50)]
        reader.send(V5.publish("a", b"x" * 60, qos=1, packet_id=1))
        assert reader.packet().reason == NO_SUBSCRIBER
        assert Metrics.of(broker.running)["slipring_table_value_bytes"] == 60
