"""Messages as Arrow columns: as a recording has them, and as Rust takes them."""

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

from slipring.errors import InvalidTopic, RecordingError
from slipring.journal.columns import SCHEMA
from slipring.journal.native_messages import MESSAGES, RETAIN_FLAG
from slipring.native import check_filter, check_topic, match_topics

# The columns of an export.
_EXPORTED = (
    "offset", "receive_time", "receive_ns", "publisher", "topic", "qos", "retain", "properties",
    "payload",
)  # fmt: skip
EXPORT = pa.schema([SCHEMA.field(name) for name in _EXPORTED])

TOPIC = "{topic}"
"""Stands for the recorded topic in the template of a replay."""


def check_filters(filters: Sequence[str]) -> None:
    """Raise InvalidTopic for a text that is not a topic filter."""
    for one in filters:
        check_filter(one)


def select(batch: pa.RecordBatch, filters: Sequence[str]) -> pa.RecordBatch:
    """The messages whose topic one of the filters matches; all, if there is no filter.

    Each distinct topic is matched once.
    """
    if not filters or batch.num_rows == 0:
        return batch
    topics = batch.column("topic").dictionary_encode()
    matched = match_topics(list(filters), topics.dictionary.to_pylist())
    if all(matched):
        return batch
    return batch.filter(pa.array(matched, pa.bool_()).take(topics.indices))


def rename(batch: pa.RecordBatch, template: str) -> pa.RecordBatch:
    """The same messages with other topics: `{topic}` in the template is the recorded topic."""
    if template == TOPIC:
        return batch
    topics = batch.column("topic").dictionary_encode()
    names = [renamed(topic, template) for topic in topics.dictionary.to_pylist()]
    column = pa.array(names, pa.string()).take(topics.indices)
    return batch.set_column(
        batch.schema.get_field_index("topic"), batch.schema.field("topic"), column
    )


def renamed(topic: str, template: str) -> str:
    """The topic that a template makes of a recorded one; RecordingError if it is not valid."""
    name = template.replace(TOPIC, topic)
    try:
        check_topic(name)
    except InvalidTopic as error:
        raise RecordingError(f"cannot replay to {template!r}: {error}") from None
    return name


def flags(qos: pa.Array, retain: pa.Array) -> pa.Array:
    """QoS and retain flag as one number."""
    kept = pc.multiply(retain.cast(pa.uint8()), pa.scalar(RETAIN_FLAG, pa.uint8()))
    return pc.add(qos.cast(pa.uint8()), kept)


def at_least_once(messages: pa.RecordBatch) -> pa.RecordBatch:
    """MESSAGES at QoS 1, with the same retain flags."""
    kept = pc.bit_wise_and(messages.column("flags"), pa.scalar(RETAIN_FLAG, pa.uint8()))
    once = pc.add(kept, pa.scalar(1, pa.uint8()))
    return messages.set_column(messages.schema.get_field_index("flags"), "flags", once)


def to_messages(rows: pa.RecordBatch) -> pa.RecordBatch:
    """Rows of an export as MESSAGES."""
    combined = flags(rows.column("qos"), rows.column("retain"))
    columns = [combined if name == "flags" else rows.column(name) for name in MESSAGES.names]
    return pa.record_batch(columns, schema=MESSAGES)
