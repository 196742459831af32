"""Samples as an MCAP file: its channels have messages in JSON, with a JSON schema.

The log time of a message is the receive time, its publish time the source time.
"""

import json
from typing import BinaryIO

from mcap.writer import Writer

from slipring.errors import RecordingError
from slipring.native import version
from slipring.recording.history.shape.export_columns import ExportColumns
from slipring.recording.history.shape.recorded_samples import RecordedSamples
from slipring.recording.history.write.mcap_channels import McapChannels

CHANNELS_MAX = 65_535
"""A limit of the format. It has no times before 1970 either: they are written as 1970."""


class McapWriter:
    """Writes each batch of samples when it comes; messages are in the journal's order."""

    def __init__(self, stream: BinaryIO, columns: ExportColumns) -> None:
        self._channels = McapChannels(columns)
        count = len(self._channels.names)
        if count > CHANNELS_MAX:
            raise RecordingError(
                f"an MCAP file has at most {CHANNELS_MAX:,} channels, and these parameters need "
                f"{count:,}: choose fewer"
            )
        self._writer = Writer(stream)
        self._writer.start(library=f"slipring {version}")
        self._ids = [self._register(channel) for channel in range(count)]

    def write(self, parts: list[RecordedSamples]) -> None:
        if not parts:
            return
        add, ids = self._writer.add_message, self._ids
        for channel, receive_ns, time_ns, content in self._channels.messages(parts):
            add(ids[channel], max(0, receive_ns), content, max(0, time_ns))

    def close(self) -> None:
        self._writer.finish()  # type: ignore[no-untyped-call]

    def _register(self, channel: int) -> int:
        name = self._channels.names[channel]
        schema = json.dumps(self._channels.schema(channel), ensure_ascii=False).encode()
        schema_id = self._writer.register_schema(name, "jsonschema", schema)
        return self._writer.register_channel(name, "json", schema_id)
