"""Samples as MCAP: a channel for each group of parameters, messages in JSON with a JSON schema.

The log time of a message is the receive time, its publish time the source time.
"""

import json
from typing import BinaryIO

from mcap.writer import Writer

from slipring.errors import RecordingError
from slipring.native import version
from slipring.recording.history.chosen import Chosen
from slipring.recording.history.groups import Groups
from slipring.recording.history.samples import Samples

CHANNELS_MAX = 65_535
"""By the format. It has no times before 1970 either; they are written as 1970."""


class McapForm:
    """Writes each batch of samples when it comes; messages are in the journal's order."""

    def __init__(self, stream: BinaryIO, chosen: Chosen) -> None:
        self._groups = Groups(chosen)
        count = len(self._groups.names)
        if count > CHANNELS_MAX:
            raise RecordingError(
                f"an MCAP file has at most {CHANNELS_MAX:,} channels, and these parameters are in "
                f"{count:,} groups: choose fewer"
            )
        self._writer = Writer(stream)
        self._writer.start(library=f"slipring {version}")
        self._channels = [self._channel(group) for group in range(count)]

    def write(self, parts: list[Samples]) -> None:
        """Add some."""
        if not parts:
            return
        add, channels = self._writer.add_message, self._channels
        for group, receive_ns, time_ns, content in self._groups.said(parts):
            add(channels[group], max(0, receive_ns), content, max(0, time_ns))

    def close(self) -> None:
        self._writer.finish()  # type: ignore[no-untyped-call]

    def _channel(self, group: int) -> int:
        name = self._groups.names[group]
        schema = json.dumps(self._groups.schema(group), ensure_ascii=False).encode()
        schema_id = self._writer.register_schema(name, "jsonschema", schema)
        return self._writer.register_channel(name, "json", schema_id)
