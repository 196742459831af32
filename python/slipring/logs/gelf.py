"""GELF 1.1, the format of Graylog: a JSON object for each line, in datagrams or in a stream."""

import json
import os
import zlib

from slipring.logs.line import LogLine, LogSource

VERSION = "1.1"
DATAGRAM_BYTES = 1_420
"""A larger message goes in chunks: a datagram of this size is not divided on most ways."""
CHUNK_HEAD = b"\x1e\x0f"
CHUNK_HEAD_BYTES = 12
CHUNKS_MAX = 128
END = b"\0"
"""Ends a message in a stream."""


def gelf_message(line: LogLine, source: LogSource) -> bytes:
    """A line as a JSON object; fields of our own begin with an underscore."""
    message: dict[str, object] = {
        "version": VERSION,
        "host": source.host,
        "short_message": line.text or "-",  # it must not be empty
        "timestamp": line.at_ns / 1e9,
        "level": line.severity,
        "_broker": source.broker,
        "_process": source.process,
    }
    if line.exception:
        message["full_message"] = f"{line.text}\n{line.exception}"
    message.update((f"_{name}", value) for name, value in line.fields)
    return json.dumps(message, separators=(",", ":")).encode()


def gelf_frame(message: bytes) -> bytes:
    """A message in a stream. JSON has no zero byte, and a stream must not be compressed."""
    return message + END


def gelf_datagrams(message: bytes, number: bytes | None = None) -> list[bytes]:
    """A message as datagrams, compressed; `number` are eight bytes that chunks have in common."""
    packed = zlib.compress(message)
    if len(packed) <= DATAGRAM_BYTES:
        return [packed]
    size = DATAGRAM_BYTES - CHUNK_HEAD_BYTES
    parts = [packed[at : at + size] for at in range(0, len(packed), size)]
    if len(parts) > CHUNKS_MAX:
        raise ValueError(f"a line of {len(message):,} bytes is too long for GELF in datagrams")
    number = number or os.urandom(8)
    heads = (CHUNK_HEAD + number + bytes((at, len(parts))) for at in range(len(parts)))
    return [head + part for head, part in zip(heads, parts, strict=True)]
