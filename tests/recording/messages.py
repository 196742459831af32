"""Recorded messages for tests: random ones, written to real journals and read back."""

import io
from pathlib import Path

import pyarrow as pa
from hypothesis import strategies as st

from slipring.journal.native_messages import MESSAGES, RETAIN_FLAG, to_native
from slipring.native import JournalWriter, encode_properties
from slipring.recording.export import export
from slipring.recording.file_format import FileFormat
from slipring.recording.recording import Recording

Row = tuple[int, str, str, int, bytes, bytes]
"""Receive time, publisher, topic, flags, properties, payload."""

PLAIN = st.characters(exclude_categories=["Cs"], exclude_characters="\0")
TEXT = st.text(PLAIN, max_size=12)
TOPICS = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\0+#"), min_size=1, max_size=12
)
PROPERTIES = st.builds(
    lambda named, user: encode_properties([*named.items(), *(("user", pair) for pair in user)]),
    st.fixed_dictionaries(
        {},
        optional={
            "payload_format": st.integers(0, 1),
            "message_expiry_s": st.integers(0, 1 << 31),
            "content_type": TEXT,
            "response_topic": TOPICS,
            "correlation_data": st.binary(max_size=8),
        },
    ),
    st.lists(st.tuples(TEXT, TEXT), max_size=2),
)
FLAGS = st.builds(lambda qos, retain: qos + RETAIN_FLAG * retain, st.integers(0, 2), st.booleans())
ROWS = st.lists(
    st.tuples(
        st.integers(-(1 << 60), 1 << 62),
        TEXT,
        TOPICS,
        FLAGS,
        PROPERTIES,
        st.binary(max_size=40) | TEXT.map(str.encode),
    ),
    max_size=30,
)


def record(folder: Path, rows: list[Row]) -> None:
    """Append these messages to the journal in a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    columns = zip(*rows, strict=True) if rows else [()] * len(MESSAGES)
    arrays = [pa.array(values, field.type) for values, field in zip(columns, MESSAGES, strict=True)]
    writer = JournalWriter(folder)
    to_native(pa.record_batch(arrays, schema=MESSAGES)).append_to(writer, 0, len(rows))
    writer.close()


def exported(
    folder: Path, file_format: FileFormat = FileFormat.JSON_LINES, filters: tuple[str, ...] = ()
) -> bytes:
    """What an export of the journal in a folder is."""
    stream = io.BytesIO()
    written = export(Recording(folder, filters=filters), stream, file_format)
    assert not written.damaged
    return stream.getvalue()
