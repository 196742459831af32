"""Messages as Arrow columns: as a recording has them, and as Rust takes them."""

from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from slipring.errors import InvalidTopic, RecordingError
from slipring.journal.columns import SCHEMA
from slipring.native import Messages, check_filter, check_topic, match_topics

# The columns of an export.
_EXPORTED = (
    "offset", "receive_time", "receive_ns", "publisher", "topic", "qos", "retain", "properties",
    "payload",
)  # fmt: skip
EXPORT = pa.schema([SCHEMA.field(name) for name in _EXPORTED])

# What an import and a replay need. `flags` is the QoS, plus 4 for a retained message.
MESSAGES = pa.schema(
    [
        pa.field("receive_ns", pa.int64(), nullable=False),
        pa.field("publisher", pa.string(), nullable=False),
        pa.field("topic", pa.string(), nullable=False),
        pa.field("flags", pa.uint8(), nullable=False),
        pa.field("properties", pa.binary(), nullable=False),
        pa.field("payload", pa.binary(), nullable=False),
    ]
)
RETAIN_FLAG = 4
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


def to_native(batch: pa.RecordBatch) -> Messages:
    """Hand MESSAGES to Rust."""
    buffers: dict[str, Any] = {}
    for name in MESSAGES.names:
        column = _unsliced(batch.column(name))
        # Texts and bytes have two buffers: offsets and contents.
        is_number = pa.types.is_integer(column.type)
        buffers[name] = _bytes(column, 1) if is_number else (_bytes(column, 1), _bytes(column, 2))
    return Messages(batch.num_rows, **buffers)


def _unsliced(array: pa.Array) -> pa.Array:
    """The same values in buffers that begin with the first one."""
    return array if array.offset == 0 else pa.concat_arrays([array, array[:0]])


def _bytes(array: pa.Array, index: int) -> bytes:
    buffer = array.buffers()[index]
    if buffer is not None and buffer.size:
        content: bytes = buffer.to_pybytes()
        return content
    return bytes(4)
