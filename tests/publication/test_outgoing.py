"""Rows as messages: what JSON and MQTT cannot say is told or refused, never changed (D1)."""

import json
from decimal import Decimal

import pyarrow as pa
import pytest

from slipring.errors import PipelineError
from slipring.model import Parameter
from slipring.publication.outgoing import alarm_messages, plain_messages
from slipring.publication.sample_frames import sample_frames


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (float("inf"), "Infinity"),
        (float("-inf"), "-Infinity"),
        (float("nan"), "NaN"),
        (1.5, 1.5),
        (Decimal("99.5"), 99.5),
        (Decimal(2**64), 2**64),
    ],
)
def test_every_number_of_an_alarm_is_in_its_json(value: object, told: object) -> None:
    (message,) = alarm_messages(pa.table({"parameter": ["jet/egt"], "value": [value]}), "alarms")
    assert json.loads(message.payload) == {"parameter": "jet/egt", "value": told}


@pytest.mark.parametrize(("topic", "qos"), [("a", 3), ("a", 6), ("a", -1), (None, 1)])
def test_a_message_without_a_topic_or_with_another_qos_is_refused(
    topic: str | None, qos: int
) -> None:
    rows = pa.table({"topic": pa.array([topic], pa.string()), "payload": [b"x"], "qos": [qos]})
    with pytest.raises(PipelineError, match="a message needs a topic, and a qos of 0, 1 or 2"):
        plain_messages(rows)


def test_a_sample_without_a_source_time_is_refused() -> None:
    rows = pa.table(
        {"parameter": ["a", "a"], "source_ns": pa.array([1, None], pa.int64()), "value": [1.0, 2.0]}
    )
    with pytest.raises(PipelineError, match="a row has no source time"):
        sample_frames(rows, {"a": Parameter("f64")}, {"a": 0}, 1)
